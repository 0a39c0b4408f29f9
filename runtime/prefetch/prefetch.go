package prefetch

import (
	"context"
	"slices"
	"sync"

	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/trace"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/runtime/pool"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// Prefetch copies the columns of one load. Its methods do nothing on nil.
type Prefetch struct {
	pool     *pool.Pool
	selected *machine.Selection
	codes    *assemble.Codes // of the program
	fusing   assemble.Fusing
	trace    trace.Func
	asStored bool              // columns are not packed
	reads    map[string][]bool // by predicate, the arguments worth copying

	ctx    context.Context
	cancel context.CancelFunc
	begin  sync.Once
	done   chan struct{} // closed when the copying has ended

	mu    sync.Mutex
	queue []column
	whole bool                   // no more columns will come
	final map[*store.Column]bool // the columns of the facts, once they are known
	more  *sync.Cond
}

// column is a column and its name in the trace.
type column struct {
	name string
	*store.Column
}

// New returns a prefetch for runs of a program in a pool; nil if no such run
// takes a GPU. Whole is for runs with NoPackedColumns.
func New(p *pool.Pool, s *machine.Selection, codes *assemble.Codes, how assemble.Fusing,
	whole bool, spans trace.Func) *Prefetch {
	if !s.MayBeGPU() {
		return nil
	}
	f := &Prefetch{pool: p, selected: s, codes: codes, fusing: how, trace: spans,
		asStored: whole,
		done:     make(chan struct{})}
	f.more = sync.NewCond(&f.mu)
	// The copying may outlast the load and its context.
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f
}

// Plan takes the columns that are worth copying from a plan that was made
// without the facts. Such a plan reads keys of functional predicates that the
// real one mostly does not, and strings may get other numbers, so both are left
// out.
func (f *Prefetch) Plan(plan *queryplan.Plan) {
	if f == nil {
		return
	}
	f.reads = map[string][]bool{}
	for _, b := range plan.Blocks {
		for _, c := range b.Cmds {
			for _, s := range queryplan.Scans(queryplan.CommandNode(c)) {
				if s.Var.Kind == queryplan.Input {
					f.scan(s)
				}
			}
		}
	}
	if f.selected.IsGPU() {
		f.start(machine.Size{}) // opens the GPU while the first columns are read
	}
}

// scan marks the columns that a scan reads.
func (f *Prefetch) scan(s *queryplan.Scan) {
	args := f.reads[s.Var.Source]
	if args == nil {
		args = make([]bool, len(s.Var.Cols))
		f.reads[s.Var.Source] = args
	}
	for i, name := range s.Names {
		isKey := i < s.Var.Keys && s.Var.Keys < len(s.Var.Cols)
		args[i] = args[i] || name != "" && !isKey && s.Var.Cols[i].Type.Kind != scalar.String
	}
}

// FitsGPU reports whether runs take a GPU that has room for facts of a size.
func (f *Prefetch) FitsGPU(facts machine.Size) bool {
	if f == nil {
		return false
	}
	c, ok := f.selected.OnGPU(facts, f.codes)
	return ok && f.selected.Holds(c.Card, facts)
}

// Column takes a column that has been read. Unless the gpu engine was named,
// the first column that a GPU is chosen for starts the copying.
func (f *Prefetch) Column(pred string, arg int, c *store.Column) {
	if args := f.reads[pred]; args == nil || !args[arg] {
		return
	}
	if !f.start(machine.Size{Rows: c.Len(), Bytes: c.Bytes()}) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue = append(f.queue, column{pred, c})
	f.more.Signal()
}

// Finish takes the facts. If their runs do not take a GPU, all copies are
// freed.
func (f *Prefetch) Finish(facts *store.Database, chosen machine.Choice) {
	if f == nil {
		return
	}
	f.begin.Do(func() { close(f.done) })
	final := map[*store.Column]bool{}
	if chosen.Name == machine.GPU {
		for _, rel := range facts.Relations() {
			for _, c := range rel.Columns() {
				final[c] = true
			}
		}
	} else {
		f.cancel()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.final, f.whole = final, true
	f.more.Signal()
}

// Stop cancels the copying, waits for its end, and frees columns that do not
// belong to the facts.
func (f *Prefetch) Stop() {
	if f == nil {
		return
	}
	f.begin.Do(func() { close(f.done) })
	f.cancel()
	f.mu.Lock()
	f.whole = true
	f.more.Signal()
	f.mu.Unlock()
	<-f.done
}

// StopIn stops a prefetch into a pool.
func (f *Prefetch) StopIn(p *pool.Pool) {
	if f != nil && f.pool == p {
		f.Stop()
	}
}

// Done is closed when the copying has ended.
func (f *Prefetch) Done() <-chan struct{} { return f.done }

// start begins to copy, if a GPU is chosen for facts of a size.
func (f *Prefetch) start(facts machine.Size) bool {
	if !f.selected.IsGPU() {
		if _, ok := f.selected.OnGPU(facts, f.codes); !ok {
			return false
		}
	}
	f.begin.Do(func() { go f.work(facts) })
	return true
}

// work copies the columns as they come. The first facts decide on the GPU.
func (f *Prefetch) work(first machine.Size) {
	defer close(f.done)
	defer f.cancel()
	var err error
	defer failure.Recover("the gpu engine", &err)
	// If the GPU was named, it is opened here and not in start, for which the
	// reader of the facts would wait.
	choice, ok := f.selected.OnGPU(first, f.codes)
	if !ok {
		return
	}
	err = f.pool.With(choice, f.fusing, func(e runtime.Engine) error {
		if able, ok := e.(runtime.Prefetcher); ok {
			return f.copyTo(able)
		}
		return nil
	})
}

// columnsAtOnce is how many columns are copied at the same time: while the GPU
// decodes what is left of one, the next is read.
const columnsAtOnce = 2

// copyTo copies the columns, and frees those that turn out not to belong to the
// facts, unless the device is lost.
func (f *Prefetch) copyTo(e runtime.Prefetcher) error {
	var copied []*store.Column
	var failed error
	var work sync.WaitGroup
	slots := make(chan error, columnsAtOnce)
	for range columnsAtOnce {
		slots <- nil
	}
	for failed == nil {
		c, ok := f.next()
		if !ok || f.pool.Closed() {
			break
		}
		if slices.Contains(copied, c.Column) {
			continue
		}
		if failed = <-slots; failed != nil {
			break
		}
		copied = append(copied, c.Column)
		work.Go(func() { slots <- f.copyColumn(e, c) })
	}
	work.Wait()
	for failed == nil && len(slots) > 0 {
		failed = <-slots
	}
	if d, ok := e.(interface{ Lost() bool }); ok && failed != nil && d.Lost() {
		return failed
	}
	f.mu.Lock()
	for !f.whole {
		f.more.Wait()
	}
	final := f.final
	f.queue, f.final = nil, nil
	f.mu.Unlock()
	for _, c := range copied {
		if !final[c] {
			e.Drop(c)
		}
	}
	return nil
}

func (f *Prefetch) copyColumn(e runtime.Prefetcher, c column) (err error) {
	defer failure.Recover("the gpu engine", &err)
	return e.Prefetch(f.ctx, c.name, c.Column, f.asStored, f.trace)
}

// next returns the next column to be copied.
func (f *Prefetch) next() (c column, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.queue) == 0 && !f.whole {
		f.more.Wait()
	}
	if len(f.queue) == 0 || f.ctx.Err() != nil {
		return c, false
	}
	c, f.queue = f.queue[0], f.queue[1:]
	return c, true
}
