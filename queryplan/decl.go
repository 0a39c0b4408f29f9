package queryplan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan/cfg"
	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// Plans and kernel graphs declare columns, orderings and relations alike. These
// functions are the one place for their text and for what makes them wrong.

// ParseColumn reads `x: int`.
func ParseColumn(c *irtext.Cursor) Column {
	col := Column{Name: c.Name("a column")}
	c.Expect(":")
	col.Type = c.Type()
	return col
}

// ParseOrder reads `[x, y desc]`.
func ParseOrder(c *irtext.Cursor) []OrderKey {
	var out []OrderKey
	c.List(func() {
		k := OrderKey{Col: c.Name("a column")}
		k.Desc = c.AcceptWord("desc")
		out = append(out, k)
	})
	return out
}

// ParseDecl reads `edge(x: int; y: int) input "edge"`, as DeclText writes it.
// The name is called what in errors.
func ParseDecl(c *irtext.Cursor, what string) *Var {
	v := &Var{Name: c.Name(what), Limit: -1, Keys: -1}
	c.Expect("(")
	for !c.Accept(")") {
		switch {
		case v.Keys < 0 && c.Accept(";"):
			v.Keys = len(v.Cols)
		case len(v.Cols) > 0:
			c.Expect(",")
		}
		v.Cols = append(v.Cols, ParseColumn(c))
	}
	if v.Keys < 0 {
		v.Keys = len(v.Cols)
	}
	switch t := c.Next(); t.Text {
	case "input":
		v.Kind, v.Source = Input, c.Str()
	case "table":
		v.Kind, v.Source = Table, c.Str()
		c.ExpectWord("stored")
		c.List(func() { v.Stored = append(v.Stored, int(c.Integer())) })
	case "derived":
		v.Kind = Derived
	case "temp":
		v.Kind = Temp
	default:
		c.Unexpected(t, `"input", "table", "derived" or "temp"`)
	}
	v.Unique = c.AcceptWord("unique")
	v.Checked = c.AcceptWord("checked")
	if v.Output = c.AcceptWord("output"); v.Output {
		if c.AcceptWord("order") {
			v.OrderBy = ParseOrder(c)
		}
		if c.AcceptWord("limit") {
			v.Limit = c.Integer()
		}
	}
	return v
}

// DeclText writes a declaration, without the word that starts it.
func DeclText(v *Var) string {
	var b strings.Builder
	b.WriteString(QuoteName(v.Name) + "(" + KeyedText(v.Cols, v.Keys) + ") " + v.Kind.String())
	if v.Kind == Input || v.Kind == Table {
		b.WriteString(" " + scalar.Quote(v.Source))
	}
	if v.Kind == Table {
		b.WriteString(" stored [")
		for i, s := range v.Stored {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(strconv.Itoa(s))
		}
		b.WriteString("]")
	}
	if v.Unique {
		b.WriteString(" unique")
	}
	if v.Checked {
		b.WriteString(" checked")
	}
	if v.Output {
		b.WriteString(" output")
		if len(v.OrderBy) > 0 {
			b.WriteString(" order " + OrderText(v.OrderBy))
		}
		if v.Limit >= 0 {
			b.WriteString(" limit " + strconv.FormatInt(v.Limit, 10))
		}
	}
	return b.String()
}

// ColumnText writes `x: int`.
func ColumnText(c Column) string { return irtext.QuoteColumn(c.Name) + ": " + c.Type.String() }

// KeyedText writes columns, with a semicolon after the first keys ones.
func KeyedText(cols []Column, keys int) string {
	var b strings.Builder
	for i, c := range cols {
		switch {
		case i == keys:
			b.WriteString("; ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(ColumnText(c))
	}
	return b.String()
}

// OrderColumns returns the columns of an order.
func OrderColumns(keys []OrderKey) []string {
	return list.Map(keys, func(k OrderKey) string { return k.Col })
}

// OrderText writes `[x, y desc]`.
func OrderText(keys []OrderKey) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = irtext.QuoteColumn(k.Col)
		if k.Desc {
			out[i] += " desc"
		}
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// DistinctColumns checks that columns have types and different names.
func DistinctColumns(cols []Column) error {
	var seen columnSet
	for _, c := range cols {
		switch {
		case c.Name == "":
			return fmt.Errorf("a column has no name")
		case seen.has(c.Name):
			return fmt.Errorf("two columns are named %s", c.Name)
		case c.Type.Kind == scalar.Invalid:
			return fmt.Errorf("column %s has no type", c.Name)
		case c.Type.IsWide():
			return fmt.Errorf("column %s of type %s is no word", c.Name, c.Type)
		}
		seen.add(c.Name)
	}
	return nil
}

// VerifyDecl checks a declaration. What it declares is called what in messages:
// variables, or relations.
func VerifyDecl(x *Var, what string) error {
	if err := DistinctColumns(x.Cols); err != nil {
		return err
	}
	if x.Keys < 0 || x.Keys > len(x.Cols) {
		return fmt.Errorf("%d key columns of %d", x.Keys, len(x.Cols))
	}
	switch {
	case x.Kind > Temp:
		return fmt.Errorf("unknown kind %d", x.Kind)
	case x.Kind != Derived && x.Checked, x.Kind != Derived && x.Kind != Temp && x.Unique:
		return fmt.Errorf("unique is for derived and temp %s, checked for derived ones", what)
	case x.Kind == Table && len(x.Stored) != len(x.Cols):
		return fmt.Errorf("%d stored columns for %d columns", len(x.Stored), len(x.Cols))
	case x.Kind != Table && len(x.Stored) > 0:
		return fmt.Errorf("stored columns are for tables")
	case (x.Kind == Input || x.Kind == Table) == (x.Source == ""):
		return fmt.Errorf("inputs and tables, and no others, have a source")
	case x.Output && x.Kind == Table:
		return fmt.Errorf("tables are no output")
	case len(x.OrderBy) > 0 && !x.Output:
		return fmt.Errorf("only outputs have an order")
	}
	return VerifyOrder(x.OrderBy, x.Cols)
}

// ParseVersion reads `delta`, `old` or `last` before the name of a variable.
func ParseVersion(c *irtext.Cursor) Version {
	named := func(t irtext.Token) bool {
		return t.Kind == irtext.WordToken || t.Kind == irtext.NameToken
	}
	switch {
	case len(c.Tokens) < 2 || !named(c.Tokens[1]):
	case c.AcceptWord("delta"):
		return Delta
	case c.AcceptWord("old"):
		return Old
	case c.AcceptWord("last"):
		return Last
	}
	return Full
}

// ParseValues reads the columns of constant rows, and the rows under their
// line.
func ParseValues(c *irtext.Cursor, ln *irtext.Line) ([]Column, [][]scalar.Value) {
	var cols []Column
	c.Tuple(func() { cols = append(cols, ParseColumn(c)) })
	c.End()
	var rows [][]scalar.Value
	for _, kid := range ln.Kids {
		cfg.Leaf(c, kid, "a row")
		c.Tokens = kid.Tokens
		row := make([]scalar.Value, 0, len(cols))
		c.Tuple(func() { row = append(row, c.Literal()) })
		c.End()
		if len(row) != len(cols) {
			c.FailLine(kid, "the values of this row do not match the columns: %d of %d", len(row),
				len(cols))
		}
		rows = append(rows, row)
	}
	return cols, rows
}
