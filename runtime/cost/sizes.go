package cost

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
)

// Flow is how many rows a kernel of an unfused graph reads and how many tuples
// it gives to its sinks, in all of its calls.
type Flow struct{ Calls, In, Out float64 }

// Sizes are the flows of the kernels that lowering makes of a plan, by name.
type Sizes map[string]Flow

// Counted returns the sizes that a run of the unfused graph has counted.
func Counted(kernels []runtime.KernelProfile) Sizes {
	s := Sizes{}
	for _, k := range kernels {
		s[k.Kernel] = Flow{float64(k.Calls), float64(k.Rows), float64(k.Kept)}
	}
	return s
}

// Estimated returns the sizes that an estimator of the plan expects. loaded
// returns the number of rows of a relation of facts.
func Estimated(p *harmony.Program, loaded func(r *harmony.Relation) (rows float64, ok bool),
	estimate func(n queryplan.Node) float64) Sizes {
	e := estimator{sizes: Sizes{}, loaded: loaded, estimate: estimate, fills: fills(p)}
	for _, k := range origins(p) {
		e.flow(k)
	}
	return e.sizes
}

type estimator struct {
	sizes    Sizes
	loaded   func(r *harmony.Relation) (rows float64, ok bool)
	estimate func(n queryplan.Node) float64
	fills    map[string][]*harmony.Kernel
}

// flow returns the rows of a kernel. One that is part of a cycle of relations
// has those of its operator.
func (e *estimator) flow(k *harmony.Kernel) Flow {
	if f, known := e.sizes[k.Name]; known {
		return f
	}
	f := Flow{Calls: 1, In: 1}
	if k.Makes != nil {
		f.In = e.estimate(k.Makes)
	}
	f.Out = f.In
	e.sizes[k.Name] = f
	switch s := k.Source.(type) {
	case *harmony.Rows:
		if n, ok := e.loaded(s.Rel); ok {
			f.In = n
		} else if from := e.fills[s.Rel.Name]; len(from) > 0 {
			f.In = 0
			for _, k := range from {
				f.In += e.flow(k).Out
			}
		}
	case *harmony.Values:
		f.In = float64(len(s.Rows))
	}
	if f.Out = f.In; k.Makes != nil {
		f.Out = e.estimate(k.Makes)
	}
	if k.Makes != nil && drops(k) == 0 {
		f.Out = f.In
	}
	e.sizes[k.Name] = f
	return f
}

// origins lists the kernels of the unfused graph that a graph is made of, in
// the order of their work.
func origins(p *harmony.Program) []*harmony.Kernel {
	var out []*harmony.Kernel
	seen := map[string]bool{}
	add := func(k *harmony.Kernel) {
		if !seen[k.Name] {
			seen[k.Name] = true
			out = append(out, k)
		}
	}
	for _, k := range p.Kernels() {
		for _, s := range k.Stages {
			add(k.OriginOf(s))
		}
		for _, s := range k.Sinks {
			add(k.OriginOf(s))
		}
	}
	return out
}

// fills lists the origins that fill each relation and each groups, by name.
func fills(p *harmony.Program) map[string][]*harmony.Kernel {
	out := map[string][]*harmony.Kernel{}
	for _, k := range origins(p) {
		for _, s := range k.Sinks {
			name := harmony.SinkTarget(s).ManagedName()
			out[name] = append(out[name], k)
		}
	}
	return out
}

// drops counts the stages that change how many rows are left.
func drops(k *harmony.Kernel) int {
	n := 0
	for _, s := range k.Stages {
		if harmony.ChangesRows(s) {
			n++
		}
	}
	return n
}
