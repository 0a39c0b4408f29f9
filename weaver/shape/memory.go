package shape

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/primitives"
	"github.com/redfoxdb/redfox/weaver/target"
)

// Memory is the shared memory of a GPU's block, in bytes. A CPU has none.
type Memory struct {
	Scratch int // of collective primitives, one after the other
	Shared  int // holds values between primitives
	Dynamic int // the launch asks for it if a block needs more than target.StaticShared
}

const (
	// Align is the alignment of a block's shared memory in bytes.
	Align = 16
	// scratchReserve is shared memory for what collective primitives need.
	scratchReserve = 1 << 10
	// blockShared is the shared memory that a block takes beside its own.
	blockShared = 1 << 10
	// MostStack bounds the arrays of a CPU's function, which lie on the stack
	// of the thread that calls it.
	MostStack = 2 << 20
)

// Aligned rounds a size up to Align.
func Aligned(size int) int { return (size + Align - 1) / Align * Align }

// Total is all shared memory of the block.
func (m *Memory) Total() int { return Aligned(m.Scratch) + Aligned(m.Shared) + Aligned(m.Dynamic) }

// take adds bytes to a part of the memory, at an aligned place.
func take(part *int, bytes int) { *part = Aligned(*part) + bytes }

// collect makes room for a collective primitive.
func (m *Memory) collect(primitive string, threads, items int) {
	p, _ := primitives.Lookup(primitive)
	m.Scratch = max(m.Scratch, p.Scratch(threads, items))
}

// dynamicRoom is the dynamic memory that is left, if a tile needs no more than
// scratchReserve of what comes after.
func (f *Function) dynamicRoom() int {
	return f.options.Target.MostShared() - f.Memory.Total() - scratchReserve
}

// layOut decides where the sinks keep groups, and adds up the shared memory
// that the function needs with its present tile.
func (f *Function) layOut(decide func(*harmony.Group) *Group) {
	f.Memory, f.Groups = Memory{}, nil
	items := f.Items
	if f.options.Target.GPU {
		if q := f.Queue; q != nil {
			items = q.Items
			f.layQueue(q)
		}
		if f.Donates() {
			take(&f.Memory.Shared, DonationBytes)
		}
		f.layExpansions()
	}
	for _, s := range f.Kernel.Sinks {
		if group, ok := s.(*harmony.Group); ok {
			g := decide(group)
			f.layGroup(g)
			f.Groups = append(f.Groups, g)
		} else if f.options.Target.GPU && f.appends(s) {
			f.Memory.collect("rf_block_rank", f.Threads, items)
			f.Memory.collect("rf_block_reserve", f.Threads, items)
		}
	}
	for _, g := range f.Groups {
		for _, name := range g.Reductions {
			f.Memory.collect(name, f.Threads, items)
		}
	}
	if !f.options.Target.GPU {
		f.Memory = Memory{} // what takes shared memory on a GPU are the one thread's arrays
	}
}

// layQueue makes room for the rows of a queue and for its counters.
func (f *Function) layQueue(q *Queue) {
	take(&f.Memory.Dynamic, 4*q.Rows(f))
	if mates := q.Mates(f); mates > 32 {
		take(&f.Memory.Shared, 16)
	}
}

// layExpansions makes room for what expansions pass on from the rows of a tile
// to the rounds.
func (f *Function) layExpansions() {
	rows := f.Threads * f.Items
	source := false // whether rows are other than the tile's
	for i, at := range f.expansions() {
		take(&f.Memory.Shared, 8*(rows+1)) // ends
		f.Memory.collect("rf_expand_begin", f.Threads, f.Items)
		take(&f.Memory.Shared, 8*rows) // begins
		loads := f.Work.LastLoad > at
		if loads && source {
			take(&f.Memory.Shared, 8*rows)
		}
		source = loads
		for range f.forms().across[i] {
			take(&f.Memory.Shared, 8*rows)
		}
	}
}

// expansions returns the stages that make several rows of one.
func (f *Function) expansions() []int {
	var out []int
	for i, s := range f.Work.Stages {
		if IsExpansion(s) {
			out = append(out, i)
		}
	}
	return out
}

// appends reports whether a GPU's sink appends columns to a relation by ranks.
// The tuples of form Wide are appended by the set that they enter.
func (f *Function) appends(s harmony.Sink) bool {
	insert, ok := s.(*harmony.Insert)
	if !ok {
		return true
	}
	form, known := f.Form(SetKey, insert.To.Name)
	return !(known && form == abi.Wide && len(insert.Vals) > 1)
}

// fits reports whether a tile of the present size has the memory that it needs.
func (f *Function) fits() bool {
	if !f.options.Target.GPU {
		return f.stack() <= MostStack
	}
	m := f.Memory
	return m.Total() <= f.mostShared() && m.Scratch+m.Shared <= target.StaticShared
}

// mostShared is the most shared memory that a block of the function may have.
func (f *Function) mostShared() int {
	if f.findsRuns() {
		return min(f.options.Target.MostShared(), runShared)
	}
	return f.options.Target.MostShared()
}

// stack bounds the bytes that the arrays of a CPU's function take: those of
// registers that a later step reads, and those that steps and sinks need for
// themselves.
func (f *Function) stack() int {
	const word, flag = 8, 1
	item, regs := 0, 0 // bytes of an item, and of its registers
	constants := func(list []harmony.Operand) {
		for _, o := range list {
			item += word * count(o.Reg == nil)
		}
	}
	works := []*Work{f.Work}
	if f.Queue != nil {
		works = append(works, f.Queue.Behind)
	}
	for _, w := range works {
		for _, step := range w.Steps {
			item += 2 * flag
			for _, s := range w.Stages[step.From:step.To] {
				if d := harmony.Def(s); d != nil && (w.Last[d] >= step.To || f.fetches(s)) {
					form := f.forms().stored[d]
					regs += word + word*count(form.Wide) + flag*count(form.Optional)
				}
			}
			switch s := w.Stages[step.From].(type) {
			case *harmony.Map:
				if step.Kind == Host {
					constants(s.Args)
				}
			case *harmony.Probe:
				constants(s.Key)
				item += 3*word + word*len(s.Key) // the packed key, matches, and a wide key
			}
			if step.Kind == Expansion {
				// Ends, begins, counts, places, matches and rows; all registers
				// again.
				item += 6*word + regs
			}
			if step.Compacts {
				item += word // the live items
			}
		}
	}
	for _, s := range f.Kernel.Sinks {
		list := harmony.SinkOperands(s)
		constants(list)
		item += 4 * word
		switch s := s.(type) {
		case *harmony.Insert:
			item += word * len(s.Vals) // a wide tuple
		case *harmony.Group:
			item += word*len(s.Key) + 5*word*len(s.Vals)
		}
	}
	return (item + regs) * f.Items
}

// fetches reports whether a stage reads a column for the whole tile.
func (f *Function) fetches(s harmony.Stage) bool {
	switch s.(type) {
	case *harmony.Load, *harmony.Gather:
		return f.forms().fetched(s)
	}
	return false
}
