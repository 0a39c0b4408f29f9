package spill

import (
	"os"
	"slices"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/scratch"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/store"
)

// results makes the outputs of the plan. Large ones stay in the file.
func (r *run) results() error {
	for _, v := range r.req.Plan.Vars {
		if !v.Output {
			continue
		}
		g, err := r.contents(v)
		if err != nil {
			return err
		}
		table := &store.Table{Name: v.Name, Names: queryplan.NamesOf(v.Cols), Rows: int(g.rows)}
		rel := &store.Relation{Name: v.Name, Table: table, Keys: v.Keys}
		all := firstColumns(len(v.Cols))
		rel.Cols = slices.Clone(all)
		switch {
		case g.facts != nil:
			table.Columns = g.facts[:len(v.Cols)]
		case g.bytes() > r.room()/8:
			cols, _, err := r.mapped(g)
			if err != nil {
				return err
			}
			if cols != nil {
				table.Columns = cols[:len(v.Cols)]
				break
			}
			fallthrough
		default:
			if table.Columns, _, _, err = r.load(g, nil, all, v.Name); err != nil {
				return err
			}
		}
		r.answer.Outputs[v.Name] = rel
	}
	return nil
}

// contents returns the tuples of an output.
func (r *run) contents(v *queryplan.Var) (*bag, error) {
	if v.Kind != queryplan.Derived || r.derived[v.Name] != nil {
		return r.source(v)
	}
	return newBag(v.Cols), nil // nothing fills it
}

// mapped writes the columns of a bag one after the other and maps them into
// memory, or returns nil if the file cannot be mapped. Mapped columns outlive
// the run, so their space is not freed.
func (r *run) mapped(g *bag) (cols []*store.Column, free func(), err error) {
	f, ok := r.file.file.(*os.File)
	if !ok || !scratch.CanMap {
		return nil, nil, nil
	}
	b := newBuilder(g, g.blocks, firstColumns(len(g.types)), r.dict)
	rows := make([]int64, len(g.blocks)) // before each block
	for i := 1; i < len(rows); i++ {
		rows[i] = rows[i-1] + int64(g.blocks[i-1].rows)
	}
	var places [][2]int64
	for i, field := range b.fields {
		size := g.rows * int64(field.width)
		at, err := r.file.place(size, int64(os.Getpagesize()))
		if err != nil {
			return nil, nil, err
		}
		n := r.abreast(g.blocks, 2) // the words of a column, and its entries
		err = r.sideBySide(n, func(k int) error {
			next := len(g.blocks) * k / n
			var data []byte
			return r.stretch(g, g.blocks, []int{i}, nil, k, n, func(vecs [][]int64, n int) error {
				to := at + rows[next]*int64(field.width)
				next++
				data = slices.Grow(data[:0], n*int(field.width))[:n*int(field.width)]
				if len(data) == 0 {
					return nil
				}
				pack(data, vecs[0][:n], field)
				return r.file.put(data, to)
			})
		})
		if err != nil {
			return nil, nil, err
		}
		var memory []byte
		var owner any
		if size > 0 {
			if memory, owner, err = scratch.Map(f, at, int(size)); err != nil {
				return nil, nil, failed("map", r.file.folder, err)
			}
			places = append(places, [2]int64{at, size})
		}
		col := b.column(i, int(g.rows), unsafe.Pointer(unsafe.SliceData(memory)), owner)
		col.OnDisk = size > 0
		cols = append(cols, col)
	}
	return cols, func() {
		for _, p := range places {
			r.file.free(p[0], p[1])
		}
	}, nil
}
