package gpu

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/order"
)

// Rows copies the full version of a relation to the host.
func (r *run) Rows(decl *harmony.Relation) (*order.Rows, error) {
	rel := r.Relations[decl]
	_, n, err := rel.Version(r.Ctx, harmony.Full)
	if err != nil {
		return nil, err
	}
	rows := &order.Rows{Name: rel.What, N: int(n)}
	var copies []device.HostCopy
	for i, c := range rel.Cols {
		col := order.Column{Type: c.Typ}
		if c.Loaded != nil {
			if err := c.Loaded.Decode(r.Ctx, r.walk.Order.Threads, nil, rel.What); err != nil {
				return nil, err
			}
			col.Words = c.Loaded
		} else {
			v := &layout.View{Column: c.Column, Data: make([]byte, n*int64(c.Width))}
			copies = append(copies, device.HostCopy{To: v.Data, From: c.Data})
			col.Words = v
		}
		if c.Typ.Kind == scalar.String {
			col.Dict = r.Dict(decl, i)
		}
		rows.Cols = append(rows.Cols, col)
	}
	return rows, r.fetch(r.Ctx, copies...)
}

// Append adds n tuples that the host computed. read copies the words of a
// column, from row from, to dst.
func (r *run) Append(decl *harmony.Relation, n int,
	read func(col int, dst []int64, from int)) error {
	r.log.Command()
	if n == 0 {
		return nil
	}
	if err := r.settle(); err != nil {
		return err
	}
	to := r.Relations[decl]
	if _, err := to.Rows(r.Ctx); err != nil {
		return err
	}
	if err := to.MakeRoomFor(r.Ctx, int64(n)); err != nil {
		return err
	}
	words := make([]int64, n)
	for i, c := range to.Cols {
		if c.Width == 0 {
			continue
		}
		read(i, words, 0)
		v := layout.View{Column: c.Column, Data: make([]byte, n*c.Width)}
		v.Write(words, 0)
		at := cuda.Pointer(to.Most * int64(c.Width))
		if err := r.Send(device.Buffer{At: c.Data.At + at, Bytes: c.Data.Bytes - int64(at)},
			v.Data); err != nil {
			return err
		}
	}
	to.Most += int64(n)
	return r.Control.Set(r.Ctx, to.Gauge, to.Most)
}
