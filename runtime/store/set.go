package store

import (
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
		rows.file = keep
		var err error
		if table, err = l.selectRows(table, keep); err != nil {
			return nil, err
		}
		l.dropNulls(keep)
	}
	with := sorting{threads: l.opts.threads(), memory: l.ledger, what: "finding repeated facts in " + l.source.Path}
	keyed := newKeyCache(with)
	if len(l.source.Uses) > 1 {
		unique, err := l.allKeysUnique(ctx, table, keyed)
		if err != nil {
			return nil, err
		}
		var keep []uint32
		if !unique {
			if keep, err = firstOfEach(ctx, with, table.Columns, table.Rows); err != nil {
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
	sorting
	known map[string]bool
}

func newKeyCache(with sorting) keyCache { return keyCache{with, map[string]bool{}} }

func (k keyCache) unique(ctx context.Context, t *Table, cols []int) (bool, error) {
	name := fmt.Sprint(cols)
	u, ok := k.known[name]
	if !ok {
		var err error
		if u, err = uniqueRows(ctx, k.sorting, t.columns(cols), t.Rows); err != nil {
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

// selectRows returns the rows of a table that are kept.
func (l *load) selectRows(t *Table, keep []uint32) (*Table, error) {
	var most int64
	for _, c := range t.Columns {
		most += int64(c.Width) * int64(len(keep))
	}
	// Pieces of columns are there until these are put together.
	if err := l.ledger.take("the facts of "+l.source.Path+" without those left out", 2*most); err != nil {
		return nil, err
	}
	defer l.ledger.give(most)
	return t.selectRows(keep), nil
}

// bytesOfTables returns the memory of the tables of relations, with their dictionaries.
func bytesOfTables(rels []*Relation) (n int64) {
	columns, dicts := map[*Column]bool{}, map[*Dict]bool{}
	for _, r := range rels {
		for _, c := range r.Table.Columns {
			if columns[c] {
				continue
			}
			columns[c] = true
			n += c.Bytes()
			if c.Dict != nil && !dicts[c.Dict] {
				dicts[c.Dict] = true
				n += c.Dict.Bytes()
			}
		}
	}
	return n
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
		var err error
		if own, err = l.selectRows(own, keep); err != nil {
			return nil, err
		}
		rows.compose(keep)
	}
	keep, a, b, err := dedupe(ctx, keyed.sorting, own.Columns, own.Rows, r.Keys)
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
func dedupe(ctx context.Context, with sorting, cols []*Column, rows, keys int) (keep []uint32, a, b uint32, err error) {
	s := newRowSorter(with, cols[:keys], nil)
	repeats := s.repeats
	if len(s.groups) == 1 {
		repeats = s.repeatedKeys
	}
	same := rowComparer(cols[keys:])
	drop, err := s.alloc((rows + 63) / 64) // a bit for each row
	if err != nil {
		return nil, 0, 0, err
	}
	defer s.free(drop)
	dropped, clash := 0, false
	err = repeats(ctx, rows, func(first, row uint32) bool {
		if !same(first, row) {
			clash, a, b = true, first, row
			return false
		}
		drop[row/64] |= 1 << (row % 64)
		dropped++
		return true
	})
	if clash || err != nil || dropped == 0 {
		return nil, a, b, err
	}
	if keep, err = s.rowList(rows - dropped); err != nil {
		return nil, 0, 0, err
	}
	keep = keep[:0]
	for row := range uint32(rows) {
		if drop[row/64]>>(row%64)&1 == 0 {
			keep = append(keep, row)
		}
	}
	return keep, 0, 0, nil
}

// repeatedKeys visits, in order, the rows whose key an earlier row has, with the
// first such row, until visit returns false. The columns are one group.
func (s *rowSorter) repeatedKeys(ctx context.Context, rows int, visit func(first, row uint32) bool) error {
	g := &s.groups[0]
	keys, err := g.sortedKeys(ctx, &s.sorting, rows)
	if err != nil {
		return err
	}
	defer s.free(keys)
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
	firsts, err := newRowTable(&s.sorting, repeated)
	if err != nil {
		return err
	}
	defer firsts.free(&s.sorting)
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
				firsts.rows[at] = uint64(row) + 1
			} else if !visit(uint32(first-1), row) {
				return nil
			}
		}
	}
	return nil
}

// repeats is repeatedKeys for columns of several groups.
func (s *rowSorter) repeats(ctx context.Context, rows int, visit func(first, row uint32) bool) error {
	selection, err := s.rows(ctx, rows)
	if err != nil {
		return err
	}
	defer selection.Free()
	sorted := selection.Rows
	// The order is stable, so the first of a run is the first in the file. Those that
	// follow are visited in the order of the file.
	repeated := 0
	for i := 1; i < rows; i++ {
		if s.equal(sorted[i-1], sorted[i]) {
			repeated++
		}
	}
	if repeated == 0 {
		return nil
	}
	found, err := s.alloc(repeated) // the later row, and above it the first one
	if err != nil {
		return err
	}
	defer s.free(found)
	found = found[:0]
	for i := 0; i < rows; {
		first := sorted[i]
		for i++; i < rows && s.equal(first, sorted[i]); i++ {
			found = append(found, uint64(sorted[i])<<32|uint64(first))
		}
	}
	slices.Sort(found)
	for _, p := range found {
		if !visit(uint32(p), uint32(p>>32)) {
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

// noRow stands for the row of a key that none was seen of yet.
const noRow = 1 << 32

// rowTable maps some keys to a row: open addressing, at most half full.
type rowTable struct {
	keys  []uint64
	rows  []uint64 // of each key, its row plus one; 0 where there is no key
	shift int
}

// newRowTable makes a table whose memory is the caller's to free.
func newRowTable(with *sorting, keys []uint64) (*rowTable, error) {
	width := bits.Len(uint(2*len(keys))) + 1
	t := &rowTable{shift: 64 - width}
	var err error
	if t.keys, err = with.alloc(1 << width); err != nil {
		return nil, err
	}
	if t.rows, err = with.alloc(1 << width); err != nil {
		with.free(t.keys)
		return nil, err
	}
	for _, k := range keys {
		i := int(scalar.Mix(k) >> t.shift)
		for t.rows[i] != 0 {
			i = (i + 1) & (len(t.keys) - 1)
		}
		t.keys[i], t.rows[i] = k, noRow
	}
	return t, nil
}

func (t *rowTable) free(with *sorting) {
	with.free(t.keys)
	with.free(t.rows)
}

// find returns the place of a key, or -1.
func (t *rowTable) find(key uint64) int {
	for i := int(scalar.Mix(key) >> t.shift); t.rows[i] != 0; i = (i + 1) & (len(t.keys) - 1) {
		if t.keys[i] == key {
			return i
		}
	}
	return -1
}

// firstOfEach returns the first row of each different one, ascending, or nil
// when no row repeats another in all columns.
func firstOfEach(ctx context.Context, with sorting, cols []*Column, rows int) ([]uint32, error) {
	keep, _, _, err := dedupe(ctx, with, cols, rows, len(cols))
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
func uniqueRows(ctx context.Context, with sorting, cols []*Column, rows int) (bool, error) {
	if rows < 2 {
		return true, nil
	}
	if len(cols) == 0 {
		return false, nil
	}
	if slices.ContainsFunc(cols, func(c *Column) bool { return c.Stats.Ascending && c.Stats.Distinct == int64(rows) }) {
		return true, nil // the count is exact
	}
	s := newRowSorter(with, cols, nil)
	if sorted, strict, err := s.inOrder(ctx, rows); sorted || err != nil {
		return strict, err
	}
	if len(s.groups) > 1 {
		selection, err := s.rows(ctx, rows)
		if err != nil {
			return false, err
		}
		defer selection.Free()
		sorted := selection.Rows
		for i := 1; i < rows; i++ {
			if s.equal(sorted[i-1], sorted[i]) {
				return false, nil
			}
		}
		return true, nil
	}
	g := &s.groups[0]
	if g.bits <= bits.Len(uint(rows))+6 {
		return g.uniqueByBitmap(ctx, &s.sorting, rows)
	}
	keys, err := g.sortedKeys(ctx, &s.sorting, rows)
	if err != nil {
		return false, err
	}
	defer s.free(keys)
	for i := 1; i < rows; i++ {
		if keys[i] == keys[i-1] {
			return false, nil
		}
	}
	return true, nil
}

// uniqueByBitmap marks each key in a bitmap of at most 16 bytes a row.
func (g *keyGroup) uniqueByBitmap(ctx context.Context, with *sorting, rows int) (bool, error) {
	seen, err := with.alloc(int(1 + (uint64(1)<<g.bits-1)/64))
	if err != nil {
		return false, err
	}
	defer with.free(seen)
	var repeats atomic.Bool
	inParallel(threadsOf(with.threads), (rows+orderRows-1)/orderRows, func(i int) {
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
