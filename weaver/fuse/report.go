package fuse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
)

// Report says what became of the kernels of a program.
type Report struct {
	Budget   Budget
	Kernels  []Kernels // of the fused program, in its order
	Fusions  []Fusion
	Dropped  []string // temps that are gone, in the order in which they went
	Refusals []Refusal
}

// Kernels says what a kernel of the fused program is made of.
type Kernels struct {
	Name     string
	Parts    []string // the kernels of the program before, in order
	Ops      []string // the plan operators that it carries out
	Estimate Estimate
	Span     source.Span
}

// Fusion is a producer and a consumer that became one kernel.
type Fusion struct {
	Pair
	Var        string // what passed between them
	Dependence Dependence
}

// Refusal is a producer and a consumer that did not. Either may be a command that
// is no kernel, written as the program's text has it.
type Refusal struct {
	Pair
	Var        string // what passes between them; "" for an input dependence
	Dependence Dependence
	Reason     *Reason
	Detail     string      // numbers, if there are any
	Span       source.Span // of what the consumer serves
}

func (r *Report) fuse(x Fusion) {
	if !slices.Contains(r.Fusions, x) {
		r.Fusions = append(r.Fusions, x)
	}
}

// describe fills in the kernels.
func (f *fuser) describe() {
	for _, k := range f.Program.Kernels() {
		d := Kernels{Name: k.Name, Ops: k.Ops, Estimate: f.opts.Budget.Estimate(k), Span: k.Span}
		for _, part := range f.parts[k] {
			d.Parts = append(d.Parts, part.Name)
		}
		f.report.Kernels = append(f.report.Kernels, d)
	}
}

// KernelsString lists the kernels: what each is made of and is expected to take.
func (r *Report) KernelsString() string {
	var b strings.Builder
	for _, k := range r.Kernels {
		b.WriteString("kernel " + k.Name)
		if len(k.Parts) > 1 {
			b.WriteString(" = " + strings.Join(k.Parts, " + "))
		}
		b.WriteString(place(k.Span) + "\n")
		for _, op := range k.Ops {
			b.WriteString("  " + op + "\n")
		}
		fmt.Fprintf(&b, "  on %s: %v\n", r.Budget.Name, k.Estimate)
	}
	return b.String()
}

// RefusalsString lists the refused fusions with reasons and places.
func (r *Report) RefusalsString() string {
	var b strings.Builder
	for _, x := range r.Refusals {
		fmt.Fprintf(&b, "%s -> %s", x.Producer, x.Consumer)
		if x.Var != "" {
			b.WriteString(" over " + x.Var)
		}
		fmt.Fprintf(&b, ": %s: %s", x.Reason.Name, x.Reason.Doc)
		if x.Detail != "" {
			b.WriteString(" (" + x.Detail + ")")
		}
		b.WriteString(place(x.Span) + "\n")
	}
	return b.String()
}

// place writes a span as the file, line and column where it starts.
func place(s source.Span) string {
	if !s.IsValid() {
		return ""
	}
	pos := s.Position()
	return fmt.Sprintf("  // %s:%d:%d", pos.File, pos.Line, pos.Column)
}

// refuseDependences records the kernel dependences that do not go through a temp:
// over groups and over derived relations.
func (f *fuser) refuseDependences() {
	var runs []site
	for _, b := range f.Blocks {
		for i, c := range b.Cmds {
			if _, ok := c.(*harmony.Run); ok {
				runs = append(runs, site{b, i})
			}
		}
	}
	for _, c := range runs {
		var over harmony.Managed
		why := Round
		switch s := c.kernel().Source.(type) {
		case *harmony.Rows:
			over = s.Rel
		case *harmony.GroupRows:
			over, why = s.Groups, Grouping
		default:
			continue
		}
		sinksInto := func(k *harmony.Kernel) bool {
			return slices.ContainsFunc(k.Sinks, func(s harmony.Sink) bool {
				_, store := s.(*harmony.Store)
				return !store && harmony.SinkTarget(s) == over
			})
		}
		from := func(k *harmony.Kernel) bool { return k.Source == c.kernel().Source }
		for _, w := range runs {
			if sinksInto(w.kernel()) {
				f.refuse(Refusal{Pair: Pair{f.nameOf(w, sinksInto), f.nameOf(c, from)}, Var: over.ManagedName(),
					Dependence: Kernel, Reason: why, Span: spanOf(c.command())})
			}
		}
	}
}
