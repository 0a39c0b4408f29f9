package rewrite

import (
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

var hoistLoopInvariants = &Pass{
	Name: "HoistLoopInvariants",
	Reason: "A part of a recursive rule that reads nothing the loop changes is computed once before " +
		"the loop, into a temporary. If it is the right side of a join, its index is built once, too.",
	Unless: "It only reads, chooses and renames columns, or computes what may change from call to " +
		"call.",
	Before: "block loop:\n  insert tc\n    join y\n      join x\n        scan start(x)\n" +
		"        scan edge(x, y)\n      scan delta tc(y, z)",
	After: "block entry:\n  assign invariant\n    join x\n      scan start(x)\n" +
		"      scan edge(x, y)\nblock loop:\n  insert tc\n    join y\n      scan invariant(x, y)\n" +
		"      scan delta tc(y, z)",
	Source: "Aho, Lam, Sethi, Ullman, Compilers, section 9.5",
	run:    hoistInvariants,
}

func hoistInvariants(p *program) error {
	loop := loops.Changed(p.Plan)
	if len(loop) == 0 {
		return nil
	}
	entries := loops.Entries(p.Plan)
	names := queryplan.VarNames(p.Plan)
	type hoisted struct {
		v    *queryplan.Var
		node queryplan.Node
	}
	done := map[*queryplan.Block][]hoisted{} // by the block that computes them
	p.rewriteTrees(func(b *queryplan.Block, c queryplan.Command, n queryplan.Node) queryplan.Node {
		changed := loop[b]
		if changed == nil {
			return n
		}
		entry := entries[b]
		if entry == nil || loop[entry] != nil {
			return n
		}
		var visit func(n queryplan.Node) queryplan.Node
		visit = func(n queryplan.Node) queryplan.Node {
			if !trees.IsInvariant(n, changed) {
				in := n.Inputs()
				out := make([]queryplan.Node, len(in))
				for i, x := range in {
					out[i] = visit(x)
				}
				if len(in) == 0 {
					return n
				}
				return queryplan.WithInputs(n, out)
			}
			if _, renaming := isRowWise(n); renaming || len(queryplan.Scans(n)) == 0 {
				return n
			}
			for _, h := range done[entry] {
				if queryplan.Equal(h.node, n) {
					return &queryplan.Scan{Var: h.v, Names: trees.Columns(n)}
				}
			}
			v := &queryplan.Var{Name: names.Fresh("invariant"), Kind: queryplan.Temp,
				Cols: n.Columns(),
				Keys: len(n.Columns()), Limit: -1, Span: queryplan.CommandSpan(c)}
			p.Vars = append(p.Vars, v)
			done[entry] = append(done[entry], hoisted{v, n})
			return &queryplan.Scan{Var: v, Names: trees.Columns(n)}
		}
		return visit(n)
	})
	for _, b := range p.Blocks {
		for _, h := range done[b] {
			b.Cmds = append(b.Cmds, &queryplan.Assign{Var: h.v, Node: h.node})
		}
	}
	return nil
}
