package rewrite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var splitRecursiveRules = &Pass{
	Name: "SplitRecursiveRules",
	Reason: "Where a rule joins a recursive relation with another one, and a column of both is used " +
		"for nothing else, the join without that column becomes an auxiliary relation. It is kept " +
		"by delta, so that deltas of the rule's other relations meet its tuples instead of all that " +
		"lead to them.",
	Unless: "The auxiliary relation is expected to " +
		"save less than a third of the cost, also if the recursive relations are ten times as large " +
		"as expected; or one of its two relations does not change in the loop, and it is expected " +
		"to be larger than both. Or only one relation of the rule is recursive, and the tuples of " +
		"the auxiliary relation are not expected to be found four times each, nothing is known of " +
		"the facts, or the rule passes a column of the recursive relation on, by which the loop " +
		"can be decomposed. A relation of the loop keeps the first value of each key: the " +
		"auxiliary relation would have its tuples a round late.",
	Before: "block loop:\n  insert p\n    project y, w\n      ... scan delta p(x, z), load(y, x), p(z, w)\n" +
		"  insert p\n    project y, w\n      ... scan delta p(z, w), old p(x, z), load(y, x)",
	After: "block loop:\n  insert part\n    project y, z\n      ... scan delta p(x, z), load(y, x)\n" +
		"  insert p\n    project y, w\n      ... scan delta part(y, z), p(z, w)\n" +
		"  insert p\n    project y, w\n      ... scan delta p(z, w), old part(y, z)",
	Source: "supplementary relations: Beeri, Ramakrishnan, PODS 1987",
	run: func(p *program) error {
		s := &ruleSplitter{program: p, est: stats.NewEstimator(p.Plan, p.catalog),
			entries: loops.Entries(p.Plan), loop: loops.Changed(p.Plan),
			names: queryplan.VarNames(p.Plan)}
		for _, b := range p.Blocks {
			if s.isSimpleLoop(b) && !roundsMatter(b) {
				s.block(b)
			}
		}
		return nil
	},
}

// splitGain is the smallest ratio of a rule's cost before and after the split.
// Tests lower it.
var splitGain = 1.5

// outgrown is the factor by which recursive relations may outgrow their
// estimates.
const outgrown = 10

// repeated is how often the tuples of an auxiliary relation must be found, at
// outgrown sizes, for the relation to pay.
const repeated = 2

// repeatedLinear is like repeated, for rules with one recursive relation, at
// the expected sizes. Tests lower it.
var repeatedLinear = 4.0

// storedCost is the cost of a new tuple of an auxiliary relation and its index.
const storedCost = joins.StoreCost + 4

type ruleSplitter struct {
	*program
	est     *stats.Estimator
	entries map[*queryplan.Block]*queryplan.Block
	loop    map[*queryplan.Block]map[*queryplan.Var]bool
	names   *queryplan.Names
}

// isSimpleLoop reports whether a block is a whole loop with one entry from
// outside of loops.
func (s *ruleSplitter) isSimpleLoop(b *queryplan.Block) bool {
	branch, ok := b.Term.(*queryplan.Branch)
	entry := s.entries[b]
	return ok && entry != nil && s.loop[entry] == nil && len(branch.Vars) > 0 &&
		slices.Contains(b.Successors(), b)
}

// roundsMatter reports whether the tuples that a loop block derives depend on
// the round in which it derives them. They do if it fills a relation with
// tuples whose keys are not there yet and never replaces values.
func roundsMatter(b *queryplan.Block) bool {
	replaced := map[*queryplan.Var]bool{}
	for _, c := range b.Cmds {
		if n := queryplan.CommandNode(c); n != nil {
			for _, s := range queryplan.Scans(n) {
				replaced[s.Var] = replaced[s.Var] || s.Version == queryplan.Last
			}
		}
	}
	return slices.ContainsFunc(b.Cmds, func(c queryplan.Command) bool {
		ins, ok := c.(*queryplan.Insert)
		if !ok || replaced[ins.Var] {
			return false
		}
		matters := false
		queryplan.Walk(ins.Node, func(n queryplan.Node) {
			if j, ok := n.(*queryplan.Join); ok && j.Kind == queryplan.Anti {
				matters = matters || slices.ContainsFunc(queryplan.Scans(j.Right),
					func(s *queryplan.Scan) bool { return s.Var == ins.Var })
			}
		})
		return matters
	})
}

// deltaRule is the delta versions of one rule, one for each of its recursive
// relations.
type deltaRule struct {
	v         *queryplan.Var
	cmds      []int // the positions of the versions among the commands
	conj      *joins.Conjunction
	recursive []int // the relations that the loop changes
}

// block splits the rules of a loop.
func (s *ruleSplitter) block(b *queryplan.Block) {
	replaced := map[int][]queryplan.Command{}
	gone := map[int]bool{}
	var made []*queryplan.Var
	for _, r := range s.rules(b) {
		best := s.best(b, r)
		if best == nil {
			continue
		}
		s.Vars = append(s.Vars, best.aux)
		made = append(made, best.aux)
		replaced[r.cmds[0]] = s.versions(b, r, best)
		for _, i := range r.cmds {
			gone[i] = true
		}
	}
	if len(made) == 0 {
		return
	}
	var cmds, merges []queryplan.Command
	for _, v := range made {
		merges = append(merges, &queryplan.Merge{Var: v})
	}
	first := true
	for i, c := range b.Cmds {
		if _, ok := c.(*queryplan.Merge); ok && first {
			cmds, first = append(cmds, merges...), false
		}
		if cmds = append(cmds, replaced[i]...); !gone[i] {
			cmds = append(cmds, c)
		}
	}
	b.Cmds = cmds
	entry := s.entries[b]
	entry.Cmds = append(entry.Cmds, merges...)
	branch := *b.Term.(*queryplan.Branch)
	branch.Vars = append(slices.Clone(branch.Vars), made...)
	b.Term = &branch
}

// rules finds the rules whose versions are all conjunctions of stored
// relations.
func (s *ruleSplitter) rules(b *queryplan.Block) []*deltaRule {
	type key struct {
		v    *queryplan.Var
		text string
	}
	groups := map[key][]int{}
	var order []key
	for i, c := range b.Cmds {
		if ins, ok := c.(*queryplan.Insert); ok && readsOneDelta(ins.Node) &&
			joins.InConjunction(ins.Node) {
			k := key{ins.Var, signature(joins.Flatten(ins.Node))}
			if groups[k] == nil {
				order = append(order, k)
			}
			groups[k] = append(groups[k], i)
		}
	}
	var out []*deltaRule
	for _, k := range order {
		r := &deltaRule{v: k.v, cmds: groups[k],
			conj: joins.Flatten(queryplan.CommandNode(b.Cmds[groups[k][0]]))}
		for i, n := range r.conj.Rels {
			if !trees.IsInvariant(n, s.loop[b]) {
				r.recursive = append(r.recursive, i)
			}
		}
		// Guessed sizes say nothing of how often a tuple is found again.
		least := 2
		if s.knowsInputs() {
			least = 1
		}
		if len(r.recursive) >= least && len(r.conj.Rels) > 2 && onlyScans(r.conj) &&
			s.isComplete(b, r) {
			out = append(out, r)
		}
	}
	return out
}

// knowsInputs reports whether the facts of all predicates are known.
func (s *ruleSplitter) knowsInputs() bool {
	return !slices.ContainsFunc(s.Vars, func(v *queryplan.Var) bool {
		return v.Kind == queryplan.Input && s.catalog.Relation(v.Source) == nil
	})
}

// isComplete reports whether each recursive relation is the delta of one
// version, and all versions read what the last round has merged.
func (s *ruleSplitter) isComplete(b *queryplan.Block, r *deltaRule) bool {
	var deltas, want []string
	for _, i := range r.cmds {
		for _, n := range joins.Flatten(queryplan.CommandNode(b.Cmds[i])).Rels {
			if text := queryplan.NodeString(n); text != unversioned(n) &&
				text == queryplan.NodeString(withVersion(n, queryplan.Delta)) {
				deltas = append(deltas, unversioned(n))
			}
		}
	}
	for _, i := range r.recursive {
		want = append(want, unversioned(r.conj.Rels[i]))
	}
	slices.Sort(deltas)
	slices.Sort(want)
	merged := slices.ContainsFunc(b.Cmds[:r.cmds[len(r.cmds)-1]], func(c queryplan.Command) bool {
		_, inserts := c.(*queryplan.Insert)
		return !inserts
	})
	return !merged && slices.Equal(deltas, want)
}

// unversioned returns the text of a relation without its version.
func unversioned(n queryplan.Node) string {
	return queryplan.NodeString(withVersion(n, queryplan.Full))
}

// signature returns a text of a conjunction without the versions of its
// relations and their order.
func signature(c *joins.Conjunction) string {
	parts := []string{fmt.Sprint(c.Out)}
	for _, n := range c.Rels {
		parts = append(parts, unversioned(n))
	}
	for _, e := range c.Conds {
		parts = append(parts, queryplan.ExprString(e))
	}
	for _, m := range c.Maps {
		parts = append(parts, m.Name+" = "+queryplan.ExprString(m.Expr))
	}
	for _, semi := range c.Semis {
		parts = append(parts, fmt.Sprint(semi.Kind, queryplan.NodeString(semi.Right)))
	}
	slices.Sort(parts)
	return fmt.Sprintf("%q", parts)
}

// onlyScans reports whether all relations of a conjunction are scans without
// positions.
func onlyScans(c *joins.Conjunction) bool {
	return !slices.ContainsFunc(c.Rels, func(n queryplan.Node) bool {
		if p, ok := n.(*queryplan.Project); ok {
			n = p.Input
		}
		s, ok := n.(*queryplan.Scan)
		return !ok || s.Position != ""
	})
}

// withVersion makes the scans of a relation read a version.
func withVersion(n queryplan.Node, version queryplan.Version) queryplan.Node {
	return queryplan.Rewrite(n, func(n queryplan.Node) queryplan.Node {
		if s, ok := n.(*queryplan.Scan); ok && s.Version != version {
			return &queryplan.Scan{Var: s.Var, Version: version, Names: s.Names,
				Position: s.Position}
		}
		return n
	})
}

// ruleSplit is a way to split a rule. The auxiliary relation is the join of two
// of its relations, of which the second or both are recursive.
type ruleSplit struct {
	rels      []int
	recursive []int // the recursive ones of rels
	cols      []string
	aux       *queryplan.Var
	gain      float64 // the ratio of costs before and after; 0 if it does not pay
	why       string  // a description of what it saves
}

// best returns the split that saves the most, or nil if none pays.
func (s *ruleSplitter) best(b *queryplan.Block, r *deltaRule) *ruleSplit {
	var best *ruleSplit
	for first := range r.conj.Rels {
		for _, rec := range r.recursive {
			both := slices.Contains(r.recursive, first)
			if both && first >= rec {
				continue
			}
			split := s.candidate(r, []int{first, rec})
			if split == nil {
				continue
			}
			if split.recursive = split.rels[1:]; both {
				split.recursive = split.rels
			}
			weigh := s.weigh
			if len(r.recursive) == 1 {
				weigh = s.weighLinear
			}
			if weigh(b, r, split); best == nil || split.gain > best.gain {
				best = split
			}
		}
	}
	if best == nil {
		return nil
	}
	cmd := b.Cmds[r.cmds[0]]
	rels := relationList(list.Map(best.rels, func(i int) queryplan.Node {
		return withVersion(r.conj.Rels[i], queryplan.Full)
	}))
	if best.gain < splitGain && len(r.recursive) == 1 {
		return nil // nearly all rules of the kind
	}
	if best.gain < splitGain {
		s.choose("SplitRecursiveRules", b, cmd, fmt.Sprintf("no auxiliary relation of %s: %s",
			rels, best.why))
		return nil
	}
	best.aux.Name = s.names.Fresh("part")
	s.choose("SplitRecursiveRules", b, cmd, fmt.Sprintf("auxiliary relation %s(%s) of %s: %s",
		best.aux.Name, strings.Join(best.cols, ", "), rels, best.why))
	return best
}

// candidate returns the split of two relations, or nil if they have no column
// that nothing else uses.
func (s *ruleSplitter) candidate(r *deltaRule, rels []int) *ruleSplit {
	first, second := r.conj.Rels[rels[0]].Columns(), r.conj.Rels[rels[1]].Columns()
	outside := func(name string) bool {
		if r.conj.Uses(name) {
			return true
		}
		for i, n := range r.conj.Rels {
			if _, ok := queryplan.FindColumn(n.Columns(), name); ok && !slices.Contains(rels, i) {
				return true
			}
		}
		return slices.ContainsFunc(r.conj.Maps, func(m queryplan.NamedExpr) bool {
			return m.Name == name
		})
	}
	dropped := false
	split := &ruleSplit{rels: rels, aux: &queryplan.Var{Kind: queryplan.Derived, Limit: -1}}
	for i, c := range slices.Concat(first, second) {
		_, shared := queryplan.FindColumn(second, c.Name)
		switch {
		case slices.Contains(split.cols, c.Name):
		case outside(c.Name):
			split.cols = append(split.cols, c.Name)
			split.aux.Cols = append(split.aux.Cols, c)
		case i < len(first) && shared:
			dropped = true
		}
	}
	split.aux.Keys = len(split.cols)
	if !dropped || len(split.cols) == 0 {
		return nil
	}
	return split
}

// part returns the conjunction that fills the auxiliary relation. version gives
// the version of each recursive relation.
func (split *ruleSplit) part(
	r *deltaRule, version func(rel int) queryplan.Version,
) *joins.Conjunction {
	c := *r.conj
	c.Rels = slices.Clone(c.Rels)
	for _, i := range split.recursive {
		c.Rels[i] = withVersion(c.Rels[i], version(i))
	}
	part := c.Part(split.rels)
	for _, name := range split.cols {
		part.Out = append(part.Out, queryplan.Rename{From: name, To: name})
	}
	return part
}

// assemble joins a conjunction from left to right. OrderJoins orders it.
func assemble(c *joins.Conjunction, site joins.Site) queryplan.Node {
	return c.Assemble(joins.LeftDeep(len(c.Rels)), site)
}

// rest returns the rule over the auxiliary relation. version gives the version
// of each recursive relation.
func (split *ruleSplit) rest(
	r *deltaRule, aux queryplan.Version, version func(rel int) queryplan.Version,
) *joins.Conjunction {
	c := *r.conj
	c.Rels = []queryplan.Node{split.scan(aux)}
	for i, n := range r.conj.Rels {
		if slices.Contains(r.recursive, i) {
			n = withVersion(n, version(i))
		}
		if !slices.Contains(split.rels, i) {
			c.Rels = append(c.Rels, n)
		}
	}
	return &c
}

// versionsAt gives relations before the delta their full version and those
// after it their old one.
func versionsAt(delta int) func(rel int) queryplan.Version {
	return func(rel int) queryplan.Version {
		switch {
		case rel < delta:
			return queryplan.Full
		case rel > delta:
			return queryplan.Old
		}
		return queryplan.Delta
	}
}

// full gives all relations their full version.
func full(int) queryplan.Version { return queryplan.Full }

// weigh computes what a split saves. Recursive relations often outgrow their
// estimates, and most of the time goes into the rounds in which they are
// largest. So a split that loses nothing at the estimated sizes is also weighed
// at larger ones, if the tuples of the auxiliary relation are then found
// repeatedly. Without repetition, the relation might be large for what it
// saves.
func (s *ruleSplitter) weigh(b *queryplan.Block, r *deltaRule, split *ruleSplit) {
	saves := func(est *stats.Estimator, format string) {
		before, after := s.costs(est, b, r, split)
		split.gain = before / max(after, 1e-9)
		split.why += fmt.Sprintf(format, after, before)
	}
	refuse := func(why string) {
		split.gain = 0
		split.why += ", but " + why
	}
	saves(s.est, "the rule costs %.3g with it and %.3g without")
	if s.grows(r, split) {
		refuse("it is larger than both")
	}
	if split.gain >= 1 && split.gain < splitGain {
		grown := s.est.Grown(s.loop[b], outgrown)
		saves(grown, "; with "+strconv.Itoa(outgrown)+" times the tuples %.3g and %.3g")
		made := grown.Rows(assemble(split.part(r, full), joins.Site{}))
		if made < repeated*grown.Rows(split.scan(queryplan.Full)) {
			refuse("few of its tuples would be found again")
		}
	}
}

// weighLinear is weigh for a rule with one recursive relation, whose delta then
// passes through the auxiliary relation. That pays if tuples of the auxiliary
// relation are found repeatedly, because each is processed further only once.
func (s *ruleSplitter) weighLinear(b *queryplan.Block, r *deltaRule, split *ruleSplit) {
	rec := r.recursive[0]
	part := assemble(split.part(r, full), joins.Site{})
	s.est.Assume(split.aux, part)
	made, kept := s.est.Rows(part), s.est.Rows(split.scan(queryplan.Full))
	old := *r.conj
	old.Rels = slices.Clone(old.Rels)
	old.Rels[rec] = withVersion(old.Rels[rec], queryplan.Delta)
	before := s.cost(s.est, b, &old)
	after := s.cost(s.est, b, split.part(r, versionsAt(rec))) +
		storedCost*s.est.Rows(split.scan(queryplan.Delta)) +
		s.cost(s.est, b, split.rest(r, queryplan.Delta, full))
	split.gain = before / max(after, 1e-9)
	split.why = fmt.Sprintf("the rule costs %.3g with it and %.3g without", after, before)
	if made < repeatedLinear*kept || carries(r, rec) {
		split.gain = -1
	}
}

// carries reports whether a rule passes on a column of its recursive relation,
// so that the loop can be decomposed.
func carries(r *deltaRule, rec int) bool {
	cols := r.conj.Rels[rec].Columns()
	for i, out := range r.conj.Out {
		if i < len(cols) && cols[i].Name == out.From {
			return true
		}
	}
	return false
}

// grows reports whether the auxiliary relation has one recursive relation and
// is expected to be larger than its two relations.
func (s *ruleSplitter) grows(r *deltaRule, split *ruleSplit) bool {
	from := 0.0
	for _, i := range split.rels {
		from += s.est.Rows(withVersion(r.conj.Rels[i], queryplan.Full))
	}
	return len(split.recursive) == 1 && s.est.Rows(split.scan(queryplan.Full)) > from
}

// scan reads the auxiliary relation.
func (split *ruleSplit) scan(version queryplan.Version) *queryplan.Scan {
	return &queryplan.Scan{Var: split.aux, Version: version, Names: split.cols}
}

// costs returns the costs of the versions before and after the split. If one
// relation of the auxiliary relation is recursive, its delta costs the same in
// both.
func (s *ruleSplitter) costs(
	est *stats.Estimator, b *queryplan.Block, r *deltaRule, split *ruleSplit,
) (before, after float64) {
	est.Assume(split.aux, assemble(split.part(r, full), joins.Site{}))
	after = storedCost * est.Rows(split.scan(queryplan.Delta))
	for _, d := range r.recursive {
		inside := slices.Contains(split.rels, d)
		if inside && len(split.recursive) == 1 {
			continue
		}
		old := *r.conj
		old.Rels = slices.Clone(old.Rels)
		for _, i := range r.recursive {
			old.Rels[i] = withVersion(old.Rels[i], versionsAt(d)(i))
		}
		before += s.cost(est, b, &old)
		if inside {
			after += s.cost(est, b, split.part(r, versionsAt(d)))
		} else {
			after += s.cost(est, b, split.rest(r, queryplan.Old, versionsAt(d)))
		}
	}
	if len(split.recursive) > 1 {
		after += s.cost(est, b, split.rest(r, queryplan.Delta, full))
	}
	return before, after
}

// cost returns the cost of a conjunction in its best order.
func (s *ruleSplitter) cost(
	est *stats.Estimator, b *queryplan.Block, c *joins.Conjunction,
) float64 {
	c.KeepIndexes(s.loop[b])
	g := joins.NewGraph(c, est, s.loop[b])
	cost := 0.0
	for _, rels := range g.Parts() {
		cost += g.Best(rels).Stream
	}
	return cost
}

// versions returns the commands that replace those of the rule.
func (s *ruleSplitter) versions(
	b *queryplan.Block, r *deltaRule, split *ruleSplit,
) []queryplan.Command {
	span := queryplan.CommandSpan(b.Cmds[r.cmds[0]])
	split.aux.Span = span
	var out []queryplan.Command
	add := func(v *queryplan.Var, c *joins.Conjunction, site joins.Site) {
		out = append(out, &queryplan.Insert{Var: v, Node: assemble(c, site), Span: span})
	}
	for _, d := range split.recursive {
		add(split.aux, split.part(r, versionsAt(d)), joins.Site{})
	}
	add(r.v, split.rest(r, queryplan.Delta, full), joins.Site{Set: true})
	for _, d := range r.recursive {
		if !slices.Contains(split.recursive, d) {
			add(r.v, split.rest(r, queryplan.Old, versionsAt(d)), joins.Site{Set: true})
		}
	}
	return out
}

// readsOneDelta reports whether a tree has exactly one scan of a delta.
func readsOneDelta(n queryplan.Node) bool {
	return len(list.Filter(queryplan.Scans(n), func(s *queryplan.Scan) bool {
		return s.Version == queryplan.Delta
	})) == 1
}
