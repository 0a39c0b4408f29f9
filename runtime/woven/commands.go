package woven

import (
	"unsafe"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/order"
)

// number appends the tuples of a relation with their numbers, and returns how
// many there are.
func (w *Walk) number(c *harmony.Number) (int64, error) {
	if o, ok := w.Machine.(Orderer); ok {
		if n, done, err := o.Number(c); done || err != nil {
			return n, err
		}
	}
	rows, err := w.Machine.Rows(c.From)
	if err != nil || rows.N == 0 {
		return 0, err
	}
	words, err := w.Order.Memory.Alloc(c.To.Name, rows.N)
	if err != nil {
		return 0, err
	}
	defer w.Order.Memory.Free(words)
	numbers := unsafe.Slice((*int64)(unsafe.Pointer(&words[0])), rows.N)
	err = w.Order.Number(w.ctx, rows, c.Group, sortKeys(c.From, c.Keys()), numbers)
	if err != nil {
		return 0, err
	}
	return int64(rows.N), w.Machine.Append(c.To, rows.N, func(col int, dst []int64, from int) {
		if c.Cols[col] == harmony.Numbered {
			copy(dst, numbers[from:])
			return
		}
		rows.Cols[c.Cols[col]].Words.Read(dst, from)
	})
}

// topK appends the first tuples of a relation, and returns how many they are.
func (w *Walk) topK(c *harmony.TopK) (int64, error) {
	if o, ok := w.Machine.(Orderer); ok {
		if n, done, err := o.TopK(c); done || err != nil {
			return n, err
		}
	}
	rows, err := w.Machine.Rows(c.From)
	if err != nil {
		return 0, err
	}
	sel, err := w.Order.TopK(w.ctx, rows, c.Group, sortKeys(c.From, c.Keys()), c.Limit)
	if err != nil {
		return 0, err
	}
	defer sel.Free()
	return int64(len(sel.Rows)), w.Machine.Append(c.To, len(sel.Rows),
		func(col int, dst []int64, from int) {
			rows.Cols[c.Cols[col]].Words.Gather(dst, sel.Rows[from:from+len(dst)])
		})
}

// sortKeys are the keys of an order of a relation, for the sorter.
func sortKeys(of *harmony.Relation, by []harmony.OrderKey) []order.Key {
	return list.Map(by, func(k harmony.OrderKey) order.Key {
		return order.Key{Col: harmony.ColumnIndex(of.Cols, k.Col), Desc: k.Desc}
	})
}

// check reports the tuples of a relation as violations of a constraint.
func (w *Walk) check(c *harmony.Check) error {
	if size, err := w.Machine.Size(c.Rel); err != nil || size.Full == 0 {
		return err
	}
	rows, err := w.Machine.Rows(c.Rel)
	if err != nil {
		return err
	}
	sel, err := w.Order.First(w.ctx, rows, int64(w.Request.MaxViolations))
	if err != nil {
		return err
	}
	defer sel.Free()
	check := w.planCheck(w.checks[c])
	v := runtime.Violation{Check: check, Count: int64(rows.N), Cols: check.Node.Columns()}
	for _, row := range sel.Rows {
		v.Tuples = append(v.Tuples, rows.Tuple(row))
	}
	w.answer.Violations = append(w.answer.Violations, v)
	return nil
}

// planCheck returns the n-th constraint of the plan, which lowering keeps in
// order.
func (w *Walk) planCheck(n int) *queryplan.Check {
	for _, b := range w.Request.Plan.Blocks {
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

// checkKey tests that the key of a relation determines the rest of its tuples.
// If the relation grows afterwards, the keys seen stay, so that a round looks
// at its own tuples only.
func (w *Walk) checkKey(c *harmony.CheckKey, again bool) error {
	if c.Rel.Keys == len(c.Rel.Cols) {
		return nil
	}
	if size, err := w.Machine.Size(c.Rel); err != nil || size.Full <= 1 {
		return err
	}
	if o, ok := w.Machine.(Orderer); ok && !again {
		if differ, done, err := o.KeysDiffer(c.Rel); err != nil || done && differ {
			return err
		}
	}
	rows, err := w.Machine.Rows(c.Rel)
	if err != nil {
		return err
	}
	set := w.keys[c]
	if set == nil {
		set = order.NewKeySet(w.Order, c.Rel.Keys)
	}
	w.keys[c] = nil
	differ, err := set.Add(w.ctx, rows)
	if differ && again {
		w.keys[c] = set
	} else {
		set.Free()
	}
	if err != nil || differ {
		return err
	}
	first, second, _, err := w.Order.KeyConflict(w.ctx, rows, c.Rel.Keys)
	if err != nil {
		return err
	}
	for _, v := range w.Request.Plan.Vars {
		if v.Name == c.Rel.Name {
			return &runtime.KeyError{Var: v, Span: c.Span, First: rows.Tuple(first),
				Second: rows.Tuple(second)}
		}
	}
	panic("a key of a relation that the plan does not have")
}
