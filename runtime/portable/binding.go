package portable

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/prepare"
	"github.com/redfoxdb/redfox/runtime/store"
)

// binding is a column of a batch at some place in a pipeline.
type binding struct {
	name string
	slot int // in batch.cols
	typ  scalar.Type
	dict *prepare.Dictionary // of a String column
	rng  interval.Interval
}

// value returns a word of the column as a value.
func (b *binding) value(w int64) scalar.Value {
	if b.typ.Kind == scalar.String {
		return scalar.OfString(b.dict.Dict.String(uint32(w)))
	}
	return scalar.OfBits(b.typ, uint64(w))
}

// unordered returns the dictionary of strings whose codes do not order as they
// do, nil for all other columns.
func (b *binding) unordered() *store.Dict {
	if b.typ.Kind == scalar.String && b.dict.Grows {
		return b.dict.Dict
	}
	return nil
}

// compare orders two words of the column.
func (b *binding) compare(x, y int64) int {
	switch codes := b.unordered(); {
	case x == y:
		return 0
	case codes != nil:
		return codes.Compare(uint32(x), uint32(y))
	case scalar.Ordered(b.typ.Kind, x) < scalar.Ordered(b.typ.Kind, y):
		return -1
	}
	return 1
}

// find returns the binding of that name.
func find(list []binding, name string) *binding {
	for i := range list {
		if list[i].name == name {
			return &list[i]
		}
	}
	panic("no column " + name)
}

// wordOf returns the word of a value; a string gets its code in the dictionary.
func wordOf(v scalar.Value, d *prepare.Dictionary) int64 {
	if v.Type.Kind == scalar.String {
		return int64(d.Dict.Intern(v.Str()))
	}
	return int64(v.Bits())
}
