package answer

import (
	"context"
	"errors"
	"sync"

	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/scratch"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

// Relation is a predicate of a result. It is safe for concurrent use.
type Relation struct {
	name  string
	names []string // of the columns
	// Stored is set if the tuples are facts.
	Stored  bool
	order   []store.Order
	limit   int64 // -1 for all
	threads int   // that may sort
	bound   int64 // of what is held while the tuples are sorted; 0 for none
	held    int64 // by facts and results meanwhile
	// spill is a folder for what does not fit the bound; "" for none.
	spill string

	mu      sync.Mutex
	pending runtime.Pending // the tuples, as long as they are on a device
	gone    bool            // they were released there
	rel     *store.Relation // nil until they are not
	// of has the numbers that this relation shows as terms; nil if it has its
	// own tuples.
	of    *Relation
	terms *shownTerms
}

// New returns the relation of a variable, whose tuples are on the host or
// pending. names are those of its columns.
func New(v *queryplan.Var, names []string, rel *store.Relation, pending runtime.Pending,
	threads int) *Relation {
	x := &Relation{name: v.Name, names: names, limit: v.Limit, threads: threads, rel: rel,
		pending: pending}
	if v.Kind == queryplan.Input {
		x.limit, x.Stored = -1, true
	}
	for _, k := range v.OrderBy {
		for i, c := range v.Cols {
			if c.Name == k.Col {
				x.order = append(x.order, store.Order{Col: i, Desc: k.Desc})
				break
			}
		}
	}
	return x
}

// Fetch copies the tuples from the device, once.
func (x *Relation) Fetch(ctx context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.rel != nil:
		return nil
	case x.of != nil:
		rel, err := x.terms.show(ctx, x.of)
		x.rel = rel
		return err
	case x.gone:
		return &failure.Environment{Message: "the result was released"}
	}
	rel, err := x.pending.Fetch(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return machine.DeviceFailure(err)
	}
	x.rel, x.pending = rel, nil
	return nil
}

// Columns returns the columns of tuples that Fetch has copied.
func (x *Relation) Columns() []*store.Column {
	if x.rel == nil {
		return nil
	}
	return x.rel.Columns()
}

// IsEntity reports whether a column shows entities as terms.
func (x *Relation) IsEntity(column int) bool {
	return x.terms != nil && x.terms.families[column] != ""
}

// Tuples returns the tuples that Fetch has copied; nil without it.
func (x *Relation) Tuples() *store.Relation { return x.rel }

// Pending returns the tuples on the device; nil if they are not there.
func (x *Relation) Pending() runtime.Pending { return x.pending }

// Release frees tuples on the device that were not copied.
func (x *Relation) Release() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.pending != nil {
		x.pending.Release()
		x.pending, x.gone = nil, true
	}
}

// Rows returns the number of tuples that are presented.
func (x *Relation) Rows() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := int64(0)
	switch {
	case x.rel != nil:
		n = int64(x.rel.Rows())
	case x.of != nil:
		n = x.of.Rows()
	case x.pending != nil:
		n = x.pending.Rows()
	}
	if x.limit >= 0 {
		n = min(n, x.limit)
	}
	return n
}

// Output presents the tuples, which are copied from the device if they are
// there.
func (x *Relation) Output(ctx context.Context) (*write.Output, error) {
	if err := x.Fetch(ctx); err != nil {
		return nil, err
	}
	return &write.Output{Name: x.name, Columns: x.Columns(), Rows: x.rel.Rows(), Order: x.order,
		Limit: x.limit, InOrder: x.rel.InOrder, Threads: x.threads, Names: x.names}, nil
}

// Bound limits the memory in which the tuples of relations are sorted to what
// facts and the relations leave of it. No bytes are no bound. What sorts them
// lies in a file in the folder spill, if that is not "", where it does not fit.
func Bound(relations map[string]*Relation, bytes, facts int64, spill string) {
	if bytes == 0 {
		return
	}
	held, seen, dicts := facts, map[*store.Column]bool{}, map[*store.Dict]bool{}
	for _, x := range relations {
		for _, c := range x.Columns() {
			if !x.Stored && !c.OnDisk && !seen[c] {
				seen[c] = true
				held += c.Bytes()
			}
			if c.Dict != nil && !dicts[c.Dict] {
				dicts[c.Dict] = true
				held += c.Dict.AddedBytes()
			}
		}
	}
	for _, x := range relations {
		x.bound, x.held, x.spill = bytes, held, spill
	}
}

// InMemory calls do with the output, sorted in bounded memory.
func (x *Relation) InMemory(out *write.Output, do func(*write.Output) error) error {
	if x.bound == 0 {
		return do(out)
	}
	bound := max(x.bound-x.held, 1)
	mem := account.New(bound)
	defer mem.Close()
	out.Memory = mem
	if x.spill != "" {
		ledger := store.NewLedger(func(what string, n int64) error {
			if n < 0 {
				mem.Release(-n)
				return nil
			}
			return mem.Reserve(what, n)
		}, bound)
		ledger.SpillTo(scratch.NewPages(x.spill), mem.Held)
		out.Memory = ledger
	}
	err := WithFacts(do(out), x.bound, x.held)
	var memory *runtime.MemoryError
	if errors.As(err, &memory) {
		return &failure.Environment{Message: memory.Error(), Err: err}
	}
	return err
}

// WithFacts adds the facts to what an error says is held, as engines do not
// count them.
func WithFacts(err error, bound, facts int64) error {
	var memory *runtime.MemoryError
	if !errors.As(err, &memory) || memory.Device {
		return err
	}
	all := *memory
	all.Held += facts
	if all.System == nil {
		all.Bound = bound
	}
	return &all
}
