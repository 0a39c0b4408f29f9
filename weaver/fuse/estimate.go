package fuse

import (
	"fmt"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/weaver/target"
)

// reservedRegisters is the number of registers for what every kernel has beside
// its values: addresses, positions, masks of live rows.
const reservedRegisters = 32

// Estimate is the estimated resources of a kernel. It is made before there is
// code, so it is only a guide: a register allocator may do better.
type Estimate struct {
	Items      int // rows for each thread
	Live       int // the most 32-bit words of values that a row has at a time
	Registers  int // of 32 bits, for each thread; 0 if values are in scratch memory
	Scratch    int // bytes for each block
	Parameters int // bytes
	Sinks      int
}

// String returns the estimate in one line.
func (e Estimate) String() string {
	s := fmt.Sprintf("%d rows a thread, ", e.Items)
	if e.Registers > 0 {
		s += fmt.Sprintf("%d registers, ", e.Registers)
	}
	return s + fmt.Sprintf("%d bytes of scratch, %d of parameters", e.Scratch, e.Parameters)
}

// EstimateOf estimates a kernel with the largest number of rows a thread for
// which it stays within the budget, or with the smallest number if it never
// does.
func EstimateOf(k *harmony.Kernel, b target.Budget) Estimate {
	live := liveness(k)
	var e Estimate
	for _, items := range b.Items {
		e = Estimate{Items: items, Live: live.most, Parameters: parameters(k),
			Sinks: len(k.Sinks)}
		tile := b.Threads * items
		// An expansion scans the match counts of a tile. It keeps the values
		// that later stages need in scratch memory while its rows are
		// processed. Several expansions nest.
		for _, words := range live.across {
			e.Scratch += 4 * tile * (1 + words)
		}
		if b.Registers > 0 {
			e.Registers = reservedRegisters + live.most*items
			e.Scratch += 4 * (b.Threads/32 + 1) // the scan that computes output positions
		} else {
			e.Scratch += 4 * tile * live.most
		}
		if excess(e, b) == "" {
			break
		}
	}
	return e
}

// excess describes the bound of the budget that an estimate exceeds, or "".
func excess(e Estimate, b target.Budget) string {
	for _, bound := range []struct {
		need, have int
		what       string
	}{
		{e.Registers, b.Registers, "registers"},
		{e.Scratch, b.Scratch, "bytes of scratch"},
		{e.Parameters, b.Parameters, "bytes of parameters"},
		{e.Sinks, b.Sinks, "sinks"},
	} {
		if bound.have > 0 && bound.need > bound.have {
			return fmt.Sprintf("%d %s of %d", bound.need, bound.what, bound.have)
		}
	}
	return ""
}

// live is the number of words of values that the rows of a kernel carry.
type live struct {
	most   int   // at a time
	across []int // over each expansion, in order
}

func liveness(k *harmony.Kernel) live {
	last := map[*harmony.Reg]int{} // the last stage that reads it; sinks are one stage
	lastLoad, end := -1, len(k.Stages)
	for i, s := range k.Stages {
		for _, r := range harmony.Uses(s) {
			last[r] = i
		}
		if _, ok := s.(*harmony.Load); ok {
			lastLoad = i
		}
	}
	for _, s := range k.Sinks {
		for _, o := range harmony.SinkOperands(s) {
			if o.Reg != nil {
				last[o.Reg] = end
			}
		}
	}
	var l live
	var held []*harmony.Reg
	for i, s := range k.Stages {
		words := 0
		for _, r := range held {
			if last[r] > i {
				words += regWords(r)
			}
		}
		if p, ok := s.(*harmony.Probe); ok && p.Kind == harmony.ProbeMulti {
			if lastLoad > i {
				words++ // the number of the source's row
			}
			l.across = append(l.across, words)
		}
		if r := harmony.Def(s); r != nil {
			held = append(held, r)
			words += regWords(r)
		}
		l.most = max(l.most, words)
	}
	return l
}

// regWords returns the number of 32-bit words of a register. Booleans are bits
// of a mask, strings are codes of a dictionary, and rows are 32-bit numbers.
func regWords(r *harmony.Reg) int {
	if r.Row != nil {
		return 1
	}
	return (typeBytes(r.Type) + 3) / 4
}

// typeBytes returns the bytes of a value; 0 for a boolean.
func typeBytes(t scalar.Type) int {
	switch t.Kind {
	case scalar.Boolean:
		return 0
	case scalar.String:
		return 4
	case scalar.Int, scalar.Uint, scalar.Float:
		return int(t.Bits) / 8
	}
	return 8
}

// parameters returns the bytes of a kernel's parameters: the address, base and
// width of each column that it reads, the address and size of each index, the
// address of each column that it writes, a counter for each sink, and literals,
// which are parameters so that a changed constant does not make a new kernel.
func parameters(k *harmony.Kernel) int {
	const column, literal, address = 16, 8, 8
	type read struct {
		of  any
		col int
	}
	reads := map[read]bool{}
	bytes := 0
	operands := func(list []harmony.Operand) {
		for _, o := range list {
			if o.Reg == nil && o.Const.Type != (scalar.Type{}) {
				bytes += literal
			}
		}
	}
	for _, s := range k.Stages {
		switch s := s.(type) {
		case *harmony.Load:
			reads[read{nil, s.Col}] = true
		case *harmony.Gather:
			reads[read{s.Row.Row, s.Col}] = true
		case *harmony.Probe:
			reads[read{s.Index, 0}] = true
			operands(s.Key)
		case *harmony.Map:
			operands(s.Args)
		}
	}
	for _, s := range k.Sinks {
		list := harmony.SinkOperands(s)
		operands(list)
		bytes += address * (1 + len(list))
	}
	return bytes + column*len(reads)
}
