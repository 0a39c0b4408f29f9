package cfg

import (
	"iter"

	"github.com/redfoxdb/redfox/frontend/source"
)

// Block is a basic block of commands C. V is the type of variables.
type Block[C, V any] struct {
	Name string
	Cmds []C
	Term Terminator[C, V]
}

// Terminator is *Jump, *Branch or *Halt. The parameters of its method keep the
// terminators of different graphs apart.
type Terminator[C, V any] interface{ terminator(C, V) }

// Jump goes to a block.
type Jump[C, V any] struct{ To *Block[C, V] }

// Branch goes to Then if the delta of any of Vars has a tuple, else to Else.
type Branch[C, V any] struct {
	Vars       []V
	Then, Else *Block[C, V]
	// Unbounded is set on a branch back if nothing is known to end the loop, so
	// that engines bound its rounds.
	Unbounded bool
	Span      source.Span // of what grows, if Unbounded and known
}

// Halt ends the run.
type Halt[C, V any] struct{}

func (*Jump[C, V]) terminator(C, V)   {}
func (*Branch[C, V]) terminator(C, V) {}
func (*Halt[C, V]) terminator(C, V)   {}

// Commands yields the commands of blocks in order, each with its block.
func Commands[C, V any](blocks []*Block[C, V]) iter.Seq2[*Block[C, V], C] {
	return func(yield func(*Block[C, V], C) bool) {
		for _, b := range blocks {
			for _, c := range b.Cmds {
				if !yield(b, c) {
					return
				}
			}
		}
	}
}

// Successors returns the blocks that control can go to at the end of b.
func (b *Block[C, V]) Successors() []*Block[C, V] {
	switch t := b.Term.(type) {
	case *Jump[C, V]:
		return []*Block[C, V]{t.To}
	case *Branch[C, V]:
		return []*Block[C, V]{t.Then, t.Else}
	}
	return nil
}

// Map returns a copy of a graph over other commands and variables. commands
// fills the copy of a block with its commands; variable maps the variables of
// branches.
func Map[C, V, D, W any](
	blocks []*Block[C, V], commands func(from *Block[C, V], to *Block[D, W]) error,
	variable func(V) W,
) ([]*Block[D, W], error) {
	var out []*Block[D, W]
	copies := map[*Block[C, V]]*Block[D, W]{}
	for _, b := range blocks {
		copies[b] = &Block[D, W]{Name: b.Name}
		out = append(out, copies[b])
	}
	for i, b := range blocks {
		if err := commands(b, out[i]); err != nil {
			return nil, err
		}
		switch t := b.Term.(type) {
		case *Jump[C, V]:
			out[i].Term = &Jump[D, W]{copies[t.To]}
		case *Branch[C, V]:
			branch := &Branch[D, W]{
				Then: copies[t.Then], Else: copies[t.Else], Unbounded: t.Unbounded, Span: t.Span,
			}
			for _, v := range t.Vars {
				branch.Vars = append(branch.Vars, variable(v))
			}
			out[i].Term = branch
		case *Halt[C, V]:
			out[i].Term = &Halt[D, W]{}
		}
	}
	return out, nil
}

// EqualTerms reports whether the ends of two blocks correspond. blocks maps the
// blocks of the first graph to those of the second. same compares variables.
func EqualTerms[C, V any](
	a, b Terminator[C, V], blocks map[*Block[C, V]]*Block[C, V], same func(V, V) bool,
) bool {
	switch a := a.(type) {
	case *Jump[C, V]:
		b, ok := b.(*Jump[C, V])
		return ok && blocks[a.To] == b.To
	case *Branch[C, V]:
		b, ok := b.(*Branch[C, V])
		if !ok || blocks[a.Then] != b.Then || blocks[a.Else] != b.Else ||
			len(a.Vars) != len(b.Vars) || a.Unbounded != b.Unbounded {
			return false
		}
		for i := range a.Vars {
			if !same(a.Vars[i], b.Vars[i]) {
				return false
			}
		}
		return true
	case *Halt[C, V]:
		_, ok := b.(*Halt[C, V])
		return ok
	}
	return false
}
