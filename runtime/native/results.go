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
	"github.com/redfoxdb/redfox/runtime/woven/machine"
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

// overflow returns the error of the group whose result overflows.
func (r *run) overflow(k *harmony.Kernel) error {
	src, ok := k.Source.(*harmony.GroupRows)
	if !ok {
		return woven.ErrNoOverflow
	}
	var first *runtime.OverflowError
	for _, t := range r.groups[src.Groups].tables() {
		view := t.view()
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

// view returns the groups of the table for the host.
func (t *groupTable) view() *woven.Groups {
	n := t.numbers()
	c := machine.Contents{Tuples: t.tupleColumns()}
	if t.Lay.Form == abi.Hash || t.Lay.Form == abi.Ordered {
		c.Keys = account.Words(&t.keys.Region)[:n]
	}
	if t.Lay.Form == abi.Ordered {
		c.Occupied = slices.Repeat([]uint64{1}, n)
	} else {
		c.Occupied = account.Words(&t.occupied)[:n]
	}
	for i, cell := range t.Cells {
		c.Cells = append(c.Cells, account.Words(&t.data[i])[:cell.Words*n])
	}
	return t.View(c)
}
