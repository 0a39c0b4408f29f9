package machine

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// Device has memory that kernels see, in pieces of type M. The zero M is no
// memory.
type Device[M any] interface {
	// Address returns the address of a piece, or 0.
	Address(m *M) int64
	// Renew makes a piece one of zeroed bytes, in place if it has about that
	// size.
	Renew(m *M, what string, bytes int64) error
	// Reserve makes a piece one of at least bytes bytes, whose contents are
	// undefined.
	Reserve(m *M, what string, bytes int64) error
	// Free frees a piece, if there is one.
	Free(m *M) error
}

// Builder is the part of building an index that engines do differently.
type Builder interface {
	// Slots returns the number of slots of a hash table of keys.
	Slots(keys int64) int64
	// Number makes room for the key tuples of a wide index of n rows, and sets
	// their number to 0.
	Number(n int64) error
	// Ascend returns the pass that fills Begins if Identity holds: a word for
	// each number that a key can have, and one more.
	Ascend(numbers int64) Pass
	// Sum replaces the counts in Begins, which start at the second word, by the
	// sums of those before each.
	Sum(numbers int64) error
	// Words returns the addresses of the columns of key tuples and of their
	// gauge.
	Words() (columns, gauge int64)
}

// Pass is a pass of a build over rows of the relation: the code of a role, or
// tasks of the host.
type Pass struct {
	Role        abi.Role
	Tasks       []func()
	From, Until int64
	After       func() error // if set, it is called when the pass is done
}

// RunPasses carries out passes, one after the other: code by exec, tasks of the
// host by tasks.
func RunPasses(
	passes []Pass, exec func(role abi.Role, from, until int64) error, tasks func([]func()) error,
) error {
	for _, p := range passes {
		var err error
		if len(p.Tasks) > 0 {
			err = tasks(p.Tasks)
		} else {
			err = exec(p.Role, p.From, p.Until)
		}
		if err == nil && p.After != nil {
			err = p.After()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Index is an index over rows From to Until of a relation.
type Index[M any] struct {
	Decl        *harmony.Index
	Lay         *layout.Key
	What        string // the user's name of it, for messages
	Form        abi.Form
	From, Until int64
	// Identity reports that the relation's rows ascend by key, so that Begins
	// alone locate the rows of a key.
	Identity bool
	Tables[M]
	Wide     M // of form Wide, the row set
	WideMask uint64

	device     Device[M]
	builder    Builder
	built      bool // for these rows of this generation of the relation
	generation int
}

// Tables are the tables of an index whose keys fit a word.
type Tables[M any] struct {
	Table  M // what abi.IndexTable points to
	Mask   uint64
	Begins M
	Rows   M
}

// NewIndex returns an index that is not built yet.
func NewIndex[M any](
	d Device[M], b Builder, decl *harmony.Index, lay *layout.Key, what string,
) Index[M] {
	return Index[M]{Decl: decl, Lay: lay, What: what, Form: lay.Form, device: d, builder: b}
}

// Update reports whether the index keeps its tables: it has the rows already,
// or room for the missing ones, which passes insert.
func (x *Index[M]) Update(from, until int64, generation int) (passes []Pass, done bool) {
	same := x.built && x.generation == generation && x.From == from
	switch {
	case same && x.Until == until:
		return nil, true
	case same && x.Until < until && x.extends(until-from):
		passes = []Pass{{Role: abi.BuildInsert, From: x.Until, Until: until}}
		x.Until = until
		return passes, true
	}
	return nil, false
}

// extends reports whether rows can be added to the tables until they have n.
func (x *Index[M]) extends(n int64) bool {
	switch {
	case x.Decl.Kind == harmony.Multi || x.Form == abi.Wide:
		return false
	case x.Lay.Open && x.Form == abi.Hash && x.Lay.FormFor(x.Decl.Kind, int(n)) == abi.Direct:
		return false
	}
	return x.Form == abi.Direct || x.Form == abi.Hash && n <= RoomOf(x.Mask)
}

// Begin sets the rows of the index and their generation. Facts are the columns
// of a loaded relation. Passes makes the tables.
func (x *Index[M]) Begin(from, until int64, generation int, facts []*store.Column) {
	x.built, x.generation, x.From, x.Until = true, generation, from, until
	x.Form = x.Lay.Form
	if x.Lay.Open {
		x.Form = x.Lay.FormFor(x.Decl.Kind, int(until-from))
	}
	x.Identity = woven.Ascends(x.Decl, x.Form, facts)
}

// BuiltFrom reports whether the index has rows of a generation from a row on.
func (x *Index[M]) BuiltFrom(from int64, generation int) bool {
	return x.built && x.generation == generation && x.From == from
}

// Span returns the rows of the index.
func (x *Index[M]) Span() (from, until int64) { return x.From, x.Until }

// Release frees the tables.
func (x *Index[M]) Release() error {
	x.built = false
	for _, m := range []*M{&x.Table, &x.Begins, &x.Rows, &x.Wide} {
		if err := x.device.Free(m); err != nil {
			return err
		}
	}
	return nil
}

// Passes makes empty tables for the rows, and returns the passes that fill
// them.
func (x *Index[M]) Passes() ([]Pass, error) {
	n := x.Until - x.From
	keys := n
	if x.Lay.Size > 0 && x.Form != abi.Wide && uint64(n) > x.Lay.Size {
		keys = int64(x.Lay.Size)
	}
	switch x.Form {
	case abi.None:
		return nil, nil // keys are row numbers
	case abi.Wide:
		if err := x.wideTable(n); err != nil {
			return nil, err
		}
	case abi.Hash:
		slots, size := x.builder.Slots(keys), int64(8)
		if x.Decl.Kind == harmony.Unique {
			size = 16
		}
		x.Mask = uint64(slots - 1)
		// The word of the key 0 comes after the slots.
		if err := x.renew(&x.Table, size*(slots+1)); err != nil {
			return nil, err
		}
	}
	insert := []Pass{x.whole(abi.BuildInsert, nil)}
	switch {
	case x.Decl.Kind == harmony.Multi:
		return x.multi(n)
	case x.Form == abi.Hash, x.Form == abi.Wide && x.Decl.Kind == harmony.Exists:
		return insert, nil
	case x.Decl.Kind == harmony.Exists:
		return insert, x.renew(&x.Table, int64(x.Lay.BitmapBytes()))
	case x.Form == abi.Direct:
		return insert, x.renew(&x.Table, 4*int64(x.Lay.Size))
	}
	return insert, x.renew(&x.Table, 4*max(n, 1))
}

// whole is a pass over all rows.
func (x *Index[M]) whole(role abi.Role, after func() error) Pass {
	return Pass{Role: role, From: x.From, Until: x.Until, After: after}
}

// multi makes the tables of an index with several rows for a key: where the
// rows of each number that a key can have begin, and the rows.
func (x *Index[M]) multi(n int64) ([]Pass, error) {
	numbers := x.Numbers()
	if err := x.renew(&x.Begins, 8*(numbers+2)); err != nil {
		return nil, err
	}
	if x.Identity {
		return []Pass{x.builder.Ascend(numbers)}, x.device.Free(&x.Rows)
	}
	return []Pass{
		x.whole(abi.BuildCount, func() error { return x.builder.Sum(numbers) }),
		x.whole(abi.BuildFill, nil),
	}, x.device.Reserve(&x.Rows, x.What, 4*max(n, 1))
}

// Numbers is how many numbers the keys of a multi index can have.
func (x *Index[M]) Numbers() int64 {
	switch x.Form {
	case abi.Hash:
		return int64(x.Mask) + 2
	case abi.Direct:
		return int64(x.Lay.Size)
	}
	return x.Until - x.From
}

// wideTable makes an empty row set for n keys.
func (x *Index[M]) wideTable(n int64) error {
	slots := SlotsFor(n)
	x.WideMask = uint64(slots - 1)
	if err := x.renew(&x.Wide, 8*(slots+1)); err != nil {
		return err
	}
	return x.builder.Number(n)
}

func (x *Index[M]) renew(m *M, bytes int64) error { return x.device.Renew(m, x.What, bytes) }

// Word returns what a function gets for a parameter about the index.
func (x *Index[M]) Word(p abi.Param) (int64, error) {
	switch p.Kind {
	case abi.IndexBegins:
		return x.device.Address(&x.Begins), nil
	case abi.IndexRows:
		if x.Identity {
			return 0, nil
		}
		return x.device.Address(&x.Rows), nil
	case abi.IndexBitRows, abi.IndexSpaced, abi.IndexTaken:
		return 0, nil
	case abi.IndexWideSlots:
		return x.device.Address(&x.Wide), nil
	case abi.IndexWideMask:
		return int64(x.WideMask), nil
	case abi.IndexWideColumns:
		columns, _ := x.builder.Words()
		return columns, nil
	case abi.IndexWideGauge:
		_, gauge := x.builder.Words()
		return gauge, nil
	}
	if word, ok := KeyWord(p, x.Form, x.Lay, x.device.Address(&x.Table), x.mask()); ok {
		return word, nil
	}
	return 0, ErrParam(p)
}

// mask is the mask of a hash table, or the size of an index that has none: its
// rows.
func (x *Index[M]) mask() uint64 {
	switch {
	case x.Lay.ByRow:
		return uint64(x.Until)
	case x.Form == abi.Wide:
		return uint64(max(x.Until-x.From, 1))
	}
	return x.Mask
}

// RoomOf returns the number of keys that a hash table holds: two thirds of its
// slots.
func RoomOf(mask uint64) int64 { return int64((mask + 1) * 2 / 3) }

// SlotsFor returns the number of slots that hold keys at a load of two thirds
// or less.
func SlotsFor(keys int64) int64 {
	slots := int64(64)
	for 2*slots < 3*keys {
		slots *= 2
	}
	return slots
}
