package harmony

import (
	"github.com/redfoxdb/redfox/internal/bitset"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// Lives has the places where the variables that the program fills are allocated
// and freed. Inputs and tables are resident and not part of it.
type Lives struct {
	// Entry has the variables to free at the entry of a block. They are needed
	// only by other successors of a predecessor.
	Entry map[*Block][]Managed
	// Commands has what to allocate and free at a command, if anything.
	Commands map[Command]*Life
}

// Life is what a command does to memory.
type Life struct {
	// Alloc has the variables that the command is the first to fill on some
	// path.
	Alloc []Managed
	// Free has the variables whose contents nothing needs after the command. A
	// variable may be empty if control came on a path that has not filled it.
	Free []Managed
}

// Lifetimes computes where each variable is allocated and freed: it lives from
// the first command that fills it to the last that may need its contents.
// Outputs live until the end. The analysis is liveness over the control-flow
// graph. Clearing a variable or building an index ends the need for its earlier
// contents.
func Lifetimes(p *Program) *Lives {
	n := number(p)
	live := n.liveness(p)
	out := &Lives{Entry: map[*Block][]Managed{}, Commands: map[Command]*Life{}}
	// A variable that is held on some path must be freed; one that is not held
	// on every path must be allocated.
	type held struct{ some, every bitset.Set }
	step := func(b *Block, h held, note bool) {
		dead := h.some.Clone()
		dead.RemoveAll(live.entry[b])
		if note && len(n.list(dead)) > 0 {
			out.Entry[b] = n.list(dead)
		}
		h.some.RemoveAll(dead)
		h.every.RemoveAll(dead)
		for i, c := range b.Cmds {
			alloc := n.none()
			for _, v := range Writes(c) {
				if _, clear := c.(*Clear); clear || !n.has(h.every, v) {
					n.add(alloc, v)
				}
			}
			if _, clear := c.(*Clear); clear {
				// Clearing a variable frees its memory.
				dead = alloc
				alloc = n.none()
				dead.KeepAll(h.some)
			} else {
				h.some.AddAll(alloc)
				h.every.AddAll(alloc)
				dead = h.some.Clone()
				dead.RemoveAll(live.after[b][i])
			}
			h.some.RemoveAll(dead)
			h.every.RemoveAll(dead)
			if life := (&Life{n.list(alloc), n.list(dead)}); note &&
				len(life.Alloc)+len(life.Free) > 0 {
				out.Commands[c] = life
			}
		}
	}
	at, _ := cfg.Forward(p.Blocks, held{n.none(), n.none()},
		func(h held) held { return held{h.some.Clone(), h.every.Clone()} },
		func(into, from held) bool {
			grown := into.some.AddAll(from.some)
			return into.every.KeepAll(from.every) || grown
		},
		func(b *Block, h held) error {
			step(b, h, false)
			return nil
		})
	for _, b := range p.Blocks {
		if h, ok := at[b]; ok {
			step(b, h, true)
		}
	}
	return out
}

// liveness has the variables whose contents may be needed, at the entry of each
// block and after each of its commands.
type liveness struct {
	entry map[*Block]bitset.Set
	after map[*Block][]bitset.Set
}

func (n *numbering) liveness(p *Program) *liveness {
	l := &liveness{map[*Block]bitset.Set{}, map[*Block][]bitset.Set{}}
	for _, b := range p.Blocks {
		l.entry[b] = n.none()
		l.after[b] = make([]bitset.Set, len(b.Cmds))
	}
	for changed := true; changed; {
		changed = false
		for i := range p.Blocks {
			b := p.Blocks[len(p.Blocks)-1-i]
			need := n.none()
			for _, s := range b.Successors() {
				need.AddAll(l.entry[s])
			}
			switch t := b.Term.(type) {
			case *Branch:
				for _, r := range t.Vars {
					n.add(need, r)
				}
			case *Halt:
				for _, r := range p.Relations {
					if r.Output && (r.Kind == queryplan.Derived || r.Kind == queryplan.Temp) {
						n.add(need, r)
					}
				}
			}
			for j := len(b.Cmds) - 1; j >= 0; j-- {
				l.after[b][j] = need.Clone()
				n.before(b.Cmds[j], need)
			}
			changed = l.entry[b].AddAll(need) || changed
		}
	}
	return l
}

// before computes what is needed before a command from what is needed after it.
func (n *numbering) before(c Command, need bitset.Set) {
	switch c := c.(type) {
	case *Clear:
		n.drop(need, c.Var)
	case *Build:
		n.drop(need, c.Index)
	}
	for _, v := range Reads(c) {
		if r, ok := v.(*Relation); !ok || r.Kind == queryplan.Derived || r.Kind == queryplan.Temp {
			n.add(need, v)
		}
	}
}
