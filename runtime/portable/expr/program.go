package expr

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/columns"
	"github.com/redfoxdb/redfox/runtime/portable/work"
	"github.com/redfoxdb/redfox/runtime/prepare"
)

// Program evaluates expressions over batches: a list of steps over registers,
// each a vector. The first registers are the columns of the batch, then come
// constants and results. A row for which an expression has no value, or leaves
// 64 bits on the way, is flagged by the step that notices.
type Program struct {
	binds   []columns.Column
	inputs  int // registers that are columns of the batch
	consts  []constant
	regs    int
	steps   []func(*Machine)
	caches  int
	exprs   []queryplan.Expr
	Results []int // the registers of exprs
	Ranges  []interval.Interval
	Dicts   []*prepare.Dictionary // of String results
	// pure results are columns of the batch or constants, not written by steps.
	pure []bool
}

type constant struct {
	reg  int
	word int64
}

// Flags of a row.
const (
	noValue = 1 << iota
	// inexact rows have an intermediate that does not fit 64 bits: they are
	// evaluated again, in 128.
	inexact
)

// Machine runs a program for one worker.
type Machine struct {
	*Program
	r       *work.Run
	n       int
	Vectors [][]int64
	state   []uint8
	flagged bool
	caches  []*rowCache
	Dropped int64 // decimals that did not fit
	sel     []uint32
}

// NewMachine returns a machine for a worker of a run.
func (p *Program) NewMachine(r *work.Run) *Machine {
	size := r.Sizes.Vector
	m := &Machine{Program: p, r: r, Vectors: make([][]int64, p.regs), state: make([]uint8, size)}
	own := work.Vectors(p.regs-p.inputs, size)
	copy(m.Vectors[p.inputs:], own)
	for _, c := range p.consts {
		for i := range m.Vectors[c.reg] {
			m.Vectors[c.reg][i] = c.word
		}
	}
	m.caches = make([]*rowCache, p.caches)
	m.sel = make([]uint32, size)
	return m
}

func (m *Machine) flag(i int, why uint8) {
	m.state[i] |= why
	m.flagged = true
}

// Run evaluates all expressions and returns the rows that have all values; nil
// stands for all rows.
func (m *Machine) Run(b *work.Batch) (sel []uint32, all bool) {
	m.n = b.N
	copy(m.Vectors, b.Cols[:m.inputs])
	if m.flagged {
		clear(m.state)
		m.flagged = false
	}
	for _, step := range m.steps {
		step(m)
	}
	if !m.flagged {
		return nil, true
	}
	sel = m.sel[:0]
	for i := range b.N {
		if s := m.state[i]; s == 0 || s&inexact != 0 && m.evaluateExactly(i) {
			sel = append(sel, uint32(i))
		}
	}
	return sel, false
}

// evaluateExactly computes the results of one row in 128 bits and reports
// whether all have a value that fits.
func (m *Machine) evaluateExactly(row int) bool {
	for i, e := range m.exprs {
		v, ok := queryplan.Eval(e, func(name string) scalar.Value { return m.lookup(name, row) })
		if !ok {
			return false
		}
		if !v.FitsWord() {
			m.Dropped++
			return false
		}
		if !m.pure[i] {
			m.Vectors[m.Results[i]][row] = columns.WordOf(v, m.Dicts[i])
		}
	}
	return true
}

func (m *Machine) lookup(name string, row int) scalar.Value {
	b := columns.Find(m.binds, name)
	return b.Value(m.Vectors[b.Slot][row])
}

// exprCompiler builds a program.
type exprCompiler struct {
	p    *Program
	done map[exprKey]operand
	// strings gives the dictionary of a computed string.
	strings func(e queryplan.Expr) *prepare.Dictionary
}

// exprKey tells expressions apart: by their text and, if they are strings, the
// dictionary that they are coded in.
type exprKey struct {
	text string
	dict *prepare.Dictionary
}

// operand is a compiled expression.
type operand struct {
	reg  int
	rng  interval.Interval
	dict *prepare.Dictionary
}

// Compile compiles expressions over columns that occupy the given number of
// slots.
func Compile(exprs []queryplan.Expr, binds []columns.Column, slots int,
	strings func(queryplan.Expr) *prepare.Dictionary) *Program {
	c := &exprCompiler{
		p:       &Program{binds: binds, inputs: slots, regs: slots, exprs: exprs},
		done:    map[exprKey]operand{},
		strings: strings,
	}
	for _, e := range exprs {
		o := c.compile(e)
		_, call := e.(*queryplan.Call)
		c.p.Results = append(c.p.Results, o.reg)
		c.p.Ranges = append(c.p.Ranges, o.rng)
		c.p.Dicts = append(c.p.Dicts, o.dict)
		c.p.pure = append(c.p.pure, !call)
	}
	return c.p
}

func (c *exprCompiler) newReg() int {
	c.p.regs++
	return c.p.regs - 1
}

func (c *exprCompiler) step(f func(*Machine)) { c.p.steps = append(c.p.steps, f) }

func (c *exprCompiler) constant(w int64) int {
	r := c.newReg()
	c.p.consts = append(c.p.consts, constant{r, w})
	return r
}

func (c *exprCompiler) compile(e queryplan.Expr) operand {
	switch e := e.(type) {
	case *queryplan.ColRef:
		b := columns.Find(c.p.binds, e.Col.Name)
		return operand{b.Slot, b.Bound, b.Dict}
	case *queryplan.Const:
		if e.Value.Type.Kind == scalar.String {
			dict := c.strings(e)
			w := columns.WordOf(e.Value, dict)
			return operand{c.constant(w), interval.Of(w), dict}
		}
		w := int64(e.Value.Bits())
		return operand{c.constant(w), interval.Of(w), nil}
	}
	call := e.(*queryplan.Call)
	key := exprKey{text: queryplan.ExprString(call)}
	if call.Result.Kind == scalar.String {
		key.dict = c.strings(call)
	}
	if o, ok := c.done[key]; ok {
		return o
	}
	o, ok := c.kernel(call)
	if !ok {
		o = c.rowwise(call)
	}
	c.done[key] = o
	return o
}
