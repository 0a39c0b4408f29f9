package facts

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/answer"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/read"
)

// Terms are facts in which entities of constructors are written as terms.
type Terms struct {
	reader  *answer.TermReader
	schemas []store.Schema // of the program, where an entity is a number
	// families has the family of each column of these predicates, "" where
	// there are no entities.
	families map[string][]string
}

// NewTerms returns the facts with entities, or nil if no predicate has any, and
// the schemas of all facts as files have them: families has the family of each
// argument of predicates with entities. Relations of makers follow from the
// terms and are not read.
func NewTerms(schemas []store.Schema, families map[string][]string,
	reader *answer.TermReader) (*Terms, []store.Schema) {
	t := &Terms{reader: reader, families: map[string][]string{}}
	var out []store.Schema
	for _, s := range schemas {
		if reader.Makes(s.Name) {
			continue
		}
		if list := families[s.Name]; list != nil {
			t.schemas = append(t.schemas, s)
			s.Args = slices.Clone(s.Args)
			columns := make([]string, len(s.Args))
			argument := -1
			for i := range s.Args {
				if s.Args[i].Type.Word != scalar.Low {
					argument++
				}
				if columns[i] = list[argument]; columns[i] != "" {
					s.Args[i].Type = scalar.StringType
				}
			}
			t.families[s.Name] = columns
		}
		out = append(out, s)
	}
	if t.schemas == nil {
		return nil, schemas
	}
	return t, out
}

// Predicates lists the predicates that are read even if no rule uses them,
// because their terms create entities.
func (t *Terms) Predicates() []string {
	var out []string
	if t != nil {
		for _, s := range t.schemas {
			out = append(out, s.Name)
		}
	}
	return out
}

// Refused returns a predicate whose facts cannot be taken, or "": they name
// entities without terms, or belong to a constructor.
func (t *Terms) Refused(db *store.Database) string {
	for _, s := range t.schemas {
		isRefused := func(f string) bool { return f != "" && !t.reader.Takes(f) }
		if rel := db.Relation(s.Name); rel != nil && rel.Rows() > 0 &&
			(t.reader.Constructs(s.Name) || slices.ContainsFunc(t.families[s.Name], isRefused)) {
			return s.Name
		}
	}
	return ""
}

// Constructs reports whether a predicate is a constructor.
func (t *Terms) Constructs(pred string) bool { return t.reader.Constructs(pred) }

// Loaded is a load whose terms are about to become numbers.
type Loaded struct {
	DB      *store.Database
	Binding *read.Binding // names the files that the facts are from
	Report  *read.Report
	Skip    bool // leave out rows with a field that is no term
}

// Number replaces the terms of a database by numbers and adds the relations of
// the makers. Held is the memory that the database took before the load.
func (t *Terms) Number(ctx context.Context, in *Loaded, held map[string]*store.Relation) error {
	hasTuples := func(s store.Schema) bool {
		rel := in.DB.Relation(s.Name)
		return rel != nil && rel.Rows() > 0
	}
	if slices.ContainsFunc(t.schemas, hasTuples) {
		t.reader.Know(func(pred string) *store.Relation { return held[pred] })
	} else if len(held) > 0 {
		for _, s := range t.schemas {
			in.DB.Put(store.EmptyRelation(s))
		}
		return nil
	}
	for _, s := range t.schemas {
		if rel := in.DB.Relation(s.Name); rel != nil {
			out, err := t.relation(ctx, s, rel.Columns(), rel.Rows(), in)
			if err != nil {
				return err
			}
			in.DB.Put(out)
		}
	}
	for _, rel := range t.reader.Relations() {
		in.DB.Put(rel)
	}
	return nil
}

// relation returns a relation with numbers in place of terms.
func (t *Terms) relation(ctx context.Context, s store.Schema, columns []*store.Column, rows int,
	in *Loaded) (*store.Relation, error) {
	families := t.families[s.Name]
	read := make([]*answer.TermColumn, len(columns))
	repeats, bad := false, false
	for i, c := range columns {
		if families[i] == "" {
			continue
		}
		column, err := t.reader.Column(families[i], c, func(_ int, err *answer.TermError) error {
			bad = true
			return in.refuse(ctx, s, i, err)
		})
		if err != nil {
			return nil, err
		}
		read[i], columns[i] = column, column.Numbers()
		repeats = repeats || column.Repeats
	}
	if bad {
		columns, rows = in.drop(s, columns, read, rows)
	}
	if repeats {
		return united(s, columns, read)
	}
	table := &store.Table{Name: s.Name, Rows: rows, Columns: columns}
	out := &store.Relation{Name: s.Name, Table: table, Keys: s.Keys}
	for i, a := range s.Args {
		out.Cols = append(out.Cols, i)
		table.Names = append(table.Names, a.Name)
	}
	return out, nil
}

// drop removes the rows with a field that is no term.
func (in *Loaded) drop(s store.Schema, columns []*store.Column, read []*answer.TermColumn,
	rows int) ([]*store.Column, int) {
	var kept []uint32
	for row := range rows {
		isBad := func(c *answer.TermColumn) bool { return c != nil && !c.Has(row) }
		if !slices.ContainsFunc(read, isBad) {
			kept = append(kept, uint32(row))
		}
	}
	for i := range in.Report.Files {
		if f := &in.Report.Files[i]; slices.Contains(f.Predicates, s.Name) {
			f.Skipped += int64(rows - len(kept))
			f.Rows -= int64(rows - len(kept))
			break
		}
	}
	columns = slices.Clone(columns)
	for i, c := range columns {
		columns[i] = c.Select(kept)
	}
	return columns, len(kept)
}

// united returns the relation of columns in which an entity may have two
// spellings, so that tuples repeat.
func united(s store.Schema, columns []*store.Column, terms []*answer.TermColumn) (*store.Relation,
	error) {
	rel, err := read.NewRelation(s, columns)
	var key *read.KeyError
	if !errors.As(err, &key) {
		return rel, err
	}
	for i, c := range terms {
		switch {
		case c == nil:
		case i < len(key.Key):
			key.Key[i] = scalar.OfString(c.Text(key.Key[i].Int()))
		default:
			for n, v := range key.Values {
				key.Values[n] = scalar.OfString(c.Text(v.Int()))
			}
		}
	}
	return nil, key
}

// refuse returns the error for a field that is no term, with its place if the
// file can be read again. If such rows are skipped, it notes the place in the
// report and returns nil.
func (in *Loaded) refuse(ctx context.Context, s store.Schema, column int,
	term *answer.TermError) error {
	for i, source := range in.Binding.Sources {
		for _, u := range source.Uses {
			if u.Schema.Name != s.Name {
				continue
			}
			found := source.Find(ctx, u.Columns[column], s.Args[column].Name, term.Text)
			if found == nil {
				continue
			}
			found.Reason, found.Help = term.Error(), term.Help()
			if !in.Skip {
				return found
			}
			in.Report.Files[i].AddExample(found)
			return nil
		}
	}
	return &TermError{Predicate: s.Name, Argument: s.Args[column].Name, Err: term}
}

// TermError is the error of a field that is not a term, at an unknown place.
type TermError struct {
	Predicate, Argument string
	Err                 *answer.TermError
}

// Error names the predicate and the argument.
func (e *TermError) Error() string {
	return fmt.Sprintf("a fact of %s: %s: %s", e.Predicate, e.Argument, e.Err)
}
