package order

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/primitives/service"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/tables"
	"github.com/redfoxdb/redfox/runtime/order"
)

// Rows in an order are written to the relation that they go to: by the last
// pass of a sort if a column's words are the keys, made of keys that tell all
// of a row, or moved by their numbers.

// room makes room for n rows at the end of a relation, the destination.
func (o *ordering) room(to *tables.Relation, n int64, alone bool) error {
	o.to, o.most, o.alone = to, n, alone
	if _, err := to.Rows(o.Ctx); err != nil {
		return err
	}
	return to.MakeRoomFor(o.Ctx, n)
}

// move appends the first n rows in order to the destination. places, if not
// empty, are their numbers within groups; otherwise the rows are one group.
func (o *ordering) move(n int64, places device.Buffer) error {
	if o.packed {
		return o.unpack(n)
	}
	var columns []service.MovedColumn
	for i, c := range o.to.Cols {
		m := service.MovedColumn{Data: places.Word(), Step: 1, Width: 8, InOrder: true}
		switch at := o.taken[i]; {
		case at == harmony.Numbered && o.alone:
			continue
		case at != harmony.Numbered:
			f, err := o.stored(at)
			if err != nil {
				return err
			}
			m = service.MovedColumn{Data: f.Data, Base: f.Base, Step: f.Step, Width: f.Width}
		}
		m.To, m.ToBase, m.ToWidth = c.Data.Word(), c.Base, int64(c.Width)
		columns = append(columns, m)
	}
	if len(columns) > 0 {
		table, err := o.table(service.AppendMovedColumns(nil, columns))
		if err != nil {
			return err
		}
		if err := o.launch(service.MoveRows(table.Word(), int64(len(columns)), o.rows.Word(), n,
			o.to.Most)); err != nil {
			return err
		}
	}
	return o.appended(n)
}

// unpack is move for keys that determine the rows. It decodes the columns,
// except those that the sort has written already.
func (o *ordering) unpack(n int64) error {
	var columns []service.UnpackedColumn
	read := false // whether a column is decoded from keys
	for i, c := range o.to.Cols {
		if o.isPlaced(c) {
			continue
		}
		u, err := o.packedColumn(o.taken[i])
		if err != nil {
			return err
		}
		u.To, u.ToBase, u.ToWidth = c.Data.Word(), c.Base, int64(c.Width)
		columns = append(columns, u)
		read = read || u.Bits > 0
	}
	low := o.low.at
	if !read {
		low = 0
	}
	if len(columns) > 0 {
		table, err := o.table(service.AppendUnpackedColumns(nil, columns))
		if err != nil {
			return err
		}
		if err := o.launch(service.Unpack(table.Word(), int64(len(columns)), low, o.high.at,
			o.lowBits, n, o.to.Most)); err != nil {
			return err
		}
	}
	return o.appended(n)
}

// packedColumn returns where the bits of a column are in the keys. A column
// without bits has the same value in all rows.
func (o *ordering) packedColumn(col int) (service.UnpackedColumn, error) {
	at := int64(0)
	for _, b := range slices.Backward(o.bits) {
		if b.col == col {
			return service.UnpackedColumn{Kind: b.Kind, First: b.First, Descends: b.Descends,
				Bits: b.bits, At: at}, nil
		}
		at += b.bits
	}
	b, err := o.column(order.Key{Col: col})
	return service.UnpackedColumn{Kind: b.Kind, First: b.First}, err
}

// appended numbers n rows of one group if the destination has numbers, and adds
// them to its cursor.
func (o *ordering) appended(n int64) error {
	for i, c := range o.to.Cols {
		if o.alone && o.taken[i] == harmony.Numbered {
			if err := o.launch(service.Numbers(c.Data.Word(), c.Base, int64(c.Width), n,
				o.to.Most)); err != nil {
				return err
			}
		}
	}
	o.to.Most += n
	return o.Control.Set(o.Ctx, o.to.Gauge, o.to.Most)
}

// isPlaced reports whether a column of the destination holds numbers or is
// written by the sort itself.
func (o *ordering) isPlaced(c *tables.Column) bool {
	if o.taken[slices.Index(o.to.Cols, c)] == harmony.Numbered {
		return true
	}
	at := c.Data.Word() + int64(c.Width)*o.to.Most
	return c.Width == 0 || at == o.low.to || at == o.high.to
}

// Receive copies the columns, in order, to pinned memory: by one kernel if
// gathered, otherwise by copies. If no rows were moved, it copies the columns
// as they are.
func (o *ordering) Receive(to [][]byte, gathered bool) error {
	from := make([]device.Buffer, len(to)) // the sources of the copies
	var moves []service.MovedColumn
	for i, c := range o.from.Cols {
		if from[i] = c.Data; c.Width == 0 {
			continue
		}
		if !gathered && o.rows.At != 0 {
			var err error
			if from[i], err = o.memory(o.n * int64(c.Width)); err != nil {
				return err
			}
		}
		at := from[i].At
		if gathered {
			at = o.Lane.Address(to[i])
		}
		moves = append(moves,
			service.MovedColumn{Data: c.Data.Word(), Step: 1, Width: int64(c.Width), To: int64(at),
				ToWidth: int64(c.Width)})
	}
	if gathered || o.rows.At != 0 {
		table, err := o.table(service.AppendMovedColumns(nil, moves))
		if err != nil {
			return err
		}
		if err := o.launch(service.MoveRows(table.Word(), int64(len(moves)), o.rows.Word(), o.n,
			0)); err != nil {
			return err
		}
	}
	if gathered {
		return nil
	}
	for i, part := range to {
		if err := o.Lane.Stream.CopyToHost(part, from[i].At); err != nil {
			return err
		}
	}
	return nil
}
