package read

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/runtime/store"
)

// NewRelation returns the relation of a predicate with the given columns, one
// for each argument. Repeated tuples are removed; two values for a key are a
// *KeyError.
func NewRelation(s store.Schema, columns []*store.Column) (*store.Relation, error) {
	rows := 0
	if len(columns) > 0 {
		rows = columns[0].Len()
	}
	return newRelation(s, columns, rows, nil, nil)
}

// newRelation is NewRelation for columns of the given number of rows. The rows
// in missing, which ascend, have no value. The ledger reserves what it needs.
func newRelation(
	s store.Schema, columns []*store.Column, rows int, missing []uint32, ledger *store.Ledger,
) (*store.Relation, error) {
	if len(columns) != len(s.Args) {
		return nil, fmt.Errorf("%s has %s, not %d", s.Name, counted(len(s.Args), "argument"),
			len(columns))
	}
	use := Use{Schema: s}
	for i, c := range columns {
		if c.Len() != rows {
			return nil, fmt.Errorf("the columns of %s have %d and %d rows", s.Name, rows, c.Len())
		}
		if c.Type != s.Args[i].Type {
			return nil,
				fmt.Errorf("argument %d (%s) of %s is %s, not %s", i+1, s.Args[i].Name, s.Name,
					article(s.Args[i].Type), article(c.Type))
		}
		use.Columns = append(use.Columns, i)
	}
	l := &load{source: &Source{Uses: []Use{use}}, opts: &Options{}, report: &FileReport{},
		rows: int64(rows), byRow: true, ledger: ledger}
	l.plan()
	for i, c := range columns {
		l.data[i].column = c
	}
	if len(missing) > 0 {
		l.data[len(columns)-1].nulls = missing
	}
	rels, err := l.finish(context.Background())
	if err != nil {
		return nil, err
	}
	rels[0].Table.Name = s.Name
	return rels[0], nil
}

// Concat returns the union of relations that have the schema's columns.
func Concat(s store.Schema, rels ...*store.Relation) (*store.Relation, error) {
	return concat(s, rels, nil)
}

// concat is Concat within the memory of a ledger.
func concat(s store.Schema, rels []*store.Relation, ledger *store.Ledger) (*store.Relation, error) {
	if len(rels) == 0 {
		return store.EmptyRelation(s), nil
	}
	columns := make([]*store.Column, len(s.Args))
	rows, what := 0, "the facts of "+s.Name
	for _, r := range rels {
		rows += r.Rows()
		if len(r.Cols) != len(s.Args) {
			return nil, fmt.Errorf("%s has %s, not %d", s.Name, counted(len(s.Args), "argument"),
				len(r.Cols))
		}
	}
	for i, a := range s.Args {
		parts := list.Map(rels, func(r *store.Relation) *store.Column { return r.Column(i) })
		var err error
		if columns[i], err = store.ConcatColumns(a.Type, parts, ledger, what); err != nil {
			return nil, err
		}
	}
	return newRelation(s, columns, rows, nil, ledger)
}

// IsPart reports whether a source fills a predicate that has further files.
func (b *Binding) IsPart(source int) bool {
	for _, u := range b.Sources[source].Uses {
		for i := range b.Sources {
			if i != source && b.Sources[i].fills(u.Schema.Name) {
				return true
			}
		}
	}
	return false
}

func (s *Source) fills(pred string) bool {
	return slices.ContainsFunc(s.Uses, func(u Use) bool { return u.Schema.Name == pred })
}

// unite returns the union of what the sources hold of a predicate. loaded has
// their relations.
func (b *Binding) unite(
	s store.Schema, loaded [][]*store.Relation, opts Options,
) (*store.Relation, error) {
	var parts, own []*store.Relation // own are those whose tables serve no other predicate
	var files []string
	for i := range loaded {
		for _, r := range loaded[i] {
			if r.Name == s.Name {
				parts = append(parts, r)
				files = append(files, b.Sources[i].Path)
			}
			if r.Name == s.Name && len(loaded[i]) == 1 {
				own = append(own, r)
			}
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	ledger := opts.ledger()
	r, err := concat(s, parts, ledger)
	if r != nil && ledger.Bounded() {
		ledger.Settle(bytesOfTables([]*store.Relation{r}))
		// Freeing does not fail.
		_ = opts.Reserve("", -bytesOfTables(own))
	}
	var key *KeyError
	if errors.As(err, &key) {
		for i, row := range []int64{key.Lines[1], key.Lines[0]} {
			key.Files[i] = fileOf(row, parts, files)
		}
	}
	return r, err
}

// fileOf returns the file of a row, from 1, of the concatenated parts.
func fileOf(row int64, parts []*store.Relation, files []string) string {
	for i, r := range parts {
		if row -= int64(r.Rows()); row <= 0 {
			return files[i]
		}
	}
	return ""
}
