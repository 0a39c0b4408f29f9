package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

// showRows makes the part show the columns that consumers read of its rows.
func (f *fewTuples) showRows(r *restricter) {
	f.more = map[string]bool{}
	for _, x := range f.consumers {
		if _, ok := f.savesFor(r, x); !ok {
			continue
		}
		x.restrict(f.matching(x),
			func(in queryplan.Node, on []queryplan.Rename, _ bool) queryplan.Node {
				for _, row := range f.rowsAgain(r.rows, joins.Flatten(in), on) {
					for _, col := range row.cols {
						f.more[col.From] = true
					}
				}
				return in
			})
	}
	if len(f.more) > 0 {
		f.complete()
	}
}

// rowAgain is a scan of a consumer that reads a row which the part has read. It
// consists of the scan's position in the conjunction, and the part's columns
// with the scan's names.
type rowAgain struct {
	rel  int
	cols []queryplan.Rename
}

// rowsAgain finds scans that read a row of the part again, by a whole key of
// which the part has one tuple. on maps columns of the part to those of the
// conjunction.
func (f *fewTuples) rowsAgain(g *grouper, in *joins.Conjunction,
	on []queryplan.Rename) []rowAgain {
	theirs := map[string]string{} // the part's names of the conjunction's columns
	for _, out := range in.Out {
		for _, r := range on {
			if r.To == out.To {
				theirs[out.From] = r.From
			}
		}
	}
	var out []rowAgain
	for i, rel := range in.Rels {
		s, ok := rel.(*queryplan.Scan)
		if !ok || s.Position != "" {
			continue
		}
		renamed := *s
		renamed.Names = list.Map(s.Names, func(name string) string { return theirs[name] })
		id := g.rowOf(&renamed)
		if id == "" {
			continue
		}
		for j, mine := range f.whole.Rels {
			first, ok := mine.(*queryplan.Scan)
			if !ok || !f.rels[j] || g.rowOf(first) != id {
				continue
			}
			if cols := g.sameRow(first, s); cols != nil &&
				queryplan.IsKey(f.tree, list.Filter(renamed.Names,
					func(name string) bool { return name != "" })) {
				out = append(out, rowAgain{rel: i, cols: cols})
				break
			}
		}
	}
	return out
}

// ofPart returns, as a set, the tuples of a tree that match one of few, if they
// are certainly computed from few alone. Otherwise it returns nil. few yields
// the tuples of the part. A formula below a negation has such a tree: it binds
// the variables of the formula by what stands beside the negation, which the
// part has read.
func (f *fewTuples) ofPart(g *grouper, in, few queryplan.Node, on []queryplan.Rename,
	set bool) queryplan.Node {
	if !set {
		return nil
	}
	var cols []queryplan.Rename
	for _, name := range trees.Columns(in) {
		at := slices.IndexFunc(on, func(r queryplan.Rename) bool { return r.To == name })
		if at < 0 {
			return nil
		}
		cols = append(cols, on[at])
	}
	part := newRuleBody(g.overTables(trees.Project(f.tree, cols)))
	if !newRuleBody(g.overTables(in)).contains(part) {
		return nil
	}
	return trees.Project(few, cols)
}

// overTables returns a tree that reads the columns of a stored table through
// the table's variable, if the variable has them.
func (g *grouper) overTables(n queryplan.Node) queryplan.Node {
	if s, ok := n.(*queryplan.Scan); ok {
		table, _ := g.tableOf(s.Var)
		if table == nil || table == s.Var || s.Position != "" {
			return s
		}
		out := &queryplan.Scan{Var: table, Version: s.Version,
			Names: make([]string, len(table.Cols))}
		for i, name := range s.Names {
			at, ok := g.findColumn(table, s.Var, i)
			switch {
			case name == "":
			case !ok || out.Names[at] != "":
				return s
			default:
				out.Names[at] = name
			}
		}
		return out
	}
	return queryplan.WithInputs(n, list.Map(n.Inputs(), g.overTables))
}

// matches keeps the tuples of a tree that match one of few. If the tree reads
// rows of few again, few replaces those scans.
func (f *fewTuples) matches(g *grouper, in queryplan.Node, few *queryplan.Scan,
	on []queryplan.Rename, set bool) queryplan.Node {
	if out := f.ofPart(g, in, few, on, set); out != nil {
		return out
	}
	c := joins.Flatten(in)
	rows := f.rowsAgain(g, c, on)
	if len(rows) == 0 {
		return semiJoin(in, few, on)
	}
	left := slices.Clone(on)
	for _, row := range rows {
		c.Rels[row.rel] = trees.Project(few, row.cols)
		left = slices.DeleteFunc(left, func(r queryplan.Rename) bool {
			return slices.ContainsFunc(c.Out, func(out queryplan.Rename) bool {
				return out.To == r.To && slices.Contains(row.cols,
					queryplan.Rename{From: r.From, To: out.From})
			})
		})
	}
	in = c.Assemble(joins.LeftDeep(len(c.Rels)), joins.Site{})
	if len(left) == 0 {
		return in
	}
	return semiJoin(in, few, on)
}
