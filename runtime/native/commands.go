package native

import (
	"unsafe"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/order"
)

// Alloc lends words that are accounted for: it makes memory an order.Allocator.
func (m *memory) Alloc(what string, n int) ([]uint64, error) {
	r := &region{}
	if err := r.alloc(m, what, 8*n); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lent == nil {
		m.lent = map[*uint64]*region{}
	}
	w := words(r)[:n]
	m.lent[&w[0]] = r
	return w, nil
}

// Free takes back what Alloc returned.
func (m *memory) Free(words []uint64) {
	m.mu.Lock()
	r := m.lent[unsafe.SliceData(words)]
	delete(m.lent, unsafe.SliceData(words))
	m.mu.Unlock()
	r.free()
}

func (r *run) sorter() *order.Sorter { return &order.Sorter{Threads: r.threads, Memory: r.mem} }

// ordered presents the full part of a relation to package order.
func (r *run) ordered(rel *relation) *order.Rows {
	_, n := rel.version(harmony.Full)
	rows := &order.Rows{Name: rel.what, N: n}
	for i, c := range rel.cols {
		col := order.Column{Type: c.typ, Words: c}
		if c.typ.Kind == scalar.String {
			col.Dict = r.data.Dict(r.prog.domains.Column(rel.decl, i).ID)
		}
		rows.Cols = append(rows.Cols, col)
	}
	return rows
}

// copyBlock is how many rows are widened at a time.
const copyBlock = 1 << 12

// number appends the tuples of a relation with their numbers.
func (r *run) number(c *harmony.Number) error {
	from, to := r.relations[c.From], r.relations[c.To]
	rows := r.ordered(from)
	if rows.N == 0 {
		return nil
	}
	words, err := r.mem.Alloc(to.what, rows.N)
	if err != nil {
		return err
	}
	defer r.mem.Free(words)
	numbers := unsafe.Slice((*int64)(unsafe.Pointer(&words[0])), rows.N)
	if err := r.sorter().Number(r.cancel.ctx, rows, c.Group, c.Order, numbers); err != nil {
		return err
	}
	if err := to.makeRoom(rows.N); err != nil {
		return err
	}
	at := to.rows()
	block := make([]int64, copyBlock)
	for done := 0; done < rows.N; done += copyBlock {
		part := block[:min(copyBlock, rows.N-done)]
		for i, col := range from.cols {
			col.Read(part, done)
			to.cols[i].write(part, at+done)
		}
		to.cols[len(from.cols)].write(numbers[done:done+len(part)], at+done)
	}
	to.gauge.cursor += int64(rows.N)
	return nil
}

// topK appends the first tuples of a relation.
func (r *run) topK(c *harmony.TopK) error {
	from, to := r.relations[c.From], r.relations[c.To]
	rows := r.ordered(from)
	var by []order.Key
	for _, k := range c.By {
		by = append(by, order.Key{Col: columnIndex(c.From.Cols, k.Col), Desc: k.Desc})
	}
	sel, err := r.sorter().TopK(r.cancel.ctx, rows, c.Group, by, c.Limit)
	if err != nil {
		return err
	}
	defer sel.Free()
	if err := to.makeRoom(len(sel.Rows)); err != nil {
		return err
	}
	at := to.rows()
	block := make([]int64, copyBlock)
	for done := 0; done < len(sel.Rows); done += copyBlock {
		part := sel.Rows[done:min(done+copyBlock, len(sel.Rows))]
		for i, col := range from.cols {
			col.Gather(block, part)
			to.cols[i].write(block[:len(part)], at+done)
		}
	}
	to.gauge.cursor += int64(len(sel.Rows))
	return nil
}

func columnIndex(cols []harmony.Column, name string) int {
	for i, c := range cols {
		if c.Name == name {
			return i
		}
	}
	panic("no column " + name)
}

// check reports the tuples of a relation as violations of a constraint.
func (r *run) check(c *harmony.Check) error {
	rel := r.relations[c.Rel]
	rows := r.ordered(rel)
	if rows.N == 0 {
		return nil
	}
	sel, err := r.sorter().First(r.cancel.ctx, rows, int64(r.req.MaxViolations))
	if err != nil {
		return err
	}
	defer sel.Free()
	check := r.planCheck(r.prog.checks[c])
	v := runtime.Violation{Check: check, Count: int64(rows.N), Cols: check.Node.Columns()}
	for _, row := range sel.Rows {
		v.Tuples = append(v.Tuples, rows.Tuple(row))
	}
	r.answer.Violations = append(r.answer.Violations, v)
	return nil
}

// planCheck returns the n-th constraint of the plan, which lowering keeps in
// order.
func (r *run) planCheck(n int) *queryplan.Check {
	for _, b := range r.req.Plan.Blocks {
		for _, c := range b.Cmds {
			if c, ok := c.(*queryplan.Check); ok {
				if n == 0 {
					return c
				}
				n--
			}
		}
	}
	panic("a constraint that the plan does not have")
}

// checkKey tests that the key of a relation determines the rest of its tuples. If
// the relation grows afterwards, the keys seen stay, so that a round looks at its
// own tuples only.
func (r *run) checkKey(c *harmony.CheckKey, again bool) error {
	rel := r.relations[c.Rel]
	if c.Rel.Keys == len(c.Rel.Cols) || rel.full <= 1 {
		return nil
	}
	rows := r.ordered(rel)
	set := r.keys[c]
	if set == nil {
		set = order.NewKeySet(r.sorter(), c.Rel.Keys)
	}
	r.keys[c] = nil
	differ, err := set.Add(r.cancel.ctx, rows)
	if differ && again {
		r.keys[c] = set
	} else {
		set.Free()
	}
	if err != nil || differ {
		return err
	}
	first, second, _, err := r.sorter().KeyConflict(r.cancel.ctx, rows, c.Rel.Keys)
	if err != nil {
		return err
	}
	for _, v := range r.req.Plan.Vars {
		if v.Name == c.Rel.Name {
			return &runtime.KeyError{Var: v, Span: c.Span, First: rows.Tuple(first), Second: rows.Tuple(second)}
		}
	}
	panic("a key of a relation that the plan does not have")
}
