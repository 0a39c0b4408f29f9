package shape

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/weaver/target"
)

// Loop is the shape of a function that runs rounds of a block in one block of
// threads.
type Loop struct {
	*Function
	Block   *harmony.Block
	Kernels []*Function // in the order of the block's commands
	Sizes   abi.LoopSizes
}

// mostLooped bounds the kernels of a loop: they are compiled together, and
// again.
const mostLooped = 128

// Loops returns the loops whose rounds need nothing but kernels of one size of
// blocks, which read relations and fill relations, indexes that grow with their
// relations, and moves of cursors.
func (p *Program) Loops() (list []*Loop) {
	if !p.Options.Loops || p.Options.Lines {
		return nil
	}
	for _, b := range p.Graph.Blocks {
		if l := p.loop(b); l != nil {
			list = append(list, l)
		}
	}
	return list
}

// loop returns the loop of a block, or nil if its rounds need the host.
func (p *Program) loop(b *harmony.Block) *Loop {
	if branch, ok := b.Term.(*harmony.Branch); !ok || branch.Then != b {
		return nil
	}
	l := &Loop{Block: b, Sizes: p.loopSizes(b)}
	for _, c := range b.Cmds {
		switch c := c.(type) {
		case *harmony.Run:
			f := p.looped(c.Kernel)
			if f == nil {
				return nil
			}
			l.Kernels = append(l.Kernels, f)
		case *harmony.Build:
			f := p.filler(c.Index)
			if f == nil {
				return nil
			}
			if !slices.Contains(l.Kernels, f) {
				l.Kernels = append(l.Kernels, f)
			}
		case *harmony.Merge:
		default:
			return nil
		}
	}
	if len(l.Kernels) == 0 || len(l.Kernels) > mostLooped {
		return nil
	}
	l.Function = &Function{Facts: p.facts(abi.Loop, "loop_", b.Name), Of: b.Name, Parts: 1,
		Kernel: &harmony.Kernel{Name: b.Name}, Threads: l.Kernels[0].Threads, Items: abi.Chunk}
	for _, f := range l.Kernels {
		if f.Threads != l.Threads {
			return nil
		}
		l.Memory.Scratch = max(l.Memory.Scratch, f.Memory.Scratch)
		l.Memory.Shared = max(l.Memory.Shared, f.Memory.Shared)
		l.Memory.Dynamic = max(l.Memory.Dynamic, f.Memory.Dynamic)
	}
	static := l.Memory
	static.Dynamic = 0
	if static.Total()+Aligned(8*l.Sizes.Work()) > target.StaticShared {
		return nil
	}
	return l
}

// loopSizes returns the sizes that a block of kernels and merges needs: an
// operation for each command, one for the branch, and one for each place where
// a temp may be emptied, before and after its life.
func (p *Program) loopSizes(b *harmony.Block) (s abi.LoopSizes) {
	relations := map[*harmony.Relation]bool{}
	indexes, built := map[*harmony.Index]bool{}, map[*harmony.Index]bool{}
	for _, c := range b.Cmds {
		switch c := c.(type) {
		case *harmony.Run:
			s.Kernels++
			for _, stage := range c.Kernel.Stages {
				if probe, ok := stage.(*harmony.Probe); ok && p.spaced[probe.Index.Name] {
					indexes[probe.Index] = true
				}
			}
			if rows, ok := c.Kernel.Source.(*harmony.Rows); ok {
				relations[rows.Rel] = true
			}
		case *harmony.Build:
			if !built[c.Index] {
				s.Kernels++
			}
			relations[c.Index.Of] = true
			indexes[c.Index], built[c.Index] = true, true
		}
		for _, v := range harmony.Writes(c) {
			if r, ok := v.(*harmony.Relation); ok {
				relations[r] = true
			}
		}
	}
	s.Relations = len(relations) + len(indexes)
	s.Operations = len(b.Cmds) + 1
	for r := range relations {
		if r.Kind != queryplan.Derived {
			s.Operations += 2
		}
	}
	return s
}

// filler returns the function that adds rows to an index of a loop, or nil.
func (p *Program) filler(x *harmony.Index) *Function {
	role := abi.BuildInsert
	switch {
	case x.Kind == harmony.Multi && !p.spaced[x.Name], !grows(x):
		return nil
	case x.Kind == harmony.Multi:
		role = abi.BuildFill
	}
	i := slices.IndexFunc(p.Functions, func(f *Function) bool {
		return f.Index == x && f.Role == role
	})
	if i < 0 {
		return nil
	}
	return p.Functions[i]
}

// findSpaced finds the indexes that rows may be added to: those over relations
// that grow. A loop of the device adds rows to those that are built in a block
// that branches back to itself.
func (p *Program) findSpaced() {
	p.spaced = map[string]bool{}
	if p.Options.Extend {
		for _, x := range p.Graph.Indexes {
			if x.Kind == harmony.Multi && grows(x) {
				p.spaced[x.Name] = true
			}
		}
		return
	}
	if !p.Options.Loops || p.Options.Lines {
		return
	}
	for _, b := range p.Graph.Blocks {
		if branch, ok := b.Term.(*harmony.Branch); !ok || branch.Then != b {
			continue
		}
		for _, c := range b.Cmds {
			build, ok := c.(*harmony.Build)
			if ok && build.Index.Kind == harmony.Multi && grows(build.Index) {
				p.spaced[build.Index.Name] = true
			}
		}
	}
}

// grows reports whether an index has more rows after each round, and the ones
// that it had.
func grows(x *harmony.Index) bool {
	return !x.ByPosition() && x.Of.Kind == queryplan.Derived &&
		(x.Version == harmony.Full || x.Version == harmony.Old)
}

// Spaced reports whether a function has the parameters of an index that rows
// are added to (abi.IndexSpaced).
func (f *Function) Spaced(index string) bool { return f.spaced[index] }

// looped returns the function of a kernel that a loop can run, or nil.
func (p *Program) looped(k *harmony.Kernel) *Function {
	if _, ok := k.Source.(*harmony.Rows); !ok || k.Host {
		return nil
	}
	for _, s := range k.Sinks {
		if _, ok := s.(*harmony.Group); ok {
			return nil
		}
	}
	i := slices.IndexFunc(p.Functions, func(f *Function) bool { return f.Kernel == k })
	if i < 0 {
		return nil
	}
	return p.Functions[i]
}
