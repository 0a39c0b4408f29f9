package partition

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// functions cuts every kernel at its first function that needs the host, and
// reports whether there was one. What is left behind a cut may have more of
// them.
func (q *partitioner) functions(needsHost func(*harmony.Map) bool) (any bool) {
	q.replace(func(b *harmony.Block, c harmony.Command) []harmony.Command {
		run, ok := c.(*harmony.Run)
		if !ok || run.Kernel.Host {
			return []harmony.Command{c}
		}
		cut := &cut{kernel: run.Kernel, host: func(s harmony.Stage) bool {
			m, ok := s.(*harmony.Map)
			return ok && needsHost(m)
		}}
		if !slices.ContainsFunc(run.Kernel.Stages, cut.host) {
			return []harmony.Command{c}
		}
		any = true
		return q.cut(b, cut)
	})
	return any
}

// cut is a kernel that is taken apart.
type cut struct {
	kernel *harmony.Kernel
	host   func(harmony.Stage) bool
	// The stages of its parts; those of the host begin with its function.
	before, on, behind []harmony.Stage
}

// cut returns the commands that do what a kernel does. A part of the kernel
// that would do nothing is left out.
func (q *partitioner) cut(b *harmony.Block, c *cut) (out []harmony.Command) {
	c.divide(c.late())
	add := func(k *harmony.Kernel, fills *harmony.Relation) {
		q.name(k, c.kernel, len(out) == 0)
		k.Ops, k.Span = c.kernel.Ops, c.kernel.Span
		if fills != nil && cfg.OnCycle(b, (*harmony.Block).Successors) {
			// It has the rows of an earlier round.
			out = append(out, &harmony.Clear{Var: fills})
		}
		out = append(out, &harmony.Run{Kernel: k})
	}

	sinks := c.kernel.Sinks
	var behind *harmony.Kernel
	var given *harmony.Relation // by the host to the part behind it
	if len(c.behind) > 0 || slices.ContainsFunc(sinks, isNoStore) {
		stages, regs := inherit(slices.Concat(c.before, c.on), c.behind, sinks)
		given = q.temp(columns(regs, c.kernel), c.kernel.Span)
		behind = takeOver(&harmony.Rows{Rel: given}, loads(regs, stages), sinks)
		sinks = []harmony.Sink{&harmony.Store{To: given, Vals: operands(regs)}}
	}

	stages, regs := inherit(c.before, c.on, sinks)
	store := &harmony.Store{Vals: operands(regs)}
	before := &harmony.Kernel{Source: c.kernel.Source, Stages: c.before,
		Sinks: []harmony.Sink{store}}
	harmony.DropUnused(before)
	var host *harmony.Kernel
	if onlyLoads(before) {
		host = takeOver(before.Source, slices.Concat(before.Stages, stages), sinks)
	} else {
		store.To = q.temp(columns(regs, c.kernel), c.kernel.Span)
		add(before, store.To)
		host = takeOver(&harmony.Rows{Rel: store.To}, loads(regs, stages), sinks)
	}
	host.Host = true
	add(host, given)
	if behind != nil {
		add(behind, nil)
	}
	return out
}

// late returns the kernel's stages with the host's functions, and what is
// computed of them, right before their first use.
func (c *cut) late() []harmony.Stage {
	stages := slices.Clone(c.kernel.Stages)
	hosts := map[*harmony.Reg]bool{}
	for _, s := range stages {
		if _, ok := s.(*harmony.Map); ok && (c.host(s) || usesAny(s, hosts)) {
			hosts[harmony.Def(s)] = true
		}
	}
	for i := len(stages) - 1; i >= 0; i-- {
		s := stages[i]
		r := harmony.Def(s)
		if !hosts[r] {
			continue
		}
		// Registers that cannot be stored pass expansions, too.
		stored := harmony.Present(&harmony.Kernel{Stages: stages[:i+1]})[r]
		to := i + 1
		for to < len(stages) && !slices.Contains(harmony.Uses(stages[to]), r) &&
			!(stored && expands(stages[to])) {
			to++
		}
		stages = slices.Insert(slices.Delete(stages, i, i+1), to-1, s)
	}
	return stages
}

// divide sorts the stages into those before the host's part, in it and behind
// it. The host also carries out what right behind depends on its function.
func (c *cut) divide(stages []harmony.Stage) {
	at := slices.IndexFunc(stages, c.host)
	c.before = slices.Clone(stages[:at])
	found := map[*harmony.Reg]bool{} // before the host's part
	for _, s := range c.before {
		found[harmony.Def(s)] = true
	}
	var rest []harmony.Stage
	for _, s := range stages[at:] {
		load, gather := isLoad(s), false
		if g, ok := s.(*harmony.Gather); ok {
			gather = found[g.Row]
		}
		if load || gather {
			c.before = append(c.before, s)
		} else {
			rest = append(rest, s)
		}
	}
	values := map[*harmony.Reg]bool{}
	n := 0
	for ; n < len(rest); n++ {
		s := rest[n]
		if _, probe := s.(*harmony.Probe); probe || !c.host(s) && !usesAny(s, values) {
			break
		}
		if r := harmony.Def(s); r != nil {
			values[r] = true
		}
	}
	c.on, c.behind = rest[:n], rest[n:]
}

// inherit returns the stages of a part with what is needed to begin with it:
// the registers of stages before it, in the order of their use, of which those
// that cannot be stored are computed again.
func inherit(before, part []harmony.Stage,
	sinks []harmony.Sink) (stages []harmony.Stage, regs []*harmony.Reg) {
	present := harmony.Present(&harmony.Kernel{Stages: before})
	defined := map[*harmony.Reg]harmony.Stage{}
	for _, s := range before {
		if r := harmony.Def(s); r != nil {
			defined[r] = s
		}
	}
	seen := map[*harmony.Reg]bool{}
	var need func(r *harmony.Reg)
	need = func(r *harmony.Reg) {
		s := defined[r]
		if s == nil || seen[r] {
			return
		}
		seen[r] = true
		if present[r] {
			regs = append(regs, r)
			return
		}
		for _, arg := range harmony.Uses(s) {
			need(arg)
		}
		stages = append(stages, s)
	}
	for _, s := range part {
		for _, r := range harmony.Uses(s) {
			need(r)
		}
	}
	for _, s := range sinks {
		for _, o := range harmony.SinkOperands(s) {
			need(o.Reg)
		}
	}
	return append(stages, part...), regs
}

// takeOver returns a kernel with stages and sinks of another one, in registers
// of its own.
func takeOver(source harmony.Source, stages []harmony.Stage, sinks []harmony.Sink) *harmony.Kernel {
	ren := harmony.Renaming{}
	k := &harmony.Kernel{Source: source, Stages: ren.Stages(stages)}
	for _, s := range sinks {
		k.Sinks = append(k.Sinks, ren.Sink(s))
	}
	return k
}

// loads returns stages with those that load registers from the columns of a
// temp, each before its first use: what is loaded behind an expansion need not
// cross it.
func loads(regs []*harmony.Reg, stages []harmony.Stage) (out []harmony.Stage) {
	loaded := map[*harmony.Reg]bool{}
	load := func(i int) {
		loaded[regs[i]] = true
		out = append(out, &harmony.Load{Out: regs[i], Col: i})
	}
	for _, s := range stages {
		for _, r := range harmony.Uses(s) {
			if i := slices.Index(regs, r); i >= 0 && !loaded[r] {
				load(i)
			}
		}
		out = append(out, s)
	}
	for i, r := range regs {
		if !loaded[r] {
			load(i)
		}
	}
	return out
}

func operands(regs []*harmony.Reg) []harmony.Operand {
	out := make([]harmony.Operand, len(regs))
	for i, r := range regs {
		out[i].Reg = r
	}
	return out
}

// onlyLoads reports whether a kernel does no more than copy columns that the
// host can have.
func onlyLoads(k *harmony.Kernel) bool {
	rows, ok := k.Source.(*harmony.Rows)
	return ok && rows.Version == harmony.Full &&
		!slices.ContainsFunc(k.Stages, func(s harmony.Stage) bool {
			return !isLoad(s)
		})
}

func isLoad(s harmony.Stage) bool {
	_, ok := s.(*harmony.Load)
	return ok
}

func isNoStore(s harmony.Sink) bool {
	_, store := s.(*harmony.Store)
	return !store
}

func expands(s harmony.Stage) bool {
	p, ok := s.(*harmony.Probe)
	return ok && p.Kind == harmony.ProbeMulti
}

func usesAny(s harmony.Stage, regs map[*harmony.Reg]bool) bool {
	return slices.ContainsFunc(harmony.Uses(s), func(r *harmony.Reg) bool { return regs[r] })
}
