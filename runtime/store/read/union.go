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
	return newRelation(s, columns, rows, nil)
}

// newRelation is NewRelation for columns of the given number of rows. The rows
// in missing, which ascend, have no value.
func newRelation(
	s store.Schema, columns []*store.Column, rows int, missing []uint32,
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
		rows: int64(rows), byRow: true}
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
	if len(rels) == 0 {
		return store.EmptyRelation(s), nil
	}
	columns := make([]*store.Column, len(s.Args))
	rows := 0
	for _, r := range rels {
		rows += r.Rows()
		if len(r.Cols) != len(s.Args) {
			return nil, fmt.Errorf("%s has %s, not %d", s.Name, counted(len(s.Args), "argument"),
				len(r.Cols))
		}
	}
	for i, a := range s.Args {
		parts := list.Map(rels, func(r *store.Relation) *store.Column { return r.Column(i) })
		columns[i] = store.ConcatColumns(a.Type, parts)
	}
	return newRelation(s, columns, rows, nil)
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
	if len(parts) > 1 && opts.Reserve != nil {
		what := "the facts of " + s.Name
		if err := opts.Reserve(what, bytesOfTables(parts)); err != nil {
			return nil, err
		}
		defer opts.Reserve(what, -bytesOfTables(own)) // freeing does not fail
	}
	r, err := Concat(s, parts...)
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
