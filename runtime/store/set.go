package store

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// finish makes the relations of a source of its columns: sets of tuples, of
// which the functional ones have one value a key.
func (l *load) finish(ctx context.Context) ([]*Relation, error) {
	table := &Table{Name: l.source.Path, Rows: int(l.rows)}
	for i, f := range l.fields {
		table.Names = append(table.Names, f.name)
		table.Columns = append(table.Columns, l.data[i].column)
	}
	rows := rowNumbers{load: l}
	if len(l.bad) > 0 {
		keep := complement(l.bad, table.Rows)
		table, rows.file = table.selectRows(keep), keep
		l.dropNulls(keep)
	}
	keyed := newKeyCache(l.opts.threads())
	if len(l.source.Uses) > 1 {
		unique, err := l.allKeysUnique(ctx, table, keyed)
		if err != nil {
			return nil, err
		}
		var keep []uint32
		if !unique {
			if keep, err = firstOfEach(ctx, keyed.threads, table.Columns, table.Rows); err != nil {
				return nil, err
			}
		}
		if keep != nil {
			l.report.Repeated += int64(table.Rows - len(keep))
			rows.compose(keep)
			table, keyed = table.selectRows(keep), newKeyCache(keyed.threads)
			l.dropNulls(keep)
		}
	}
	rels := make([]*Relation, len(l.source.Uses))
	for i, u := range l.source.Uses {
		r := &Relation{Name: u.Schema.Name, Table: table, Cols: l.args[i], Keys: u.Schema.Keys}
		rel, err := l.asSet(ctx, r, rows, keyed)
		if err != nil {
			return nil, err
		}
		rels[i] = rel
	}
	return rels, nil
}

// keyCache says of lists of a table's columns whether no two rows agree in them.
type keyCache struct {
	threads int
	known   map[string]bool
}

func newKeyCache(threads int) keyCache { return keyCache{threads, map[string]bool{}} }

func (k keyCache) unique(ctx context.Context, t *Table, cols []int) (bool, error) {
	name := fmt.Sprint(cols)
	u, ok := k.known[name]
	if !ok {
		var err error
		if u, err = uniqueRows(ctx, k.threads, t.columns(cols), t.Rows); err != nil {
			return false, err
		}
		k.known[name] = u
	}
	return u, nil
}

func (t *Table) columns(cols []int) []*Column {
	out := make([]*Column, len(cols))
	for i, c := range cols {
		out[i] = t.Columns[c]
	}
	return out
}

func (t *Table) selectRows(keep []uint32) *Table {
	out := &Table{Name: t.Name, Names: t.Names, Rows: len(keep), Columns: make([]*Column, len(t.Columns))}
	for i, c := range t.Columns {
		out.Columns[i] = c.Select(keep)
	}
	return out
}

// rowNumbers leads from the rows of a table back to those of its file.
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

func (l *load) allKeysUnique(ctx context.Context, t *Table, keyed keyCache) (bool, error) {
	for i, u := range l.source.Uses {
		if unique, err := keyed.unique(ctx, t, l.args[i][:u.Schema.Keys]); !unique || err != nil {
			return false, err
		}
	}
	return true, nil
}

// asSet returns the relation, over a table of its own when its tuples are not
// the table's rows: some repeat, or have no value.
func (l *load) asSet(ctx context.Context, r *Relation, rows rowNumbers, keyed keyCache) (*Relation, error) {
	var missing []uint32
	for _, c := range r.Cols[r.Keys:] {
		missing = append(missing, l.data[c].nulls...)
	}
	if len(missing) == 0 {
		if unique, err := keyed.unique(ctx, r.Table, r.Cols[:r.Keys]); unique || err != nil {
			return r, err
		}
	}
	own := &Table{Name: r.Name, Rows: r.Table.Rows, Columns: r.Table.columns(r.Cols)}
	for _, c := range r.Cols {
		own.Names = append(own.Names, r.Table.Names[c])
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		keep := complement(slices.Compact(missing), own.Rows)
		own = own.selectRows(keep)
		rows.compose(keep)
	}
	keep, a, b, err := dedupe(ctx, keyed.threads, own.Columns, own.Rows, r.Keys)
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
		own = own.selectRows(keep)
	}
	set := &Relation{Name: r.Name, Table: own, Keys: r.Keys}
	for i := range r.Cols {
		set.Cols = append(set.Cols, i)
	}
	return set, nil
}

func (l *load) keyError(r *Relation, t *Table, rows rowNumbers, a, b uint32) error {
	e := &KeyError{Predicate: r.Name, File: l.source.Path, Rows: l.byRow}
	e.Lines = [2]int64{rows.line(a), rows.line(b)}
	values := func(cols []*Column, row uint32) []scalar.Value {
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

// dedupe returns the first row of each tuple, ascending, or nil when no tuple
// repeats. When two rows agree in the key columns alone it returns the first
// such pair instead, by the later row.
func dedupe(ctx context.Context, threads int, cols []*Column, rows, keys int) (keep []uint32, a, b uint32, err error) {
	s := newRowSorter(threads, cols[:keys], nil)
	repeats := s.repeats
	if len(s.groups) == 1 {
		repeats = s.repeatedKeys
	}
	same := rowComparer(cols[keys:])
	var drop []uint32
	clash := false
	err = repeats(ctx, rows, func(first, row uint32) bool {
		if !same(first, row) {
			clash, a, b = true, first, row
			return false
		}
		drop = append(drop, row)
		return true
	})
	if clash || err != nil || drop == nil {
		return nil, a, b, err
	}
	return complement(drop, rows), 0, 0, nil
}

// repeatedKeys visits, in order, the rows whose key an earlier row has, with the
// first such row, until visit returns false. The columns are one group.
func (s *rowSorter) repeatedKeys(ctx context.Context, rows int, visit func(first, row uint32) bool) error {
	g := &s.groups[0]
	keys, err := g.sortedKeys(ctx, s.threads, rows)
	if err != nil {
		return err
	}
	repeated := keys[:0]
	for i := 1; i < rows; i++ {
		if k := keys[i]; k == keys[i-1] && (len(repeated) == 0 || repeated[len(repeated)-1] != k) {
			// Writing behind the reader: repeated is shorter than i.
			repeated = append(repeated, k)
		}
	}
	if len(repeated) == 0 {
		return nil
	}
	firsts := newRowTable(repeated)
	part, scratch := make([]uint64, blockRows), make([]uint64, blockRows)
	for from := 0; from < rows; from += blockRows {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		part := part[:min(blockRows, rows-from)]
		g.read(part, scratch, from)
		for i, k := range part {
			at := firsts.find(k)
			if at < 0 {
				continue
			}
			row := uint32(from + i)
			if first := firsts.rows[at]; first == noRow {
				firsts.rows[at] = row
			} else if !visit(first, row) {
				return nil
			}
		}
	}
	return nil
}

// repeats is repeatedKeys for columns of several groups.
func (s *rowSorter) repeats(ctx context.Context, rows int, visit func(first, row uint32) bool) error {
	sorted, err := s.rows(ctx, rows)
	if err != nil {
		return err
	}
	type pair struct{ first, row uint32 }
	var found []pair
	for i := 0; i < rows; {
		// The order is stable, so the first of a run is the first in the file.
		first := sorted[i]
		for i++; i < rows && s.equal(first, sorted[i]); i++ {
			found = append(found, pair{first, sorted[i]})
		}
	}
	slices.SortFunc(found, func(a, b pair) int { return cmp.Compare(a.row, b.row) })
	for _, p := range found {
		if !visit(p.first, p.row) {
			return nil
		}
	}
	return nil
}

// equal reports whether two rows have the same keys.
func (s *rowSorter) equal(a, b uint32) bool {
	for i := range s.groups {
		for j := range s.groups[i].parts {
			if c := s.groups[i].parts[j].col; c.Word(int(a)) != c.Word(int(b)) {
				return false
			}
		}
	}
	return true
}

// noRow is the row of a key that none was seen of yet.
const noRow = 1<<32 - 1

// rowTable maps some keys to a row: open addressing, at most half full.
type rowTable struct {
	keys  []uint64
	used  []bool
	rows  []uint32
	shift int
}

func newRowTable(keys []uint64) *rowTable {
	width := bits.Len(uint(2*len(keys))) + 1
	t := &rowTable{keys: make([]uint64, 1<<width), used: make([]bool, 1<<width), rows: make([]uint32, 1<<width), shift: 64 - width}
	for _, k := range keys {
		i := int(scalar.Mix(k) >> t.shift)
		for t.used[i] {
			i = (i + 1) & (len(t.keys) - 1)
		}
		t.keys[i], t.used[i], t.rows[i] = k, true, noRow
	}
	return t
}

// find returns the place of a key, or -1.
func (t *rowTable) find(key uint64) int {
	for i := int(scalar.Mix(key) >> t.shift); t.used[i]; i = (i + 1) & (len(t.keys) - 1) {
		if t.keys[i] == key {
			return i
		}
	}
	return -1
}

// firstOfEach returns the first row of each different one, ascending, or nil
// when no row repeats another in all columns.
func firstOfEach(ctx context.Context, threads int, cols []*Column, rows int) ([]uint32, error) {
	keep, _, _, err := dedupe(ctx, threads, cols, rows, len(cols))
	return keep, err
}

// rowComparer returns whether two rows agree in all columns.
func rowComparer(cols []*Column) func(a, b uint32) bool {
	return func(a, b uint32) bool {
		for _, c := range cols {
			if c.Word(int(a)) != c.Word(int(b)) {
				return false
			}
		}
		return true
	}
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

// uniqueRows reports whether no two rows agree in all columns. The cheap proofs are that one
// column has another word in each row, and that they ascend; then come a bitmap over the
// packed columns when their ranges are small for the number of rows, and sorting.
func uniqueRows(ctx context.Context, threads int, cols []*Column, rows int) (bool, error) {
	if rows < 2 {
		return true, nil
	}
	if len(cols) == 0 {
		return false, nil
	}
	if slices.ContainsFunc(cols, func(c *Column) bool { return c.Stats.Ascending && c.Stats.Distinct == int64(rows) }) {
		return true, nil // the count is exact
	}
	s := newRowSorter(threads, cols, nil)
	if sorted, strict, err := s.inOrder(ctx, rows); sorted || err != nil {
		return strict, err
	}
	if len(s.groups) > 1 {
		sorted, err := s.rows(ctx, rows)
		if err != nil {
			return false, err
		}
		for i := 1; i < rows; i++ {
			if s.equal(sorted[i-1], sorted[i]) {
				return false, nil
			}
		}
		return true, nil
	}
	g := &s.groups[0]
	if g.bits <= bits.Len(uint(rows))+6 {
		return g.uniqueByBitmap(ctx, s.threads, rows)
	}
	keys, err := g.sortedKeys(ctx, s.threads, rows)
	if err != nil {
		return false, err
	}
	for i := 1; i < rows; i++ {
		if keys[i] == keys[i-1] {
			return false, nil
		}
	}
	return true, nil
}

// uniqueByBitmap marks each key in a bitmap of at most 16 bytes a row.
func (g *keyGroup) uniqueByBitmap(ctx context.Context, threads, rows int) (bool, error) {
	seen := make([]uint64, 1+(uint64(1)<<g.bits-1)/64)
	var repeats atomic.Bool
	inParallel(threadsOf(threads), (rows+orderRows-1)/orderRows, func(i int) {
		keys, scratch := make([]uint64, blockRows), make([]uint64, blockRows)
		from, to := i*orderRows, min((i+1)*orderRows, rows)
		for ; from < to && !repeats.Load() && ctx.Err() == nil; from += blockRows {
			part := keys[:min(blockRows, to-from)]
			g.read(part, scratch, from)
			for _, k := range part {
				if bit := uint64(1) << (k % 64); atomic.OrUint64(&seen[k/64], bit)&bit != 0 {
					repeats.Store(true)
					return
				}
			}
		}
	})
	return !repeats.Load(), context.Cause(ctx)
}
