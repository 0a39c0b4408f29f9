package starprog

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// sqlType is the type of DuckDB that has the values of a type.
func sqlType(t scalar.Type) string {
	switch t.Kind {
	case scalar.Boolean:
		return "BOOLEAN"
	case scalar.Float:
		return "DOUBLE"
	case scalar.Decimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Digits(), t.Scale)
	case scalar.Datetime:
		return "TIMESTAMP"
	case scalar.String:
		return "VARCHAR"
	}
	return "BIGINT"
}

// sqlLiteral writes a value with its type, so that nothing is inferred of it.
func sqlLiteral(v scalar.Value) string {
	text := scalar.Format(v)
	switch v.Type.Kind {
	case scalar.Int:
		return "(" + text + ")"
	case scalar.Datetime:
		text = strings.TrimSuffix(strings.Replace(text, "T", " ", 1), "Z")
	}
	return fmt.Sprintf("CAST('%s' AS %s)", strings.ReplaceAll(text, "'", "''"), sqlType(v.Type))
}

func quoted(name string) string { return `"` + name + `"` }

// DataSQL returns the statements that make the tables in DuckDB.
func DataSQL(d *Data) []string {
	var out []string
	for _, t := range d.Tables {
		columns := make([]string, len(t.Columns))
		for i, c := range t.Columns {
			columns[i] = quoted(c.Name) + " " + sqlType(c.Type)
		}
		out = append(out, fmt.Sprintf("create or replace table %s(%s)", quoted(t.Name),
			strings.Join(columns, ", ")))
		const batch = 500
		for from := 0; from < len(t.Rows); from += batch {
			rows := t.Rows[from:min(from+batch, len(t.Rows))]
			texts := make([]string, len(rows))
			for i, row := range rows {
				cells := make([]string, len(row))
				for c, cell := range row {
					cells[c] = "NULL"
					if !cell.Missing {
						cells[c] = insertLiteral(cell.Value)
					}
				}
				texts[i] = "(" + strings.Join(cells, ", ") + ")"
			}
			out = append(out, fmt.Sprintf("insert into %s values %s", quoted(t.Name),
				strings.Join(texts, ", ")))
		}
	}
	return out
}

// insertLiteral leaves the conversion of a text to the column.
func insertLiteral(v scalar.Value) string {
	text := scalar.Format(v)
	if v.Type.Kind == scalar.Datetime {
		text = strings.TrimSuffix(strings.Replace(text, "T", " ", 1), "Z")
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// common returns the WITH clause that defines every predicate of the program.
// The error is the part that SQL cannot express.
func (p *Program) common() (string, error) {
	var parts []string
	for _, s := range p.Stored {
		parts = append(parts, fmt.Sprintf("%s(%s) as (%s)", quoted(s.Name), columnList(len(s.Args)),
			storedSQL(p.Data, s)))
	}
	var order []*Pred
	rules := map[*Pred][]string{}
	for _, r := range p.Rules {
		for _, h := range r.Heads {
			text, err := ruleSQL(r, h)
			if err != nil {
				return "", err
			}
			if rules[h.Pred] == nil {
				order = append(order, h.Pred)
			}
			rules[h.Pred] = append(rules[h.Pred], text)
		}
	}
	for _, d := range order {
		parts = append(parts, fmt.Sprintf("%s(%s) as (%s)", quoted(d.Name), columnList(len(d.Args)),
			strings.Join(rules[d], " union ")))
	}
	return "with " + strings.Join(parts, ", "), nil
}

func columnList(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	return strings.Join(names, ", ")
}

// storedSQL is a stored predicate as a query: the distinct rows of its columns
// in which none is missing, and its facts in the program.
func storedSQL(d *Data, p *Pred) string {
	columns := make([]string, len(p.Columns))
	present := make([]string, len(p.Columns))
	for i, c := range p.Columns {
		columns[i] = quoted(c)
		present[i] = quoted(c) + " is not null"
	}
	out := fmt.Sprintf("select distinct %s from %s where %s", strings.Join(columns, ", "),
		quoted(p.Table), strings.Join(present, " and "))
	for _, f := range p.Facts {
		out += " union select " + strings.Join(list.Map(f, sqlLiteral), ", ")
	}
	return out
}
