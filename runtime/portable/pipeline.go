package portable

import "sync/atomic"

// pipeline moves rows from a source through stages into a sink, a vector at a
// time. Several workers run it on different morsels of the source (Leis et al.,
// SIGMOD 2014); each has its own instances of the stages.
type pipeline struct {
	src    rowSource
	stages []stage
	sink   sink
	// cols are the named columns of the batches that arrive at the sink, and
	// slots the number of vectors in them.
	cols  []binding
	slots int

	chains []*chain // of each worker, each made when first needed
}

// rowSource is where a pipeline's rows come from.
type rowSource interface {
	// prepare computes what the source scans and returns its number of rows.
	prepare(r *run) int
	start(w *worker) scanner
}

// scanner reads a source for one worker.
type scanner interface {
	// scan pushes rows from..to-1, numbered as prepare counted them.
	scan(from, to int, next op)
}

// stage is an operator within a pipeline.
type stage interface {
	// prepare computes what the stage looks rows up in. It returns false when
	// no row can pass.
	prepare(r *run) bool
	start(w *worker, next op) op
}

// sink is what a pipeline's rows end in.
type sink interface {
	// begin is called before each run of a pipeline into the sink.
	begin(r *run, parallel bool)
	start(w *worker, p *pipeline) op
}

// chain is a worker's instance of a pipeline.
type chain struct {
	scan scanner
	head op
}

func (p *pipeline) chain(w *worker) *chain {
	if p.chains[w.id] == nil {
		next := p.sink.start(w, p)
		for i := len(p.stages) - 1; i >= 0; i-- {
			next = p.stages[i].start(w, next)
		}
		p.chains[w.id] = &chain{scan: p.src.start(w), head: next}
	}
	return p.chains[w.id]
}

// find returns the column of that name.
func (p *pipeline) find(name string) *binding { return find(p.cols, name) }

// maxMorsel is the most rows of a morsel. A serial run also goes by morsels, to
// notice that it is cancelled.
const maxMorsel = 1 << 16

// exec runs pipelines, one after the other, into the sink that they share.
func exec(r *run, pipes []*pipeline) {
	for _, p := range pipes {
		p.exec(r)
	}
}

func (p *pipeline) exec(r *run) {
	r.stop.check()
	rows := p.src.prepare(r)
	if rows == 0 {
		return
	}
	for _, s := range p.stages {
		if !s.prepare(r) {
			return
		}
	}
	workers := min(r.threads, (rows+r.opts.vector-1)/r.opts.vector)
	parallel := workers > 1 && rows >= r.opts.serialRows
	p.sink.begin(r, parallel)
	if p.chains == nil {
		p.chains = make([]*chain, r.threads)
	}
	if !parallel {
		c := p.chain(r.workers[0])
		for from := 0; from < rows; from += maxMorsel {
			r.stop.check()
			c.scan.scan(from, min(from+maxMorsel, rows), c.head)
		}
		c.head.close()
		return
	}
	morsel := min(max(rows/(workers*8), r.opts.vector), maxMorsel)
	morsel = (morsel + r.opts.vector - 1) / r.opts.vector * r.opts.vector
	var next atomic.Int64
	r.parallel(workers, func(w *worker) {
		c := p.chain(w)
		for {
			r.stop.check()
			to := int(next.Add(int64(morsel)))
			if to-morsel >= rows {
				break
			}
			c.scan.scan(to-morsel, min(to, rows), c.head)
		}
		c.head.close()
	})
}
