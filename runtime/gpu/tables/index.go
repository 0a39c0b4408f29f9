package tables

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// Index is an index over rows of a relation.
type Index struct {
	machine.Index[device.Buffer]
	Rel      *Relation
	run      *State
	shared   *resident     // the owner of the table, or nil if it is the run's own
	tuples   []*Column     // the key tuples of a wide index
	pointers device.Buffer // the addresses of tuples
	Gauge    int           // the gauge that counts tuples
	Runs     machine.Runs[*Index]
	Spaced   *Spaced // the form that loops on the device add rows to, or nil
	keys     int64   // the smallest capacity of a hash table, in keys
}

// newIndex makes an index. It may consist of several runs, unless it has key
// tuples, because runs have no gauges. Up to ShortRun rows are always one run.
func newIndex(r *State, decl *harmony.Index, lay *layout.Key, rel *Relation, what string) *Index {
	x := newRun(r, decl, lay, rel, what)
	x.Gauge = r.Control.NewGauge()
	if lay.Form != abi.Wide && machine.GrowsByRuns(r.Graph, decl) {
		x.Runs.Short = r.ShortRun
		x.Runs.New = func() *Index { return newRun(r, decl, lay, rel, what) }
	}
	return x
}

// newRun makes an index without a gauge.
func newRun(r *State, decl *harmony.Index, lay *layout.Key, rel *Relation, what string) *Index {
	x := &Index{Rel: rel, run: r}
	x.Index = machine.NewIndex(machine.Device[device.Buffer](indexMemory{r}), x, decl, lay, what)
	if lay.Form == abi.Wide {
		for _, c := range decl.Key {
			x.tuples = append(x.tuples, &Column{Column: layout.Words, Typ: rel.Decl.Cols[c].Type})
		}
	}
	return x
}

// indexMemory allocates the memory of indexes from the run.
type indexMemory struct{ run *State }

// Address returns where a buffer begins.
func (m indexMemory) Address(b *device.Buffer) int64 { return b.Word() }

// Renew makes b a buffer of bytes zeroed bytes.
func (m indexMemory) Renew(b *device.Buffer, what string, bytes int64) error {
	return m.run.Renew(b, what, bytes)
}

// Reserve makes b a buffer of at least bytes bytes, with undefined contents.
func (m indexMemory) Reserve(b *device.Buffer, what string, bytes int64) error {
	if b.Bytes >= bytes {
		return nil
	}
	if err := m.run.Drop(b); err != nil {
		return err
	}
	if bytes < spaciousIndex {
		bytes += bytes / 2
	} else {
		bytes += bytes / 8
	}
	return m.run.Alloc(b, what, bytes)
}

// spaciousIndex is the size, in bytes, below which an index that will soon be
// rebuilt gets room for half as many rows more.
const spaciousIndex = 32 << 20

// Free frees a buffer.
func (m indexMemory) Free(b *device.Buffer) error { return m.run.Drop(b) }

// buffers lists the memory of tables.
func buffers(t *machine.Tables[device.Buffer]) [3]device.Buffer {
	return [3]device.Buffer{t.Table, t.Begins, t.Rows}
}

// Clear does nothing. The next build detects what has changed.
func (x *Index) Clear() error { return nil }

// Release frees the tables. Tables that runs share stay in use until the run
// ends, unless memory is short.
func (x *Index) Release() error {
	if x.shared != nil {
		x.run.retired = append(x.run.retired, x.shared)
		x.shared, x.Tables = nil, machine.Tables[device.Buffer]{}
	}
	if err := x.Runs.Release(0); err != nil {
		return err
	}
	if err := x.Spaced.release(); err != nil {
		return err
	}
	if err := x.Index.Release(); err != nil {
		return err
	}
	if err := x.run.Drop(&x.pointers); err != nil {
		return err
	}
	for _, c := range x.tuples {
		if err := x.run.Drop(&c.Data); err != nil {
			return err
		}
	}
	return nil
}

// Prepare makes empty tables for the rows of a version of the relation, or
// extends the present tables. It returns the passes that fill them.
func (x *Index) Prepare(of harmony.Version) ([]machine.Pass, error) {
	from, until, err := x.Rel.Version(x.run.Ctx, of)
	if err != nil {
		return nil, err
	}
	if x.Runs.New != nil {
		return machine.PrepareRuns(&x.Index, &x.Runs, from, until, x.Rel.Generation)
	}
	if passes, done := x.Update(from, until, x.Rel.Generation); done {
		return passes, nil
	}
	return x.Over(from, until)
}

// Over makes empty tables for rows of the relation and returns the passes that
// fill them. It returns none if an earlier run has left the tables.
func (x *Index) Over(from, until int64) ([]machine.Pass, error) {
	x.Begin(from, until, x.Rel.Generation, x.run.Data.Columns(x.Decl.Of))
	if done, err := x.adopt(); done || err != nil {
		return nil, err
	}
	return x.Passes()
}

// Word returns the value of a parameter about the index, or about its current
// run.
func (x *Index) Word(p abi.Param) (int64, error) {
	switch {
	case x.Spaced != nil && x.Spaced.AtHand && !x.Spaced.inPlace():
		return x.Spaced.word(p)
	case x.Runs.New != nil:
		return x.Runs.List[x.Runs.At].Index.Word(p)
	}
	return x.Index.Word(p)
}

// Slots returns the number of slots of a hash table of keys. A table that may
// be extended has twice as many.
func (x *Index) Slots(keys int64) int64 {
	slots := machine.SlotsFor(max(keys, x.keys))
	if x.Decl.Kind != harmony.Multi && !x.Rel.IsLoaded() {
		slots *= 2
	}
	return slots
}

// Number makes room for the key tuples of n rows and clears their gauge.
func (x *Index) Number(n int64) error {
	for _, c := range x.tuples {
		if err := x.run.Renew(&c.Data, x.What, 8*max(n, 1)); err != nil {
			return err
		}
	}
	if err := x.run.pointers(&x.pointers, x.What, x.tuples); err != nil {
		return err
	}
	return x.run.Control.Set(x.run.Ctx, x.Gauge, 0, device.Unlimited)
}

// Ascend counts the rows of each key, and adds up.
func (x *Index) Ascend(numbers int64) machine.Pass {
	return machine.Pass{Role: abi.BuildCount, From: x.From, Until: x.Until, After: func() error {
		return x.run.Scan(x.counts(), numbers, true)
	}}
}

// Sum replaces counts by their exclusive prefix sums.
func (x *Index) Sum(numbers int64) error { return x.run.Scan(x.counts(), numbers, false) }

// counts returns the words of Begins without the first one.
func (x *Index) counts() device.Buffer {
	return device.Buffer{At: x.Begins.At + 8, Bytes: x.Begins.Bytes - 8}
}

// Words returns the addresses of the columns of key tuples and of their gauge.
func (x *Index) Words() (columns, gauge int64) {
	return x.pointers.Word(), int64(x.run.Control.At(x.Gauge))
}
