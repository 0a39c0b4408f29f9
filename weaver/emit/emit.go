package emit

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// Options holds what is known beyond the program.
type Options = shape.Options

// UnsupportedError is the error of a kernel that the target has no code for.
type UnsupportedError = shape.UnsupportedError

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

// Program chooses the shapes of a verified program's functions, and emits them. The same
// program, options and version of redfox give the same bytes. The error is an
// *UnsupportedError, or names the kernel, the index or the property of the target
// that is wrong.
func Program(p *harmony.Program, o Options) (*Code, error) {
	shapes, err := shape.Choose(p, o)
	if err != nil {
		return nil, err
	}
	return Shaped(shapes)
}

// Shaped emits functions of given shapes, in their order.
func Shaped(p *shape.Program) (*Code, error) {
	m := newModule(p)
	for _, f := range p.Functions {
		if err := m.emit(f); err != nil {
			return nil, f.Wrap(err)
		}
	}
	return m.finish()
}
