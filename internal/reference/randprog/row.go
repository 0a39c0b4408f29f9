package randprog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
)

// table adds functional predicates, and at times a relation, which are columns
// of one file. Most values are small numbers, so that they are keys, too.
func (g *generator) table() {
	t := Table{Name: g.name("t"), Columns: []string{"k"}}
	types := []typ{integer}
	if g.chance(20) {
		t.Columns, types = append(t.Columns, "l"), append(types, integer)
	}
	keys := len(types)
	for i := range 2 + g.IntN(3) {
		t.Columns = append(t.Columns, string(rune('a'+i)))
		if types = append(types, integer); g.chance(25) {
			types[len(types)-1] = g.columnType()
		}
	}
	add := func(name string, keyed int, columns ...int) {
		p := &pred{name: t.Name + ":" + name, table: t.Name, keys: keyed}
		for _, c := range columns {
			p.args, p.names = append(p.args, types[c]), append(p.names, t.Columns[c])
		}
		g.clause("%s", g.declaration(p))
		g.preds = append(g.preds, p)
	}
	all := []int{0, 1}[:keys]
	for c := keys; c < len(types); c++ {
		add(t.Columns[c], keys, append(all[:keys:keys], c)...)
	}
	if g.chance(40) {
		add("w", keys+2, append(all[:keys:keys], len(types)-1, keys)...)
	}
	numbered := g.chance(50)
	seen := map[string]bool{}
	for i := range 3 + g.IntN(10) {
		fields := make([]string, len(types))
		for c, typ := range types {
			for fields[c] == "" { // an empty field may be a missing value
				fields[c], _ = g.constant(typ)
			}
		}
		if numbered {
			fields[0] = fmt.Sprint(i)
		}
		if key := strings.Join(fields[:keys], ","); !seen[key] {
			seen[key] = true
			g.out.Facts = append(g.out.Facts, Fact{t.Name, fields})
		}
	}
	g.out.Tables = append(g.out.Tables, t)
}

// keyed returns the predicates whose first arguments are keys.
func (g *generator) keyed() []*pred {
	return list.Filter(g.preds, func(p *pred) bool { return p.functional() && p.keys > 0 })
}

// row adds atoms that read one tuple, of a functional predicate or of a table,
// by the same keys, and at times a further tuple that a value of it leads to. A
// variable may stand at several columns of the tuple.
func (b *body) row() {
	g := b.g
	keyed := g.keyed()
	if len(keyed) == 0 {
		return
	}
	p := pick(g, keyed)
	keys := make([]string, p.keys)
	for i, t := range p.args[:p.keys] {
		if shared, ok := b.bound(t); ok && g.chance(40) {
			keys[i] = shared
		} else {
			keys[i] = b.fresh(t)
		}
	}
	for range 2 {
		columns := b.columns(p, keys)
		next := columns[g.IntN(len(columns))]
		leads := list.Filter(keyed, func(q *pred) bool {
			return q.keys == 1 && q.args[0] == next.t
		})
		if len(leads) == 0 || next.name == "" || g.chance(60) {
			return
		}
		p, keys = pick(g, leads), []string{next.name}
	}
}

// columns adds atoms of p, and of other columns of its table, that have the
// given keys. It returns the variables at their values, the last of which has
// no name.
func (b *body) columns(p *pred, keys []string) []variable {
	g := b.g
	var alike, single []*pred
	for _, q := range g.preds {
		if q == p || p.table != "" && q.table == p.table {
			alike = append(alike, q)
			if q.keys == len(q.args)-1 {
				single = append(single, q)
			}
		}
	}
	var values []variable
	for range 2 + g.IntN(3) {
		q := pick(g, alike)
		args := slices.Clone(keys)
		for i, t := range q.args[len(keys):] {
			var same []string // variables of the row
			for _, v := range values {
				if v.t == t {
					same = append(same, v.name)
				}
			}
			if i == 0 && t == q.args[0] {
				same = append(same, keys[0])
			}
			shared, ok := b.bound(t)
			switch n := g.IntN(100); {
			case n < 45 && len(same) > 0:
				args = append(args, pick(g, same))
			case n < 55 && ok:
				args = append(args, shared)
			case n < 65:
				args = append(args, "_")
			default:
				values = append(values, variable{b.fresh(t), t})
				args = append(args, values[len(values)-1].name)
			}
		}
		b.conjuncts = append(b.conjuncts, q.atom(args))
	}
	if len(single) > 0 && g.chance(25) {
		// A comparison of two applications, or an application to an
		// application.
		q, r := pick(g, single), pick(g, single)
		inner := fmt.Sprintf("%s[%s]", q.name, strings.Join(keys, ", "))
		switch {
		case q.args[q.keys] == r.args[r.keys] && g.chance(60):
			other := fmt.Sprintf("%s[%s]", r.name, strings.Join(keys, ", "))
			b.conjuncts = append(b.conjuncts, inner+" = "+other)
		case r.keys == 1 && q.args[q.keys] == r.args[0]:
			b.conjuncts = append(b.conjuncts,
				fmt.Sprintf("%s[%s] = %s", r.name, inner, b.fresh(r.args[1])))
		}
	}
	return append(values, variable{})
}
