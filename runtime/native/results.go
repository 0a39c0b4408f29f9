package native

import (
	"errors"
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// constants returns the columns of constant rows.
func (r *run) constants(src *harmony.Values) ([]*column, error) {
	cols := make([]*column, len(src.Cols))
	for i, decl := range src.Cols {
		c := &column{Column: layout.Words, typ: decl.Type}
		if err := c.Alloc(r.mem, "the constants of a rule", 8*max(len(src.Rows), 1)); err != nil {
			return nil, err
		}
		copy(wordsOf(&c.Region), r.Constants(src, i))
		cols[i] = c
	}
	return cols, nil
}

// overflow names the group whose result does not fit.
func (r *run) overflow(k *harmony.Kernel) error {
	src, ok := k.Source.(*harmony.GroupRows)
	if !ok {
		return woven.ErrNoOverflow
	}
	var first *runtime.OverflowError
	for _, t := range r.groups[src.Groups].tables() {
		view := &woven.Groups{Decl: t.decl, Occupied: t.marks(), Key: t.keyWord}
		for i, c := range t.groups.cells {
			view.Cells = append(view.Cells, account.Words(&t.cells[i])[:c.Words*t.numbers()])
		}
		var here *runtime.OverflowError
		if errors.As(r.Overflow(view), &here) &&
			(first == nil || slices.CompareFunc(here.Group, first.Group, scalar.Compare) < 0) {
			first = here
		}
	}
	if first == nil {
		return woven.ErrNoOverflow
	}
	return first
}

// marks returns a word for each slot, not 0 for a group.
func (t *groupTable) marks() []uint64 {
	if t.lay.Form == abi.Ordered {
		return slices.Repeat([]uint64{1}, t.numbers())
	}
	return account.Words(&t.occupied)[:t.numbers()]
}

// keyWord returns the word of a key's column in a slot.
func (t *groupTable) keyWord(slot, col int) int64 {
	if t.lay.Form == abi.Wide {
		return wordsOf(&t.tuples[col].Region)[slot]
	}
	packed := uint64(slot)
	switch t.lay.Form {
	case abi.Ordered:
		packed = account.Words(&t.keys.Region)[slot]
	case abi.Hash:
		packed = account.Words(&t.keys.Region)[slot]
		if slot == int(t.keys.mask)+1 {
			packed = 0
		}
	}
	f := t.lay.Fields[col]
	return int64(packed>>(f.Shift&63)&f.Mask()) + f.Base
}
