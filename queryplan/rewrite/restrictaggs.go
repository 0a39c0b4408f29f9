package rewrite

import (
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var restrictAggregates = &Pass{
	Name: "RestrictAggregates",
	Reason: "Of an aggregate, or of a set that a rule makes, which is joined with few tuples on " +
		"columns of its groups, only the groups of these are computed. The few tuples are found " +
		"first, into a temporary, and what goes into the aggregate is cut down to those that match " +
		"one of them. A predicate that is used once is such a set, and so are the pairs that a " +
		"negated formula joins.",
	Unless: "The columns are not among those the groups are made by; nothing says that much is left " +
		"out; or it is in a loop. Groups that nothing asks for are then not made, so that a sum among " +
		"them that does not fit is not noticed.",
	Before: "join p\n  filter eq(b, 5)\n    scan part(p, b)\n  aggregate [p] q: int = total(n)\n" +
		"    scan item(_, p, n)",
	After: "assign few\n  filter eq(b, 5)\n    scan part(p, b)\n\njoin p\n  scan few(p, b)\n" +
		"  aggregate [p] q: int = total(n)\n    semi join p\n      scan item(_, p, n)\n" +
		"      scan few(p, _)",
	Source: "magic sets: Bancilhon, Maier, Sagiv, Ullman, PODS 1986; for decorrelated aggregates: " +
		"Seshadri et al., SIGMOD 1996",
	run: func(p *program) error {
		r := &restricter{inliner: newInliner(p), est: stats.NewEstimator(p.Plan, p.catalog),
			names: queryplan.VarNames(p.Plan), rows: &grouper{program: p,
				tables: map[string]*queryplan.Var{}, used: map[*queryplan.Var]bool{}}}
		r.rows.declareTables()
		p.outsideLoops(&r.before, r.restrict)
		r.dropUnused()
		return nil
	},
}

// Costs of a tuple, on the scale of joins.Graph.
const (
	groupCost = 3   // finding a tuple's group or its slot in a set
	matchCost = 0.5 // testing whether a tuple has to be grouped
	keepCost  = 3   // storing one of the few tuples in the temporary and its index
)

// Limits, which tests change so that the pass applies to small facts.
var (
	// mostLeft is the largest share of the tuples that may remain.
	mostLeft = 0.25
	// leastSaved is the smallest cost to save: less is not worth another
	// kernel.
	leastSaved = 20000.0
)

// restricter finds aggregates to restrict.
type restricter struct {
	*inliner
	est    *stats.Estimator
	names  *queryplan.Names
	rows   *grouper            // finds scans that read the same row
	before []queryplan.Command // to run before the current command
}

// consumer is a part of a conjunction whose groups can be restricted: a
// relation or the right side of a semijoin.
type consumer struct {
	node queryplan.Node
	rel  int // index in Conjunction.Rels, or -1 if at is an index in Conjunction.Semis
	at   int
	// of is the predicate that the node derives, if that is then not stored.
	of *queryplan.Var
}

// restrict restricts the aggregates of a conjunction. It is called for inner
// conjunctions first.
func (r *restricter) restrict(n queryplan.Node, at joins.Site) queryplan.Node {
	if !r.concerns(n) {
		return n
	}
	c := joins.Flatten(n)
	if at.Want != nil {
		c.Out = slices.DeleteFunc(c.Out, func(r queryplan.Rename) bool {
			return !slices.Contains(at.Want, r.To)
		})
	}
	var consumers []consumer
	consumes, late := make([]bool, len(c.Rels)), make([]bool, len(c.Semis))
	for i, rel := range c.Rels {
		if tree, v := r.open(rel); hasGroups(tree) {
			consumers = append(consumers, consumer{node: tree, rel: i, of: v})
			consumes[i] = true
		}
	}
	for i, s := range c.Semis {
		if tree, v := r.open(s.Right); hasGroups(tree) || multiplies(tree) {
			consumers = append(consumers, consumer{node: tree, rel: -1, at: i, of: v})
			late[i] = true
		}
	}
	if r.most(consumers) <= leastSaved {
		return n
	}
	best, saved := (*fewTuples)(nil), leastSaved
	for i := range c.Rels {
		// Groups of which few remain may restrict others.
		others := slices.DeleteFunc(slices.Clone(consumers), func(x consumer) bool {
			return x.rel == i
		})
		few := r.fewFrom(c, i, consumes, late)
		few.consumers = others
		if s := few.saves(r); s > saved {
			best, saved = few, s
		}
	}
	if best == nil {
		return n
	}
	return best.apply(r)
}

// most returns an upper bound of the cost that can be saved.
func (r *restricter) most(consumers []consumer) float64 {
	most := 0.0
	for _, x := range consumers {
		queryplan.Walk(x.node, func(n queryplan.Node) {
			switch n.(type) {
			case *queryplan.Aggregate, *queryplan.Dedup:
				most = max(most, groupCost*r.est.Rows(n.Inputs()[0]))
			}
		})
		if multiplies(x.node) {
			most = max(most, groupCost*r.est.Rows(x.node))
		}
	}
	return most * float64(len(consumers))
}

// concerns reports whether a conjunction has something to restrict.
func (r *restricter) concerns(n queryplan.Node) bool {
	if hasGroups(n) {
		return true
	}
	found := false
	queryplan.Walk(n, func(n queryplan.Node) {
		switch n := n.(type) {
		case *queryplan.Scan:
			found = found || r.once(n.Var)
		case *queryplan.Join:
			found = found || n.Kind != queryplan.Inner &&
				(hasGroups(n.Right) || multiplies(n.Right))
		}
	})
	return found
}

// once reports whether a predicate is derived by one rule and used once.
func (r *restricter) once(v *queryplan.Var) bool {
	d := r.defs[v]
	return d != nil && !d.pinned && len(d.inserts) == 1 && len(r.uses[v]) == 1
}

// open returns the tree that derives a predicate with one use, as a set, if n
// only reads that predicate.
func (r *restricter) open(n queryplan.Node) (queryplan.Node, *queryplan.Var) {
	s, ok := n.(*queryplan.Scan)
	if p, isProject := n.(*queryplan.Project); isProject {
		s, ok = p.Input.(*queryplan.Scan)
	}
	if !ok || !r.once(s.Var) {
		return n, nil
	}
	at := r.uses[s.Var][0]
	scans := 0
	for _, c := range at.block.Cmds {
		if n := queryplan.CommandNode(c); n != nil {
			scans += len(list.Filter(queryplan.Scans(n), func(other *queryplan.Scan) bool {
				return other.Var == s.Var
			}))
		}
	}
	d := r.defs[s.Var]
	tree := r.view(s.Var)
	if scans != 1 || tree == nil || at.number <= d.merged || !r.Dominates(d.block, at.block) ||
		!multiplies(tree) || treeSize(tree) > maxInlined {
		return n, nil
	}
	if !queryplan.IsSet(tree) {
		tree = &queryplan.Dedup{Input: tree}
	}
	return putInPlace(n, s.Var, tree, true), s.Var
}

// multiplies reports whether a tree joins relations such that a tuple of one
// may match several of another.
func multiplies(n queryplan.Node) bool {
	switch n := n.(type) {
	case *queryplan.Join:
		return n.Kind == queryplan.Inner && !n.MatchesOnce() || multiplies(n.Left) ||
			n.Kind == queryplan.Inner && multiplies(n.Right)
	case *queryplan.Filter, *queryplan.Map, *queryplan.Project:
		return multiplies(n.Inputs()[0])
	}
	return false
}

// hasGroups reports whether a tree is an aggregate or a set, under filters and
// projections.
func hasGroups(n queryplan.Node) bool {
	switch n := n.(type) {
	case *queryplan.Aggregate:
		return len(n.By) > 0
	case *queryplan.Dedup:
		return true
	case *queryplan.Filter, *queryplan.Map, *queryplan.Project:
		return hasGroups(n.Inputs()[0])
	case *queryplan.Join:
		return hasGroups(n.Left) || hasGroups(n.Right)
	}
	return false
}

// fewTuples is a part of a conjunction that is computed first: one relation,
// and the relations of which at most one tuple matches each of its tuples.
type fewTuples struct {
	whole *joins.Conjunction
	rels  []bool
	tree  queryplan.Node
	have  map[string]bool // the columns of the part, whether shown or not
	// maps, conds and semis mark what of the whole conjunction is in the part.
	maps, conds, semis []bool
	consumers          []consumer // the consumers that the part may restrict
	late               []bool     // marks semis that are consumers
	// more holds columns that consumers use instead of reading a row again.
	more map[string]bool
}

// neutral is the smallest factor by which a relation must reduce the tuples to
// be worth being in the part.
const neutral = 1.1

// fewFrom returns the part around a relation. It includes the relations that
// are joined on a key of theirs, directly or through one another, and reduce
// the tuples.
func (r *restricter) fewFrom(c *joins.Conjunction, first int, consumes, late []bool) *fewTuples {
	f := &fewTuples{whole: c, rels: make([]bool, len(c.Rels)), late: late}
	f.rels[first] = true
	f.extend()
	var added []int
	for again := true; again; {
		again = false
		for i, rel := range c.Rels {
			if f.rels[i] || consumes[i] {
				continue
			}
			on := slices.DeleteFunc(trees.Columns(rel), func(name string) bool {
				return !f.have[name]
			})
			if len(on) > 0 && queryplan.IsKey(rel, on) {
				f.rels[i], again = true, true
				added = append(added, i)
				f.extend()
			}
		}
	}
	f.complete()
	rows := r.est.Rows(f.tree)
	for _, i := range slices.Backward(added) {
		less := &fewTuples{whole: c, rels: slices.Clone(f.rels), late: late}
		less.rels[i] = false
		less.complete()
		if more := r.est.Rows(less.tree); more <= neutral*rows {
			f, rows = less, more
		}
	}
	return f
}

// extend determines which columns the relations of the part have or can
// compute.
func (f *fewTuples) extend() {
	c := f.whole
	f.have = map[string]bool{}
	for i, rel := range c.Rels {
		if f.rels[i] {
			for _, name := range trees.Columns(rel) {
				f.have[name] = true
			}
		}
	}
	f.maps = make([]bool, len(c.Maps))
	for again := true; again; {
		again = false
		for i, m := range c.Maps {
			if used := queryplan.ExprColumns(m.Expr); !f.maps[i] && len(used) > 0 &&
				f.hasAll(used) {
				f.maps[i], f.have[m.Name], again = true, true, true
			}
		}
	}
}

func (f *fewTuples) hasAll(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !f.have[name] })
}

// complete determines what else of the whole conjunction the part can compute,
// and builds the part.
func (f *fewTuples) complete() {
	f.extend()
	c, part := f.whole, &joins.Conjunction{Names: f.whole.Names}
	for i, rel := range c.Rels {
		if f.rels[i] {
			part.Rels = append(part.Rels, rel)
		}
	}
	for i, m := range c.Maps {
		if f.maps[i] {
			part.Maps = append(part.Maps, m)
		}
	}
	f.conds = make([]bool, len(c.Conds))
	for i, cond := range c.Conds {
		if used := queryplan.ExprColumns(cond); len(used) > 0 && f.hasAll(used) {
			f.conds[i] = true
			part.Conds = append(part.Conds, cond)
		}
	}
	f.semis = make([]bool, len(c.Semis))
	for i, s := range c.Semis {
		if used := trees.Columns(s.Right); len(used) > 0 && f.hasAll(used) && !f.isLate(i) {
			f.semis[i] = true
			part.Semis = append(part.Semis, s)
		}
	}
	used := f.usedOutside()
	for _, rel := range part.Rels {
		for _, name := range trees.Columns(rel) {
			part.Show(name, used)
		}
	}
	for _, m := range part.Maps {
		part.Show(m.Name, used)
	}
	f.tree = part.Assemble(joins.LeftDeep(len(part.Rels)), joins.Site{})
}

// isLate reports whether a semijoin must stay out of the part.
func (f *fewTuples) isLate(semi int) bool { return f.late != nil && f.late[semi] }

// usedOutside returns the columns that the rest of the conjunction uses.
func (f *fewTuples) usedOutside() map[string]bool {
	c, used := f.whole, map[string]bool{}
	use := func(names []string) {
		for _, name := range names {
			used[name] = true
		}
	}
	for i, rel := range c.Rels {
		if !f.rels[i] {
			use(trees.Columns(rel))
		}
	}
	for i, m := range c.Maps {
		if !f.maps[i] {
			use([]string{m.Name})
			use(queryplan.ExprColumns(m.Expr))
		}
	}
	for i, cond := range c.Conds {
		if !f.conds[i] {
			use(queryplan.ExprColumns(cond))
		}
	}
	for i, s := range c.Semis {
		if !f.semis[i] {
			use(trees.Columns(s.Right))
		}
	}
	for _, o := range c.Out {
		use([]string{o.From})
	}
	maps.Copy(used, f.more)
	return used
}

// rest returns the conjunction in which a relation replaces the part. The
// relation comes first.
func (f *fewTuples) rest(first queryplan.Node) *joins.Conjunction {
	c := f.whole
	rest := &joins.Conjunction{Names: c.Names, Out: c.Out, Rels: []queryplan.Node{first}}
	for i, r := range c.Rels {
		if !f.rels[i] {
			rest.Rels = append(rest.Rels, r)
		}
	}
	for i, m := range c.Maps {
		if !f.maps[i] {
			rest.Maps = append(rest.Maps, m)
		}
	}
	for i, cond := range c.Conds {
		// A condition on a join column also holds for the other side.
		names := queryplan.ExprColumns(cond)
		other := slices.ContainsFunc(rest.Rels[1:], func(r queryplan.Node) bool {
			return trees.HasAll(trees.Columns(r), names)
		})
		if !f.conds[i] || other {
			rest.Conds = append(rest.Conds, cond)
		}
	}
	for i, s := range c.Semis {
		if !f.semis[i] {
			rest.Semis = append(rest.Semis, s)
		}
	}
	return rest
}

// saves estimates the cost that is saved if the consumers are restricted to the
// part.
func (f *fewTuples) saves(r *restricter) float64 {
	saved := 0.0
	for _, x := range f.consumers {
		if s, ok := f.savesFor(r, x); ok {
			saved += s
		}
	}
	return saved - keepCost*r.est.Rows(f.tree)
}

// savesFor estimates the cost that restricting one consumer saves. ok is false
// if the consumer should not be restricted.
func (f *fewTuples) savesFor(r *restricter, x consumer) (saved float64, ok bool) {
	few := true
	_, ok = x.restrict(f.matching(x),
		func(in queryplan.Node, on []queryplan.Rename, set bool) queryplan.Node {
			out, test := f.ofPart(r.rows, in, f.tree, on, set), 0.0
			if out == nil {
				out, test = semiJoin(in, f.tree, on), matchCost
			}
			before, after := r.est.Rows(in), r.est.Rows(out)
			few = few && after <= mostLeft*before
			saved += groupCost*(before-after) - test*before
			return out
		})
	return saved, ok && few && saved > min(leastSaved, 0)
}

// restrict applies f to the tuples that the groups of a consumer are made from,
// or to the pairs that a semijoin looks up.
func (x consumer) restrict(on []queryplan.Rename, f matcher) (queryplan.Node, bool) {
	out, ok := matchGroups(x.node, on, f)
	if !ok && len(on) > 0 && x.rel < 0 && multiplies(x.node) {
		return f(x.node, on, true), true
	}
	return out, ok
}

// matching returns the columns that the part shares with a consumer.
func (f *fewTuples) matching(x consumer) []queryplan.Rename {
	var on []queryplan.Rename
	theirs := trees.Columns(x.node)
	for _, name := range trees.Columns(f.tree) {
		if slices.Contains(theirs, name) {
			on = append(on, queryplan.Rename{From: name, To: name})
		}
	}
	return on
}

// semiJoin keeps the tuples of n that match a tuple of few. on maps few's
// columns to n's.
func semiJoin(n, few queryplan.Node, on []queryplan.Rename) queryplan.Node {
	j := &queryplan.Join{Kind: queryplan.Semi, Left: n, Right: trees.Rename(few, on)}
	j.Unique = j.MatchesOnce()
	return j
}

// matcher restricts a tree to the tuples that match one of few. on maps the
// columns of few to those of the tree. set means that repeated tuples do not
// matter.
type matcher func(in queryplan.Node, on []queryplan.Rename, set bool) queryplan.Node

// matchGroups applies restrict to the tuples that the groups of a tree are made
// from. on maps columns of the tuples to match (From) to those of the tree
// (To). It fails if nothing is grouped by any of the columns.
func matchGroups(n queryplan.Node, on []queryplan.Rename,
	restrict matcher) (queryplan.Node, bool) {
	if len(on) == 0 {
		return n, false
	}
	among := func(names []string) []queryplan.Rename {
		return slices.DeleteFunc(slices.Clone(on), func(r queryplan.Rename) bool {
			return !slices.Contains(names, r.To)
		})
	}
	over := func(in queryplan.Node, on []queryplan.Rename) (queryplan.Node, bool) {
		out, ok := matchGroups(in, on, restrict)
		return queryplan.WithInputs(n, []queryplan.Node{out}), ok
	}
	switch n := n.(type) {
	case *queryplan.Filter:
		return over(n.Input, on)
	case *queryplan.Map:
		return over(n.Input, among(trees.Columns(n.Input)))
	case *queryplan.Project:
		var below []queryplan.Rename
		for _, r := range on {
			at := slices.IndexFunc(n.Cols, func(c queryplan.Rename) bool { return c.To == r.To })
			from := n.Cols[at].From
			if !slices.ContainsFunc(below, func(b queryplan.Rename) bool { return b.To == from }) {
				below = append(below, queryplan.Rename{From: r.From, To: from})
			}
		}
		return over(n.Input, below)
	case *queryplan.Aggregate, *queryplan.Dedup:
		in := n.Inputs()[0]
		if a, ok := n.(*queryplan.Aggregate); ok {
			if on = among(a.By); len(on) == 0 {
				return n, false
			}
		}
		if hasGroups(in) && !trees.IsVolatile(in) {
			if out, ok := matchGroups(in, on, restrict); ok {
				return queryplan.WithInputs(n, []queryplan.Node{out}), true
			}
		}
		return queryplan.WithInputs(n, []queryplan.Node{
			restrict(in, on, joins.InputSet(n, false))}), true
	case *queryplan.Join:
		if n.Kind != queryplan.Inner {
			return n, false
		}
		left, ok := matchGroups(n.Left, among(trees.Columns(n.Left)), restrict)
		right, too := matchGroups(n.Right, among(trees.Columns(n.Right)), restrict)
		return queryplan.WithInputs(n, []queryplan.Node{left, right}), ok || too
	}
	return n, false
}

// apply computes the part into a temporary and restricts the consumers that
// become cheaper by it.
func (f *fewTuples) apply(r *restricter) queryplan.Node {
	f.showRows(r)
	few, assign := newTemporary(r.names.Fresh("few"), f.tree)
	r.Vars = append(r.Vars, few)
	r.before = append(r.before, assign)
	scan := &queryplan.Scan{Var: few, Names: make([]string, len(few.Cols))}
	for i, c := range few.Cols {
		scan.Names[i] = c.Name
	}

	c := f.whole
	rest := &joins.Conjunction{Names: c.Names, Out: c.Out, Rels: []queryplan.Node{scan}}
	for i, m := range c.Maps {
		if !f.maps[i] {
			rest.Maps = append(rest.Maps, m)
		}
	}
	for i, cond := range c.Conds {
		if !f.conds[i] {
			rest.Conds = append(rest.Conds, cond)
		}
	}
	restricted := map[int]queryplan.Node{}
	semis := slices.Clone(c.Semis)
	for _, x := range f.consumers {
		if _, ok := f.savesFor(r, x); !ok {
			continue
		}
		out, _ := x.restrict(f.matching(x),
			func(in queryplan.Node, on []queryplan.Rename, set bool) queryplan.Node {
				return f.matches(r.rows, in, scan, on, set)
			})
		if x.of != nil {
			r.defs[x.of].inserts = nil
		}
		if x.rel >= 0 {
			restricted[x.rel] = out
		} else {
			semis[x.at].Right = out
		}
	}
	for i, s := range semis {
		if !f.semis[i] {
			rest.Semis = append(rest.Semis, s)
		}
	}
	for i, rel := range c.Rels {
		if out := restricted[i]; out != nil {
			rest.Rels = append(rest.Rels, out)
		} else if !f.rels[i] {
			rest.Rels = append(rest.Rels, rel)
		}
	}
	return rest.Assemble(joins.LeftDeep(len(rest.Rels)), joins.Site{})
}

// newTemporary returns a temporary for the result of a tree, and the command
// that fills it. The columns of a known key come first.
func newTemporary(name string, tree queryplan.Node) (*queryplan.Var, queryplan.Command) {
	cols := tree.Columns()
	v := &queryplan.Var{Name: name, Kind: queryplan.Temp, Keys: len(cols), Limit: -1}
	if keys := queryplan.Keys(tree); len(keys) > 0 && len(keys[0]) > 0 {
		v.Keys, v.Unique = len(keys[0]), true
		slices.SortStableFunc(cols, func(a, b queryplan.Column) int {
			return boolInt(!slices.Contains(keys[0], a.Name)) - boolInt(!slices.Contains(keys[0],
				b.Name))
		})
	}
	v.Cols = cols
	return v, &queryplan.Assign{Var: v, Node: trees.WithColumns(tree, cols)}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
