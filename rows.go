package redfox

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"reflect"
	"time"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// relationOfRows builds a relation of tuples of Go values, repeats included.
func relationOfRows(s store.Schema, rows [][]any) (*store.Relation, error) {
	builders := make([]*store.Builder, len(s.Args))
	args := 0
	for i, a := range s.Args {
		builders[i] = store.NewBuilder(a.Type, nil)
		if a.Type.Word != scalar.Low {
			args++
		}
	}
	for n, row := range rows {
		if len(row) != args {
			return nil, badRow(s, n, fmt.Sprintf("it has %d values, %s has %d arguments", len(row), s.Name, args))
		}
		at := -1
		for i, a := range s.Args {
			if a.Type.Word != scalar.Low {
				at++
			}
			v, err := valueOf(a.Type.Joined(), row[at])
			if err != nil {
				return nil, badRow(s, n, fmt.Sprintf("argument %d (%s): %v", at+1, a.Name, err))
			}
			builders[i].AppendValue(v.Part(a.Type))
		}
	}
	rel := &store.Relation{Name: s.Name, Keys: s.Keys, Table: &store.Table{Name: s.Name, Rows: len(rows)}}
	for i, a := range s.Args {
		rel.Table.Names = append(rel.Table.Names, a.Name)
		rel.Table.Columns = append(rel.Table.Columns, builders[i].Finish())
		rel.Cols = append(rel.Cols, i)
	}
	return rel, nil
}

func badRow(s store.Schema, n int, reason string) error {
	return &ProgramError{Diagnostics: []*Diagnostic{{Severity: diag.Error, Code: diag.BadFacts,
		Message: fmt.Sprintf("row %d of the facts for %s: %s", n+1, s.Name, reason)}}}
}

// valueOf converts a Go value to a column's type; it must fit.
func valueOf(t Type, x any) (Value, error) {
	switch x := x.(type) {
	case Value:
		if x.Type == t {
			return x, nil
		}
		return scalar.ParseText(t, scalar.Format(x))
	case string:
		if t.Kind == scalar.String {
			return scalar.OfString(x), nil
		}
		return scalar.ParseText(t, x)
	case bool:
		if t.Kind == scalar.Boolean {
			return scalar.OfBool(x), nil
		}
	case time.Time:
		if t.Kind == scalar.Datetime {
			return scalar.OfDatetime(x.UnixMicro()), nil
		}
	case Decimal:
		if t.IsNumeric() {
			return scalar.ParseText(t, x.String())
		}
	case WideDecimal:
		if t.IsNumeric() {
			return scalar.ParseText(t, x.String())
		}
	}
	v := reflect.ValueOf(x)
	switch {
	case !t.IsNumeric() || !v.IsValid():
	case v.CanInt():
		return scalar.ParseText(t, fmt.Sprint(v.Int()))
	case v.CanUint():
		return scalar.ParseText(t, fmt.Sprint(v.Uint()))
	case v.CanFloat() && t.Kind == scalar.Float:
		if t.Bits == 32 && math.Abs(v.Float()) > math.MaxFloat32 && !math.IsInf(v.Float(), 0) {
			return Value{}, fmt.Errorf("%v does not fit %s", x, t)
		}
		return scalar.OfFloat(t, v.Float()), nil
	}
	return Value{}, fmt.Errorf("a Go %T does not convert to %s", x, t)
}

// missing reports whether a file could not be opened at all, which is the
// environment's fault and not the data's.
func missing(e *store.LoadError) bool {
	return errors.Is(e.Err, fs.ErrNotExist) || errors.Is(e.Err, fs.ErrPermission)
}
