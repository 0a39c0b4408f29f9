package read

import (
	"context"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Find returns the error of the first field in a column of the file that has
// the given text. It returns nil if there is none, or if the source is a
// reader, which cannot be read twice. The caller adds the reason.
func (s *Source) Find(ctx context.Context, column int, name, text string) *LoadError {
	if s.Reader != nil || s.stored != nil {
		return nil
	}
	again := *s
	again.Uses = []Use{{Columns: []int{column}, Schema: store.Schema{Name: name, Keys: 1,
		Args: []store.Field{{Name: name, Type: scalar.StringType}}}}}
	l := &load{source: &again, opts: &Options{OnError: Skip}, report: &FileReport{File: s.Path},
		ledger: store.NewLedger(nil, 0)}
	l.plan()
	if l.read(ctx) != nil {
		return nil // the file has changed
	}
	c := l.data[0].column
	words := make([]int64, c.Len())
	c.Read(words, 0)
	for row, w := range words {
		if c.ValueOf(w).Str() != text {
			continue
		}
		e := &LoadError{File: s.Path, Column: column + 1, Name: name}
		if l.byRow {
			e.Row = l.lineOf(int64(row))
		} else {
			e.Line = l.lineOf(int64(row))
		}
		return e
	}
	return nil
}
