package portable

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/prepare"
)

// program evaluates expressions over batches: a list of steps over registers,
// each a vector. The first registers are the columns of the batch, then come
// constants and results. A row for which an expression has no value, or leaves
// 64 bits on the way, is flagged by the step that notices.
type program struct {
	binds   []binding
	inputs  int // registers that are columns of the batch
	consts  []constant
	regs    int
	steps   []func(*machine)
	caches  int
	exprs   []queryplan.Expr
	results []int // the registers of exprs
	ranges  []interval.Interval
	dicts   []*prepare.Dictionary // of String results
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

// machine runs a program for one worker.
type machine struct {
	*program
	r       *run
	n       int
	regs    [][]int64
	state   []uint8
	flagged bool
	caches  []*rowCache
	dropped int64 // decimals that did not fit
	sel     []uint32
}

func (p *program) newMachine(r *run) *machine {
	size := r.opts.vector
	m := &machine{program: p, r: r, regs: make([][]int64, p.regs), state: make([]uint8, size)}
	own := vectors(p.regs-p.inputs, size)
	copy(m.regs[p.inputs:], own)
	for _, c := range p.consts {
		for i := range m.regs[c.reg] {
			m.regs[c.reg][i] = c.word
		}
	}
	m.caches = make([]*rowCache, p.caches)
	m.sel = make([]uint32, size)
	return m
}

func (m *machine) flag(i int, why uint8) {
	m.state[i] |= why
	m.flagged = true
}

// run evaluates all expressions and returns the rows that have all values; nil
// stands for all rows.
func (m *machine) run(b *batch) (sel []uint32, all bool) {
	m.n = b.n
	copy(m.regs, b.cols[:m.inputs])
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
	for i := range b.n {
		if s := m.state[i]; s == 0 || s&inexact != 0 && m.evaluateExactly(i) {
			sel = append(sel, uint32(i))
		}
	}
	return sel, false
}

// evaluateExactly computes the results of one row in 128 bits and reports whether
// all have a value that fits.
func (m *machine) evaluateExactly(row int) bool {
	for i, e := range m.exprs {
		v, ok := queryplan.Eval(e, func(name string) scalar.Value { return m.lookup(name, row) })
		if !ok {
			return false
		}
		if !v.FitsWord() {
			m.dropped++
			return false
		}
		if !m.pure[i] {
			m.regs[m.results[i]][row] = wordOf(v, m.dicts[i])
		}
	}
	return true
}

func (m *machine) lookup(name string, row int) scalar.Value {
	b := find(m.binds, name)
	return b.value(m.regs[b.slot][row])
}

// exprCompiler builds a program.
type exprCompiler struct {
	p    *program
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

// compileExprs compiles expressions over columns that occupy the given number of
// slots.
func compileExprs(exprs []queryplan.Expr, binds []binding, slots int, strings func(queryplan.Expr) *prepare.Dictionary) *program {
	c := &exprCompiler{
		p:       &program{binds: binds, inputs: slots, regs: slots, exprs: exprs},
		done:    map[exprKey]operand{},
		strings: strings,
	}
	for _, e := range exprs {
		o := c.compile(e)
		_, call := e.(*queryplan.Call)
		c.p.results = append(c.p.results, o.reg)
		c.p.ranges = append(c.p.ranges, o.rng)
		c.p.dicts = append(c.p.dicts, o.dict)
		c.p.pure = append(c.p.pure, !call)
	}
	return c.p
}

func (c *exprCompiler) newReg() int {
	c.p.regs++
	return c.p.regs - 1
}

func (c *exprCompiler) step(f func(*machine)) { c.p.steps = append(c.p.steps, f) }

func (c *exprCompiler) constant(w int64) int {
	r := c.newReg()
	c.p.consts = append(c.p.consts, constant{r, w})
	return r
}

func (c *exprCompiler) compile(e queryplan.Expr) operand {
	switch e := e.(type) {
	case *queryplan.ColRef:
		b := find(c.p.binds, e.Col.Name)
		return operand{b.slot, b.rng, b.dict}
	case *queryplan.Const:
		if e.Value.Type.Kind == scalar.String {
			dict := c.strings(e)
			w := wordOf(e.Value, dict)
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
