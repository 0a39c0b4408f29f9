package rfdb

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/runtime/store"
)

// Info describes a database.
type Info struct {
	Format      int
	Redfox      string // the version that wrote the latest transaction
	Transaction uint64
	Bytes       int64 // of the file
	Unused      int64 // bytes of it to which the latest transaction does not refer
	Relations   []RelationInfo
	Texts       []string
}

// RelationInfo describes a relation. Relations of one table share its columns.
type RelationInfo struct {
	Name    string
	Table   string
	Rows    int
	Keys    int
	Columns []ColumnInfo
}

// ColumnInfo describes a column.
type ColumnInfo struct {
	Name, Type string
	Forms      []string // of packed blocks; nil if the column is not packed
	Width      int
	Bytes      int64 // the size of the entries in memory
	Stored     int64 // of them in the file
	Text       int64 // the size of the dictionary in memory
	StoredText int64 // of them in the file
	Strings    int64 // in it
	Distinct   int64
	Ascending  bool
}

// Info describes the transaction that was opened.
func (f *File) Info() Info {
	out := Info{Format: int(f.format), Redfox: f.dir.Redfox, Transaction: f.root.transaction,
		Bytes: f.size, Texts: slices.Sorted(maps.Keys(f.dir.Texts))}
	for _, r := range f.dir.Relations {
		t := f.dir.Tables[r.Table]
		of := RelationInfo{Name: r.Name, Table: t.Name, Rows: t.Rows, Keys: r.Keys}
		for _, c := range r.Cols {
			e := t.Columns[c]
			col := ColumnInfo{Name: e.Name, Type: e.Type, Width: int(e.Width),
				Bytes: int64(t.Rows) * int64(e.Width), Stored: e.Entries.Size,
				Distinct: e.Stats.Distinct, Ascending: e.Stats.Ascending}
			if e.Packed != nil {
				col.Forms = e.Packed.Forms
				col.Stored += e.Packed.bytes()
			}
			if e.Dict != nil {
				d := f.dir.Dicts[*e.Dict]
				col.Text, col.StoredText, col.Strings = d.bytes(), d.stored(), d.len()
			}
			of.Columns = append(of.Columns, col)
		}
		out.Relations = append(out.Relations, of)
	}
	used := int64(firstPage) + f.root.size + pageSize
	for _, s := range f.sections() {
		used += s.Size + s.Room
	}
	out.Unused = max(0, f.size-used)
	return out
}

// sections returns the sections of the transaction, each once, by offset.
func (f *File) sections() map[int64]section {
	out := map[int64]section{}
	add := func(s section) {
		if s.Size >= out[s.At].Size {
			out[s.At] = s
		}
	}
	for _, d := range f.dir.Dicts {
		add(d.Text)
		add(d.Ends)
		if d.Packed != nil {
			add(d.Packed.Symbols)
		}
	}
	for _, t := range f.dir.Tables {
		for _, c := range t.Columns {
			add(c.Entries)
			if p := c.Packed; p != nil {
				add(p.Headers)
				add(section{At: p.At, Size: p.Size})
			}
			if c.Sample != nil {
				add(c.Sample.Words)
			}
		}
	}
	for _, s := range f.dir.Texts {
		add(s)
	}
	return out
}

// Check compares all of the database with its checksums, and verifies that
// dictionaries ascend and keys are unique. It returns the damage: at most one
// error for each column or text.
func (f *File) Check(ctx context.Context, threads int) ([]error, error) {
	found := slices.Clone(f.slots)
	damaged := map[int]bool{} // tables
	for i, t := range f.dir.Tables {
		for _, e := range t.Columns {
			err := f.prove(ctx, Reading{Threads: threads}, []*columnEntry{e})
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err != nil {
				damaged[i] = true
				found = append(found, err)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.dir.Texts)) {
		if _, err := f.Text(name); err != nil {
			found = append(found, err)
		}
	}
	if len(damaged) > 0 {
		return found, nil // the checks of keys need undamaged columns
	}
	for i, d := range f.dicts {
		if d == nil {
			continue
		}
		err := guarded(func() error {
			if !d.Ascends() {
				return &DamageError{"the dictionary of " + f.ownerOfDict(i), f.dir.Dicts[i].Text.At,
					"its strings do not ascend"}
			}
			return nil
		})
		if err != nil {
			found = append(found, f.cut(err))
		}
	}
	for _, r := range f.Stubs() {
		err := guarded(func() error {
			unique, err := store.UniqueRows(ctx, store.Sorting{Threads: 1}, r.Columns()[:r.Keys],
				r.Rows())
			if err == nil && !unique {
				err = &DamageError{"predicate " + r.Name, f.root.at,
					fmt.Sprintf("its first %d columns are no key", r.Keys)}
			}
			return err
		})
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			found = append(found, f.cut(err))
		}
	}
	return found, nil
}
