package native

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// index is what a build made of rows from to until of a relation.
type index struct {
	decl *harmony.Index
	lay  *layout.Key
	rel  *relation
	what string
	mem  *account.Memory

	form abi.Form
	// built says that it holds those rows of that generation of the relation.
	built       bool
	generation  int
	from, until int
	// identity says that the rows of a key follow each other in the relation, the
	// keys ascending, so that begins tell the rows without rows.
	identity bool

	table  account.Region // what IndexTable points to, unless keys do
	keys   keyTable       // of Hash, but for unique
	begins account.Region
	rows   account.Region
	wide   rowTable
	tuples []*column // the key tuples of a wide index
	gauge  gauge     // their number

	mask     uint64 // of a unique hash table
	pointers []int64

	// byRuns says that the index consists of runs, of which kernels get the one at hand;
	// those of together shortRun rows are always one.
	byRuns   bool
	runs     []*index
	at       int
	shortRun int
}

func newIndex(m *account.Memory, decl *harmony.Index, lay *layout.Key, rel *relation) *index {
	x := &index{decl: decl, lay: lay, rel: rel, what: "an index of " + rel.what, mem: m, form: lay.Form}
	for _, r := range []*account.Region{&x.table, &x.keys.Region, &x.begins, &x.rows, &x.wide.Region} {
		r.Memory = m
	}
	if lay.Form == abi.Wide {
		for _, c := range decl.Key {
			x.tuples = append(x.tuples, &column{Column: layout.Words, typ: rel.decl.Cols[c].Type, Region: account.Region{Memory: m}})
		}
	}
	return x
}

// free gives the memory back.
func (x *index) free() {
	for _, r := range []*account.Region{&x.table, &x.keys.Region, &x.begins, &x.rows, &x.wide.Region} {
		r.Free()
	}
	for _, c := range x.tuples {
		c.Free()
	}
	x.freeRuns(0)
	x.built = false
}

// phase is one pass of a build over rows of the relation: of the code of a role, or of
// tasks.
type phase struct {
	role        abi.Role
	tasks       []func()
	from, until int
	after       func() error // what is to be done when it is through
}

// prepare makes empty tables for a build of the relation as it is, or keeps what
// is there, and returns the passes that fill them.
func (x *index) prepare() ([]phase, error) {
	from, until := x.rel.version(x.decl.Version)
	if x.byRuns {
		return x.prepareRuns(from, until)
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
	return x.over(from, until)
}

// over makes empty tables for rows from one until another.
func (x *index) over(from, until int) ([]phase, error) {
	n := until - from
	x.built, x.generation, x.from, x.until = true, x.rel.generation, from, until
	x.form = x.lay.Form
	if x.lay.Open {
		x.form = x.lay.FormFor(x.decl.Kind, n)
	}
	x.identity = woven.Ascends(x.decl, x.form, x.rel.facts)
	return x.passes(n)
}

// extends reports whether the tables have room for the rows up to until, so that
// new ones can be added to those that are there.
func (x *index) extends(until int) bool {
	n := until - x.from
	if x.decl.Kind == harmony.Multi || x.form == abi.Wide {
		return false
	}
	if x.lay.Open && x.form == abi.Hash && x.lay.FormFor(x.decl.Kind, n) == abi.Direct {
		return false
	}
	switch {
	case x.form == abi.Direct:
		return true
	case x.decl.Kind == harmony.Exists:
		return n <= roomOf(&x.keys.Region, x.keys.mask)
	}
	return n <= roomOf(&x.table, x.mask)
}

// passes makes the tables for n rows.
func (x *index) passes(n int) ([]phase, error) {
	keys := n
	if x.lay.Size > 0 && x.form != abi.Wide && uint64(n) > x.lay.Size {
		keys = int(x.lay.Size)
	}
	if x.form == abi.Wide {
		if err := x.wideTable(n); err != nil {
			return nil, err
		}
	}
	if x.form == abi.None {
		return nil, nil // keys are row numbers
	}
	whole := func(role abi.Role, after func() error) phase {
		return phase{role: role, from: x.from, until: x.until, after: after}
	}
	insert := []phase{whole(abi.BuildInsert, nil)}
	switch x.decl.Kind {
	case harmony.Exists:
		switch x.form {
		case abi.Hash:
			return insert, x.hashKeys(keys)
		case abi.Direct:
			return insert, renew(&x.table, x.mem, x.what, x.lay.BitmapBytes())
		}
		return insert, nil
	case harmony.Unique:
		switch x.form {
		case abi.Hash:
			slots := indexSlots(keys+keys/3, 16)
			x.mask = uint64(slots - 1)
			return insert, renew(&x.table, x.mem, x.what, 16*(slots+1))
		case abi.Direct:
			return insert, renew(&x.table, x.mem, x.what, 4*int(x.lay.Size))
		}
		return insert, renew(&x.table, x.mem, x.what, 4*max(n, 1))
	}
	// Begins are a word for each number that a key can have, and one more.
	numbers := n
	switch x.form {
	case abi.Hash:
		if err := x.hashKeys(keys); err != nil {
			return nil, err
		}
		numbers = x.keys.slotCount()
	case abi.Direct:
		numbers = int(x.lay.Size)
	}
	if err := renew(&x.begins, x.mem, x.what, 8*(numbers+2)); err != nil {
		return nil, err
	}
	begins := account.Words(&x.begins)
	if x.identity {
		x.rows.Free()
		return []phase{{from: x.from, until: x.until, tasks: x.beginTasks(numbers)}}, nil
	}
	if err := x.roomForRows(n); err != nil {
		return nil, err
	}
	return []phase{
		whole(abi.BuildCount, func() error {
			sumBefore(begins[1 : numbers+1])
			return nil
		}),
		whole(abi.BuildFill, nil),
	}, nil
}

func (x *index) hashKeys(keys int) error {
	slots := indexSlots(keys, 8)
	if err := renew(&x.keys.Region, x.mem, x.what, 8*(slots+1)); err != nil {
		return err
	}
	x.keys.mask = uint64(slots - 1)
	return nil
}

// roomForRows makes room for n row numbers.
func (x *index) roomForRows(n int) error {
	bytes := 4 * max(n, 1)
	if x.rows.Bytes >= bytes {
		return nil
	}
	x.rows.Free()
	return x.rows.Alloc(x.mem, x.what, bytes+bytes/2)
}

// wideTable makes an empty row set for n keys.
func (x *index) wideTable(n int) error {
	slots := slotsFor(n)
	if err := renew(&x.wide.Region, x.mem, x.what, 8*slots); err != nil {
		return err
	}
	x.wide.mask = uint64(slots - 1)
	x.gauge.cursor = 0
	x.gauge.setLimit(unlimited)
	for _, c := range x.tuples {
		if err := c.Grow(x.what, 8*max(n, 1)); err != nil {
			return err
		}
	}
	return nil
}

// renew makes a region one of so many zeroed bytes, in its own memory if it is of
// about that size.
func renew(r *account.Region, m *account.Memory, what string, bytes int) error {
	bytes = max(bytes, 8)
	if r.Data != nil && r.Bytes >= bytes && r.Bytes <= 4*bytes+64 {
		r.Zero(bytes)
		return nil
	}
	r.Free()
	return r.Alloc(m, what, bytes)
}

// sumBefore replaces counts by the sums of those before them.
func sumBefore(counts []uint64) {
	sum := uint64(0)
	for i, c := range counts {
		counts[i] = sum
		sum += c
	}
}

// The words that code gets of the index.

func (x *index) tableAddress() int64 {
	if x.form == abi.Hash && x.decl.Kind != harmony.Unique {
		return x.keys.Address()
	}
	return x.table.Address()
}

func (x *index) size() int64 {
	switch {
	case x.form == abi.Hash && x.decl.Kind == harmony.Unique:
		return int64(x.mask)
	case x.form == abi.Hash:
		return int64(x.keys.mask)
	case x.form == abi.Wide:
		return int64(max(x.until-x.from, 1))
	}
	return int64(x.lay.Size)
}

func (x *index) rowsAddress() int64 {
	if x.identity {
		return 0
	}
	return x.rows.Address()
}

func (x *index) columnPointers() int64 {
	x.pointers = x.pointers[:0]
	for _, c := range x.tuples {
		x.pointers = append(x.pointers, c.Address())
	}
	return addressOf(x.pointers)
}
