package native

import (
	"slices"
	"time"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// partWorker runs the kernels of a decomposable loop over ranges of values.
type partWorker struct {
	*parted
	// part holds the tuples of the current range, in place of the relation.
	part  *relation
	calls []*partCall // one for each kernel of the loop
	// slack is the number of rows that a kernel may still add after it has
	// checked the gauge.
	slack int
	// bound counts how often the memory of part has changed.
	bound   int
	profile bool
}

// partCall is a kernel with the parameters of one worker.
type partCall struct {
	worker
	from, until int // the positions of abi.RowsFrom and abi.RowsUntil among the parameters
	bound       int // the partWorker.bound for which the parameters were set

	calls, source, kept int64
	time                time.Duration
}

func (p *parted) newWorker() (*partWorker, error) {
	r := p.run
	w := &partWorker{parted: p, profile: r.walk.Request.Profile}
	w.part = &relation{Versions: machine.Versions{Decl: p.rel.Decl, What: p.rel.What}, mem: r.mem,
		gauge: &gauge{}, minRows: r.sizes.rows}
	for _, c := range p.rel.cols {
		w.part.cols = append(w.part.cols,
			&column{Column: c.Column, typ: c.typ, Region: account.Region{Memory: r.mem}})
	}
	lay := *p.rel.set.lay
	lay.Fields = slices.Clone(lay.Fields)
	lay.Open = lay.Form != abi.Wide
	w.part.set = newTupleSet(r.mem, p.rel.What, &lay, r.sizes.convert)
	for _, k := range p.loop.Kernels {
		b, err := r.bindKernel(k, r.kernelEntry(k))
		if err != nil {
			return nil, err
		}
		for i := range b.params {
			if b.params[i].Of == p.rel {
				b.params[i].Of = w.part
			}
		}
		b.targets = []machine.Target[*relation]{{To: w.part, Sinks: len(k.Sinks)}}
		c := &partCall{worker: worker{job: &job{entry: b, workers: 1},
			params: make([]int64, len(b.params)), state: make([]int64, b.entry.StateWords())}}
		c.from, c.until = b.place(abi.RowsFrom), b.place(abi.RowsUntil)
		w.calls = append(w.calls, c)
		w.slack = max(w.slack, b.entry.Threads*b.entry.Items*len(k.Sinks))
	}
	return w, nil
}

// place returns the position of the first parameter of a kind.
func (b *boundEntry) place(kind abi.Kind) int {
	return slices.IndexFunc(b.params, func(p param) bool { return p.Kind == kind })
}

// work processes ranges until none is left.
func (w *partWorker) work() error {
	for !w.stopped.Load() && !w.run.cancel.stopped.Load() {
		s, ok := w.take()
		if !ok {
			return nil
		}
		seeds := w.starts[s.until] - w.starts[s.from]
		err := w.load(s)
		var rounds int64
		if err == nil {
			rounds, err = w.fixpoint()
		}
		if err == nil {
			err = w.append(w.part, seeds)
		}
		if err == nil {
			err = w.finished(seeds, w.part.rows(), rounds)
		}
		if err != nil {
			return err
		}
		w.part.set.wipe(w.part)
	}
	return nil
}

// load fills part with the tuples that the relation has in a range.
func (w *partWorker) load(s span) error {
	rows := w.rows[w.starts[s.from]:w.starts[s.until]]
	part := w.part
	part.gauge.cursor, part.Old, part.Full = 0, w.oldFirst(rows), int64(len(rows))
	base := int64(uint64(w.low) + uint64(s.from)<<w.shift)
	if err := part.set.begin(w.col, base, uint64(s.until-s.from)<<w.shift,
		max(s.expected, len(rows)+w.slack), w.run.sizes.partBytes); err != nil {
		return err
	}
	if err := part.makeRoom(len(rows) + w.slack); err != nil {
		return err
	}
	w.bound++
	w.gather(rows)
	part.gauge.cursor = int64(len(rows))
	part.set.enter(part)
	return nil
}

// oldFirst moves the old rows of the relation to the front and returns their
// number.
func (w *partWorker) oldFirst(rows []uint32) int64 {
	old := 0
	for i, row := range rows {
		if int64(row) < w.rel.Old {
			rows[old], rows[i] = row, rows[old]
			old++
		}
	}
	return int64(old)
}

// gather copies rows of the relation, whose columns another worker may be about
// to move.
func (w *partWorker) gather(rows []uint32) {
	w.copying.RLock()
	defer w.copying.RUnlock()
	block := make([]int64, min(copyBlock, len(rows)))
	for from := 0; from < len(rows); from += len(block) {
		some := rows[from:min(from+len(block), len(rows))]
		for i, c := range w.rel.cols {
			c.Gather(block, some)
			w.part.cols[i].write(block[:len(some)], from)
		}
	}
}

// fixpoint runs the kernels until they derive nothing new. The loop takes as
// many rounds as the range that takes the most, so the loop's bound is the
// bound of each range.
func (w *partWorker) fixpoint() (rounds int64, err error) {
	part := w.part
	for ; part.Full > part.Old; rounds++ {
		if rounds == w.most {
			return rounds, w.run.walk.RoundsError(w.loop.Block, 0)
		}
		for _, c := range w.calls {
			if err := w.call(c); err != nil {
				return rounds, err
			}
		}
		part.Advance(part.gauge.cursor)
	}
	return rounds, nil
}

// call runs a kernel over the delta of the part.
func (w *partWorker) call(c *partCall) error {
	var begin time.Time
	before := w.part.gauge.cursor
	if w.profile {
		begin = time.Now()
	}
	from, until := int(w.part.Old), int(w.part.Full)
	e := c.job.entry.entry
	tile := e.Threads * e.Items
	clear(c.state)
	c.state[1], c.state[2] = int64((until-from+tile-1)/tile), 1
	for {
		if c.bound != w.bound {
			if err := c.job.entry.bind(&c.worker); err != nil {
				return err
			}
			c.bound = w.bound
		}
		// The canceller may have moved all limits before this one was set.
		if w.stopped.Load() || w.run.cancel.stopped.Load() {
			return errStopped
		}
		c.params[c.from], c.params[c.until] = int64(from), int64(until)
		if !c.worker.call() {
			break
		}
		if !w.run.cancel.stopped.Load() {
			if err := w.part.makeRoom(w.slack); err != nil {
				return err
			}
			w.bound++
		}
	}
	if w.profile {
		c.calls++
		c.source += int64(until - from)
		c.kept += w.part.gauge.cursor - before
		c.time += time.Since(begin)
	}
	return nil
}

// kernelEntry returns the entry of a kernel.
func (r *run) kernelEntry(k *harmony.Kernel) *abi.Entry {
	for _, e := range r.code.module.Entries {
		if e.Of == k.Name && e.Role == abi.Kernel {
			return e
		}
	}
	panic("no code for kernel " + k.Name)
}
