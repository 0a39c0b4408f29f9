package fuse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/weaver/target"
)

// Report is what has become of the kernels of a program.
type Report struct {
	Budget   target.Budget
	Kernels  []KernelReport // of the fused program, in its order
	InPlace  []OrderReport  // commands that number and rank in place, likewise
	Fusions  []Fusion
	Dropped  []string // removed temps, in the order of removal
	Refusals []Refusal
}

// KernelReport is what a kernel of the fused program is made of.
type KernelReport struct {
	Name     string
	Parts    []string // the kernels of the program before, in order
	Ops      []string // the plan operators that it carries out
	Host     bool     // evaluated by the host, so that there is no estimate
	Estimate Estimate
	Span     source.Span
}

// OrderReport is a command that numbers or ranks, with the kernels whose work
// it has taken over.
type OrderReport struct {
	Name  string
	Parts []string // the commands of the program before, in order
	Span  source.Span
}

// Fusion is a producer and a consumer that became one kernel.
type Fusion struct {
	Pair
	Var        string // the variable between them
	Dependence Dependence
}

// Refusal is a producer and a consumer that were not fused. If one is not a
// kernel, its name is the command in the program's text.
type Refusal struct {
	Pair
	Var        string // the variable between them; "" for an input dependence
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

// describe fills in the reports of kernels.
func (f *fuser) describe() {
	for _, k := range f.Program.Kernels() {
		d := KernelReport{Name: k.Name, Ops: k.Ops, Host: k.Host, Span: k.Span}
		if !k.Host {
			d.Estimate = EstimateOf(k, f.opts.Budget)
		}
		for _, part := range f.parts[k] {
			d.Parts = append(d.Parts, part.Name)
		}
		f.report.Kernels = append(f.report.Kernels, d)
	}
	for _, c := range f.Commands() {
		if parts := f.inPlace[c]; parts != nil {
			f.report.InPlace = append(f.report.InPlace,
				OrderReport{commandName(c), parts, spanOf(c)})
		}
	}
}

// KernelsString lists the kernels: the parts and the estimate of each, followed
// by the result of more, if that is not nil. Orderings that have taken over the
// work of kernels follow.
func (r *Report) KernelsString(more func(kernel string) string) string {
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
		if k.Host {
			b.WriteString("  on the host\n")
		} else {
			fmt.Fprintf(&b, "  on %s: %v\n", r.Budget.Name, k.Estimate)
			if more != nil {
				b.WriteString(more(k.Name))
			}
		}
	}
	for _, o := range r.InPlace {
		b.WriteString(o.Name + place(o.Span) + "\n  in place of " + strings.Join(o.Parts, " + ") +
			"\n")
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
