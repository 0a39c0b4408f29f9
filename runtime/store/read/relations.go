package read

import (
	"context"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// finish makes relations of the columns of a source. They are sets of tuples,
// and functional ones have one value for each key.
func (l *load) finish(ctx context.Context) ([]*store.Relation, error) {
	table := &store.Table{Name: l.source.Path, Rows: int(l.rows)}
	for i, f := range l.fields {
		table.Names = append(table.Names, f.name)
		table.Columns = append(table.Columns, l.data[i].column)
	}
	l.sampleEncoded(table)
	rows := rowNumbers{load: l}
	if len(l.bad) > 0 {
		if err := wantColumns(table.Columns); err != nil {
			return nil, err
		}
		keep := complement(l.bad, table.Rows)
		rows.file = keep
		var err error
		if table, err = l.selectRows(table, keep); err != nil {
			return nil, err
		}
		l.dropNulls(keep)
	}
	with := store.Sorting{Threads: l.opts.threads(), Memory: l.ledger,
		What: "finding repeated facts in " + l.source.Path}
	keyed := newKeyCache(with)
	for name := range l.proofs {
		keyed.known[name] = true
	}
	if len(l.source.Uses) > 1 {
		unique, err := l.allKeysUnique(ctx, table, keyed)
		if err != nil {
			return nil, err
		}
		var keep []uint32
		if !unique {
			if keep, err = l.firstOfEach(ctx, with, table); err != nil {
				return nil, err
			}
		}
		if keep != nil {
			l.report.Repeated += int64(table.Rows - len(keep))
			rows.compose(keep)
			if table, err = l.selectRows(table, keep); err != nil {
				return nil, err
			}
			keyed = newKeyCache(with)
			l.dropNulls(keep)
		}
	}
	rels := make([]*store.Relation, len(l.source.Uses))
	for i, u := range l.source.Uses {
		r := &store.Relation{Name: u.Schema.Name, Table: table, Cols: l.args[i],
			Keys: u.Schema.Keys}
		rel, err := l.asSet(ctx, r, rows, keyed)
		if err != nil {
			return nil, err
		}
		rels[i] = rel
	}
	if rows.file == nil {
		l.keepProofs(table, keyed)
	}
	return rels, nil
}

// firstOfEach returns the first of each set of equal rows, or nil if no row
// repeats another. A column has a word even if its value is missing, so whether
// a value is missing is compared, too.
func (l *load) firstOfEach(
	ctx context.Context, with store.Sorting, table *store.Table,
) ([]uint32, error) {
	columns := slices.Clone(table.Columns)
	for _, d := range l.data {
		if len(d.nulls) == 0 {
			continue
		}
		if err := l.ledger.Take(with.What, int64(table.Rows)); err != nil {
			return nil, err
		}
		defer l.ledger.Give(int64(table.Rows))
		missing := make([]uint8, table.Rows)
		for _, row := range d.nulls {
			missing[row] = 1
		}
		columns = append(columns, store.BooleanColumn(missing))
	}
	return store.FirstOfEach(ctx, with, columns, table.Rows)
}

// keyCache remembers whether lists of a table's columns are keys.
type keyCache struct {
	store.Sorting
	known map[string]bool
}

func newKeyCache(with store.Sorting) keyCache { return keyCache{with, map[string]bool{}} }

func (k keyCache) unique(ctx context.Context, t *store.Table, cols []int) (bool, error) {
	name := proofName(cols)
	u, ok := k.known[name]
	if !ok {
		var err error
		if u, err = store.UniqueRows(ctx, k.Sorting, t.Pick(cols), t.Rows); err != nil {
			return false, err
		}
		k.known[name] = u
	}
	return u, nil
}

// selectRows returns the rows of a table that are kept.
func (l *load) selectRows(t *store.Table, keep []uint32) (*store.Table, error) {
	what := "the facts of " + l.source.Path + " without those left out"
	out := &store.Table{Name: t.Name, Names: t.Names, Rows: len(keep)}
	for _, c := range t.Columns {
		some, err := c.SelectWithin(l.ledger, what, keep)
		if err != nil {
			return nil, err
		}
		out.Columns = append(out.Columns, some)
	}
	return out, nil
}

// bytesOfTables returns the memory of the tables of relations, with their
// dictionaries, and without pages of files.
func bytesOfTables(rels []*store.Relation) (n int64) {
	columns, dicts := map[*store.Column]bool{}, map[*store.Dict]bool{}
	for _, r := range rels {
		for _, c := range r.Table.Columns {
			if columns[c] {
				continue
			}
			columns[c] = true
			if !c.OnDisk {
				n += c.Bytes()
			}
			if c.Dict != nil && !dicts[c.Dict] {
				dicts[c.Dict] = true
				if !c.Dict.OnDisk {
					n += c.Dict.Bytes()
				}
			}
		}
	}
	return n
}

// rowNumbers maps the rows of a table to those of its file.
type rowNumbers struct {
	load *load
	file []uint32 // nil: the same
}

func (r *rowNumbers) compose(keep []uint32) {
	if r.file == nil {
		r.file = keep
		return
	}
	file := make([]uint32, len(keep))
	for i, k := range keep {
		file[i] = r.file[k]
	}
	r.file = file
}

func (r rowNumbers) line(row uint32) int64 {
	if r.file != nil {
		row = r.file[row]
	}
	return r.load.lineOf(int64(row))
}

// dropNulls renumbers the fields' missing values after rows were left out.
func (l *load) dropNulls(keep []uint32) {
	for i := range l.data {
		d := &l.data[i]
		var nulls []uint32
		for _, n := range d.nulls {
			if at, ok := slices.BinarySearch(keep, n); ok {
				nulls = append(nulls, uint32(at))
			}
		}
		d.nulls = nulls
	}
}

func (l *load) allKeysUnique(ctx context.Context, t *store.Table, keyed keyCache) (bool, error) {
	for i, u := range l.source.Uses {
		if unique, err := keyed.unique(ctx, t, l.args[i][:u.Schema.Keys]); !unique || err != nil {
			return false, err
		}
	}
	return true, nil
}

// asSet returns the relation. If rows of the table repeat in its columns, or
// have no value, the relation gets a table of its own.
func (l *load) asSet(
	ctx context.Context, r *store.Relation, rows rowNumbers, keyed keyCache,
) (*store.Relation, error) {
	var missing []uint32
	for _, c := range r.Cols[r.Keys:] {
		missing = append(missing, l.data[c].nulls...)
	}
	if len(missing) == 0 {
		if unique, err := keyed.unique(ctx, r.Table, r.Cols[:r.Keys]); unique || err != nil {
			return r, err
		}
	}
	own := &store.Table{Name: r.Name, Rows: r.Table.Rows, Columns: r.Table.Pick(r.Cols)}
	if err := wantColumns(own.Columns); err != nil {
		return nil, err
	}
	for _, c := range r.Cols {
		own.Names = append(own.Names, r.Table.Names[c])
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		keep := complement(slices.Compact(missing), own.Rows)
		var err error
		if own, err = l.selectRows(own, keep); err != nil {
			return nil, err
		}
		rows.compose(keep)
	}
	keep, a, b, err := store.Dedupe(ctx, keyed.Sorting, own.Columns, own.Rows, r.Keys)
	if err != nil {
		return nil, err
	}
	if a != b {
		return nil, l.keyError(r, own, rows, a, b)
	}
	if keep != nil {
		if len(l.source.Uses) == 1 {
			l.report.Repeated += int64(own.Rows - len(keep))
		}
		if own, err = l.selectRows(own, keep); err != nil {
			return nil, err
		}
	}
	set := &store.Relation{Name: r.Name, Table: own, Keys: r.Keys}
	for i := range r.Cols {
		set.Cols = append(set.Cols, i)
	}
	return set, nil
}

func (l *load) keyError(r *store.Relation, t *store.Table, rows rowNumbers, a, b uint32) error {
	e := &KeyError{Predicate: r.Name, File: l.source.Path, Rows: l.byRow}
	e.Lines = [2]int64{rows.line(a), rows.line(b)}
	values := func(cols []*store.Column, row uint32) []scalar.Value {
		out := make([]scalar.Value, len(cols))
		for i, c := range cols {
			out[i] = c.Value(int(row))
		}
		return scalar.JoinedRow(out)
	}
	last := func(row uint32) scalar.Value {
		all := values(t.Columns, row)
		return all[len(all)-1]
	}
	e.Key = values(t.Columns[:r.Keys], a)
	e.Values = [2]scalar.Value{last(a), last(b)}
	return e
}

// complement returns the rows that are not in the ascending list.
func complement(out []uint32, rows int) []uint32 {
	keep := make([]uint32, 0, rows-len(out))
	for row := range uint32(rows) {
		if len(out) > 0 && out[0] == row {
			out = out[1:]
			continue
		}
		keep = append(keep, row)
	}
	return keep
}
