package emit

import (
	"fmt"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/weaver/target"
)

// Options says what is known beyond the program.
type Options struct {
	Target target.Target
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
	if err := o.Target.Verify(); err != nil {
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
