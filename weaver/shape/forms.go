package shape

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/weaver/expr"
	"github.com/redfoxdb/redfox/weaver/partition"
)

// forms holds the machine form of the values of a function's registers.
type forms struct {
	f *Function
	// stored has the registers between steps, as arrays keep them.
	stored map[*harmony.Reg]expr.Form
	// across has the number of words that each expansion passes on, in order.
	across []int
	// run has the registers of the run at hand.
	run map[*harmony.Reg]expr.Form
}

// forms returns the forms behind all stages. They do not depend on the tile.
func (f *Function) forms() *forms {
	if f.known == nil {
		f.known = &forms{f: f, stored: map[*harmony.Reg]expr.Form{}}
		w := f.Work
		if f.Queue != nil { // what is ahead of it is read again
			w = f.Queue.Behind
		}
		for _, s := range w.Steps {
			f.known.step(w, s)
		}
	}
	return f.known
}

// boundsOf returns bounds of an operand's words; not ok if none are known, so
// that it may need 128 bits.
func (f *Function) boundsOf(o harmony.Operand) (lo, hi int64, ok bool) {
	if o.Reg == nil {
		return 0, 0, false
	}
	if v := f.forms().stored[o.Reg]; v.Bounded {
		return v.Lo, v.Hi, true
	}
	in, ok := f.Range(o.Reg)
	return in.Lo, in.Hi, ok
}

// sumFits reports whether the bounds of an operand keep its sum over some rows
// within 64 bits. The bounds are those of words, so a word of a uint that is
// negative stands for a large number.
func (f *Function) sumFits(o harmony.Operand, rows int) bool {
	most := int64(1<<62) / int64(rows)
	lo, hi, ok := f.boundsOf(o)
	if ok && lo < 0 && o.Reg.Type.Kind == scalar.Uint {
		return false
	}
	return ok && lo >= -most && hi <= most
}

// step finds the forms that a step leaves.
func (v *forms) step(w *Work, s Step) {
	switch s.Kind {
	case Host:
		out := w.Stages[s.From].(*harmony.Map).Out
		v.stored[out] = expr.Form{Type: out.Type, Optional: true}
	case Lookup:
		if out := harmony.Def(w.Stages[s.From]); out != nil {
			v.stored[out] = expr.Form{}
		}
	case Expansion:
		words := 0
		for _, r := range w.Live(s.To) {
			if form, ok := v.stored[r]; ok {
				words += 1 + count(form.Wide) + count(form.Optional)
			}
		}
		v.across = append(v.across, words)
		v.stored[harmony.Def(w.Stages[s.From])] = expr.Form{}
	case Run:
		v.runOf(w, s)
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// runOf finds the forms of a run's registers. A GPU fetches columns for the
// whole tile, and groups are always read so: those are stored before the run
// begins.
func (v *forms) runOf(w *Work, s Step) {
	stages := w.Stages[s.From:s.To]
	v.run = map[*harmony.Reg]expr.Form{}
	for _, s := range stages {
		d := harmony.Def(s)
		switch s := s.(type) {
		case *harmony.Load, *harmony.Gather:
			if form := (expr.Form{Type: d.Type}); v.fetched(s) {
				v.stored[d] = form
			} else {
				v.run[d] = v.bound(d, form)
			}
		case *harmony.Map:
			form := v.apply(s)
			form.Type = s.Out.Type
			v.run[d] = v.bound(d, form)
		case *harmony.Need:
			form := v.reg(s.Reg)
			form.Wide, form.Optional = false, false
			v.run[s.Reg] = form
			if before, ok := v.stored[s.Reg]; ok {
				before.Wide, before.Optional = false, false
				v.stored[s.Reg] = before
			}
		}
	}
	for _, s := range stages {
		if d := harmony.Def(s); d != nil {
			if _, ok := v.stored[d]; !ok {
				v.stored[d] = v.run[d].Stored()
			}
		}
	}
}

// fetched reports whether a column is read for the whole tile, and not row by
// row.
func (v *forms) fetched(s harmony.Stage) bool {
	if v.f.Kernel.PositionOf(s) != nil {
		return false
	}
	_, load := s.(*harmony.Load)
	_, ofGroups := v.f.Kernel.Source.(*harmony.GroupRows)
	return load && ofGroups || !v.f.ByRow(v.f.ColumnOf(s))
}

// reg returns the form of a register within a run.
func (v *forms) reg(r *harmony.Reg) expr.Form {
	form, ok := v.run[r]
	if !ok {
		form = v.bound(r, v.stored[r].Stored())
		v.run[r] = form
	}
	return form
}

// bound adds what is known of a register to the form of its value.
func (v *forms) bound(r *harmony.Reg, form expr.Form) expr.Form {
	if v.f.options.Range == nil || r.Row != nil {
		return form
	}
	if in, ok := v.f.Range(r); ok {
		form.Wide = false
		form.Lo, form.Hi, form.Bounded = in.Lo, in.Hi, true
	}
	return form
}

// operand returns the form of an operand.
func (v *forms) operand(o harmony.Operand) expr.Form {
	if o.Reg != nil {
		return v.reg(o.Reg)
	}
	c := o.Const
	return expr.Form{Type: c.Type, Literal: &c, Wide: c.Type.Kind != scalar.String && !c.FitsWord()}
}

// apply returns the form of a function's value.
func (v *forms) apply(m *harmony.Map) expr.Form {
	args := make([]expr.Form, len(m.Args))
	optional := false
	for i, a := range m.Args {
		args[i] = v.operand(a)
		optional = optional || args[i].Optional
	}
	if t, at, ok := v.f.options.Domains.Table(m); ok {
		present, known := v.f.Fixed(abi.TablePresent, "", at)
		return expr.Form{Type: t.Result, Optional: args[t.String].Optional || !known ||
			present != 0}
	}
	if partition.OfCodes(m) {
		return expr.Form{Optional: optional}
	}
	return expr.FormOf(m.Func, m.Out.Type, args)
}
