package starprog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Kinds are the shapes that programs are counted by. Some seeds make each of
// them, and each has answers that are not empty.
var Kinds = strings.Fields(`
	columns-at-one-key column-twice variable-in-two-columns value-is-key key-twice partly-shared-key
	self-join shared-key foreign-key constant-key constant-value wide-relation wide-function projection
	wide-and-column nested nested-twice nested-keys view-twice
	not-column not-view not-wide not-conjunction not-comparison or union
	let quotient product negative modulo text-function like date-part date-add
	count total min max avg several-aggregates several-heads no-group two-groups
	total-of-38 total-of-floats
	having default case count-distinct derived-function extreme-joined-back scalar-subquery
	computed-twice rank grouped-rank first-ranks order descending limit ties constraint facts-in-text
	parquet csv csv-per-predicate missing-values empty-table large-table row-groups
	one-key two-keys three-keys text-key date-key decimal-key decimal-38 float boolean date text
	without-passes without-fusion helpers-wanted`)

// Refusals are the shapes that have no answers.
var Refusals = []string{string(Conflict), string(Violated), string(Overflow)}

// rareRefusal is the one that a thousand programs may lack.
const rareRefusal = string(Overflow)

// Kinds lists the shapes of the program, sorted.
func (p *Program) Kinds() []string {
	k := kindSet{}
	for name := range p.Shapes {
		k.add(name)
	}
	defined := map[*Pred]int{}
	uses := map[*Pred]int{}
	for _, r := range p.Rules {
		k.rule(r)
		for _, h := range r.Heads {
			defined[h.Pred]++
			k.when(defined[h.Pred] > 1 && !p.Shapes["default"] && !p.Shapes["case"], "union")
		}
		for _, l := range r.Body {
			if l.Kind == Atom && !l.Pred.stored() {
				uses[l.Pred]++
				k.when(uses[l.Pred] > 1, "view-twice")
			}
		}
	}
	k.when(len(p.Constraints) > 0, "constraint")
	k.when(len(p.Disable) > 0, "without-passes")
	k.when(p.NoFuse, "without-fusion")
	k.when(len(p.Outputs) > 1, "helpers-wanted")
	for _, o := range p.Outputs {
		k.when(len(o.OrderBy) > 0, "order")
		k.when(slices.ContainsFunc(o.OrderBy, func(o Order) bool { return o.Desc }), "descending")
		k.when(o.Limit > 0, "limit")
	}
	used := p.used()
	for _, s := range p.Stored {
		if used[s] {
			k.stored(p.Data.Table(s.Table), s)
		}
	}
	var out []string
	for name := range k {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

type kindSet map[string]bool

func (k kindSet) add(name string) { k[name] = true }

func (k kindSet) when(is bool, name string) {
	if is {
		k[name] = true
	}
}

// stored looks at a predicate that is used, and at its table.
func (k kindSet) stored(t *Table, s *Pred) {
	k.when(len(s.Facts) > 0, "facts-in-text")
	k.add([]string{"parquet", "csv", "csv-per-predicate"}[t.Storage])
	k.when(t.Storage == Parquet && len(t.Rows) > t.RowGroup, "row-groups")
	k.when(len(t.Rows) == 0, "empty-table")
	k.when(len(t.Rows) > 1000, "large-table")
	k.add([]string{"one-key", "two-keys", "three-keys"}[t.Keys()-1])
	for _, c := range t.Columns[:t.Keys()] {
		switch c.Type.Kind {
		case scalar.String:
			k.add("text-key")
		case scalar.Datetime:
			k.add("date-key")
		case scalar.Decimal:
			k.add("decimal-key")
		}
	}
	switch hasKeys := s.hasKeysOf(t.Keys(), &Data{Tables: []*Table{t}}); {
	case !hasKeys:
		k.add("projection")
	case !s.functional():
		k.add("wide-relation")
	case len(s.Args) > s.Keys+1:
		k.add("wide-function")
	}
	for _, name := range s.Columns {
		at := t.column(name)
		switch typ := t.Columns[at].Type; {
		case typ.IsWide():
			k.add("decimal-38")
		case typ.Kind == scalar.Float:
			k.add("float")
		case typ.Kind == scalar.Boolean:
			k.add("boolean")
		case typ.Kind == scalar.Datetime:
			k.add("date")
		case typ.Kind == scalar.String:
			k.add("text")
		}
		k.when(slices.ContainsFunc(t.Rows, func(row []Cell) bool { return row[at].Missing }),
			"missing-values")
	}
}

// rule looks at a rule by itself.
func (k kindSet) rule(r Rule) {
	k.when(len(r.Heads) > 1, "several-heads")
	k.when(len(r.Aggs) > 1, "several-aggregates")
	k.when(r.Seq && r.Group > 0 && r.Heads[0].Pred.functional(), "grouped-rank")
	for _, a := range r.Aggs {
		k.add(a.Fn)
		k.when(r.Heads[0].Pred.Keys == 0, "no-group")
		k.when(r.Heads[0].Pred.Keys == 2, "two-groups")
		k.when(a.Fn == "total" && a.Type.Kind == scalar.Float, "total-of-floats")
	}
	for _, h := range r.Heads {
		value := h.Pred.value().Type
		k.when(len(r.Aggs) > 0 && value.IsWide() && h.Args[len(h.Args)-1].Type != value,
			"total-of-38")
	}
	for i, l := range r.Body {
		k.literal(l)
		for _, m := range r.Body[:i] {
			if l.Kind == Atom && m.Kind == Atom {
				k.pair(m, l)
			}
		}
	}
}

func (k kindSet) literal(l Literal) {
	switch l.Kind {
	case Atom:
		k.atom(l)
	case Compare:
		k.when(l.Op == "like", "like")
		k.when(l.Op == "=" && l.Left.Kind == Variable, "let")
		k.expr(l.Left, 0)
		k.expr(l.Right, 0)
	case Or:
		k.add("or")
	case Not:
		of := l.Body[0]
		switch {
		case of.Kind == Compare:
			k.add("not-comparison")
		case !of.Pred.stored():
			k.add("not-view")
		case len(of.Pred.Args) == of.Pred.Keys+1:
			k.add("not-column")
		default:
			k.add("not-wide")
		}
		k.when(len(l.Body) > 1, "not-conjunction")
	}
}

func (k kindSet) atom(l Literal) {
	for i, a := range l.Args {
		k.when(a.Kind == Constant && i < l.Pred.Keys, "constant-key")
		k.when(a.Kind == Constant && i >= l.Pred.Keys, "constant-value")
		k.expr(a, 0)
		for j, b := range l.Args[:i] {
			if same(a, b) && l.Pred.stored() && l.Pred.functional() {
				k.when(i < l.Pred.Keys, "key-twice")
				k.when(i >= l.Pred.Keys && j < l.Pred.Keys, "value-is-key")
			}
		}
	}
}

func (k kindSet) expr(e *Expr, depth int) {
	if e.Kind == Apply {
		depth++
		k.add("nested")
		k.when(depth > 1, "nested-twice")
		k.when(len(e.Args) > 1, "nested-keys")
	}
	if e.Kind == Call {
		switch e.Name {
		case "div":
			k.add("quotient")
		case "mul":
			k.add("product")
		case "mod", "least":
			k.add("modulo")
		case "negate":
			k.add("negative")
		case "concat", "length", "upper", "left":
			k.add("text-function")
		case "year", "month":
			k.add("date-part")
		case "months", "days":
			k.add("date-add")
		}
	}
	for _, a := range e.Args {
		k.expr(a, depth)
	}
}

// same says that two terms are one variable or one constant.
func same(a, b *Expr) bool {
	return a.Kind == Variable && b.Kind == Variable && a.Name == b.Name || a.Kind == Constant &&
		b.Kind == Constant && a.Value == b.Value
}

// pair looks at two atoms of stored predicates in one body.
func (k kindSet) pair(l, m Literal) {
	p, q := l.Pred, m.Pred
	if !p.stored() || !q.stored() {
		return
	}
	keys := 0 // that both begin with
	for keys < min(len(l.Args), len(m.Args)) && same(l.Args[keys], m.Args[keys]) {
		keys++
	}
	k.when(p.Table != q.Table && keys > 0, "shared-key")
	if p.Table == q.Table {
		whole := keys >= min(p.Keys, q.Keys)
		column := func(p *Pred) bool { return len(p.Args) == p.Keys+1 }
		switch {
		case !whole:
			k.add("self-join")
			k.when(keys > 0, "partly-shared-key")
		case column(p) != column(q):
			k.add("wide-and-column")
		case p == q:
			k.add("column-twice")
		default:
			k.add("columns-at-one-key")
			k.when(same(l.Args[len(l.Args)-1], m.Args[len(m.Args)-1]), "variable-in-two-columns")
		}
	}
	for _, pair := range [][2]Literal{{l, m}, {m, l}} {
		values, of := pair[0].Args[min(pair[0].Pred.Keys, len(pair[0].Args)-1):], pair[1]
		for _, v := range values {
			k.when(len(of.Args) > 0 && of.Pred.Table != pair[0].Pred.Table && same(v, of.Args[0]),
				"foreign-key")
		}
	}
}

// Count is how many programs have which shapes, and how many of those have an
// answer that is not empty.
type Count struct {
	Programs, Undecided, Empty int
	Made, Answered             map[string]int
}

// Add counts a program and what it answered.
func (c *Count) Add(p *Program, a *Answer) {
	if c.Made == nil {
		c.Made, c.Answered = map[string]int{}, map[string]int{}
	}
	c.Programs++
	if a == nil {
		c.Undecided++
		return
	}
	if a.Refusal != Answered {
		c.Made[string(a.Refusal)]++
	} else if len(a.Rows["_"]) == 0 {
		c.Empty++
	}
	kinds := p.Kinds()
	if p.ties(a) {
		kinds = append(kinds, "ties")
	}
	for _, name := range kinds {
		c.Made[name]++
		if len(a.Rows["_"]) > 0 {
			c.Answered[name]++
		}
	}
}

// ties says that the query orders tuples by arguments in which some are equal.
func (p *Program) ties(a *Answer) bool {
	for _, o := range p.Outputs {
		if len(o.OrderBy) == 0 {
			continue
		}
		last := ""
		for i, line := range a.Rows[o.Name] {
			fields := strings.Split(line, "\t")
			key := ""
			for _, k := range o.OrderBy {
				key += fields[k.Arg] + "\t"
			}
			if i > 0 && key == last {
				return true
			}
			last = key
		}
	}
	return false
}

// Absent lists the shapes that no program has, or only such with empty answers.
func (c *Count) Absent() []string {
	var out []string
	for _, name := range Kinds {
		if c.Answered[name] == 0 {
			out = append(out,
				fmt.Sprintf("%s: %d programs, all without tuples", name, c.Made[name]))
		}
	}
	for _, name := range Refusals {
		if c.Made[name] == 0 && name != rareRefusal {
			out = append(out, name+": no program")
		}
	}
	return out
}

// Table shows the counts.
func (c *Count) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d programs, %d undecided, %d with an empty answer\n", c.Programs, c.Undecided,
		c.Empty)
	for _, name := range Refusals {
		fmt.Fprintf(&b, "%-24s %7d\n", name, c.Made[name])
	}
	for _, name := range Kinds {
		fmt.Fprintf(&b, "%-24s %7d %7d\n", name, c.Made[name], c.Answered[name])
	}
	return b.String()
}
