package columns

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/prepare"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Column is a column of a batch at some place in a pipeline.
type Column struct {
	Name  string
	Slot  int // in batch.cols
	Type  scalar.Type
	Dict  *prepare.Dictionary // of a String column
	Bound interval.Interval
}

// Value returns a word of the column as a value.
func (b *Column) Value(w int64) scalar.Value {
	if b.Type.Kind == scalar.String {
		return scalar.OfString(b.Dict.Dict.String(uint32(w)))
	}
	return scalar.OfBits(b.Type, uint64(w))
}

// Unordered returns the dictionary of strings whose codes do not order as they
// do, nil for all other columns.
func (b *Column) Unordered() *store.Dict {
	if b.Type.Kind == scalar.String && b.Dict.Grows {
		return b.Dict.Dict
	}
	return nil
}

// Compare orders two words of the column.
func (b *Column) Compare(x, y int64) int {
	switch codes := b.Unordered(); {
	case x == y:
		return 0
	case codes != nil:
		return codes.Compare(uint32(x), uint32(y))
	case scalar.Ordered(b.Type.Kind, x) < scalar.Ordered(b.Type.Kind, y):
		return -1
	}
	return 1
}

// Find returns the binding of that name.
func Find(list []Column, name string) *Column {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	panic("no column " + name)
}

// WordOf returns the word of a value; a string gets its code in the dictionary.
func WordOf(v scalar.Value, d *prepare.Dictionary) int64 {
	if v.Type.Kind == scalar.String {
		return int64(d.Dict.Intern(v.Str()))
	}
	return int64(v.Bits())
}
