package write

import (
	"context"
	"database/sql/driver"
	"math"
	"strconv"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/sqlite"
)

// DatabaseTable is a table for Database to write.
type DatabaseTable struct {
	Name string
	// Rows calls write with the contents of the table, in one or more parts.
	Rows func(write func(*Output) error) error
}

// Database writes tables to the path of an empty file, as an SQLite database.
// Integers, floats and truth values are those of SQLite. Datetimes are text in
// the format of ISO 8601. Decimals are numbers if SQLite's floats, which have
// 15 reliable digits, can hold all of the column, and text otherwise. Integers
// beyond 63 bits and NaN are text, too.
func Database(ctx context.Context, path string, tables []DatabaseTable) (err error) {
	w, err := sqlite.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if closed := w.Close(err == nil); err == nil {
			err = closed
		}
	}()
	for _, t := range tables {
		err := t.Rows(func(out *Output) error { return table(ctx, w, t.Name, out) })
		if err != nil {
			return err
		}
	}
	return nil
}

// table writes one table.
func table(ctx context.Context, w *sqlite.Writer, name string, out *Output) error {
	fields := out.fields()
	var columns []sqlite.Column
	texts := make([]bool, len(fields))
	for i := range fields {
		f := &fields[i]
		texts[i] = f.isText()
		columns = append(columns, sqlite.Column{Name: f.name, Type: f.sqliteType(texts[i])})
	}
	if len(columns) == 0 {
		columns = append(columns, sqlite.Column{Name: "holds", Type: "BOOLEAN"})
	}
	add, end, err := w.Table(name, columns)
	if err != nil {
		return err
	}
	values := make([]driver.Value, len(columns))
	err = out.Each(func(block [][]int64, n int) error {
		for row := range n {
			if len(fields) == 0 {
				values[0] = int64(1)
			}
			for i := range fields {
				values[i] = fields[i].sqliteValue(block, row, texts[i])
			}
			if err := add(values); err != nil {
				return err
			}
		}
		return context.Cause(ctx)
	})
	if ended := end(); err == nil {
		err = ended
	}
	return err
}

// exactDigits is the number of decimal digits that SQLite's floats always keep.
const exactDigits = 15

// isText reports whether the values of a field are stored as text.
func (f *outputField) isText() bool {
	switch f.Type.Kind {
	case scalar.String, scalar.Datetime:
		return true
	case scalar.Uint:
		return f.Len() > 0 && uint64(f.Stats.Max) > math.MaxInt64
	case scalar.Decimal:
		limit := int64(math.Pow10(exactDigits))
		return f.wide() || f.Len() > 0 && (f.Stats.Max >= limit || f.Stats.Min <= -limit)
	}
	return false
}

// sqliteType is the declared type of a field.
func (f *outputField) sqliteType(text bool) string {
	switch k := f.Type.Kind; {
	case text:
		return "TEXT"
	case k == scalar.Boolean:
		return "BOOLEAN"
	case k == scalar.Float:
		return "REAL"
	case k == scalar.Decimal:
		return "DECIMAL(18," + strconv.Itoa(int(f.Type.Scale)) + ")"
	}
	return "INTEGER"
}

func (f *outputField) sqliteValue(block [][]int64, row int, text bool) driver.Value {
	if text {
		return scalar.Format(f.value(block, row))
	}
	switch w := block[f.at][row]; f.Type.Kind {
	case scalar.Decimal:
		return float64(w) / math.Pow10(int(f.Type.Scale))
	case scalar.Float:
		n := math.Float64frombits(uint64(w))
		if math.IsNaN(n) { // which would be stored as a missing value
			return scalar.Format(f.value(block, row))
		}
		return n
	default:
		return w
	}
}
