package woven

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/order"
)

const (
	// hostBatch is how many rows of a kernel on the host are in memory at a
	// time, and hostBlock how many a thread takes.
	hostBatch = 1 << 17
	hostBlock = 1 << 11
)

// host evaluates a kernel on the host.
func (w *Walk) host(k *harmony.Kernel) (Work, error) {
	src := k.Source.(*harmony.Rows).Rel
	rows, err := w.Machine.Rows(src)
	if err != nil {
		return Work{}, err
	}
	work := Work{Source: int64(rows.N), Bytes: int64(rows.N) * int64(w.LoadedBytes(k))}
	batch := newBatch(newPipeline(w.Bound, k, rows), min(rows.N, hostBatch))
	for from := 0; from < rows.N; from += hostBatch {
		n := min(hostBatch, rows.N-from)
		blocks := (n + hostBlock - 1) / hostBlock
		err := w.Order.Tasks(w.ctx, blocks, func(i int) {
			batch.run(i, from+i*hostBlock, min(hostBlock, n-i*hostBlock))
		})
		if err != nil {
			return Work{}, err
		}
		kept, dropped := batch.close(blocks)
		w.answer.Dropped += dropped
		for i, s := range k.Sinks {
			to := s.(*harmony.Store).To
			err := w.Machine.Append(to, kept, func(col int, dst []int64, from int) {
				copy(dst, batch.cols[i][col][from:])
			})
			if err != nil {
				return Work{}, err
			}
			work.Kept += int64(kept)
			work.Bytes += int64(kept) * int64(w.rowBytes(to))
		}
	}
	return work, nil
}

// rowBytes is the size of a tuple.
func (b *Bound) rowBytes(r *harmony.Relation) int {
	n := 0
	for _, c := range b.Layouts.Columns[r] {
		n += c.Width
	}
	return n
}

// pipeline is a kernel on the host: it takes a row at a time, as values.
type pipeline struct {
	*Bound
	rows  *order.Rows
	regs  int // registers of a row
	loads []hostLoad
	steps []hostStep
	sinks [][]hostCell // the operands of each sink
	args  int          // the most of a function
}

// hostLoad is a column that is read.
type hostLoad struct {
	col   int
	reg   int // its register; -1: only sinks have it, which take words
	typ   scalar.Type
	codes *domain.Domain // of a string
	// position says that it is the row's position, and no column.
	position bool
}

// hostStep is a map, a filter or a need.
type hostStep struct {
	call *harmony.Map // nil for the others
	args []hostOperand
	out  int  // the register of a map
	need bool // of a register, which is args[0]
}

// hostOperand is a register or a constant.
type hostOperand struct {
	reg   int // -1 for a constant
	value scalar.Value
}

// hostCell is an operand of a sink: the word of a loaded column, that of a
// constant, or what a register has.
type hostCell struct {
	load  int // the place among the loads; -1: none
	reg   int // -1: none
	word  int64
	codes *domain.Domain // of a string
}

// newPipeline prepares a kernel for the rows of its source.
func newPipeline(b *Bound, k *harmony.Kernel, rows *order.Rows) *pipeline {
	p := &pipeline{Bound: b, rows: rows}
	used := map[*harmony.Reg]bool{} // by stages
	for _, s := range k.Stages {
		for _, r := range harmony.Uses(s) {
			used[r] = true
		}
	}
	place, loads := map[*harmony.Reg]int{}, map[*harmony.Reg]int{}
	define := func(r *harmony.Reg) int {
		place[r] = p.regs
		p.regs++
		return place[r]
	}
	operand := func(o harmony.Operand) hostOperand {
		if o.Reg == nil {
			return hostOperand{-1, o.Const}
		}
		return hostOperand{reg: place[o.Reg]}
	}
	for _, s := range k.Stages {
		switch s := s.(type) {
		case *harmony.Load:
			loads[s.Out] = len(p.loads)
			l := hostLoad{col: s.Col, reg: -1, typ: s.Out.Type, codes: b.Domains.Reg(s.Out),
				position: k.PositionOf(s) != nil}
			if used[s.Out] {
				l.reg = define(s.Out)
			}
			p.loads = append(p.loads, l)
		case *harmony.Map:
			step := hostStep{call: s}
			for _, a := range s.Args {
				step.args = append(step.args, operand(a))
			}
			step.out = define(s.Out)
			p.steps = append(p.steps, step)
			p.args = max(p.args, len(s.Args))
		case *harmony.Filter:
			p.steps = append(p.steps, hostStep{args: []hostOperand{operand(s.Cond)}})
		case *harmony.Need:
			p.steps = append(p.steps,
				hostStep{args: []hostOperand{{reg: place[s.Reg]}}, need: true})
		}
	}
	for _, s := range k.Sinks {
		var cells []hostCell
		for i, o := range harmony.SinkOperands(s) {
			c := hostCell{load: -1, reg: -1, codes: b.Domains.Sink(s, i)}
			if o.Reg == nil {
				c.word = b.constant(o.Const, c.codes)
			} else if at, ok := loads[o.Reg]; ok {
				c.load = at
			} else {
				c.reg = place[o.Reg]
			}
			cells = append(cells, c)
		}
		p.sinks = append(p.sinks, cells)
	}
	return p
}

// constant returns the word of a value that needs no new code.
func (b *Bound) constant(v scalar.Value, d *domain.Domain) int64 {
	if d == nil {
		return int64(v.Bits())
	}
	code, _, _ := b.Data.Code(d.ID, v.Str())
	return code
}

// hostRow is what the registers of a row have. One may be absent.
type hostRow struct {
	values  []scalar.Value
	present []bool
	args    []scalar.Value
}

// operand returns a value, if there is one.
func (r *hostRow) operand(o *hostOperand) (scalar.Value, bool) {
	if o.reg < 0 {
		return o.value, true
	}
	return r.values[o.reg], r.present[o.reg]
}

// load gives registers the columns of a row.
func (p *pipeline) load(r *hostRow, words [][]int64, at int) {
	for i := range p.loads {
		l := &p.loads[i]
		if l.reg < 0 {
			continue
		}
		v := scalar.OfBits(l.typ, uint64(words[i][at]))
		if l.codes != nil {
			v = scalar.OfString(p.Data.String(l.codes.ID, words[i][at]))
		}
		r.values[l.reg], r.present[l.reg] = v, true
	}
}

// row takes a row through the steps, and reports whether it is left, or dropped
// as a decimal does not fit.
func (p *pipeline) row(r *hostRow) (kept, dropped bool) {
	for i := range p.steps {
		s := &p.steps[i]
		if s.call != nil {
			r.values[s.out], r.present[s.out] = r.call(s)
			continue
		}
		v, ok := r.operand(&s.args[0])
		switch {
		case s.need && !(ok && v.FitsWord()):
			return false, ok
		case !s.need && !(ok && v.Bool()):
			return false, false
		}
	}
	return true, false
}

// call evaluates a function, which has no value where an argument has none, but
// for holds, which is false there.
func (r *hostRow) call(s *hostStep) (scalar.Value, bool) {
	args := r.args[:len(s.args)]
	for i := range s.args {
		v, ok := r.operand(&s.args[i])
		if !ok {
			return scalar.OfBool(false), s.call.Func.Name == "holds"
		}
		args[i] = v
	}
	return s.call.Func.Eval(s.call.Out.Type, args)
}

// word returns the word of a sink's operand. A string that its domain does not
// have yet enters it, if the domain grows; else it is there.
func (p *pipeline) word(c *hostCell, r *hostRow, words [][]int64, at int) int64 {
	switch {
	case c.load >= 0:
		return words[c.load][at]
	case c.reg < 0:
		return c.word
	case c.codes != nil && c.codes.Grows:
		return p.Data.Intern(c.codes.ID, r.values[c.reg].Str())
	}
	return p.constant(r.values[c.reg], c.codes)
}

// batch is what the rows of some blocks become.
type batch struct {
	*pipeline
	cols    [][][]int64 // words, by sink and column
	kept    []int       // rows, by block
	dropped []int64
}

func newBatch(p *pipeline, rows int) *batch {
	blocks := (rows + hostBlock - 1) / hostBlock
	b := &batch{pipeline: p, cols: make([][][]int64, len(p.sinks)), kept: make([]int, blocks),
		dropped: make([]int64, blocks)}
	for i, cells := range p.sinks {
		for range cells {
			b.cols[i] = append(b.cols[i], make([]int64, rows))
		}
	}
	return b
}

// run takes the rows of a block through the kernel. Those that are left stand
// where the block begins.
func (b *batch) run(block, from, n int) {
	p := b.pipeline
	words := make([][]int64, len(p.loads))
	for i, l := range p.loads {
		words[i] = make([]int64, n)
		if l.position {
			for at := range words[i] {
				words[i][at] = int64(from + at)
			}
			continue
		}
		p.rows.Cols[l.col].Words.Read(words[i], from)
	}
	r := &hostRow{make([]scalar.Value, p.regs), make([]bool, p.regs), make([]scalar.Value, p.args)}
	begin := block * hostBlock
	to, lost := begin, int64(0)
	for at := range n {
		p.load(r, words, at)
		kept, dropped := p.row(r)
		if dropped {
			lost++
		}
		if !kept {
			continue
		}
		for i, cells := range p.sinks {
			for c := range cells {
				b.cols[i][c][to] = p.word(&cells[c], r, words, at)
			}
		}
		to++
	}
	b.kept[block], b.dropped[block] = to-begin, lost
}

// close moves the rows that are left of some blocks together, and returns how
// many they are and how many were dropped as a decimal did not fit.
func (b *batch) close(blocks int) (kept int, dropped int64) {
	for block, n := range b.kept[:blocks] {
		for _, cols := range b.cols {
			for _, words := range cols {
				copy(words[kept:], words[block*hostBlock:][:n])
			}
		}
		kept += n
		dropped += b.dropped[block]
	}
	return kept, dropped
}
