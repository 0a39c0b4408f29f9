package native

import (
	"errors"
	"sync"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Output returns the columns of a relation.
func (r *run) Output(decl *harmony.Relation) ([]*store.Column, error) {
	for _, x := range r.indexes {
		if err := x.Release(); err != nil {
			return nil, err
		}
	}
	rel := r.relations[decl]
	rel.dropSet()
	cols, err := r.columns(rel)
	return cols, errors.Join(err, rel.Release())
}

// outputBlock is the number of rows that a thread copies at a time.
const outputBlock = 1 << 16

// columns makes stored columns from those of a derived relation. Large columns
// keep the known bounds, because a search for narrower ones takes long. They
// also keep their memory if it has the layout of a stored column.
func (r *run) columns(rel *relation) ([]*store.Column, error) {
	n, cols := int(rel.Full), make([]*store.Column, len(rel.cols))
	var tasks []func()
	for i, c := range rel.cols {
		bound := r.Ranges.Column(rel.Decl, i)
		if n >= r.sizes.output && bound.Bits() <= 32 && bound.Bits() > 0 &&
			ordered(c.typ, bound) {
			if c.Column == layout.ColumnOf(bound) && c.IsMapped() {
				data, owner := c.GiveAway(n * c.Width)
				cols[i] = store.NewOver(c.typ, r.Dict(rel.Decl, i), n, bound.Lo, bound.Hi,
					data, owner)
				continue
			}
			cols[i] = store.NewPacked(c.typ, r.Dict(rel.Decl, i), n, bound.Lo, bound.Hi)
			for from := 0; from < n; from += outputBlock {
				tasks = append(tasks, func() {
					fill(cols[i], c, from, min(from+outputBlock, n))
				})
			}
			continue
		}
		tasks = append(tasks, func() { cols[i] = r.rebuilt(rel, i) })
	}
	return cols, r.tasks(tasks)
}

// ordered reports whether the words of a column, which lie within bound, order
// as its values do.
func ordered(t scalar.Type, bound interval.Interval) bool {
	return t.Kind != scalar.Float && (t.Kind != scalar.Uint || bound.Lo >= 0)
}

// fill copies rows into a packed column.
func fill(to *store.Column, c *column, from, until int) {
	width := int(to.Width)
	out := layout.View{Column: layout.Column{Base: to.Base, Step: 1, Width: width},
		Data: to.Entries()}
	if c.Column == out.Column {
		copy(out.Data[from*width:until*width], c.view().Data[from*width:])
		return
	}
	block := make([]int64, copyBlock)
	for from < until {
		part := block[:min(len(block), until-from)]
		c.Read(part, from)
		out.Write(part, from)
		from += len(part)
	}
}

// rebuilt copies a column into the narrowest layout.
func (r *run) rebuilt(rel *relation, i int) *store.Column {
	c, n := rel.cols[i], int(rel.Full)
	b := store.NewBuilder(c.typ, r.Dict(rel.Decl, i))
	words := make([]int64, copyBlock)
	for from := 0; from < n; from += copyBlock {
		part := words[:min(copyBlock, n-from)]
		c.Read(part, from)
		b.AppendWords(part)
		if r.cancel.stopped.Load() {
			break
		}
	}
	return b.Finish()
}

// tasks calls functions on all threads.
func (r *run) tasks(list []func()) error {
	todo := make(chan func())
	var wg sync.WaitGroup
	for range min(r.threads, len(list)) {
		wg.Go(func() {
			for f := range todo {
				if !r.cancel.stopped.Load() {
					f()
				}
			}
		})
	}
	for _, f := range list {
		todo <- f
	}
	close(todo)
	wg.Wait()
	return r.cancel.err()
}
