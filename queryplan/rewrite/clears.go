package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/bitset"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
)

var placeClears = &Pass{
	Name: "PlaceClears",
	Reason: "A relation that nothing reads any more is given up at once, so that what comes later " +
		"has its memory: after its last use, or where control leaves the loop that used it.",
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

// liveness holds, for each block, the variables whose contents are used later,
// as bit sets of their numbers.
type liveness struct {
	vars    []*queryplan.Var // the variables that can be cleared, in plan order
	number  map[*queryplan.Var]int
	in, out map[*queryplan.Block]bitset.Set
	before  map[*queryplan.Block][]*queryplan.Block
}

func findLiveness(p *queryplan.Plan) *liveness {
	l := &liveness{
		number: map[*queryplan.Var]int{}, in: map[*queryplan.Block]bitset.Set{},
		out:    map[*queryplan.Block]bitset.Set{},
		before: map[*queryplan.Block][]*queryplan.Block{},
	}
	for _, v := range p.Vars {
		if !v.Output && (v.Kind == queryplan.Derived || v.Kind == queryplan.Temp) {
			l.number[v] = len(l.vars)
			l.vars = append(l.vars, v)
		}
	}
	// A variable is live at the start of a block if the block uses it before it
	// assigns it, or if it is live at the end and the block does not assign it.
	uses, assigns := map[*queryplan.Block]bitset.Set{}, map[*queryplan.Block]bitset.Set{}
	blocks := loops.ReversePostorder(p)
	slices.Reverse(blocks)
	for _, b := range blocks {
		l.in[b], l.out[b] = bitset.New(len(l.vars)), bitset.New(len(l.vars))
		uses[b], assigns[b] = l.branched(b), bitset.New(len(l.vars))
		for _, c := range slices.Backward(b.Cmds) {
			l.step(uses[b], c)
			if a, ok := c.(*queryplan.Assign); ok {
				assigns[b].Add(l.number[a.Var])
			}
		}
		for _, s := range b.Successors() {
			l.before[s] = append(l.before[s], b)
		}
	}
	for changed := true; changed; {
		changed = false
		for _, b := range blocks {
			for _, s := range b.Successors() {
				l.out[b].AddAll(l.in[s])
			}
			live := l.out[b].Clone()
			for w := range live {
				live[w] = live[w]&^assigns[b][w] | uses[b][w]
			}
			changed = l.in[b].AddAll(live) || changed
		}
	}
	return l
}

// branched returns the variables that the branch at the end of a block tests.
func (l *liveness) branched(b *queryplan.Block) bitset.Set {
	s := bitset.New(len(l.vars))
	if br, ok := b.Term.(*queryplan.Branch); ok {
		l.addTo(s, br.Vars)
	}
	return s
}

func (l *liveness) addTo(s bitset.Set, vars []*queryplan.Var) {
	for _, v := range vars {
		if i, ok := l.number[v]; ok {
			s.Add(i)
		}
	}
}

// step updates the set of live variables from after a command to before it.
func (l *liveness) step(live bitset.Set, c queryplan.Command) {
	if a, ok := c.(*queryplan.Assign); ok {
		live.Remove(l.number[a.Var])
	}
	l.addTo(live, usedVars(c))
}

// usedVars returns the variables whose contents a command reads: those it
// scans, merges, checks or adds to.
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
	live := l.branched(b)
	live.AddAll(l.out[b])
	var cmds []queryplan.Command // in reverse
	for _, c := range slices.Backward(b.Cmds) {
		used := bitset.New(len(l.vars))
		l.addTo(used, usedVars(c))
		if a, ok := c.(*queryplan.Assign); ok {
			used.Add(l.number[a.Var])
		}
		var dead []queryplan.Command
		for i := range used.Members {
			if !live.Has(i) {
				dead = append(dead, &queryplan.Clear{Var: l.vars[i]})
			}
		}
		slices.Reverse(dead)
		cmds = append(append(cmds, dead...), c)
		l.step(live, c)
	}
	// A variable that is live on another way out of a preceding block dies on
	// entry to this one.
	entering := bitset.New(len(l.vars))
	for _, from := range l.before[b] {
		entering.AddAll(l.out[from])
		entering.AddAll(l.branched(from))
	}
	var entry []queryplan.Command
	for i := range entering.Members {
		if !live.Has(i) {
			entry = append(entry, &queryplan.Clear{Var: l.vars[i]})
		}
	}
	slices.Reverse(cmds)
	b.Cmds = append(entry, cmds...)
}
