package shape

import (
	"math"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Group is how a sink adds rows to groups.
type Group struct {
	Sink *harmony.Group
	How  How
	// Accs has a decision for each accumulator.
	Accs []Acc
	// Cells is the layout of the threads' own cells, and Table that of the
	// block's own table; nil for none.
	Cells *Cells
	Table *Table
	// Runs of rows are staged as words of 32 bits where this is set: keys by
	// KeyNarrow, the others by Acc.Narrow.
	KeyNarrow bool
	// Reductions are the collective primitives that join what threads have.
	Reductions []string
}

// Acc is how an accumulator adds up what it gets.
type Acc struct {
	// Fits says that 64 bits hold the sum: of a tile on a CPU, of a tile's rows
	// in runs, else of all rows of a thread. The halves of other words are
	// summed apart.
	Fits   bool
	Narrow bool // 32 bits hold the words of a run
}

// How is a way of grouping.
type How uint8

// The ways of grouping.
const (
	InSlots     How = iota // a CPU's: into the cells of each row's slot
	InRegisters            // one group, in the registers of threads
	InCells                // few groups, in cells of each thread
	InTable                // in a table of the block
	InMemory               // in the cells of all blocks
	InRuns                 // rows that come in the order of their keys
)

var howNames = [...]string{
	InSlots:     "slots",
	InRegisters: "registers",
	InCells:     "cells",
	InTable:     "table",
	InMemory:    "memory",
	InRuns:      "runs",
}

// String returns the name of the way as texts write it, such as "registers".
func (h How) String() string { return howNames[h] }

const (
	// rowsAtMost bounds the rows of a source: they are numbered in 32 bits.
	rowsAtMost = 1 << 32
	// mostThreadRows bounds the rows that one thread adds up.
	mostThreadRows = 1 << 31
	// RunsMemory is what a block knows of a tile's runs, in bytes, beside a
	// byte for each chunk of the tile.
	RunsMemory = 32
)

// Counts reports whether an accumulator has a number of rows, as its last word.
func Counts(a harmony.Acc) bool {
	return a.Fn == queryplan.Count || a.Fn == queryplan.Avg && a.Shares == 0
}

// IsExtreme reports whether an accumulator is a least or greatest value.
func IsExtreme(a harmony.Acc) bool { return a.Fn == queryplan.Min || a.Fn == queryplan.Max }

// SameSum returns the first accumulator that adds up the operand of accumulator
// i, which may be itself.
func SameSum(s *harmony.Group, i int) int {
	for k, a := range s.To.Accs[:i] {
		if a.Fn.IsTotal() && a.Shares == 0 && s.Vals[i].Reg != nil &&
			s.Vals[k].Reg == s.Vals[i].Reg {
			return k
		}
	}
	return i
}

// chooseGroup chooses how a sink groups rows.
func (f *Function) chooseGroup(s *harmony.Group) *Group {
	g := &Group{Sink: s, Accs: make([]Acc, len(s.To.Accs))}
	switch {
	case f.SharesList(s.To):
		g.How = InRuns
	case !f.options.Target.GPU:
		g.How = InSlots
	case f.hasOneGroup(s):
		g.How = InRegisters
	default:
		if g.Cells = f.chooseCells(s); g.Cells != nil {
			g.How = InCells
		} else if g.Table = f.chooseTable(s); g.Table != nil {
			g.How = InTable
		} else {
			g.How = InMemory
		}
	}
	return g
}

// layGroup makes room for what a sink keeps of groups.
func (f *Function) layGroup(g *Group) {
	switch g.How {
	case InSlots:
		f.laySums(g, f.tileItems())
	case InRegisters:
		f.layRegisters(g)
	case InCells:
		take(&f.Memory.Dynamic, g.Cells.Bytes()*f.Threads)
	case InTable:
		g.Table.take(&f.Memory)
	case InRuns:
		f.layRuns(g)
	}
}

// hasOneGroup reports whether all rows whose keys fit have the same key.
func (f *Function) hasOneGroup(s *harmony.Group) bool {
	if len(s.Key) == 0 {
		return true
	}
	most, numbered := f.numbers(GroupKey, s.To.Name, len(s.Key))
	return numbered && most == 0
}

// tileItems is how many rows a thread has at the sinks.
func (f *Function) tileItems() int {
	if f.Queue != nil {
		return f.Queue.Items
	}
	return f.Items
}

// laySums notes which sums over some rows fit 64 bits.
func (f *Function) laySums(g *Group, rows int) {
	for i, a := range g.Sink.To.Accs {
		if a.Shares == 0 && a.Fn.IsTotal() && a.In.Kind != scalar.Float {
			g.Accs[i].Fits = f.sumFits(g.Sink.Vals[i], rows)
		}
	}
}

// layRegisters makes room for sums of floats, which have more words than a
// thread has registers, and names what joins the threads' accumulators.
func (f *Function) layRegisters(g *Group) {
	f.laySums(g, mostThreadRows)
	g.Reductions = []string{"rf_block_sum_i64"}
	for i, a := range g.Sink.To.Accs {
		switch {
		case a.Fn == queryplan.Count, a.Shares > 0:
		case a.Fn == queryplan.Min:
			g.Reductions = append(g.Reductions, "rf_block_min_i64")
		case a.Fn == queryplan.Max:
			g.Reductions = append(g.Reductions, "rf_block_max_i64")
		case a.In.Kind == scalar.Float:
			take(&f.Memory.Shared, 8*abi.FloatSumWords)
		case !g.Accs[i].Fits:
			g.Reductions = append(g.Reductions, "rf_block_sum_i128")
		}
	}
}

// layRuns makes room for the parts of runs that the threads of a block join.
func (f *Function) layRuns(g *Group) {
	rows := f.Threads * f.tileItems()
	stage := func(narrow bool) {
		if narrow {
			take(&f.Memory.Dynamic, 4*rows)
		} else {
			take(&f.Memory.Dynamic, 8*rows)
		}
	}
	take(&f.Memory.Dynamic, RunsMemory+rows/4)
	bits, known := f.packedBits(GroupKey, g.Sink.To.Name, len(g.Sink.Key))
	g.KeyNarrow = known && bits <= 32
	stage(g.KeyNarrow)
	counted := false
	for i, a := range g.Sink.To.Accs {
		if a.Shares > 0 {
			continue
		}
		lo, hi, bounded := f.boundsOf(g.Sink.Vals[i])
		within := func(most int64) bool { return bounded && lo >= -most && hi <= most }
		acc := &g.Accs[i]
		switch kind := a.In.Kind; {
		case a.Fn == queryplan.Count:
		case IsExtreme(a):
			acc.Narrow = kind != scalar.Uint && kind != scalar.Float && within(math.MaxInt32)
			stage(acc.Narrow)
		case f.sumFits(g.Sink.Vals[i], rows):
			acc.Fits, acc.Narrow = true, within(math.MaxInt32/int64(rows))
			stage(acc.Narrow)
		default:
			stage(false)
			stage(false)
		}
		if Counts(a) && !counted {
			counted = true
			stage(true)
		}
	}
}

// searchesGroup reports whether a GPU's block has to search for a row's group.
// Large says that the block's table has a place for each of many groups.
func (f *Function) searchesGroup(s *harmony.Group, large bool) bool {
	most, ok := f.numbers(GroupKey, s.To.Name, len(s.Key))
	return len(s.Key) > 0 && !f.IsOrdered(s.To) && (!ok || most > mostOwnBits) && !large
}

// spillsGroups reports whether a GPU's block may meet groups that it has no
// place for.
func (f *Function) spillsGroups(large bool) bool {
	for _, s := range f.Kernel.Sinks {
		if s, ok := s.(*harmony.Group); ok && f.searchesGroup(s, large) {
			return true
		}
	}
	return false
}
