package fuse

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
)

// refuse records a refusal once.
func (f *fuser) refuse(r Refusal) {
	if !f.opts.Brief && !f.seen[r] {
		f.seen[r] = true
		f.report.Refusals = append(f.report.Refusals, r)
	}
}

// spanOf returns the place in the program that a command serves.
func spanOf(c harmony.Command) source.Span {
	switch c := c.(type) {
	case *harmony.Run:
		return c.Kernel.Span
	case *harmony.Build:
		return c.Index.Span
	case *harmony.Number:
		return c.Span
	case *harmony.TopK:
		return c.Span
	case *harmony.Check:
		return c.Span
	case *harmony.CheckKey:
		return c.Span
	}
	return source.Span{}
}

// refuseAll refuses a consumer to all producers.
func (f *fuser) refuseAll(t *harmony.Relation, producers []site, c site, why *Reason,
	detail string) {
	for _, w := range producers {
		f.refuseTemp(t, w, c, why, detail)
	}
}

func (f *fuser) refuseTemp(t *harmony.Relation, w, c site, why *Reason, detail string) {
	// A kernel dependence takes precedence as the reason, because no choice
	// would change it.
	if fixed := kernelDependence(w, c); fixed != nil {
		why, detail = fixed, ""
	}
	pair := f.pairOf(w, c, t)
	f.refuse(Refusal{Pair: pair, Var: t.Name, Dependence: dependence(w, why), Reason: why,
		Detail: detail, Span: spanOf(c.command())})
}

// kernelDependence returns the reason if one of two commands does not run a
// kernel, or if only one runs on the host. Otherwise it returns nil.
func kernelDependence(w, c site) *Reason {
	switch c.command().(type) {
	case *harmony.Run:
	case *harmony.Build:
		return Index
	case *harmony.Check:
		return Check
	default:
		return Order
	}
	switch k := w.kernel(); {
	case k == nil:
		return Order
	case k.Host != c.kernel().Host:
		return Host
	}
	return nil
}

// dependence classifies what a consumer needs of a producer.
func dependence(w site, why *Reason) Dependence {
	switch why {
	case Index, Order, Grouping, Round, Host, Check, OtherBlock, Accumulates:
		return Kernel
	}
	if expands(w.kernel()) {
		return CTA
	}
	return Thread
}

// refuseDependences records the kernel dependences that do not go through a
// temp: over groups and over derived relations.
func (f *fuser) refuseDependences() {
	if f.opts.Brief {
		return
	}
	var runs []site
	sinking := map[harmony.Managed][]site{} // by the variable that they add to
	for _, b := range f.Blocks {
		for i, c := range b.Cmds {
			run, ok := c.(*harmony.Run)
			if !ok {
				continue
			}
			runs = append(runs, site{b, i})
			for _, v := range run.Kernel.Writes() {
				sinking[v] = append(sinking[v], site{b, i})
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
		for _, w := range sinking[over] {
			if sinksInto(w.kernel()) {
				f.refuse(Refusal{Pair: Pair{f.nameOf(w, sinksInto), f.nameOf(c, from)},
					Var:        over.ManagedName(),
					Dependence: Kernel, Reason: why, Span: spanOf(c.command())})
			}
		}
	}
}
