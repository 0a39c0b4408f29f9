package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
)

var placeClears = &Pass{
	Name: "PlaceClears",
	Reason: "A relation that nothing reads any more is given up at once, so that what comes later has its " +
		"memory: after its last use, or where control leaves the loop that used it.",
	Unless: "Outputs stay, and so do stored facts, which belong to the session.",
	Before: "insert out\n  scan helper(x)\nmerge out",
	After:  "insert out\n  scan helper(x)\nclear helper\nmerge out",
	Source: "live-variable analysis; Aho, Lam, Sethi, Ullman, Compilers, section 9.2.5",
	run: func(p *program) error {
		l := findLiveness(p.Plan)
		for _, b := range p.Blocks {
			l.place(b)
		}
		return nil
	},
}

// liveness has for every block the variables whose contents are used later.
type liveness struct {
	vars    []*queryplan.Var // those that can be cleared, in the plan's order
	in, out map[*queryplan.Block]map[*queryplan.Var]bool
	before  map[*queryplan.Block][]*queryplan.Block
}

func findLiveness(p *queryplan.Plan) *liveness {
	l := &liveness{
		in: map[*queryplan.Block]map[*queryplan.Var]bool{}, out: map[*queryplan.Block]map[*queryplan.Var]bool{},
		before: map[*queryplan.Block][]*queryplan.Block{},
	}
	for _, v := range p.Vars {
		if !v.Output && (v.Kind == queryplan.Derived || v.Kind == queryplan.Temp) {
			l.vars = append(l.vars, v)
		}
	}
	blocks := reversePostorder(p)
	slices.Reverse(blocks)
	for _, b := range blocks {
		l.in[b], l.out[b] = map[*queryplan.Var]bool{}, map[*queryplan.Var]bool{}
		for _, s := range b.Successors() {
			l.before[s] = append(l.before[s], b)
		}
	}
	for changed := true; changed; {
		changed = false
		for _, b := range blocks {
			for _, s := range b.Successors() {
				for v := range l.in[s] {
					l.out[b][v] = true
				}
			}
			live := map[*queryplan.Var]bool{}
			for v := range l.out[b] {
				live[v] = true
			}
			for _, v := range branched(b) {
				live[v] = true
			}
			for _, c := range slices.Backward(b.Cmds) {
				step(live, c)
			}
			changed = changed || len(live) != len(l.in[b])
			l.in[b] = live
		}
	}
	return l
}

func branched(b *queryplan.Block) []*queryplan.Var {
	if br, ok := b.Term.(*queryplan.Branch); ok {
		return br.Vars
	}
	return nil
}

// step takes the set of live variables from after a command to before it.
func step(live map[*queryplan.Var]bool, c queryplan.Command) {
	if a, ok := c.(*queryplan.Assign); ok {
		delete(live, a.Var)
	}
	for _, v := range usedVars(c) {
		live[v] = true
	}
}

// usedVars returns the variables whose contents a command needs: what it scans,
// and what it adds to, merges or checks.
func usedVars(c queryplan.Command) []*queryplan.Var {
	var out []*queryplan.Var
	if n := queryplan.CommandNode(c); n != nil {
		for _, s := range queryplan.Scans(n) {
			out = append(out, s.Var)
		}
	}
	switch c := c.(type) {
	case *queryplan.Insert:
		out = append(out, c.Var)
	case *queryplan.Merge:
		out = append(out, c.Var)
	case *queryplan.CheckKey:
		out = append(out, c.Var)
	}
	return out
}

// place inserts the clears of one block.
func (l *liveness) place(b *queryplan.Block) {
	clearable := map[*queryplan.Var]bool{}
	for _, v := range l.vars {
		clearable[v] = true
	}
	live := map[*queryplan.Var]bool{}
	for v := range l.out[b] {
		live[v] = true
	}
	for _, v := range branched(b) {
		live[v] = true
	}
	var cmds []queryplan.Command // in reverse
	for _, c := range slices.Backward(b.Cmds) {
		dead := map[*queryplan.Var]bool{}
		used := usedVars(c)
		if a, ok := c.(*queryplan.Assign); ok {
			used = append(used, a.Var)
		}
		for _, v := range used {
			if clearable[v] && !live[v] {
				dead[v] = true
			}
		}
		for _, v := range slices.Backward(l.vars) {
			if dead[v] {
				cmds = append(cmds, &queryplan.Clear{Var: v})
			}
		}
		cmds = append(cmds, c)
		step(live, c)
	}
	// What another way out of a block before still uses dies on entry here.
	var entry []queryplan.Command
	for _, v := range l.vars {
		if !live[v] && slices.ContainsFunc(l.before[b], func(from *queryplan.Block) bool {
			return l.out[from][v] || slices.Contains(branched(from), v)
		}) {
			entry = append(entry, &queryplan.Clear{Var: v})
		}
	}
	slices.Reverse(cmds)
	b.Cmds = append(entry, cmds...)
}
