package starprog

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// generator draws from a seed.
type generator struct {
	*rand.Rand
	data    *Data
	domains []domain
	large   bool // some table has thousands of rows
}

// domain is a set of values that columns draw from.
type domain struct {
	typ    scalar.Type
	values []scalar.Value
	of     *Table // whose keys these are, or nil
	skew   bool   // early values are frequent
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

// newData draws dimensions, which may refer to earlier ones, and facts.
func newData(g *generator) {
	g.data = &Data{}
	g.plainDomains()
	for i := range 1 + g.IntN(3) {
		g.dimension(fmt.Sprintf("d%d", i+1))
	}
	for i := range 1 + g.IntN(2) {
		g.facts(fmt.Sprintf("f%d", i+1))
	}
}

// plainDomains are those of values that are no keys.
func (g *generator) plainDomains() {
	ints := func(numbers ...int64) (out []scalar.Value) {
		for _, n := range numbers {
			out = append(out, scalar.OfInt(scalar.IntType, n))
		}
		return out
	}
	texts := func(t scalar.Type, list ...string) (out []scalar.Value) {
		for _, s := range list {
			v, err := scalar.ParseText(t, s)
			if err != nil {
				panic(err) // a mistake in the lists below
			}
			out = append(out, v)
		}
		return out
	}
	money := scalar.DecimalOf(2)
	g.domains = []domain{
		{typ: scalar.IntType, values: ints(0, 1, 2, 3, 4, 5, 6, 7), skew: g.chance(50)},
		{typ: scalar.IntType,
			values: ints(0, 1, 2, 3, 10, 99, -5, 100, 4096, 1_000_000, -7_000_000_000)},
		{typ: money,
			values: texts(money, "0.00", "0.50", "1.25", "-2.00", "3.00", "19.99", "1000.01",
				"-0.01")},
		{typ: scalar.DecimalOf(4), values: texts(scalar.DecimalOf(4), "0.0500", "0.1000", "1.0000",
			"0.3333", "-0.5000", "0.0000")},
		{typ: scalar.WideDecimalOf(2),
			values: texts(scalar.WideDecimalOf(2), "184467440737095516.16",
				"-184467440737095516.17", "0.00", "12345678901234567890.45", "7.50")},
		{typ: scalar.DatetimeType, values: texts(scalar.DatetimeType, "1998-09-02", "1996-02-29",
			"2000-01-31", "1999-12-31", "1969-07-20", "1998-09-03"), skew: true},
		{typ: scalar.DatetimeType, values: texts(scalar.DatetimeType, "1998-09-02T12:00:00Z",
			"1998-09-02", "2000-01-31T23:59:59Z", "1969-12-31T23:59:59Z")},
		{typ: scalar.StringType, values: texts(scalar.StringType, "a", "b", "ab", "ba", "abc", "é",
			"MEDIUM", "PROMO x", "a%b"), skew: g.chance(50)},
		{typ: scalar.StringType, values: texts(scalar.StringType, "AIR", "RAIL", "SHIP")},
		{typ: scalar.BooleanType, values: texts(scalar.BooleanType, "true", "false")},
		{typ: scalar.FloatType,
			values: texts(scalar.FloatType, "0.5", "-1.25", "2", "0", "1024.75")},
	}
}

// value draws from a domain.
func (g *generator) value(id int) scalar.Value {
	d := g.domains[id]
	n := g.IntN(len(d.values))
	if d.skew {
		n = g.IntN(n + 1)
	}
	return d.values[n]
}

// attribute draws the domain of a column that is no key: mostly small integers
// and money.
func (g *generator) attribute() int {
	if g.chance(35) {
		return 0
	}
	return pick(g, []int{1, 2, 2, 2, 3, 4, 5, 5, 6, 7, 7, 8, 8, 9, 10})
}

// dimension adds a table with one key. Values of its domain that are no keys
// are what references dangle to.
func (g *generator) dimension(name string) {
	t := &Table{Name: name, Storage: g.storage(), RowGroup: 1 + g.IntN(40)}
	d := domain{typ: scalar.IntType, of: t, skew: g.chance(40)}
	switch g.IntN(9) {
	case 0, 3:
		d.typ = scalar.StringType
	case 1:
		d.typ = scalar.DatetimeType
	case 2:
		d.typ = scalar.DecimalOf(2)
	}
	stride := pick(g, []int64{1, 1, 1, 3, 1000})
	for i := range int64(2 + g.IntN(14)) {
		switch d.typ.Kind {
		case scalar.String:
			d.values = append(d.values, scalar.OfString(fmt.Sprintf("%s-%d", name, i*stride)))
		case scalar.Datetime:
			d.values = append(d.values, scalar.OfDatetime((10_000+i*stride)*86_400_000_000))
		case scalar.Decimal:
			d.values = append(d.values, scalar.OfDecimal(2, 25*i*stride))
		default:
			d.values = append(d.values, scalar.OfInt(d.typ, i*stride))
		}
	}
	own := len(g.domains)
	t.Columns = []Column{{Name: name + "k", Type: d.typ, Domain: own, Key: true}}
	g.columns(t, 1+g.IntN(4), 30)
	if g.chance(25) { // as an employee has a manager
		t.Columns = append(t.Columns, Column{Name: name + "_self", Type: d.typ, Domain: own,
			Missing: g.chance(40)})
	}
	g.domains = append(g.domains, d)
	g.data.Tables = append(g.data.Tables, t)
	if g.chance(6) {
		return // empty
	}
	for _, key := range d.values {
		if g.chance(85) {
			t.Rows = append(t.Rows, g.row(t, []scalar.Value{key}))
		}
	}
}

func (g *generator) storage() Storage {
	return pick(g, []Storage{Parquet, Parquet, Parquet, Parquet, CSV, CSV, CSVPerPredicate})
}

// columns adds columns that are no keys: references in some of a hundred cases,
// sometimes two columns of one domain.
func (g *generator) columns(t *Table, n, references int) {
	for i := range n {
		id := g.attribute()
		if keys := g.keyDomains(); len(keys) > 0 && g.chance(references) {
			id = pick(g, keys)
		}
		for range 1 + min(g.IntN(3), 1) {
			c := Column{Name: fmt.Sprintf("%s_%c%d", t.Name, 'a'+i, len(t.Columns)),
				Type: g.domains[id].typ, Domain: id}
			c.Missing = g.chance(45)
			t.Columns = append(t.Columns, c)
			if !g.chance(60) {
				break
			}
		}
	}
}

// keyDomains are the domains of keys of tables that are there.
func (g *generator) keyDomains() []int {
	var out []int
	for i, d := range g.domains {
		if d.of != nil {
			out = append(out, i)
		}
	}
	return out
}

// facts adds a table with one to three keys, most of them references. It may
// have the keys of an earlier one, of which it then has some rows.
func (g *generator) facts(name string) {
	t := &Table{Name: name, Storage: g.storage(), RowGroup: 1 + g.IntN(40)}
	var keys [][]scalar.Value
	if last := g.data.Tables[len(g.data.Tables)-1]; last.Keys() > 1 && g.chance(60) {
		for i := range last.Keys() {
			c := last.Columns[i]
			c.Name = fmt.Sprintf("%sk%d", name, i+1)
			t.Columns = append(t.Columns, c)
		}
		for _, row := range last.Rows {
			var key []scalar.Value
			for i := range t.Columns {
				key = append(key, row[i].Value)
			}
			if g.chance(70) {
				keys = append(keys, key)
			}
		}
	} else {
		for i := range 1 + g.IntN(3) {
			id := g.IntN(2)
			if g.chance(65) {
				id = pick(g, g.keyDomains())
			}
			t.Columns = append(t.Columns, Column{Name: fmt.Sprintf("%sk%d", name, i+1),
				Type: g.domains[id].typ, Domain: id, Key: true})
		}
		keys = g.factKeys(t)
	}
	g.columns(t, 2+g.IntN(4), 35)
	g.data.Tables = append(g.data.Tables, t)
	for _, key := range keys {
		t.Rows = append(t.Rows, g.row(t, key))
	}
}

// factKeys draws distinct keys; most tables are small, some are empty, and few
// have more rows than an engine takes at a time.
func (g *generator) factKeys(t *Table) [][]scalar.Value {
	n := 2 + g.IntN(28)
	switch {
	case g.chance(5):
		n = 0
	case g.chance(15):
		n = 60
	case g.chance(2):
		n = 3000
	}
	if g.large = g.large || n == 3000; n == 3000 { // domains of keys are too small for that
		line := domain{typ: scalar.IntType}
		for i := range int64(n) {
			line.values = append(line.values, scalar.OfInt(scalar.IntType, i))
		}
		t.Columns[len(t.Columns)-1].Type = scalar.IntType
		t.Columns[len(t.Columns)-1].Domain = len(g.domains)
		g.domains = append(g.domains, line)
	}
	seen := map[string]bool{}
	var out [][]scalar.Value
	for range n {
		var key []scalar.Value
		for _, c := range t.Columns {
			key = append(key, g.value(c.Domain))
		}
		if text := fmt.Sprint(key); !seen[text] {
			seen[text] = true
			out = append(out, key)
		}
	}
	if g.chance(50) { // many files are sorted by their keys
		slices.SortFunc(out, func(a, b []scalar.Value) int {
			return slices.CompareFunc(a, b,
				scalar.Compare)
		})
	}
	return out
}

// row draws the columns that are no keys.
func (g *generator) row(t *Table, key []scalar.Value) []Cell {
	row := make([]Cell, len(t.Columns))
	for i, c := range t.Columns {
		switch {
		case i < len(key):
			row[i].Value = key[i]
		case c.Missing && g.chance(12):
			row[i].Missing = true
		default:
			row[i].Value = g.value(c.Domain)
		}
	}
	return row
}
