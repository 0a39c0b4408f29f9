package emit

import (
	"fmt"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
)

// Target says what code is for.
type Target struct {
	Name string // "cpu", or "gpu:sm_90" with the architecture
	GPU  bool
	// Threads and Items are the tile's shape: 1 and a multiple of 32 on a CPU; on a
	// GPU a power of two from 32 to 1,024 and the most rows a thread, a power of two from
	// abi.Chunk on, of which a kernel gets fewer where its registers or its shared memory
	// ask for it, but no fewer than a chunk.
	Threads, Items int
	// Shared is the shared memory in bytes that a block of a GPU may have: what is
	// beyond 48 KiB its launch asks for.
	Shared int
}

// CPU is the target of a host's processor: its tiles are 1,024 rows.
func CPU() Target { return Target{Name: "cpu", Threads: 1, Items: 1024} }

// GPU is the target of an NVIDIA GPU of compute capability sm. A thread has 8 rows at
// most: 16 take twice the registers and leave room for one block of 256 threads where
// 8 leave room for two or more.
//
// Its blocks have as much shared memory as those of every GPU have that code for sm is
// likely to meet: 227 KiB from 9.0 on, 99 KiB before, as on GPUs of 8.6 and 8.9. Who
// knows the GPU sets Shared to what it has.
func GPU(sm int) Target {
	shared := 99 << 10
	if sm >= 90 {
		shared = 227 << 10
	}
	return Target{Name: fmt.Sprintf("gpu:sm_%d", sm), GPU: true, Threads: 256, Items: 8, Shared: shared}
}

// verify returns an error if the primitives have no tiles of the target's shape.
func (t Target) verify() error {
	isPower := func(n int) bool { return n > 0 && n&(n-1) == 0 }
	switch {
	case !t.GPU && (t.Threads != 1 || t.Items < 32 || t.Items%32 != 0):
		return fmt.Errorf("a CPU's tile has 1 thread and a multiple of 32 rows, not %d of %d", t.Threads, t.Items)
	case t.GPU && (t.Threads < 32 || t.Threads > 1024 || !isPower(t.Threads)):
		return fmt.Errorf("a block of a GPU has a power of two from 32 to 1,024 threads, not %d", t.Threads)
	case t.GPU && (t.Items < abi.Chunk || !isPower(t.Items)):
		return fmt.Errorf("a GPU's thread has a power of two of rows, at least %d, not %d", abi.Chunk, t.Items)
	}
	return nil
}

// Options says what is known beyond the program.
type Options struct {
	Target Target
	// Fix gives the value of a parameter of an entry that is a constant, which is
	// then no parameter of the code; nil if none is. Literals, bounds of rows, gauges
	// and pointers are never asked for, but for TablePresent, which may be known as 0.
	Fix func(entry string, p abi.Param) (int64, bool)
	// Range bounds the words of a register. Where it is nil, or not ok, the bounds
	// are those of the type, and a decimal may exceed 64 bits.
	Range func(r *harmony.Reg) (lo, hi int64, ok bool)
	// Domains are the string domains of the program; nil stands for domain.Find's.
	Domains *domain.Domains
	// NoCompact says that rows stay in place within a tile.
	NoCompact bool
	// Cut says that kernels whose stages drop rows are cut by a queue, whatever is
	// expected of it; on a CPU, which is not cut otherwise, rows are to stay in place.
	Cut bool
}

// Code is a program for a target.
type Code struct {
	Module *abi.Module
	// IR is LLVM IR as text, which LLVM 15 to 19 accept. It calls primitives, names
	// no triple and no data layout.
	IR string
	// Units has the function of each entry as IR of its own, in the order of the
	// entries, so that they can be compiled at once and one by one. In each of them the
	// function is called UnitSymbol: functions that differ in nothing but their names
	// are the same text. CPUs have none.
	Units []string
}

// UnitSymbol stands in a unit where the entry's symbol stands in the whole IR. It is
// part of no other name.
const UnitSymbol = "__entry__"

// UnsupportedError says what a target has no code for.
type UnsupportedError struct {
	What string
	Span source.Span // of the rule that asks for it
}

// Error returns what is missing.
func (e *UnsupportedError) Error() string { return e.What }

// Program emits all kernels of a verified program, but for the host's, and the builds
// of all its indexes, in the order in which the text has them. The same program, options and version of
// redfox give the same bytes. The error is an *UnsupportedError, or says which
// entry, or what of the target, is wrong.
func Program(p *harmony.Program, o Options) (*Code, error) {
	if err := o.Target.verify(); err != nil {
		return nil, fmt.Errorf("target %s: %w", o.Target.Name, err)
	}
	if o.Domains == nil {
		o.Domains = domain.Find(p)
	}
	m := newModule(p, o)
	for _, b := range p.Blocks {
		for _, c := range b.Cmds {
			var err error
			switch c := c.(type) {
			case *harmony.Run:
				if !c.Kernel.Host {
					err = m.kernel(c.Kernel)
				}
			case *harmony.Build:
				err = m.build(c.Index)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return m.finish()
}
