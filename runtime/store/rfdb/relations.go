package rfdb

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Relations returns relations of the database, in the order of the names, whose
// columns and dictionaries lie in the file. Relations of one table share a
// table, which has their columns only. All that is returned has been compared
// with its checksums: the first damage is a *DamageError. Columns that no
// predicate reads are absent; a nil unread reads all.
func (f *File) Relations(ctx context.Context, threads int, names []string,
	unread func(pred string, arg int) bool) ([]*store.Relation, error) {
	used := map[int]map[int]bool{} // the columns of each table, and whether they are read
	for _, name := range names {
		r := f.relations[name]
		if r == nil {
			return nil, fmt.Errorf("%s has no predicate %s", f.Path, name)
		}
		if used[r.Table] == nil {
			used[r.Table] = map[int]bool{}
		}
		for arg, c := range r.Cols {
			left := unread != nil && unread(name, arg) &&
				f.dir.Tables[r.Table].Columns[c].Dict == nil
			used[r.Table][c] = used[r.Table][c] || !left
		}
	}
	var entries []*columnEntry
	places := map[int][]int{}
	for _, t := range slices.Sorted(maps.Keys(used)) {
		places[t] = slices.Sorted(maps.Keys(used[t]))
		for _, c := range places[t] {
			if used[t][c] {
				entries = append(entries, f.dir.Tables[t].Columns[c])
			}
		}
	}
	if err := f.prove(ctx, threads, entries); err != nil {
		return nil, err
	}
	tables := map[int]*store.Table{}
	for t, columns := range places {
		var err error
		if tables[t], err = f.table(f.dir.Tables[t], columns, used[t]); err != nil {
			return nil, err
		}
	}
	out := make([]*store.Relation, len(names))
	for i, name := range names {
		r := f.relations[name]
		out[i] = &store.Relation{Name: name, Table: tables[r.Table], Keys: r.Keys,
			Cols: make([]int, len(r.Cols))}
		for arg, c := range r.Cols {
			out[i].Cols[arg], _ = slices.BinarySearch(places[r.Table], c)
		}
	}
	return out, nil
}

// table returns some columns of a table, with their sample. Those that are not
// read are absent.
func (f *File) table(t *tableEntry, columns []int, read map[int]bool) (*store.Table, error) {
	out := &store.Table{Name: t.Name, Rows: t.Rows}
	for _, c := range columns {
		e := t.Columns[c]
		out.Names = append(out.Names, e.Name)
		if read[c] {
			out.Columns = append(out.Columns, f.column(e))
		} else {
			out.Columns = append(out.Columns,
				store.AbsentColumn(e.layout.Type, t.Rows, e.layout.Stats))
		}
	}
	if t.Rows <= store.SampleRows {
		return out, nil
	}
	s := &store.Sample{Rows: store.SampledRows(t.Rows)}
	err := guarded(func() error {
		for i, c := range columns {
			if read[c] {
				s.Columns = append(s.Columns, f.sampleOf(t.Columns[c]))
			} else {
				s.Columns = append(s.Columns, out.Columns[i].Sample(s.Rows))
			}
		}
		return nil
	})
	out.Sampled(s)
	return out, f.cut(err)
}

// cut gives errShort the form of damage.
func (f *File) cut(err error) error {
	if err == errShort {
		return &DamageError{"the file", 0, err.Error()}
	}
	return err
}

// piece is a block of a section to compare with its checksum.
type piece struct {
	of    *section
	block int
	part  string // what the section is, in messages
	// column has the entries in the block; nil if they are none.
	column *store.Column
}

// prove compares columns, and what belongs to them, with their checksums,
// unless it has done so before.
func (f *File) prove(ctx context.Context, threads int, entries []*columnEntry) error {
	var pieces []piece
	var dicts []int
	seen := map[int64]bool{}
	add := func(s *section, part string, c *store.Column) {
		if seen[s.At] && c == nil || f.isProven(s.At) && c == nil {
			return
		}
		seen[s.At] = true
		for i := range s.blocks() {
			pieces = append(pieces, piece{s, i, part, c})
		}
	}
	var fresh []*columnEntry
	for _, e := range entries {
		if f.isChecked(e) {
			continue
		}
		fresh = append(fresh, e)
		of := f.owner(e)
		if e.Dict != nil {
			d := f.dir.Dicts[*e.Dict]
			if !seen[d.Ends.At] && !f.isProven(d.Ends.At) {
				dicts = append(dicts, *e.Dict)
			}
			add(&d.Text, "the strings of "+of, nil)
			add(&d.Ends, "the ends of the strings of "+of, nil)
		}
		if e.Sample != nil {
			add(&e.Sample.Words, "the sample of "+of, nil)
		}
		add(&e.Entries, of, f.column(e))
	}
	threads = parallel.Threads(threads)
	errs := make([]error, len(pieces))
	parallel.Do(threads, len(pieces), func(i int) {
		if err := context.Cause(ctx); err != nil {
			errs[i] = err
			return
		}
		errs[i] = f.cut(guarded(func() error { return f.compare(&pieces[i]) }))
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	for _, e := range fresh {
		if c := f.column(e); c.Width == 0 && c.Len() > 0 && !c.Holds(0, 1) {
			return &DamageError{f.owner(e), e.Entries.At, "its value is outside of its bounds"}
		}
	}
	for _, i := range dicts {
		d := f.dir.Dicts[i]
		err := guarded(func() error {
			if !f.dicts[i].EndsHold() {
				return &DamageError{"the dictionary of " + f.ownerOfDict(i), d.Ends.At,
					"its strings are not within its text"}
			}
			return nil
		})
		if err != nil {
			return f.cut(err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range pieces {
		f.proven[p.of.At] = true
	}
	for _, e := range fresh {
		f.checked[e] = true
	}
	return nil
}

// compare compares a block with its checksum, and entries with the bounds of
// their column.
func (f *File) compare(p *piece) error {
	from, until, sum := p.of.block(p.block)
	if checksum(f.bytes(p.of)[from:until]) != sum {
		return &DamageError{p.part, p.of.At + from,
			fmt.Sprintf("its bytes up to %d differ from their checksum", p.of.At+until)}
	}
	if p.column == nil || p.column.Width == 0 {
		return nil
	}
	width := int64(p.column.Width)
	if !p.column.Holds(int(from/width), int(until/width)) {
		return &DamageError{p.part, p.of.At + from, "it has values outside of its bounds"}
	}
	return nil
}

func (f *File) isProven(at int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.proven[at]
}

func (f *File) isChecked(e *columnEntry) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.checked[e]
}

// owner names a column in messages, by a predicate that it is of.
func (f *File) owner(e *columnEntry) string {
	for _, r := range f.dir.Relations {
		for _, c := range r.Cols {
			if f.dir.Tables[r.Table].Columns[c] == e {
				return fmt.Sprintf("column %s of %s", e.Name, r.Name)
			}
		}
	}
	return "column " + e.Name
}

// ownerOfDict names a column with a dictionary.
func (f *File) ownerOfDict(i int) string {
	for _, t := range f.dir.Tables {
		for _, c := range t.Columns {
			if c.Dict != nil && *c.Dict == i {
				return f.owner(c)
			}
		}
	}
	return fmt.Sprintf("number %d", i)
}

// Text returns the text of a name, or nil if the file has no such text.
func (f *File) Text(name string) ([]byte, error) {
	s, ok := f.dir.Texts[name]
	if !ok {
		return nil, nil
	}
	var out []byte
	err := guarded(func() error {
		for i := range s.blocks() {
			if err := f.compare(&piece{of: &s, block: i, part: "the text " + name}); err != nil {
				return err
			}
		}
		out = slices.Clone(f.bytes(&s))
		return nil
	})
	return out, f.cut(err)
}

// Prove compares relations, with all of their tables, with their checksums, so
// that those of Stubs can be read.
func (f *File) Prove(ctx context.Context, threads int, names []string) error {
	var entries []*columnEntry
	seen := map[int]bool{}
	for _, name := range names {
		if r := f.relations[name]; r != nil && !seen[r.Table] {
			seen[r.Table] = true
			entries = append(entries, f.dir.Tables[r.Table].Columns...)
		}
	}
	return f.prove(ctx, threads, entries)
}
