package tiers

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/segments"
	"github.com/redfoxdb/redfox/runtime"
)

// noted wraps the join orders of a plan and records the orders that they choose
// in a run.
type noted struct {
	runtime.Orders
	run *run
	seg *segments.Segment // the segment of the plan
}

// note makes the run record the join orders that the plain engine chooses again
// for a request, for plans that resume loops.
func (r *run) note(req *runtime.Request, seg *segments.Segment) {
	if orders := req.Orders; orders != nil {
		req.Orders = func(p *queryplan.Plan) runtime.Orders { return &noted{orders(p), r, seg} }
	}
}

// Again returns the commands of a block with the best orders, and records those
// that differ.
func (n *noted) Again(b *queryplan.Block, cmds []queryplan.Command,
	sizes map[*queryplan.Var]queryplan.Size) []queryplan.Command {
	out := n.Orders.Again(b, cmds, sizes)
	changed := map[int]queryplan.Command{}
	for i, c := range out {
		if c != cmds[i] {
			changed[n.seg.Place(b.Name, i)] = c
		}
	}
	r := n.run
	if len(changed) > 0 || len(r.reordered[b.Name]) > 0 {
		if r.reordered == nil {
			r.reordered = map[string]map[int]queryplan.Command{}
		}
		r.reordered[b.Name] = changed
		r.times++
	}
	return out
}

// follow gives the plan that resumes a loop the join orders that the loop has
// now. It drops code that was compiled for other orders.
func (r *run) follow(x *rest) {
	if x.times == r.times {
		return
	}
	x.times = r.times
	seg, ok := r.cuts.Resume(x.loop, x.until)
	if !ok {
		return
	}
	named := map[string]*queryplan.Var{}
	for _, v := range seg.Plan.Vars {
		named[v.Name] = v
	}
	at := slices.IndexFunc(seg.Plan.Blocks, func(b *queryplan.Block) bool {
		t, ok := b.Term.(*queryplan.Branch)
		return b.Name == x.loop && ok && t.Then == b
	})
	loop := seg.Plan.Blocks[at]
	for i, c := range loop.Cmds {
		if again := r.reordered[x.loop][seg.Place(x.loop, i)]; again != nil {
			vars := map[*queryplan.Var]*queryplan.Var{}
			for _, s := range queryplan.Scans(queryplan.CommandNode(again)) {
				vars[s.Var] = named[s.Var.Name]
			}
			loop.Cmds[i] = queryplan.WithNode(c,
				queryplan.RebindVars(queryplan.CommandNode(again), vars))
		}
	}
	x.seg, x.making.tries = seg, nil
}
