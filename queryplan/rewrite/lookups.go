package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var groupBeforeLookups = &Pass{
	Name: "GroupBeforeLookups",
	Reason: "A join that only fetches what a key determines, of which groups are made, is done once " +
		"for a group and not for every tuple, and the groups' keys are shorter.",
	Unless: "The key is not among the columns of the groups, something else uses what is fetched, " +
		"or the join leaves out many tuples.",
	Before: "aggregate [c, name] t: int = total(v)\n  unique join c\n    scan orders(c, v)\n" +
		"    scan customer(c, name)",
	After: "unique join c\n  aggregate [c] t: int = total(v)\n    scan orders(c, v)\n" +
		"  scan customer(c, name)",
	Source: "eager aggregation: Yan, Larson, VLDB 1995; Chaudhuri, Shim, VLDB 1994",
	run: func(p *program) error {
		est := stats.NewEstimator(p.Plan, p.catalog)
		p.rewriteTrees(func(_ *queryplan.Block, _ queryplan.Command,
			n queryplan.Node) queryplan.Node {
			return queryplan.Rewrite(n, func(n queryplan.Node) queryplan.Node {
				if a, ok := n.(*queryplan.Aggregate); ok {
					return groupFirst(a, est)
				}
				return n
			})
		})
		return nil
	},
}

var limitBeforeLookups = &Pass{
	Name: "LimitBeforeLookups",
	Reason: "What a key determines, such as names and addresses, is fetched for the first tuples " +
		"only, once these are found; before that it is only asked whether it is there.",
	Unless: "The order depends on what is fetched: it is among the columns to order by, or breaks a " +
		"tie because no column before it determines it; or there are few tuples anyway beside those " +
		"it is fetched from.",
	Before: "topk 3 order [t desc]\n  unique join c\n    scan total(c, t)\n    scan customer(c, name)",
	After: "unique join c\n  topk 3 order [t desc]\n    unique semi join c\n" +
		"      scan total(c, t)\n      scan customer(c, _)\n  scan customer(c, name)",
	Source: "late materialisation: Abadi et al., ICDE 2007; Carey, Kossmann, On saying \"enough " +
		"already!\" in SQL, SIGMOD 1997",
	run: func(p *program) error {
		est := stats.NewEstimator(p.Plan, p.catalog)
		p.rewriteTrees(func(_ *queryplan.Block, _ queryplan.Command,
			n queryplan.Node) queryplan.Node {
			return queryplan.Rewrite(n, func(n queryplan.Node) queryplan.Node {
				if k, ok := n.(*queryplan.TopK); ok && len(k.Group) == 0 {
					return limitFirst(k, est)
				}
				return n
			})
		})
		return nil
	},
}

// lookups are the relations of a conjunction that only fetch columns. Each is
// joined on a key of it, and only the result and other lookups use its other
// columns.
type lookups struct {
	*joins.Conjunction
	moved []int // those that are looked up later, the ones that need others' columns first
	kept  []bool
	// key is what a relation is looked up by, own what it fetches.
	key, own [][]string
}

// findLookups finds the lookups of a conjunction. It keeps one relation.
func findLookups(
	c *joins.Conjunction, allowed func(rel queryplan.Node, own []string) bool,
) *lookups {
	n := len(c.Rels)
	l := &lookups{Conjunction: c, kept: make([]bool, n), key: make([][]string, n),
		own: make([][]string, n)}
	left := n
	for i := range l.kept {
		l.kept[i] = true
	}
	used := map[string]bool{}
	use := func(names []string) {
		for _, name := range names {
			used[name] = true
		}
	}
	for _, cond := range c.Conds {
		use(queryplan.ExprColumns(cond))
	}
	for _, m := range c.Maps {
		use(queryplan.ExprColumns(m.Expr))
		use([]string{m.Name})
	}
	for _, s := range c.Semis {
		use(trees.Columns(s.Right))
	}
	for again := true; again; {
		again = false
		for i, rel := range c.Rels {
			if !l.kept[i] || left == 1 {
				continue
			}
			key, own := l.split(i)
			if len(key) == 0 || len(own) == 0 || !isMinimalKey(rel, key) || !allowed(rel, own) ||
				slices.ContainsFunc(own, func(name string) bool { return used[name] }) {
				continue
			}
			l.kept[i], l.key[i], l.own[i], again = false, key, own, true
			l.moved = append(l.moved, i)
			left--
		}
	}
	return l
}

// isMinimalKey reports whether columns are a minimal key of a relation. A
// further column would be the key of another lookup, which comes first.
func isMinimalKey(rel queryplan.Node, cols []string) bool {
	return slices.ContainsFunc(queryplan.Keys(rel), func(key []string) bool {
		return len(key) == len(cols) && trees.HasAll(cols, key)
	})
}

// split returns the columns of a relation that other kept relations or computed
// columns also have, and those that only it has.
func (l *lookups) split(rel int) (key, own []string) {
	for _, name := range trees.Columns(l.Rels[rel]) {
		shared := slices.ContainsFunc(l.Maps, func(m queryplan.NamedExpr) bool {
			return m.Name == name
		})
		for i, other := range l.Rels {
			if _, has := queryplan.ColumnOf(other, name); has && i != rel && l.kept[i] {
				shared = true
			}
		}
		if shared {
			key = append(key, name)
		} else {
			own = append(own, name)
		}
	}
	return key, own
}

// settle keeps the relations that cannot be lookups: those that fail a test,
// and those whose keys are neither among the given columns nor fetched by
// another lookup. If one of them needs a fetched column, all are kept.
func (l *lookups) settle(have []string, passes func(rel int) bool) {
	have = slices.Clone(have)
	var moved []int
	for _, i := range slices.Backward(l.moved) {
		if trees.HasAll(have, l.key[i]) && passes(i) {
			have = append(have, l.own[i]...)
			moved = append(moved, i)
			continue
		}
		l.kept[i] = true
		if slices.ContainsFunc(moved, func(m int) bool {
			return len(intersect(l.key[i], l.own[m])) > 0
		}) {
			moved = nil
			break
		}
	}
	l.moved = moved
}

// first returns the conjunction of the relations that are kept.
func (l *lookups) first(out []queryplan.Rename) *joins.Conjunction {
	c := &joins.Conjunction{Maps: l.Maps, Conds: l.Conds, Semis: slices.Clone(l.Semis),
		Names: l.Names,
		Out:   out}
	for i, rel := range l.Rels {
		if l.kept[i] {
			c.Rels = append(c.Rels, rel)
		}
	}
	return c
}

// after joins the lookups to a tree.
func (l *lookups) after(n queryplan.Node) queryplan.Node {
	for _, i := range l.moved {
		j := &queryplan.Join{Kind: queryplan.Inner, Left: n, Right: l.Rels[i]}
		j.Unique = j.MatchesOnce()
		n = j
	}
	return n
}

// shown returns the columns of the result that kept relations have or that are
// computed, by their names in the conjunction.
func (l *lookups) shown() (cols []string) {
	for _, o := range l.Out {
		here := slices.ContainsFunc(l.Maps, func(m queryplan.NamedExpr) bool {
			return m.Name == o.From
		})
		for i, rel := range l.Rels {
			if _, has := queryplan.ColumnOf(rel, o.From); has && l.kept[i] {
				here = true
			}
		}
		if here && !slices.Contains(cols, o.From) {
			cols = append(cols, o.From)
		}
	}
	return cols
}

// manyLeft is the least share of tuples that a lookup must keep to move behind
// groups.
const manyLeft = 0.8

// groupFirst moves lookups behind an aggregate.
func groupFirst(a *queryplan.Aggregate, est *stats.Estimator) queryplan.Node {
	if len(a.By) < 2 || !joins.InConjunction(a.Input) {
		return a
	}
	c := joins.Flatten(trees.Project(a.Input, identity(joins.Aggregated(a))))
	l := findLookups(c, func(_ queryplan.Node, own []string) bool {
		return !slices.ContainsFunc(c.Out, func(o queryplan.Rename) bool {
			return slices.Contains(own, o.From) &&
				slices.ContainsFunc(a.Aggs, func(g queryplan.Agg) bool {
					return g.Fn != queryplan.Count && g.In == o.To
				})
		})
	})
	if len(l.moved) == 0 {
		return a
	}
	var by []string // the groups' columns that the kept relations have
	from := map[string]string{}
	for _, o := range c.Out {
		from[o.To] = o.From
	}
	shown := l.shown()
	for _, name := range a.By {
		if slices.Contains(shown, from[name]) {
			by = append(by, from[name])
		}
	}
	l.settle(by, func(rel int) bool {
		key := l.key[rel]
		rows := est.Rows(l.Rels[rel])
		distinct := 0.0
		for _, r := range l.Rels {
			if e := est.Of(r); slices.ContainsFunc(key,
				func(name string) bool { _, has := e.Cols[name]; return has }) {
				distinct = max(distinct, e.Distinct(intersect(key, trees.Columns(r))))
			}
		}
		return rows >= manyLeft*distinct
	})
	if len(l.moved) == 0 {
		return a
	}
	shown = l.shown()
	agg := &queryplan.Aggregate{}
	var out []queryplan.Rename
	for _, name := range shown {
		out = append(out, queryplan.Rename{From: name, To: name})
	}
	for _, name := range a.By {
		if col := from[name]; slices.Contains(shown, col) && !slices.Contains(agg.By, col) {
			agg.By = append(agg.By, col)
		}
	}
	taken := queryplan.NewNames()
	for _, rel := range c.Rels {
		for _, name := range trees.Columns(rel) {
			taken.Take(name)
		}
	}
	for _, name := range shown {
		taken.Take(name)
	}
	var cols []queryplan.Rename
	for _, name := range a.By {
		cols = append(cols, queryplan.Rename{From: from[name], To: name})
	}
	for _, g := range a.Aggs {
		made := queryplan.Agg{Out: queryplan.Column{Name: taken.Fresh(g.Out.Name),
			Type: g.Out.Type},
			Fn: g.Fn, In: from[g.In]}
		agg.Aggs = append(agg.Aggs, made)
		cols = append(cols, queryplan.Rename{From: made.Out.Name, To: g.Out.Name})
	}
	first := l.first(out)
	agg.Input = first.Assemble(joins.LeftDeep(len(first.Rels)), joins.Site{})
	return trees.Project(l.after(agg), cols)
}

func intersect(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool {
		return !slices.Contains(b, name)
	})
}

// askedShare is the least share of the tuples of a relation that must be looked
// up. Below it, asking first whether they are there costs too much, because it
// may need another index.
const askedShare = 0.25

// limitFirst moves lookups behind a top-k.
func limitFirst(k *queryplan.TopK, est *stats.Estimator) queryplan.Node {
	in := k.Input
	dedup, isDedup := in.(*queryplan.Dedup)
	if isDedup {
		in = dedup.Input
	}
	if !joins.InConjunction(in) {
		return k
	}
	c := joins.Flatten(in)
	ordered := map[string]bool{}
	for _, o := range c.Out {
		if slices.ContainsFunc(k.By, func(key queryplan.OrderKey) bool { return key.Col == o.To }) {
			ordered[o.From] = true
		}
	}
	l := findLookups(c, func(_ queryplan.Node, own []string) bool {
		return !slices.ContainsFunc(own, func(name string) bool { return ordered[name] })
	})
	if len(l.moved) == 0 {
		return k
	}
	// Ties are broken by the columns from the first to the last.
	var sequence []string
	for _, key := range k.By {
		sequence = append(sequence, key.Col)
	}
	for _, o := range c.Out {
		if !slices.Contains(sequence, o.To) {
			sequence = append(sequence, o.To)
		}
	}
	from := map[string]string{}
	for _, o := range c.Out {
		from[o.To] = o.From
	}
	rows := est.Rows(in)
	l.settle(l.shown(), func(rel int) bool {
		if rows < askedShare*est.Rows(l.Rels[rel]) {
			return false
		}
		for i, name := range sequence {
			if slices.Contains(l.own[rel], from[name]) &&
				!queryplan.Determines(in, sequence[:i], []string{name}) {
				return false
			}
		}
		return true
	})
	if len(l.moved) == 0 {
		return k
	}
	shown := l.shown()
	top := &queryplan.TopK{Limit: k.Limit}
	for _, key := range k.By {
		// Several columns of the result may be one column of a relation.
		if col := from[key.Col]; !slices.ContainsFunc(top.By, func(by queryplan.OrderKey) bool {
			return by.Col == col
		}) {
			top.By = append(top.By, queryplan.OrderKey{Col: col, Desc: key.Desc})
		}
	}
	// The columns come in the order in which they break ties.
	var out []queryplan.Rename
	for _, o := range c.Out {
		name := queryplan.Rename{From: o.From, To: o.From}
		if slices.Contains(shown, o.From) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	first := l.first(out)
	if !l.ask(first, shown) {
		return k
	}
	top.Input = first.Assemble(joins.LeftDeep(len(first.Rels)), joins.Site{})
	if isDedup {
		top.Input = &queryplan.Dedup{Input: top.Input}
	}
	return trees.Project(l.after(top), c.Out)
}

// ask makes the lookups semijoins of a conjunction whose result has the columns
// shown. A lookup whose key another one fetches restricts that one. It reports
// whether each key is at hand.
func (l *lookups) ask(first *joins.Conjunction, shown []string) bool {
	asked := map[int]queryplan.Node{}
	for _, i := range slices.Backward(l.moved) {
		right := trees.Project(l.Rels[i], identity(l.key[i]))
		if asked[i] != nil {
			right = trees.Project(asked[i], identity(l.key[i]))
		}
		if trees.HasAll(shown, l.key[i]) {
			first.Semis = append(first.Semis, joins.Semijoin{Kind: queryplan.Semi, Right: right})
			continue
		}
		at := slices.IndexFunc(l.moved, func(m int) bool {
			return trees.HasAll(l.own[m], l.key[i])
		})
		if at < 0 {
			return false
		}
		through := l.moved[at]
		if asked[through] == nil {
			asked[through] = l.Rels[through]
		}
		j := &queryplan.Join{Kind: queryplan.Semi, Left: asked[through], Right: right}
		j.Unique = j.MatchesOnce()
		asked[through] = j
	}
	return true
}
