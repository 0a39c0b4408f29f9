package pipeline

import (
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/runtime/portable/columns"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// pipeline moves rows from a source through stages into a sink, a vector at a
// time. Several workers run it on different morsels of the source (Leis et al.,
// SIGMOD 2014); each has its own instances of the stages.
type pipeline struct {
	src    rowSource
	stages []stage
	sink   sink
	// cols are the named columns of the batches that arrive at the sink, and
	// slots the number of vectors in them.
	cols  []columns.Column
	slots int

	chains []*chain // of each worker, each made when first needed
}

// rowSource is where a pipeline's rows come from.
type rowSource interface {
	// prepare computes what the source scans and returns its number of rows.
	prepare(r *work.Run) int
	start(w *work.Worker) scanner
}

// scanner reads a source for one worker.
type scanner interface {
	// Scan pushes rows from..to-1, numbered as prepare counted them.
	Scan(from, to int, next work.Op)
}

// stage is an operator within a pipeline.
type stage interface {
	// prepare computes what the stage looks rows up in. It returns false when
	// no row can pass.
	prepare(r *work.Run) bool
	start(w *work.Worker, next work.Op) work.Op
}

// sink is what a pipeline's rows end in.
type sink interface {
	// begin is called before each run of a pipeline into the sink.
	begin(r *work.Run, rows int, parallel bool)
	start(w *work.Worker, p *pipeline) work.Op
}

// chain is a worker's instance of a pipeline.
type chain struct {
	scan scanner
	head work.Op
}

func (p *pipeline) chain(w *work.Worker) *chain {
	if p.chains[w.ID] == nil {
		next := p.sink.start(w, p)
		for i := len(p.stages) - 1; i >= 0; i-- {
			next = p.stages[i].start(w, next)
		}
		p.chains[w.ID] = &chain{scan: p.src.start(w), head: next}
	}
	return p.chains[w.ID]
}

// find returns the column of that name.
func (p *pipeline) find(name string) *columns.Column { return columns.Find(p.cols, name) }

// slotsOf returns the slots of columns.
func (p *pipeline) slotsOf(names []string) []int {
	out := make([]int, len(names))
	for i, name := range names {
		out[i] = p.find(name).Slot
	}
	return out
}

// choose makes the needed ones of a source's columns those of the pipeline, and
// returns their places.
func (p *pipeline) choose(cols []columns.Column, need names) []int {
	var places []int
	for i, b := range cols {
		if need[b.Name] {
			b.Slot = len(p.cols)
			p.cols = append(p.cols, b)
			places = append(places, i)
		}
	}
	p.slots = len(p.cols)
	return places
}

// merged returns a column of pipelines that go into one sink, with the bounds
// of all of them.
func merged(pipes []*pipeline, name string) columns.Column {
	b := *pipes[0].find(name)
	for _, p := range pipes[1:] {
		b.Bound = b.Bound.Union(p.find(name).Bound)
	}
	return b
}

// mergedAll is merged for columns that the sink numbers anew.
func mergedAll(pipes []*pipeline, names []string) []columns.Column {
	out := make([]columns.Column, len(names))
	for i, name := range names {
		out[i] = merged(pipes, name)
		out[i].Slot = i
	}
	return out
}

func boundsOf(cols []columns.Column) []interval.Interval {
	out := make([]interval.Interval, len(cols))
	for i, c := range cols {
		out[i] = c.Bound
	}
	return out
}

// maxMorsel is the most rows of a morsel. A serial run also goes by morsels, to
// notice that it is cancelled.
const maxMorsel = 1 << 16

// exec runs pipelines, one after the other, into the sink that they share.
func exec(r *work.Run, pipes []*pipeline) {
	for _, p := range pipes {
		p.exec(r)
	}
}

func (p *pipeline) exec(r *work.Run) {
	r.Stop.Check()
	rows := p.src.prepare(r)
	if rows == 0 {
		return
	}
	for _, s := range p.stages {
		if !s.prepare(r) {
			return
		}
	}
	workers := min(r.Threads, (rows+r.Sizes.Vector-1)/r.Sizes.Vector)
	parallel := workers > 1 && rows >= r.Sizes.SerialRows
	p.sink.begin(r, rows, parallel)
	if p.chains == nil {
		p.chains = make([]*chain, r.Threads)
	}
	if !parallel {
		c := p.chain(r.Workers[0])
		for from := 0; from < rows; from += maxMorsel {
			r.Stop.Check()
			c.scan.Scan(from, min(from+maxMorsel, rows), c.head)
		}
		c.head.Close()
		return
	}
	morsel := min(max(rows/(workers*8), r.Sizes.Vector), maxMorsel)
	morsel = (morsel + r.Sizes.Vector - 1) / r.Sizes.Vector * r.Sizes.Vector
	var next atomic.Int64
	r.Parallel(workers, func(w *work.Worker) {
		c := p.chain(w)
		for {
			r.Stop.Check()
			to := int(next.Add(int64(morsel)))
			if to-morsel >= rows {
				break
			}
			c.scan.Scan(to-morsel, min(to, rows), c.head)
		}
		c.head.Close()
	})
}
