package shape

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/weaver/target"
)

// Options holds what is known beyond the program.
type Options struct {
	Target target.Target
	// Fix returns the value of a parameter that is a constant, which then is no
	// parameter of the code; nil if there are none. It is never asked for
	// literals, bounds of rows, gauges and pointers, except TablePresent, which
	// may be 0.
	Fix func(entry string, p abi.Param) (int64, bool)
	// Range bounds the words of a register. If it is nil, or not ok, the bounds
	// are those of the type, and a decimal may exceed 64 bits.
	Range func(r *harmony.Reg) (lo, hi int64, ok bool)
	// General reports whether the functions of a kernel or an index are for all
	// facts, whatever Fix and Range know: functions of one form are the same
	// code then. Nil stands for none.
	General func(of string) bool
	// Share leaves parameters open, though Fix knows them, in which functions
	// of one form differ and that matter little: more of them are the same code
	// then.
	Share bool
	// Domains are the string domains of the program; nil stands for
	// domain.Find's.
	Domains *domain.Domains
	// NoCompact leaves rows in place within a tile.
	NoCompact bool
	// Cut puts a queue into every kernel that can have one. A CPU's kernels
	// have no queue otherwise, and need NoCompact with it.
	Cut bool
	// Lines gives instructions the places of the rules that they serve.
	Lines bool
	// Loops asks for functions that run rounds of loops in one block of a GPU.
	Loops bool
	// Extend lets the host of a CPU add rows to indexes.
	Extend bool
	// Donate lets the blocks of a GPU take over work of others, for launches
	// with a board (abi.Board).
	Donate bool
}

// UnsupportedError is the error of a kernel that the target has no code for.
type UnsupportedError struct {
	What string
	Span source.Span // of the rule
}

// Error returns what is missing.
func (e *UnsupportedError) Error() string { return e.What }

// Program has the shapes of the functions of a kernel graph, in the order in
// which the graph's text has their commands.
type Program struct {
	Graph     *harmony.Program
	Options   Options // with Domains
	Functions []*Function
	shares    *shares
	spaced    map[string]bool // the names of spaced indexes
	multi     map[string]bool // those of indexes with several rows for a key
}

// Function is the shape of a kernel, or of a step of an index's build.
type Function struct {
	Facts
	Of string // the name of the kernel, or of the index
	// Kernel is the kernel; of a build, a kernel that loads the keys, without
	// sinks.
	Kernel *harmony.Kernel
	Index  *harmony.Index // nil for a kernel

	// Threads and Items are the tile's shape. Parts is how many tiles follow
	// each other between two looks at the gauges.
	Threads, Items, Parts int
	Registers             int // the most of a GPU's thread; 0 if the assembler chooses
	// Work is the work on a tile: all stages, or those ahead of the
	// queue.
	Work   *Work
	Queue  *Queue   // or nil
	Groups []*Group // of the sinks that group, in their order
	// Memory is the shared memory of a GPU's block.
	Memory Memory
	Why    []*Reason // of what differs from the target's own tile

	kept  []*harmony.Reg  // registers that sinks, or an index, read behind all stages
	order []harmony.Stage // of work, before a queue cuts it
	known *forms          // nil until they are needed

	spaced map[string]bool // the program's
}

// Choose chooses the shapes of all kernels of a verified program, except the
// host's, and of the builds of all its indexes. The same program and options
// give the same shapes. The error is an *UnsupportedError, or names what is
// wrong.
func Choose(graph *harmony.Program, o Options) (*Program, error) {
	return choose(graph, o, func(*Function) bool { return true })
}

// ChooseOne is Choose for the function of a symbol, and none if the program has
// no such function.
func ChooseOne(graph *harmony.Program, o Options, symbol string) (*Program, error) {
	return choose(graph, o, func(f *Function) bool { return f.Symbol == symbol })
}

// choose chooses the shapes of some functions.
func choose(graph *harmony.Program, o Options, some func(*Function) bool) (*Program, error) {
	p, err := newProgram(graph, o)
	if err != nil {
		return nil, err
	}
	p.Functions = list.Filter(p.Functions, some)
	for _, f := range p.Functions {
		if err := p.choose(f); err != nil {
			return nil, f.Wrap(err)
		}
	}
	return p, nil
}

// newProgram lists the functions that a program needs.
func newProgram(graph *harmony.Program, o Options) (*Program, error) {
	if err := o.Target.Verify(); err != nil {
		return nil, fmt.Errorf("target %s: %w", o.Target.Name, err)
	}
	if o.Domains == nil {
		o.Domains = domain.Find(graph)
	}
	p := &Program{Graph: graph, Options: o, multi: map[string]bool{}}
	p.findSpaced()
	for _, x := range graph.Indexes {
		p.multi[x.Name] = x.Kind == harmony.Multi
	}
	p.shares = &shares{graph: graph, bounds: o.Range, subsets: map[*harmony.Relation]float64{}}
	built := map[*harmony.Index]bool{}
	for _, c := range graph.Commands() {
		switch c := c.(type) {
		case *harmony.Run:
			if !c.Kernel.Host {
				name := c.Kernel.Name
				p.add(&Function{Facts: p.facts(abi.Kernel, "", name), Of: name,
					Kernel: c.Kernel})
			}
		case *harmony.Build:
			if !built[c.Index] {
				built[c.Index] = true
				p.addBuild(c.Index)
			}
		}
	}
	return p, nil
}

// facts are those of a function with a symbol of its own.
func (p *Program) facts(role abi.Role, prefix, name string) Facts {
	return Facts{Symbol: symbol(prefix, name), Role: role, options: &p.Options,
		general: p.Options.General != nil && p.Options.General(name), multi: p.multi}
}

// add takes in a function, and puts its stages in order.
func (p *Program) add(f *Function) {
	for _, s := range f.Kernel.Sinks {
		for _, o := range harmony.SinkOperands(s) {
			if o.Reg != nil {
				f.kept = append(f.kept, o.Reg)
			}
		}
	}
	f.Parts, f.Threads, f.Items = 1, p.Options.Target.Threads, p.Options.Target.Items
	f.spaced = p.spaced
	f.setOrder(f.schedule())
	p.Functions = append(p.Functions, f)
}

// setOrder puts the stages in an order of work.
func (f *Function) setOrder(stages []harmony.Stage) {
	f.order, f.Work, f.Queue = stages, f.newWork(stages, f.kept), nil
}

// addBuild adds the steps that build an index. An index whose keys are row
// numbers has none.
func (p *Program) addBuild(x *harmony.Index) {
	insert := p.facts(abi.BuildInsert, "build_", x.Name)
	switch form, known := int64(0), false; {
	case x.ByPosition():
	case x.Kind == harmony.Multi:
		p.addStep(x, p.facts(abi.BuildCount, "count_", x.Name), "count_")
		p.addStep(x, p.facts(abi.BuildFill, "fill_", x.Name), "fill_")
	default:
		if insert.knowsFacts() {
			form, known = p.Options.Fix(insert.Symbol, abi.Param{Kind: abi.IndexForm, Var: x.Name})
		}
		if !known || abi.Form(form) != abi.None {
			p.addStep(x, insert, "build_")
		}
	}
}

// addStep adds a function that loads the key of each row.
func (p *Program) addStep(x *harmony.Index, facts Facts, prefix string) {
	k := &harmony.Kernel{
		Name:   prefix + x.Name,
		Source: &harmony.Rows{Rel: x.Of, Version: x.Version},
		Span:   x.Span,
	}
	f := &Function{Facts: facts, Of: x.Name, Kernel: k, Index: x}
	for _, col := range x.Key {
		r := &harmony.Reg{Type: x.Of.Cols[col].Type}
		k.Stages = append(k.Stages, &harmony.Load{Out: r, Col: col})
		f.kept = append(f.kept, r)
	}
	p.add(f)
}

// Key returns the registers that hold the key of a build.
func (f *Function) Key() []*harmony.Reg { return f.kept }

// Wrap names the function in an error.
func (f *Function) Wrap(err error) error {
	if f.Index != nil {
		return fmt.Errorf("index %s: %w", f.Of, err)
	}
	return fmt.Errorf("kernel %s: %w", f.Of, err)
}

// symbol makes a name that LLVM, PTX and linkers take.
func symbol(prefix, name string) string {
	var b strings.Builder
	b.WriteString(prefix)
	for _, r := range []byte(name) {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			b.WriteByte(r)
		case r == '_':
			b.WriteString("__")
		default:
			fmt.Fprintf(&b, "_%02x", r)
		}
	}
	return b.String()
}
