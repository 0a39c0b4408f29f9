package shape

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/weaver/fuse"
)

const (
	// fewItems is the most rows a thread for which more would cost more time,
	// of the compiler or of the run, than they save: see the reasons that few
	// gives.
	fewItems = 4
	// fewRegisters is the most registers of a thread with which a
	// multiprocessor runs 1,024 threads. A kernel that is not lean would spill.
	fewRegisters = 64
	// groupParts is how many parts a tile has whose rows may not find their
	// group in the block's own table.
	groupParts = 4
	// mostHeld is how many words of its tuples a thread's registers hold, two
	// registers for each, beside what it needs to make them.
	mostHeld = 56
	// runThreads is the size of a block that finds runs.
	runThreads = 512
	// runShared is the most shared memory of such a block: a multiprocessor has
	// room for two.
	runShared = 112 << 10
	// LeastItems is the smallest tile of a CPU.
	LeastItems = 32
)

// choose chooses the tile of a function, its queue, its registers, and where
// its groups are kept.
func (p *Program) choose(f *Function) error {
	gpu := p.Options.Target.GPU
	items := p.chooseQueue(f)
	switch {
	case !gpu:
	case f.Queue != nil:
		f.because(Drops)
		if items == probedItems {
			f.because(LooksUp)
		}
		f.Items = min(f.Items, items)
	default:
		f.limit(fuse.EstimateOf(f.Kernel, p.Options.Target.Budget).Items, Budget)
		if why := f.few(); why != nil {
			f.limit(fewItems, why)
		}
	}
	if gpu && f.findsRuns() {
		f.Threads, f.Registers = max(f.Threads, runThreads), fewRegisters
		f.because(Runs)
	}
	f.layOut(f.chooseGroup)
	large := f.largeTable()
	if large != nil {
		for blocks := f.blocksWith(large); f.Threads < mostThreads &&
			f.Threads*blocks < largeThreads; {
			f.Threads *= 2
		}
		f.because(Large)
	}
	f.choosePace(large != nil)
	return f.shrink()
}

// limit gives the tile fewer rows a thread.
func (f *Function) limit(items int, why *Reason) {
	if items < f.Items {
		f.Items = items
		f.because(why)
	}
}

func (f *Function) because(why *Reason) {
	if !slices.Contains(f.Why, why) {
		f.Why = append(f.Why, why)
	}
}

// few returns the reason why a GPU's function has few rows a thread, or nil. It
// asks the facts only if the answer matters.
func (f *Function) few() *Reason {
	_, ofGroups := f.Kernel.Source.(*harmony.GroupRows)
	switch {
	case !f.knowsFacts():
		return AnyFacts
	case f.Role != abi.Kernel:
		return Build
	case ofGroups:
		return OfGroups
	case f.expands():
		return Expands
	case f.Items <= fewItems:
		return nil
	case f.spillsGroups(false):
		return Spills
	case f.searches():
		return Searches
	case f.holdsMuch():
		return Holds
	}
	return nil
}

// expands reports whether a stage makes several rows of one.
func (f *Function) expands() bool { return slices.ContainsFunc(f.Kernel.Stages, IsExpansion) }

// choosePace chooses the parts of a tile and the registers of a thread. Large
// says that the block's table has a place for each of many groups.
func (f *Function) choosePace(large bool) {
	if !f.options.Target.GPU {
		return
	}
	if f.Queue == nil && f.Role == abi.Kernel && !f.expands() && f.spillsGroups(large) {
		f.Parts = groupParts
		f.because(Parts)
		if f.isLeanGroup() {
			f.Registers = fewRegisters
			f.because(Lean)
		}
	}
	if f.expands() && f.knowsFacts() && isLean(f.Kernel) {
		f.Registers = fewRegisters
		f.because(Lean)
	}
}

// shrink makes the tile smaller until its memory fits.
func (f *Function) shrink() error {
	for {
		f.layOut(f.chooseGroup)
		switch {
		case f.fits():
			return nil
		case !f.options.Target.GPU:
			if f.Items <= LeastItems {
				return nil
			}
			f.Items /= 2
		case f.Items > abi.Chunk:
			f.Items /= 2
		case f.Threads > 32:
			f.Threads /= 2
		default:
			return &UnsupportedError{
				What: fmt.Sprintf("a block of kernel %s needs %d bytes of shared memory and has %d",
					f.Kernel.Name, f.Memory.Total(), f.mostShared()),
				Span: f.Kernel.Span,
			}
		}
		f.because(LeastRoom)
	}
}

// isLean reports whether a kernel only finds the matches of a row and inserts
// what it makes of them, as the rules of closures do.
func isLean(k *harmony.Kernel) bool {
	probes, reads := 0, 0
	for _, s := range k.Stages {
		switch s.(type) {
		case *harmony.Probe:
			probes++
		case *harmony.Load, *harmony.Gather:
			reads++
		}
	}
	return probes == 1 && reads <= 3 && len(k.Sinks) == 1
}

// isLeanGroup reports whether a kernel adds words to the cells of few groups
// that it finds without a search. Sums of 128 bits and searches take more
// registers.
func (f *Function) isLeanGroup() bool {
	s, ok := f.Kernel.Sinks[0].(*harmony.Group)
	if !ok || len(f.Kernel.Sinks) > 1 || len(s.To.Accs) > 2 || len(f.Kernel.Stages) > 4 {
		return false
	}
	form, known := f.Form(GroupKey, s.To.Name)
	return known && form < abi.Hash && !slices.ContainsFunc(s.To.Accs, func(a harmony.Acc) bool {
		return a.Fn != queryplan.Count && !IsExtreme(a)
	})
}

// holdsMuch reports whether the rows of a thread become tuples of more words
// than its registers hold. Groups are added to column by column.
func (f *Function) holdsMuch() bool {
	words := 0
	for _, s := range f.Kernel.Sinks {
		if _, ok := s.(*harmony.Group); !ok {
			words = max(words, len(harmony.SinkOperands(s)))
		}
	}
	return words*f.Items > mostHeld
}

// searches reports whether a stage or a sink may look for keys in a hash table.
func (f *Function) searches() bool {
	hashed := func(k KeyKinds, name string) bool {
		form, known := f.Form(k, name)
		return !known || form >= abi.Hash
	}
	for _, s := range f.Work.Stages {
		if p, ok := s.(*harmony.Probe); ok && hashed(IndexKey, p.Index.Name) {
			return true
		}
	}
	for _, s := range f.Kernel.Sinks {
		if s, ok := s.(*harmony.Insert); ok && hashed(SetKey, s.To.Name) {
			return true
		}
	}
	return false
}
