package gpu

import (
	"context"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// index is what a build made of rows from to until of a relation.
type index struct {
	decl *harmony.Index
	lay  *layout.Key
	rel  *relation
	what string
	run  *run

	form abi.Form
	// built says that it holds those rows of that generation of the relation.
	built       bool
	generation  int
	from, until int64
	// identity says that the rows of a key follow each other in the relation, the
	// keys ascending, so that begins tell the rows without rows.
	identity bool

	indexTable
	shared *resident // whose table it is, nil for one of the run's own
	// Of form Wide, the row set, the tuples that it numbers, and their number.
	wide     buffer
	wideMask uint64
	tuples   []*column
	pointers buffer
	gauge    int
}

// indexTable is what is made of keys that fit a word.
type indexTable struct {
	table  buffer // what IndexTable points to
	mask   uint64
	begins buffer
	rows   buffer
}

func (t *indexTable) buffers() [3]buffer { return [3]buffer{t.table, t.begins, t.rows} }

func newIndex(r *run, decl *harmony.Index, lay *layout.Key, rel *relation, what string) *index {
	x := &index{decl: decl, lay: lay, rel: rel, what: what, run: r, form: lay.Form, gauge: r.control.newGauge()}
	if lay.Form == abi.Wide {
		for _, c := range decl.Key {
			x.tuples = append(x.tuples, &column{Column: layout.Words, typ: rel.decl.Cols[c].Type})
		}
	}
	return x
}

func (x *index) free() error {
	x.built = false
	if x.shared != nil {
		// The run has it to its end, unless memory gets short.
		x.run.retired = append(x.run.retired, x.shared)
		x.shared, x.indexTable = nil, indexTable{}
		return nil
	}
	all := []*buffer{&x.table, &x.begins, &x.rows, &x.wide, &x.pointers}
	for _, c := range x.tuples {
		all = append(all, &c.data)
	}
	for _, b := range all {
		if err := x.run.free(b); err != nil {
			return err
		}
	}
	return nil
}

// phase is one pass of a build over rows of the relation.
type phase struct {
	role        abi.Role
	from, until int64
	after       func() error // what is to be done when it is through
}

// prepare makes empty tables for a build of the relation as it is, or keeps what
// is there, and returns the passes that fill them.
func (x *index) prepare(ctx context.Context) ([]phase, error) {
	from, until, err := x.rel.version(ctx, x.decl.Version)
	if err != nil {
		return nil, err
	}
	same := x.built && x.generation == x.rel.generation && x.from == from
	if same && x.until == until {
		return nil, nil
	}
	if same && x.until < until && x.extends(until) {
		had := x.until
		x.until = until
		return []phase{{role: abi.BuildInsert, from: had, until: until}}, nil
	}
	n := until - from
	x.built, x.generation, x.from, x.until = true, x.rel.generation, from, until
	x.form = x.lay.Form
	if x.lay.Open {
		x.form = x.lay.FormFor(x.decl.Kind, int(n))
	}
	x.identity = woven.Ascends(x.decl, x.form, x.run.Data.Columns(x.decl.Of))
	if done, err := x.adopt(); done || err != nil {
		return nil, err
	}
	return x.passes(ctx, n)
}

// extends reports whether the tables have room for the rows up to until, so that
// new ones can be added to those that are there.
func (x *index) extends(until int64) bool {
	n := until - x.from
	switch {
	case x.decl.Kind == harmony.Multi || x.form == abi.Wide:
		return false
	case x.lay.Open && x.form == abi.Hash && x.lay.FormFor(x.decl.Kind, int(n)) == abi.Direct:
		return false
	}
	return x.form == abi.Direct || n <= roomOf(x.mask)
}

// passes makes the tables for n rows.
func (x *index) passes(ctx context.Context, n int64) ([]phase, error) {
	keys := n
	if x.lay.Size > 0 && x.form != abi.Wide && uint64(n) > x.lay.Size {
		keys = int64(x.lay.Size)
	}
	if x.form == abi.Wide {
		if err := x.wideTable(ctx, n); err != nil {
			return nil, err
		}
	}
	if x.form == abi.None {
		return nil, nil // keys are row numbers
	}
	whole := func(role abi.Role, after func() error) phase { return phase{role, x.from, x.until, after} }
	insert := []phase{whole(abi.BuildInsert, nil)}
	slots := slotsFor(keys)
	if !x.rel.isLoaded() {
		slots *= 2 // it may be extended
	}
	switch x.decl.Kind {
	case harmony.Exists:
		switch x.form {
		case abi.Hash:
			return insert, x.hashTable(slots, 8)
		case abi.Direct:
			return insert, x.run.renew(&x.table, x.what, int64(x.lay.BitmapBytes()))
		}
		return insert, nil
	case harmony.Unique:
		switch x.form {
		case abi.Hash:
			return insert, x.hashTable(slots, 16)
		case abi.Direct:
			return insert, x.run.renew(&x.table, x.what, 4*int64(x.lay.Size))
		}
		return insert, x.run.renew(&x.table, x.what, 4*max(n, 1))
	}
	// Begins are a word for each number that a key can have, and one more.
	numbers := n
	switch x.form {
	case abi.Hash:
		slots = slotsFor(keys)
		if err := x.hashTable(slots, 8); err != nil {
			return nil, err
		}
		numbers = slots + 1
	case abi.Direct:
		numbers = int64(x.lay.Size)
	}
	if err := x.run.renew(&x.begins, x.what, 8*(numbers+2)); err != nil {
		return nil, err
	}
	counts := buffer{x.begins.at + 8, x.begins.bytes - 8}
	if x.identity {
		if err := x.run.free(&x.rows); err != nil {
			return nil, err
		}
		return []phase{whole(abi.BuildCount, func() error { return x.run.scan(counts, numbers, true) })}, nil
	}
	if bytes := 4 * max(n, 1); x.rows.bytes < bytes {
		if err := x.run.free(&x.rows); err != nil {
			return nil, err
		}
		if err := x.run.alloc(&x.rows, x.what, bytes+bytes/2); err != nil {
			return nil, err
		}
	}
	return []phase{
		whole(abi.BuildCount, func() error { return x.run.scan(counts, numbers, false) }),
		whole(abi.BuildFill, nil),
	}, nil
}

// hashTable makes an empty table of slots, and one for the key 0.
func (x *index) hashTable(slots, size int64) error {
	x.mask = uint64(slots - 1)
	return x.run.renew(&x.table, x.what, size*(slots+1))
}

// wideTable makes an empty row set for n keys.
func (x *index) wideTable(ctx context.Context, n int64) error {
	slots := slotsFor(n)
	if err := x.run.renew(&x.wide, x.what, 8*(slots+1)); err != nil {
		return err
	}
	x.wideMask = uint64(slots - 1)
	for _, c := range x.tuples {
		if err := x.run.renew(&c.data, x.what, 8*max(n, 1)); err != nil {
			return err
		}
	}
	if err := x.run.pointers(ctx, &x.pointers, x.what, x.tuples); err != nil {
		return err
	}
	return x.run.control.set(ctx, x.gauge, 0, unlimited)
}

// size is what code gets of the index.
func (x *index) size() int64 {
	switch x.form {
	case abi.Hash:
		return int64(x.mask)
	case abi.Wide:
		return max(x.until-x.from, 1)
	}
	return int64(x.lay.Size)
}
