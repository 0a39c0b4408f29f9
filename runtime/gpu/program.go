package gpu

import (
	"cmp"
	"context"
	goruntime "runtime"
	"sync"
	"weak"

	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/replay"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/prepare"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// program is what the engine keeps for a plan.
type program struct {
	codes   woven.Codes[*code]
	history *replay.History // or nil

	mu     sync.Mutex
	sizes  *replay.Sizes // for runs over facts that are not kept, or nil
	bounds []*boundFacts // most recently used first
	known  bool          // the program has been bound to facts that are kept
}

// boundFacts is a program bound to facts, which later runs over the same facts
// reuse.
type boundFacts struct {
	facts   weak.Pointer[store.Database]
	whole   bool              // the request forbade packed columns
	cleanup goruntime.Cleanup // drops the binding when the facts are garbage
	bound   *woven.Bound
	record  *replay.Record
	graphs  graphs

	history   *replay.History
	identity  replay.Facts  // lacks the digest until digested is closed
	digested  chan struct{} // nil if the facts are not digested
	recalling sync.Once
}

// keptBounds is the number of databases to which a program stays bound.
const keptBounds = 2

// bind binds the program to the facts of a request, and keeps the binding if
// the facts can be recognised later. memory accounts for the dictionaries that
// binding makes.
func (p *program) bind(
	ctx context.Context, prog *woven.Program, req *runtime.Request, policy layout.Policy,
	threads int,
	memory prepare.Memory,
) (*boundFacts, error) {
	facts, whole := req.Facts, req.NoPackedColumns
	key := weak.Make(facts)
	bound, err := woven.Bind(ctx, prog, facts, policy, threads, memory)
	if err != nil {
		return nil, err
	}
	made := &boundFacts{facts: key, whole: whole, bound: bound, history: p.history}
	for _, decl := range prog.Graph.Relations {
		made.identity.Rows += int64(bound.Data.Rows(decl))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !bound.Data.Constant() || facts == nil || req.NoKeptIndexes {
		if p.sizes == nil {
			p.sizes = cmp.Or(p.history.Hints(made.identity.Rows), replay.NewSizes())
		}
		made.record = replay.NewRecordOfSizes(p.sizes)
		return made, nil
	}
	if found := p.boundTo(key, whole); found != nil { // a concurrent run bound it
		return found, nil
	}
	made.record = replay.NewRecord(prog.Graph, p.history.Hints(made.identity.Rows))
	if p.history != nil && !p.known {
		// An earlier process may have left a record for the same facts. Only
		// the first facts of a program are worth a digest.
		made.digest(facts, threads)
	}
	p.known = true
	p.bounds = append([]*boundFacts{made}, p.bounds...)
	if len(p.bounds) > keptBounds {
		p.bounds[keptBounds].drop()
		p.bounds[keptBounds] = nil
		p.bounds = p.bounds[:keptBounds]
	}
	made.cleanup = goruntime.AddCleanup(facts, func(p *program) { p.forget(key) }, p)
	return made, nil
}

// isBound returns the binding to the facts of a request, or nil.
func (p *program) isBound(req *runtime.Request) *boundFacts {
	if req.NoKeptIndexes {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.boundTo(weak.Make(req.Facts), req.NoPackedColumns)
}

// boundTo returns the binding to facts, with or without packed columns, and
// moves it to the front; or nil. The caller holds p.mu.
func (p *program) boundTo(key weak.Pointer[store.Database], whole bool) *boundFacts {
	for i, b := range p.bounds {
		if b.facts == key && b.whole == whole {
			copy(p.bounds[1:i+1], p.bounds[:i])
			p.bounds[0] = b
			return b
		}
	}
	return nil
}

// forget drops one binding to facts and returns it, or nil.
func (p *program) forget(key weak.Pointer[store.Database]) *woven.Bound {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, b := range p.bounds {
		if b.facts == key {
			p.bounds = append(p.bounds[:i:i], p.bounds[i+1:]...)
			b.drop()
			return b.bound
		}
	}
	return nil
}

// close drops all bindings and the code of a program that no run uses.
func (p *program) close() {
	p.mu.Lock()
	for _, b := range p.bounds {
		b.drop()
	}
	p.bounds = nil
	p.mu.Unlock()
	p.codes.Close()
}

// drop drops a binding whose facts may live on.
func (b *boundFacts) drop() {
	b.cleanup.Stop()
	b.graphs.doom()
}
