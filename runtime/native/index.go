package native

import (
	"sync"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// index is an index over rows of a relation.
type index struct {
	machine.Index[account.Region]
	rel      *relation
	mem      *account.Memory
	tuples   []*column  // the key tuples of a wide index
	gauge    gauge      // counts tuples
	pointers []int64    // the addresses of tuples
	pointing sync.Mutex // guards pointers

	extents extents
	runs    machine.Runs[*index]
	bits    []*bitRows // by column
}

func newIndex(m *account.Memory, decl *harmony.Index, lay *layout.Key, rel *relation) *index {
	x := &index{rel: rel, mem: m}
	x.Index = machine.NewIndex(machine.Device[account.Region](device{m}), x, decl, lay,
		"an index of "+rel.What)
	if lay.Form == abi.Wide {
		for _, c := range decl.Key {
			region := account.Region{Memory: m}
			x.tuples = append(x.tuples,
				&column{Column: layout.Words, typ: rel.Decl.Cols[c].Type, Region: region})
		}
	}
	return x
}

// device allocates the memory of indexes: regions of host memory.
type device struct{ mem *account.Memory }

// Address returns the address of a region.
func (d device) Address(r *account.Region) int64 { return r.Address() }

// Renew makes r a region of bytes zeroed bytes. It reuses the memory of r if
// that is of about the right size.
func (d device) Renew(r *account.Region, what string, bytes int64) error {
	n := int(max(bytes, 8))
	if r.Data != nil && r.Bytes >= n && r.Bytes <= 4*n+64 {
		r.Zero(n)
		return nil
	}
	r.Free()
	return r.Alloc(d.mem, what, n)
}

// Reserve makes r a region of at least bytes bytes, with undefined contents.
func (d device) Reserve(r *account.Region, what string, bytes int64) error {
	if int64(r.Bytes) >= bytes {
		return nil
	}
	r.Free()
	return r.Alloc(d.mem, what, int(bytes+bytes/2))
}

// Free frees a region.
func (d device) Free(r *account.Region) error {
	r.Free()
	return nil
}

// Clear does nothing. The next build detects what has changed.
func (x *index) Clear() error { return nil }

// Release frees the memory.
func (x *index) Release() error {
	for _, c := range x.tuples {
		c.Free()
	}
	for _, b := range x.bits {
		b.Free()
	}
	x.bits, x.extents.on = nil, false
	if err := x.runs.Release(0); err != nil {
		return err
	}
	return x.Index.Release()
}

// prepare makes empty tables for the rows of a version of the relation, or
// extends the present tables. It returns the passes that fill them.
func (x *index) prepare(of harmony.Version) ([]machine.Pass, error) {
	from, until := x.rel.version(of)
	if x.runs.New != nil {
		return machine.PrepareRuns(&x.Index, &x.runs, int64(from), int64(until), x.rel.Generation)
	}
	if passes, done := x.Update(int64(from), int64(until), x.rel.Generation); done {
		return passes, nil
	}
	if x.BuiltFrom(int64(from), x.rel.Generation) && x.Until < int64(until) &&
		x.addsTo(int64(until)) {
		return nil, x.extend(int64(until))
	}
	x.extents.on = false
	return x.Over(int64(from), int64(until))
}

// Over makes empty tables for rows from up to until.
func (x *index) Over(from, until int64) ([]machine.Pass, error) {
	x.Begin(from, until, x.rel.Generation, x.rel.facts)
	return x.Passes()
}

// growByRuns keeps the index as several runs. Up to short rows are one run.
func (x *index) growByRuns(short int64) {
	x.runs.Short = short
	x.runs.New = func() *index { return newIndex(x.mem, x.Decl, x.Lay, x.rel) }
}

// Slots returns the number of slots of a hash table of keys. A unique index has
// more, because it is probed the most.
func (x *index) Slots(keys int64) int64 {
	if x.Decl.Kind == harmony.Unique {
		return int64(indexSlots(int(keys+keys/3), 16))
	}
	return int64(indexSlots(int(keys), 8))
}

// Number makes room for the key tuples of n rows.
func (x *index) Number(n int64) error {
	x.gauge.cursor = 0
	x.gauge.setLimit(unlimited)
	for _, c := range x.tuples {
		if err := c.Grow(x.What, 8*int(max(n, 1))); err != nil {
			return err
		}
	}
	return nil
}

// Sum replaces counts by their exclusive prefix sums.
func (x *index) Sum(numbers int64) error {
	counts := account.Words(&x.Begins)[1 : numbers+1]
	sum := uint64(0)
	for i, c := range counts {
		counts[i] = sum
		sum += c
	}
	return nil
}

// Words returns the addresses of the columns of key tuples and of their gauge.
// Workers of a decomposed loop call it concurrently while native code reads the
// addresses, so it writes only those that have changed.
func (x *index) Words() (columns, gauge int64) {
	x.pointing.Lock()
	defer x.pointing.Unlock()
	for i, c := range x.tuples {
		switch at := c.Address(); {
		case i == len(x.pointers):
			x.pointers = append(x.pointers, at)
		case x.pointers[i] != at:
			x.pointers[i] = at
		}
	}
	return addressOf(x.pointers), x.gauge.address()
}

// Word returns the value of a parameter about the index, or about its current
// run.
func (x *index) Word(p abi.Param) (int64, error) {
	switch {
	case p.Kind == abi.IndexBitRows:
		return x.bitWord(p.Index), nil
	case p.Kind == abi.IndexSpaced && x.extents.on:
		return 1, nil
	}
	if x.runs.New != nil {
		return x.runs.List[x.runs.At].Index.Word(p)
	}
	return x.Index.Word(p)
}

// ascendingRows is the number of rows that a task of Ascend reads.
const ascendingRows = 1 << 17

// Ascend returns the tasks that fill Begins if the rows ascend by the key: for
// each number of a key, the first row whose key is not less, and at the end the
// number of rows. The task that reads the first such row writes the word, so
// each word is written once. Counting the rows of each key and adding up would
// access the word of its key for each row.
func (x *index) Ascend(numbers int64) machine.Pass {
	begins := account.Words(&x.Begins)[:numbers+1]
	column, base := x.rel.facts[x.Decl.Key[0]], x.Lay.Fields[0].Base
	first, n := int(x.From), int(x.Until-x.From)
	var tasks []func()
	for start := 0; start < n; start += ascendingRows {
		tasks = append(tasks, func() {
			until := min(start+ascendingRows, n)
			next := 0 // the smallest number whose begin is unknown
			if start > 0 {
				next = int(column.Word(first+start-1)-base) + 1
			}
			var block [1024]int64
			for at := start; at < until; at += len(block) {
				words := block[:min(len(block), until-at)]
				column.Read(words, first+at)
				for i, word := range words {
					for key := int(word - base); next <= key; next++ {
						begins[next] = uint64(at + i)
					}
				}
			}
			if until == n {
				for ; next <= int(numbers); next++ {
					begins[next] = uint64(n)
				}
			}
		})
	}
	return machine.Pass{Tasks: tasks}
}
