package gpu

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/primitives/service"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/order"
	"github.com/redfoxdb/redfox/runtime/gpu/tables"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// capturedOutput is an output that the graph copies to pinned memory.
type capturedOutput struct {
	decl *harmony.Relation
	rows int64
	cols [][]byte // pinned
	// inOrder reports that the tuples arrive in the order that the plan asks
	// for.
	inOrder bool
}

// mostGathered bounds the bytes that a kernel writes directly to host memory.
// That is slower for each byte than a copy, but each copy takes 6 microseconds
// in a graph.
const mostGathered = 512 << 10

// output adds the copy of a relation to the graph. The graph also orders the
// tuples if that is faster than ordering them on the host.
func (x *capture) output(r *run, rel *tables.Relation, n int64) error {
	out := capturedOutput{decl: rel.Decl, rows: n}
	for _, c := range rel.Cols {
		size := int(n) * c.Width
		if x.results+size > len(r.Lane.Results) {
			return device.ErrCaptured
		}
		out.cols = append(out.cols, r.Lane.Results[x.results:][:size:size])
		x.results += (size + 7) / 8 * 8
		r.ToHost += int64(size)
	}
	bytes := n * int64(rel.RowBytes())
	if bytes == 0 {
		x.outputs = append(x.outputs, out)
		return nil
	}
	keys := append(order.Keys(rel.Decl, rel.Decl.OrderBy),
		order.GroupKeys(harmony.Whole(rel.Decl.Cols, false))...)
	o, err := r.sorter.NewOrdering(rel, n, keys, nil)
	if err != nil {
		return err
	}
	inOrder := n >= r.sizes.ordered && n < order.MostSorted && r.sorter.IsOrdered(rel, keys)
	err = r.log.Aside(func() error { // the record has no such launches
		return o.Finish(rel.Decl, func() error {
			if inOrder {
				if err := o.Arrange(); err != nil {
					return err
				}
			}
			return o.Receive(out.cols, bytes <= mostGathered)
		})
	})
	out.inOrder = inOrder
	x.outputs = append(x.outputs, out)
	return err
}

// receiveLog adds the copy of the run's counters to pinned memory to the graph.
func (x *capture) receiveLog(r *run) error {
	log := r.log.Taken()
	n := int64(len(log))
	if n == 0 {
		return nil
	}
	if 8*n > mostGathered {
		return r.Lane.Stream.CopyToHost(device.BytesOf(log), r.log.Device.At)
	}
	kernels, err := r.engine.functionsOf(&r.engine.sorts)
	if err != nil {
		return err
	}
	var table device.Buffer
	column := service.MovedColumn{Data: r.log.Device.Word(), Step: 1, Width: 8,
		To: int64(r.Lane.Address(device.BytesOf(log))), ToWidth: 8}
	words := service.AppendMovedColumns(nil, []service.MovedColumn{column})
	if err := r.Alloc(&table, "the run's counters", int64(8*len(words))); err != nil {
		return err
	}
	if err := r.PutFresh(table, words...); err != nil {
		return err
	}
	l := service.MoveRows(table.Word(), 1, 0, n, 0)
	return r.Serve(kernels[l.Kernel], l)
}

// stayingOutput is an output that stays on the device, in the graph's arena.
type stayingOutput struct {
	decl *harmony.Relation
	what string
	rows int64
	cols []device.Buffer // in the arena
}

// keep leaves the tuples of a relation in the arena until the next launch.
func (x *capture) keep(rel *tables.Relation, n int64) {
	out := stayingOutput{decl: rel.Decl, what: rel.What, rows: n}
	for _, c := range rel.Cols {
		out.cols = append(out.cols, c.Data)
		c.Data = device.Buffer{}
	}
	x.stays = append(x.stays, out)
}

// stay enqueues copies of the outputs that stay on the device, because the next
// launch of the graph overwrites them.
func (x *capture) stay() (map[string]runtime.Pending, error) {
	if len(x.stays) == 0 {
		return nil, nil
	}
	e, s := x.engine, x.run.Lane.Stream
	all := make(map[string]runtime.Pending, len(x.stays))
	for _, out := range x.stays {
		k := &kept{engine: e, bound: x.run.Bound, decl: out.decl, rows: out.rows,
			cols: make([]device.Buffer, len(out.cols))}
		e.pending(k, true)
		all[out.decl.Name] = k
		for i, c := range x.run.Layouts.Columns[out.decl] {
			bytes := out.rows * int64(c.Width)
			if bytes == 0 {
				continue
			}
			var err error
			if k.cols[i], err = e.mem.Alloc(s, out.what, bytes); err != nil {
				return all, err
			}
			if err := s.Copy(k.cols[i].At, out.cols[i].At, uint64(bytes)); err != nil {
				return all, err
			}
		}
	}
	return all, nil
}

// stored copies an output out of pinned memory, which the next launch
// overwrites.
func (o *capturedOutput) stored(b *woven.Bound, many int64) *store.Relation {
	size := 0
	for _, c := range o.cols {
		size += (len(c) + 7) / 8 * 8
	}
	all := device.BytesOf(make([]int64, size/8))
	data := make([][]byte, len(o.cols))
	for i, c := range o.cols {
		data[i] = all[:len(c):len(c)]
		copy(data[i], c)
		all = all[(len(c)+7)/8*8:]
	}
	rel := woven.Stored(o.decl, storedColumns(b, o.decl, o.rows, many, data), int(o.rows))
	rel.InOrder = o.inOrder
	return rel
}
