package ir

import (
	"fmt"
	"slices"
	"strings"

	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/metadata"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/primitives"
	"github.com/redfoxdb/redfox/weaver/expr"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// Code is a program for a target.
type Code struct {
	Module *abi.Module
	// IR is LLVM IR as text, which LLVM 15 to 19 accept. It calls primitives,
	// names no triple and no data layout. A GPU's loops are in units alone.
	IR string
	// Units has the function of each entry as IR of its own, in the order of
	// the entries, so that they can be compiled at once and one by one. In each
	// of them the function is called UnitSymbol: functions that differ in
	// nothing but their names are the same text. CPUs have none.
	Units []string
}

// UnitSymbol stands in a unit where the entry's symbol stands in the whole IR.
// It is part of no other name.
const UnitSymbol = "__entry__"

// Module is the code in the making.
type Module struct {
	Options   *shape.Options
	abi       *abi.Module
	functions []*Function // those of the entries
	loops     []*loop     // whose entries come last
	// declared has the primitives and intrinsics that are called, by name.
	declared map[string]*llvm.Func
}

// NewModule returns a module without functions.
func NewModule(p *shape.Program) *Module {
	o := &p.Options
	return &Module{
		Options:  o,
		abi:      &abi.Module{Target: o.Target.Name, Tables: o.Domains.Tables()},
		declared: map[string]*llvm.Func{},
	}
}

// Add takes in a finished function.
func (m *Module) Add(f *Function) error {
	if err := f.finish(); err != nil {
		return err
	}
	m.functions = append(m.functions, f)
	m.abi.Entries = append(m.abi.Entries, f.Entry)
	return nil
}

// Finish returns the module as text.
func (m *Module) Finish() (*Code, error) {
	c := &Code{Module: m.abi}
	if m.Options.Target.GPU {
		var err error
		if c, err = m.FinishUnits(); err != nil {
			return nil, err
		}
	} else if err := abi.Verify(m.abi); err != nil {
		return nil, fmt.Errorf("emit: %w", err)
	}
	all := m.functions
	if !m.Options.Target.GPU {
		for _, l := range m.loops {
			all = append(all[:len(all):len(all)], l.Function)
		}
	}
	c.IR = text(all...)
	return c, nil
}

// FinishUnits is Finish for a GPU, without the text of the whole module.
func (m *Module) FinishUnits() (*Code, error) {
	if err := abi.Verify(m.abi); err != nil {
		return nil, fmt.Errorf("emit: %w", err)
	}
	c := &Code{Module: m.abi}
	for _, f := range m.functions {
		c.Units = append(c.Units, f.unit())
	}
	for _, l := range m.loops {
		c.Units = append(c.Units, l.unit())
	}
	return c, nil
}

// text prints functions as a module, with declarations of what they call.
func text(functions ...*Function) string {
	m := llvm.NewModule()
	declared := map[string]bool{}
	for _, f := range functions {
		// Package expr declares what it calls where it finds the function.
		for _, callee := range slices.Concat(f.callees, f.fn.Parent.Funcs) {
			if !declared[callee.Name()] {
				declared[callee.Name()] = true
				m.Funcs = append(m.Funcs, callee)
			}
		}
	}
	var kernels metadata.NamedDef
	for i, f := range functions {
		m.Funcs = append(m.Funcs, llvm.NewFunc(stub(i), types.Void))
		m.Globals = append(m.Globals, f.globals...)
		m.MetadataDefs = append(m.MetadataDefs, f.metadata...)
		if f.Target.GPU && !f.inLoop {
			// !{ptr @f, !"kernel", i32 1} is how versions before 19 tell a
			// kernel.
			note := &metadata.Tuple{MetadataID: -1, Fields: []metadata.Field{
				expr.AsPtr(f.fn),
				&metadata.String{Value: "kernel"},
				I32(1),
			}}
			if f.Shape.Registers > 0 {
				note.Fields = append(note.Fields, &metadata.String{Value: "maxnreg"},
					I32(f.Shape.Registers))
			}
			m.MetadataDefs = append(m.MetadataDefs, note)
			kernels.Nodes = append(kernels.Nodes, note)
		}
	}
	if len(kernels.Nodes) > 0 {
		kernels.Name = "nvvm.annotations"
		m.NamedMetadataDefs = map[string]*metadata.NamedDef{kernels.Name: &kernels}
	}
	places := lines{m: m, files: map[*source.File]*metadata.DIFile{}}
	for _, f := range functions {
		places.add(f)
	}
	for _, d := range m.MetadataDefs { // another text may have numbered them
		d.SetID(-1)
	}
	rest := m.String()
	var p printer
	for i, f := range functions {
		before, after, _ := strings.Cut(rest, "declare void @"+stub(i)+"()")
		p.text(before)
		p.function(f.fn)
		rest = after
	}
	p.text(rest)
	return string(p.b)
}

// stub names the declaration that stands for a function until the function
// itself is printed.
func stub(i int) string { return fmt.Sprintf("__function_%d__", i) }

// unit prints the finished function alone, see Code.Units.
func (f *Function) unit() string {
	if f.alone == "" {
		defer f.rename(f.Entry.Symbol)
		f.rename(UnitSymbol)
		f.alone = text(f)
	}
	return f.alone
}

// rename gives the function and what is its own another name.
func (f *Function) rename(symbol string) {
	f.fn.SetName(symbol)
	f.scratch.rename(symbol)
	f.Shared.rename(symbol)
	f.Dynamic.rename(symbol)
	for _, a := range f.aparts {
		a.rename(symbol)
	}
}

// primitive returns a primitive's declaration, with the types of the catalogue.
// On a CPU those of whole tiles are called and not inlined.
func (m *Module) primitive(name string) *llvm.Func {
	p, ok := primitives.Lookup(name)
	if !ok {
		panic("emit: there is no primitive " + name)
	}
	symbol := name
	if !m.Options.Target.GPU && p.WholeTile() {
		symbol = primitives.CallPrefix + name
	}
	if f := m.declared[symbol]; f != nil {
		return f
	}
	result, list := p.Prototype()
	var params []types.Type
	for _, t := range list {
		params = append(params, irTypes[t])
	}
	return m.declare(symbol, irTypes[result], params...)
}

// specialised returns a function that calls a primitive with the constants
// among some arguments, and the others. It stays apart until its loops are
// unrolled, see Target.Passes, so its name tells what it does: equal calls,
// also of different kernels, share it.
func (m *Module) specialised(callee *llvm.Func, args []value.Value) (*llvm.Func, []value.Value) {
	name := callee.Name() + "."
	var rest []value.Value
	for _, a := range args {
		switch a.(type) {
		case *constant.Int, nullPointer:
			name += "_" + a.Ident()
		default:
			name += "_"
			rest = append(rest, a)
		}
	}
	if f := m.declared[name]; f != nil {
		return f, rest
	}
	f := llvm.NewFunc(name, callee.Sig.RetType)
	f.Linkage = enum.LinkageInternal
	f.FuncAttrs = []llvm.FuncAttribute{enum.FuncAttrConvergent, enum.FuncAttrNoUnwind}
	inner := make([]value.Value, len(args))
	for i, a := range args {
		switch a.(type) {
		case *constant.Int, nullPointer:
			inner[i] = a
		default:
			p := llvm.NewParam("", a.Type())
			p.Attrs = callee.Params[i].Attrs
			f.Params = append(f.Params, p)
			f.Sig.Params = append(f.Sig.Params, a.Type())
			inner[i] = p
		}
	}
	body := f.NewBlock("entry")
	call := &llvm.InstCall{Callee: callee, Args: inner, Typ: callee.Sig.RetType}
	body.Insts = append(body.Insts, call)
	if call.Typ.Equal(types.Void) {
		body.NewRet(nil)
	} else {
		body.NewRet(call)
	}
	m.declared[name] = f
	return f, rest
}

// irTypes are the types of primitives by name.
var irTypes = map[string]types.Type{"void": types.Void, "i8": types.I8, "i32": types.I32,
	"i64": types.I64, "ptr": expr.Ptr()}

// declare declares a function of another module, or an intrinsic.
func (m *Module) declare(name string, result types.Type, params ...types.Type) *llvm.Func {
	if f := m.declared[name]; f != nil {
		return f
	}
	list := make([]*llvm.Param, len(params))
	for i, t := range params {
		list[i] = llvm.NewParam("", t)
		if t.Equal(expr.Ptr()) {
			// Nothing keeps an address: arrays of a tile stay apart from all
			// else in memory.
			list[i].Attrs = append(list[i].Attrs, enum.ParamAttrNoCapture)
		}
	}
	f := llvm.NewFunc(name, result, list...)
	f.FuncAttrs = []llvm.FuncAttribute{enum.FuncAttrNoUnwind}
	m.declared[name] = f
	return f
}
