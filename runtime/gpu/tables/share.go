package tables

import (
	"slices"
	"weak"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/interval"
)

// mostKeyed bounds the key columns of an index that runs share.
const mostKeyed = 4

// indexKey identifies the table of an index over facts. It consists of
// everything that the contents depend on.
type indexKey struct {
	cols     [mostKeyed]columnKey // the key columns; unused ones are zero
	fields   [mostKeyed]interval.Field
	size     uint64
	kind     harmony.IndexKind
	form     abi.Form
	identity bool
}

// sharedKey returns the key under which other runs find the index. Only an
// index over facts whose keys fit a word is shared.
func (x *Index) sharedKey() (key indexKey, ok bool) {
	n := len(x.Decl.Key)
	if x.run.Unshared || !x.Rel.IsLoaded() || n == 0 || n > mostKeyed || x.Form == abi.None ||
		x.Form == abi.Wide {
		return key, false
	}
	for i, c := range x.Decl.Key {
		of := x.Rel.Cols[c].Loaded
		if of.Head() != of {
			return key, false // nothing would drop the index once the slice is garbage
		}
		key.cols[i] = weak.Make(of)
	}
	copy(key.fields[:], x.Lay.Fields)
	key.size, key.kind, key.form, key.identity = x.Lay.Size, x.Decl.Kind, x.Form, x.Identity
	return key, true
}

// adopt takes the table of an earlier run, if there is one.
func (x *Index) adopt() (done bool, err error) {
	key, ok := x.sharedKey()
	if !ok {
		return false, nil
	}
	r := x.run
	y := r.Resident
	y.mu.Lock()
	found := y.indexes[key]
	if found != nil {
		y.use(found)
	}
	y.mu.Unlock()
	if found == nil {
		return false, nil
	}
	r.residents = append(r.residents, found)
	r.ResidentBytes += found.bytes()
	x.shared, x.Tables = found, found.table
	return true, found.await(r.Lane.Stream)
}

// Share makes the table available to later runs. Its build is in the stream;
// the kernels of such a build never stop early.
func (x *Index) Share() error {
	key, ok := x.sharedKey()
	r := x.run
	if !ok || r.Arena != nil { // a graph builds the table at each launch
		return nil
	}
	y := r.Resident
	made := &resident{index: &key, table: x.Tables, made: make(chan struct{})}
	close(made.made)
	var err error
	if made.ready, err = r.Memory.GPU.NewEvent(); err != nil {
		return err
	}
	if err = r.Lane.Stream.Record(made.ready); err != nil {
		_ = made.ready.Close() // the caller reports err
		return err
	}
	y.mu.Lock()
	_, found := y.indexes[key]
	if !found {
		y.indexes[key] = made
		made.users = 1
		y.clock++
		made.used = y.clock
	}
	y.mu.Unlock()
	if found { // a concurrent run has shared its table
		return made.ready.Close()
	}
	for _, b := range buffers(&made.table) {
		r.Disown(b)
	}
	y.mem.Keep(made.bytes())
	r.residents = append(r.residents, made)
	x.shared = made
	return nil
}

// Retire releases the indexes that the run no longer needs, so that they can be
// evicted. Their memory is freed after the run's work with them.
func (r *State) Retire() (freed bool, err error) {
	if len(r.retired) == 0 {
		return false, nil
	}
	y := r.Resident
	done, err := r.Memory.GPU.NewEvent()
	if err != nil {
		return false, err
	}
	defer done.Close()
	if err := r.Lane.Stream.Record(done); err != nil {
		return false, err
	}
	if err := y.Stream.Wait(done); err != nil {
		return false, err
	}
	for _, x := range r.retired {
		if at := slices.Index(r.residents, x); at >= 0 {
			r.residents = slices.Delete(r.residents, at, at+1)
			y.release(x)
		}
	}
	r.retired = nil
	return true, nil
}
