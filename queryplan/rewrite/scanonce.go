package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var scanOnceForGroups = &Pass{
	Name: "ScanOnceForGroups",
	Reason: "Tuples that are compared with an aggregate of their own group, where only some groups " +
		"are made, are read once: those of these groups go into a temporary, and both the aggregate " +
		"and what it is compared with are made of it.",
	Unless: "What restricts the groups looks at other columns than those they are made by, or may " +
		"match a tuple twice; or nothing says that much is left out.",
	Before: "unique join p\n  scan item(_, p, q)\n  aggregate [p] a: int = max(r)\n" +
		"    unique semi join p\n      scan item(_, p, r)\n      filter eq(b, 5)\n" +
		"        scan part(p, b)",
	After: "assign grouped\n  unique semi join p\n    scan item(_, p, q)\n    filter eq(b, 5)\n" +
		"      scan part(p, b)\n\nunique join p\n  scan grouped(p, q)\n" +
		"  aggregate [p] a: int = max(r)\n    scan grouped(p, r)",
	Source: "window aggregation in place of a correlated subquery: Zuzarte et al., WinMagic, SIGMOD " +
		"2003",
	run: func(p *program) error {
		s := &scanSharer{program: p, est: stats.NewEstimator(p.Plan, p.catalog),
			names: queryplan.VarNames(p.Plan)}
		p.outsideLoops(&s.before, s.share)
		return nil
	},
}

// leastScanned is the least number of tuples for which reading them once is
// worth a temporary. Tests lower it.
var leastScanned = 10000.0

type scanSharer struct {
	*program
	est    *stats.Estimator
	names  *queryplan.Names
	before []queryplan.Command
}

// share is called for each conjunction, inner ones first.
func (s *scanSharer) share(n queryplan.Node, at joins.Site) queryplan.Node {
	if !hasGroups(n) {
		return n
	}
	c := joins.Flatten(n)
	if at.Want != nil {
		c.Out = slices.DeleteFunc(c.Out, func(r queryplan.Rename) bool {
			return !slices.Contains(at.Want, r.To)
		})
	}
	for i, rel := range c.Rels {
		groups, names := groupsOf(rel)
		if groups == nil {
			continue
		}
		for j, other := range c.Rels {
			if scan, ok := other.(*queryplan.Scan); ok && isStored(scan) {
				if s.together(c, i, j, groups, names, scan) {
					return c.Assemble(joins.LeftDeep(len(c.Rels)), joins.Site{})
				}
			}
		}
	}
	return n
}

// isStored reports whether a scan reads facts.
func isStored(s *queryplan.Scan) bool {
	return s.Var.Kind == queryplan.Input || s.Var.Kind == queryplan.Table
}

// groupsOf returns the aggregate below a relation of a conjunction, and the
// relation's name of each of its columns.
func groupsOf(n queryplan.Node) (*queryplan.Aggregate, map[string]string) {
	shown := map[string]string{}
	switch n := n.(type) {
	case *queryplan.Aggregate:
		for _, name := range trees.Columns(n) {
			shown[name] = name
		}
		return n, shown
	case *queryplan.Project:
		if a, ok := n.Input.(*queryplan.Aggregate); ok {
			for _, r := range n.Cols {
				shown[r.From] = r.To
			}
			return a, shown
		}
	}
	return nil, nil
}

// together reads relation j of a conjunction, a scan, and the groups of
// relation i from one temporary, if the groups are made of tuples of the same
// variable.
func (s *scanSharer) together(c *joins.Conjunction, i, j int, groups *queryplan.Aggregate,
	names map[string]string, scan *queryplan.Scan) bool {
	in := joins.Flatten(trees.Project(groups.Input, identity(joins.Aggregated(groups))))
	at := slices.IndexFunc(in.Rels, func(r queryplan.Node) bool {
		own, ok := r.(*queryplan.Scan)
		return ok && own.Var == scan.Var
	})
	if at < 0 || len(in.Rels)+len(in.Semis)+len(in.Conds) == 1 {
		return false
	}
	own := in.Rels[at].(*queryplan.Scan)
	// The grouping columns that both have in common.
	to := map[string]string{} // names there to names here
	for k, name := range own.Names {
		for _, o := range in.Out {
			if name != "" && o.From == name && slices.Contains(groups.By, o.To) &&
				names[o.To] != "" &&
				names[o.To] == scan.Names[k] {
				to[name] = scan.Names[k]
			}
		}
	}
	if len(to) == 0 || !s.restrictsBy(in, at, to) {
		return false
	}
	// The temporary has the columns of both scans.
	both := slices.Clone(scan.Names)
	for k, name := range own.Names {
		if name != "" && both[k] == "" {
			both[k] = c.Names.Fresh(name)
		}
	}
	part := s.restricted(c, in, at, to, &queryplan.Scan{Var: scan.Var, Version: scan.Version,
		Names: both})
	if rows := s.est.Rows(scan); rows < leastScanned || s.est.Rows(part) > mostLeft*rows {
		return false
	}
	v, assign := newTemporary(s.names.Fresh("grouped"), part)
	s.Vars = append(s.Vars, v)
	s.before = append(s.before, assign)
	here, there := make([]string, len(v.Cols)), make([]string, len(v.Cols))
	for k, col := range v.Cols {
		pos := slices.Index(both, col.Name)
		here[k], there[k] = scan.Names[pos], own.Names[pos]
	}
	c.Rels[j] = &queryplan.Scan{Var: v, Names: here}
	input := &joins.Conjunction{Rels: []queryplan.Node{&queryplan.Scan{Var: v, Names: there}},
		Maps: in.Maps, Out: in.Out, Names: in.Names}
	made := &queryplan.Aggregate{Input: input.Assemble(joins.LeftDeep(1), joins.Site{}),
		By:   groups.By,
		Aggs: groups.Aggs}
	var cols []queryplan.Rename
	for _, name := range trees.Columns(made) {
		if names[name] != "" {
			cols = append(cols, queryplan.Rename{From: name, To: names[name]})
		}
	}
	c.Rels[i] = trees.Project(made, cols)
	return true
}

// restrictsBy reports whether a conjunction only restricts its relation at: its
// conditions on the relation use only the given columns, each tuple comes out
// at most once, and the result has no column of other relations.
func (s *scanSharer) restrictsBy(in *joins.Conjunction, at int, by map[string]string) bool {
	own := trees.Columns(in.Rels[at])
	free := func(names []string) bool {
		return !slices.ContainsFunc(names, func(name string) bool {
			return slices.Contains(own, name) && by[name] == ""
		})
	}
	computed := map[string]bool{}
	bounds := s.catalog.Bounds(in.Rels[at])
	for _, m := range in.Maps {
		// Computed columns are for the aggregate, and are computed after the
		// temporary.
		if !trees.HasAll(own, queryplan.ExprColumns(m.Expr)) || !stats.AlwaysFits(m.Expr, bounds) ||
			in.Sources()[m.Name] > 1 {
			return false
		}
		computed[m.Name] = true
	}
	for _, o := range in.Out {
		if !computed[o.From] && !slices.Contains(own, o.From) {
			return false
		}
	}
	asks := func(names []string) bool {
		return free(names) && !slices.ContainsFunc(names, func(name string) bool {
			return computed[name]
		})
	}
	for _, cond := range in.Conds {
		if !asks(queryplan.ExprColumns(cond)) {
			return false
		}
	}
	for _, x := range in.Semis {
		if !asks(trees.Columns(x.Right)) {
			return false
		}
	}
	have, left := slices.Clone(own), len(in.Rels)-1
	done := make([]bool, len(in.Rels))
	for again := true; again; {
		again = false
		for i, r := range in.Rels {
			cols := trees.Columns(r)
			if i == at || done[i] || !free(cols) {
				continue
			}
			if on := intersect(cols, have); len(on) > 0 && queryplan.IsKey(r, on) {
				done[i], again = true, true
				have = append(have, cols...)
				left--
			}
		}
	}
	return left == 0
}

// restricted returns the tuples of a scan that the other relations of a
// conjunction leave, with the column names of another scan.
func (s *scanSharer) restricted(
	c, in *joins.Conjunction, at int, to map[string]string, scan *queryplan.Scan,
) queryplan.Node {
	name := func(old string) string {
		if to[old] == "" {
			to[old] = c.Names.Fresh(old)
		}
		return to[old]
	}
	all := func(n queryplan.Node) queryplan.Node {
		var cols []queryplan.Rename
		for _, col := range trees.Columns(n) {
			cols = append(cols, queryplan.Rename{From: col, To: name(col)})
		}
		return trees.Rename(n, cols)
	}
	part := &joins.Conjunction{Names: c.Names, Rels: []queryplan.Node{scan},
		Out: identity(trees.Columns(scan))}
	for i, r := range in.Rels {
		if i != at {
			part.Rels = append(part.Rels, all(r))
		}
	}
	for _, x := range in.Semis {
		part.Semis = append(part.Semis, joins.Semijoin{Kind: x.Kind, Right: all(x.Right)})
	}
	for _, cond := range in.Conds {
		part.Conds = append(part.Conds,
			queryplan.RewriteExpr(cond, func(e queryplan.Expr) queryplan.Expr {
				if ref, ok := e.(*queryplan.ColRef); ok {
					return &queryplan.ColRef{Col: queryplan.Column{Name: name(ref.Col.Name),
						Type: ref.Col.Type}}
				}
				return e
			}))
	}
	return part.Assemble(joins.LeftDeep(len(part.Rels)), joins.Site{})
}
