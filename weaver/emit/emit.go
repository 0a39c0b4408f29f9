package emit

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// Options holds what is known beyond the program.
type Options = shape.Options

// UnsupportedError is the error of a kernel that the target has no code for.
type UnsupportedError = shape.UnsupportedError

// Code is a program for a target.
type Code = ir.Code

// UnitSymbol stands in a unit where the entry's symbol stands in the whole IR.
const UnitSymbol = ir.UnitSymbol

// Program chooses the shapes of a verified program's functions, and emits them.
// The same program, options and version of redfox give the same bytes. The
// error is an *UnsupportedError, or names the kernel, the index or the property
// of the target that is wrong.
func Program(p *harmony.Program, o Options) (*Code, error) {
	shapes, err := shape.Choose(p, o)
	if err != nil {
		return nil, err
	}
	return Shaped(shapes)
}

// Shaped emits functions of given shapes, in their order.
func Shaped(p *shape.Program) (*Code, error) {
	m, err := module(p)
	if err != nil {
		return nil, err
	}
	return m.Finish()
}

// Units is Shaped for a GPU, of functions as units alone.
func Units(p *shape.Program) (*Code, error) {
	m, err := module(p)
	if err != nil {
		return nil, err
	}
	return m.FinishUnits()
}

func module(p *shape.Program) (*ir.Module, error) {
	m := ir.NewModule(p)
	for _, f := range p.Functions {
		if err := emit(m, f); err != nil {
			return nil, f.Wrap(err)
		}
	}
	for _, l := range p.Loops() {
		m.AddLoop(l)
	}
	return m, nil
}
