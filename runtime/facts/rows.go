package facts

import (
	"fmt"

	"github.com/redfoxdb/redfox/internal/govalue"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// RowError is a tuple of Go values that does not fit its predicate.
type RowError struct {
	Predicate string
	Row       int // from 1
	Reason    string
}

// Error names the row.
func (e *RowError) Error() string {
	return fmt.Sprintf("row %d of the facts for %s: %s", e.Row, e.Predicate, e.Reason)
}

// FromRows returns a relation of tuples of Go values, repeats included. The
// error is a *RowError.
func FromRows(s store.Schema, rows [][]any) (*store.Relation, error) {
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
			return nil, badRow(s, n,
				fmt.Sprintf("it has %d values, %s has %d arguments", len(row), s.Name, args))
		}
		at := -1
		for i, a := range s.Args {
			if a.Type.Word != scalar.Low {
				at++
			}
			v, err := govalue.To(a.Type.Joined(), row[at])
			if err != nil {
				return nil, badRow(s, n, fmt.Sprintf("argument %d (%s): %v", at+1, a.Name, err))
			}
			builders[i].AppendValue(v.Part(a.Type))
		}
	}
	rel := &store.Relation{Name: s.Name, Keys: s.Keys,
		Table: &store.Table{Name: s.Name, Rows: len(rows)}}
	for i, a := range s.Args {
		rel.Table.Names = append(rel.Table.Names, a.Name)
		rel.Table.Columns = append(rel.Table.Columns, builders[i].Finish())
		rel.Cols = append(rel.Cols, i)
	}
	return rel, nil
}

func badRow(s store.Schema, n int, reason string) error {
	return &RowError{Predicate: s.Name, Row: n + 1, Reason: reason}
}
