package redfox

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// LoadFor loads facts as Load does, for runs with the options, whose Load says how. If
// these run on a GPU, it gets columns while others are still being read, as long as its
// memory has room for them, and copying goes on after LoadFor has returned.
func (p *Program) LoadFor(ctx context.Context, facts *Facts, opts RunOptions) (*Database, error) {
	return shared.load(ctx, p, facts, opts)
}

// Load loads the facts that a program uses, as Program.LoadFor does, for runs of the
// session.
func (s *Session) Load(ctx context.Context, p *Program, facts *Facts, opts LoadOptions) (*Database, error) {
	return s.engines.load(ctx, p, facts, s.complete(RunOptions{Load: opts}))
}

func (s *engines) load(ctx context.Context, p *Program, facts *Facts, opts RunOptions) (*Database, error) {
	opts, err := opts.settle()
	if err != nil {
		return nil, err
	}
	load := opts.Load
	load.Threads = cmp.Or(load.Threads, opts.Threads)
	load.Memory = cmp.Or(load.Memory, opts.Memory)
	if s.isClosed() {
		return nil, errSessionClosed
	}
	switch opts.Engine {
	case "gpu", "auto", "":
		return p.load(ctx, facts, load, newAhead(s, p, opts))
	}
	return p.load(ctx, facts, load, nil)
}

// ahead copies columns of facts to a GPU while others are being read. What goes wrong on
// the GPU a run will meet and explain; here it only ends the copying. The methods do
// nothing on nil.
type ahead struct {
	engines *engines
	program *Program
	options RunOptions
	reads   map[string][]bool // the arguments of predicates that are worth it

	ctx    context.Context
	cancel context.CancelFunc
	begin  sync.Once
	done   chan struct{} // closed when nothing is copied any more

	mu    sync.Mutex
	queue []aheadColumn
	whole bool                   // no more will come
	final map[*store.Column]bool // that the facts consist of, once it is known
	more  *sync.Cond
}

// aheadColumn is a column and what to call it.
type aheadColumn struct {
	name string
	*store.Column
}

func newAhead(s *engines, p *Program, opts RunOptions) *ahead {
	a := &ahead{engines: s, program: p, options: opts, done: make(chan struct{})}
	a.more = sync.NewCond(&a.mu)
	// What the facts are loaded with may end with the load, of which copying is no part.
	a.ctx, a.cancel = context.WithCancel(context.Background())
	return a
}

// plan says which columns are worth to be copied: those that the plan reads. It is made
// without knowledge of the facts, with which keys of functional predicates are mostly not
// read, and strings may get other numbers.
func (a *ahead) plan(plan *queryplan.Plan) {
	if a == nil {
		return
	}
	a.reads = map[string][]bool{}
	for _, b := range plan.Blocks {
		for _, c := range b.Cmds {
			for _, s := range queryplan.Scans(queryplan.CommandNode(c)) {
				if s.Var.Kind != queryplan.Input {
					continue
				}
				args := a.reads[s.Var.Source]
				if args == nil {
					args = make([]bool, len(s.Var.Cols))
				}
				for i, name := range s.Names {
					isKey := i < s.Var.Keys && s.Var.Keys < len(s.Var.Cols)
					args[i] = args[i] || name != "" && !isKey && s.Var.Cols[i].Type.Kind != scalar.String
				}
				a.reads[s.Var.Source] = args
			}
		}
	}
	if a.options.Engine == "gpu" { // it is opened while the first columns are read
		a.start()
	}
}

// column takes a column that has been read.
func (a *ahead) column(pred string, arg int, c *store.Column) {
	if args := a.reads[pred]; args == nil || !args[arg] {
		return
	}
	if a.options.Engine != "gpu" {
		if c.Len() < fewGPUFacts {
			return
		}
		card, err := a.program.chooseCard(a.options)
		if err != nil || !holds(card, a.options.DeviceMemory, c.Bytes()) {
			return
		}
		a.start()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue = append(a.queue, aheadColumn{pred, c})
	a.more.Signal()
}

// finish says what the facts are. If they are for another engine, nothing stays.
func (a *ahead) finish(db *Database) {
	if a == nil {
		return
	}
	a.begin.Do(func() { close(a.done) })
	final := map[*store.Column]bool{}
	if chosen, err := a.program.choose(db, a.options); err == nil && chosen.Name == "gpu" {
		for _, rel := range db.store.Relations() {
			for _, c := range rel.Columns() {
				final[c] = true
			}
		}
	} else {
		a.cancel()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.final, a.whole = final, true
	a.more.Signal()
}

// stop leaves off copying, and waits for that. What was copied and is not part of the
// facts leaves the GPU.
func (a *ahead) stop() {
	if a == nil {
		return
	}
	a.begin.Do(func() { close(a.done) })
	a.cancel()
	a.mu.Lock()
	a.whole = true
	a.more.Signal()
	a.mu.Unlock()
	<-a.done
}

// next returns the next column to be copied.
func (a *ahead) next() (c aheadColumn, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.queue) == 0 && !a.whole {
		a.more.Wait()
	}
	if len(a.queue) == 0 || a.ctx.Err() != nil {
		return c, false
	}
	c, a.queue = a.queue[0], a.queue[1:]
	return c, true
}

// start begins to copy.
func (a *ahead) start() { a.begin.Do(func() { go a.work() }) }

// work copies the columns as they come.
func (a *ahead) work() {
	defer close(a.done)
	defer a.cancel()
	var err error
	defer failure.Recover("the gpu engine", &err)
	p := a.program
	card, err := p.chooseCard(a.options)
	if err != nil {
		return
	}
	eng, err := a.engines.acquire(keyOf(choice{EngineInfo: EngineInfo{Name: "gpu"}, card: card}, a.options, p.fusing), p.fusing)
	if err != nil {
		return
	}
	defer a.engines.release(eng)
	able, ok := eng.Engine.(runtime.Prefetcher)
	if !ok {
		return
	}
	var copied []*store.Column
	for c, ok := a.next(); ok && !a.engines.isClosed(); c, ok = a.next() {
		if slices.Contains(copied, c.Column) {
			continue
		}
		copied = append(copied, c.Column)
		if err = able.Prefetch(a.ctx, c.name, c.Column, a.options.Trace); err != nil {
			break
		}
	}
	if d, ok := eng.Engine.(interface{ Lost() bool }); ok && err != nil && d.Lost() {
		a.engines.lose(eng)
		return
	}
	a.mu.Lock()
	for !a.whole {
		a.more.Wait()
	}
	final := a.final
	a.queue, a.final = nil, nil
	a.mu.Unlock()
	for _, c := range copied {
		if !final[c] {
			able.Drop(c)
		}
	}
}
