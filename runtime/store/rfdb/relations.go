package rfdb

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/blocks"
)

// Reading is the options of Relations.
type Reading struct {
	Threads int // 0: one for each core
	// Unread reports whether nobody reads an argument. The column of such an
	// argument is absent, unless it has strings. A nil Unread means that all
	// arguments are read.
	Unread func(pred string, arg int) bool
	// Ledger reserves the memory of columns and strings that are unpacked.
	Ledger *store.Ledger
	// Tests, if not nil, returns the test of an argument, or nil. Rows that
	// fail it may be left out; Selection reports that.
	Tests     func(pred string, arg int) *Test
	Selection *Selection

	headersOnly bool // of packed columns, only the headers are checked
}

// Relations returns relations of the database, in the order of the names. Their
// columns lie in the file or have been unpacked. Relations of one table share a
// table, which has only their columns. Everything that is returned has been
// compared with its checksums; the first damage is a *DamageError.
func (f *File) Relations(ctx context.Context, names []string, how Reading) ([]*store.Relation,
	error) {
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
			left := how.Unread != nil && how.Unread(name, arg) &&
				f.dir.Tables[r.Table].Columns[c].Dict == nil
			used[r.Table][c] = used[r.Table][c] || !left
		}
	}
	var entries []*columnEntry
	places := map[int][]int{}
	tables := map[int]*store.Table{}
	for _, t := range slices.Sorted(maps.Keys(used)) {
		places[t] = slices.Sorted(maps.Keys(used[t]))
		selected, err := f.selectRows(ctx, how, f.dir.Tables[t], places[t], used[t],
			f.tests(names, t, how))
		if err != nil {
			return nil, err
		}
		if tables[t] = selected; selected != nil {
			continue
		}
		for _, c := range places[t] {
			if used[t][c] {
				entries = append(entries, f.dir.Tables[t].Columns[c])
			}
		}
	}
	if err := f.prove(ctx, how, entries); err != nil {
		return nil, err
	}
	for t, columns := range places {
		if tables[t] != nil {
			continue
		}
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

// tests returns the tests of the columns of a table.
func (f *File) tests(names []string, table int, how Reading) map[int]*Test {
	if how.Tests == nil {
		return nil
	}
	out := map[int]*Test{}
	for _, name := range names {
		r := f.relations[name]
		if r.Table != table {
			continue
		}
		for arg, c := range r.Cols {
			t := how.Tests(name, arg)
			if t == nil {
				continue
			}
			if out[c] == nil {
				same := *t
				out[c] = &same
			}
		}
	}
	// A test that lets one value stand for all would break a key.
	for _, name := range names {
		if r := f.relations[name]; r.Table == table {
			for _, c := range r.Cols[:r.Keys] {
				if out[c] != nil {
					out[c].Alone = false
				}
			}
		}
	}
	return out
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

// cut turns errShort into a *DamageError.
func (f *File) cut(err error) error {
	if err == errShort {
		return &DamageError{"the file", 0, err.Error()}
	}
	return err
}

// piece is a part of a column for one task: a block of a section to compare
// with its checksum, or packed blocks to unpack.
type piece struct {
	of    *section
	block int
	part  string // the name of the section in messages
	// column has the entries of the block, from row first on. It is nil if the
	// section has no entries.
	column *store.Column
	first  int
	// packed are the blocks of the column to unpack. If it is nil, the block of
	// section of is compared.
	packed []packedBlock
	entry  *columnEntry // of packed
}

// prove compares columns, and their dictionaries and samples, with their
// checksums, and unpacks packed columns. It skips what an earlier call has
// done.
func (f *File) prove(ctx context.Context, how Reading, entries []*columnEntry) error {
	f.proving.Lock()
	defer f.proving.Unlock()
	p := &proof{File: f, how: how, seen: map[int64]bool{}}
	err := p.collect(entries)
	if err == nil {
		err = p.run(ctx)
	}
	if err == nil {
		err = p.checkConstants()
	}
	if err == nil {
		err = p.checkDicts()
	}
	if err != nil {
		p.dropRooms()
		return err
	}
	p.record()
	return nil
}

// proof is the work of one call of prove.
type proof struct {
	*File
	how      Reading
	fresh    []*columnEntry // the columns that no earlier call has checked
	unopened []int          // dictionaries that no earlier call has opened
	pieces   []piece
	seen     map[int64]bool // the sections in pieces, by offset
}

// collect lists the pieces of columns, and allocates the entries of packed
// columns.
func (p *proof) collect(entries []*columnEntry) error {
	for _, e := range entries {
		if p.isChecked(e) || slices.Contains(p.fresh, e) {
			continue
		}
		p.fresh = append(p.fresh, e)
		of := p.owner(e)
		if e.Dict != nil {
			if err := p.addDict(*e.Dict, of); err != nil {
				return err
			}
		}
		if e.Sample != nil {
			p.add(&e.Sample.Words, "the sample of "+of)
		}
		c := p.column(e)
		if e.Packed != nil && p.how.headersOnly {
			p.add(&e.Packed.Headers, of)
			continue
		}
		if e.Packed != nil {
			packed, err := p.packedPieces(e, of, c, p.how.Ledger)
			if err != nil {
				return p.cut(err)
			}
			p.pieces = append(p.pieces, packed...)
		}
		for i := range e.Entries.blocks() {
			p.pieces = append(p.pieces, piece{of: &e.Entries, block: i, part: of, column: c,
				first: e.packedRows()})
		}
	}
	return nil
}

// addDict adds the sections of a dictionary. of names a column that has it.
func (p *proof) addDict(i int, of string) error {
	d := p.dir.Dicts[i]
	if !slices.Contains(p.unopened, i) && !p.isOpen(i) {
		p.unopened = append(p.unopened, i)
		if d.Packed != nil {
			if err := p.how.Ledger.Take("the strings of "+of, d.bytes()); err != nil {
				return err
			}
		}
	}
	p.add(&d.Text, "the strings of "+of)
	p.add(&d.Ends, "the ends of the strings of "+of)
	if d.Packed != nil {
		p.add(&d.Packed.Symbols, "the symbols of the strings of "+of)
	}
	return nil
}

// add adds the blocks of a section, unless they have been compared.
func (p *proof) add(s *section, part string) {
	// An empty section may have the offset of another one.
	if s.Size == 0 || p.seen[s.At] || p.isProven(s.At) {
		return
	}
	p.seen[s.At] = true
	for i := range s.blocks() {
		p.pieces = append(p.pieces, piece{of: s, block: i, part: part})
	}
}

// run compares and unpacks the pieces in parallel.
func (p *proof) run(ctx context.Context) error {
	threads := parallel.Threads(p.how.Threads)
	errs := make([]error, len(p.pieces))
	decoders := make([]*blocks.Decoder, threads)
	parallel.By(threads, len(p.pieces), func(t, i int) {
		if err := context.Cause(ctx); err != nil {
			errs[i] = err
			return
		}
		next := &p.pieces[i]
		if next.packed == nil {
			errs[i] = p.cut(guarded(func() error { return p.compare(next) }))
			return
		}
		if decoders[t] == nil {
			decoders[t] = &blocks.Decoder{}
		}
		errs[i] = p.cut(guarded(func() error { return p.unpackPiece(next, decoders[t]) }))
	})
	return cmp.Or(errs...)
}

// checkConstants compares columns without entries, whose rows all have one
// value, with their bounds.
func (p *proof) checkConstants() error {
	for _, e := range p.fresh {
		if c := p.column(e); c.Width == 0 && c.Len() > 0 && !c.Holds(0, 1) {
			return &DamageError{p.owner(e), e.Entries.At, "its value is outside of its bounds"}
		}
	}
	return nil
}

// checkDicts opens packed dictionaries, and checks the ends of others.
func (p *proof) checkDicts() error {
	for _, i := range p.unopened {
		d := p.dir.Dicts[i]
		err := guarded(func() error {
			part := "the dictionary of " + p.ownerOfDict(i)
			if d.Packed != nil {
				if err := p.dicts[i].OpenPacked(); err != nil {
					return &DamageError{part, d.Packed.Symbols.At, err.Error()}
				}
			} else if !p.dicts[i].EndsHold() {
				return &DamageError{part, d.Ends.At, "its strings are not within its text"}
			}
			return nil
		})
		if err != nil {
			return p.cut(err)
		}
	}
	return nil
}

// dropRooms drops the entries of columns that could not be proven.
func (p *proof) dropRooms() {
	for _, e := range p.fresh {
		if e.Packed != nil && !p.how.headersOnly {
			p.column(e).DropRoom()
		}
	}
}

// record makes later calls skip what has been checked.
func (p *proof) record() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.pieces {
		if x.of != nil {
			p.proven[x.of.At] = true
		}
	}
	for _, e := range p.fresh {
		p.checked[e] = p.checked[e] || e.Packed == nil || !p.how.headersOnly
	}
	for _, i := range p.unopened {
		p.opened[i] = true
	}
}

// packedPieces checks the headers of a packed column, allocates its entries,
// and returns the pieces to unpack.
func (f *File) packedPieces(e *columnEntry, part string, c *store.Column, ledger *store.Ledger) (
	[]piece, error) {
	p := e.Packed
	var list []packedBlock
	err := guarded(func() error {
		for i := range p.Headers.blocks() {
			if err := f.compare(&piece{of: &p.Headers, block: i, part: part}); err != nil {
				return err
			}
		}
		var err error
		if list, err = e.blocksOf(f.bytes(&p.Headers)); err != nil {
			return &DamageError{part, p.Headers.At, "it has " + err.Error()}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := c.MakeRoom(ledger, part); err != nil {
		return nil, err
	}
	var out []piece
	for of := range slices.Chunk(list, blocksAtOnce) {
		out = append(out, piece{part: part, column: c, packed: of, entry: e})
	}
	return out, nil
}

// unpackPiece fills a column with blocks.
func (f *File) unpackPiece(p *piece, d *blocks.Decoder) error {
	for i := range p.packed {
		if err := f.unpack(d, p.entry, &p.packed[i], p.column, p.part); err != nil {
			return err
		}
	}
	return nil
}

// unpack fills the rows of a block in a column. The column may consist of that
// block only.
func (f *File) unpack(d *blocks.Decoder, e *columnEntry, b *packedBlock, c *store.Column,
	part string) error {
	p := e.Packed
	err := b.unpack(d, c, f.mapped.data[p.At:p.At+p.Size])
	if err == nil {
		if _, _, ok := e.layout.Between(b.Least, b.Greatest); !ok && !c.Holds(b.from, b.until) {
			err = errOutside
		}
	}
	if err != nil {
		return &DamageError{part, p.At + int64(b.at), err.Error()}
	}
	return nil
}

// compare compares a block with its checksum, and entries with the bounds of
// their column. Entries that follow packed rows are copied to the unpacked
// column.
func (f *File) compare(p *piece) error {
	from, until, sum := p.of.block(p.block)
	data := f.bytes(p.of)[from:until]
	if checksum(data) != sum {
		return &DamageError{p.part, p.of.At + from,
			fmt.Sprintf("its bytes up to %d differ from their checksum", p.of.At+until)}
	}
	if p.column == nil || p.column.Width == 0 {
		return nil
	}
	width := int(p.column.Width)
	row := p.first + int(from)/width
	if p.first > 0 {
		copy(p.column.Entries()[row*width:], data)
	}
	if !p.column.Holds(row, row+len(data)/width) {
		return &DamageError{p.part, p.of.At + from, errOutside.Error()}
	}
	return nil
}

func (f *File) isProven(at int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.proven[at]
}

func (f *File) isOpen(dict int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.opened[dict]
}

func (f *File) isChecked(e *columnEntry) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.checked[e]
}

// owner returns a column's name for messages, with a predicate that has it.
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

// ownerOfDict returns the name of a column that has a dictionary.
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

// Text returns the text with a name, or nil if there is none.
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

// Prove compares the tables of relations with their checksums, so that the
// relations of Stubs can be read.
func (f *File) Prove(ctx context.Context, threads int, names []string) error {
	var entries []*columnEntry
	seen := map[int]bool{}
	for _, name := range names {
		if r := f.relations[name]; r != nil && !seen[r.Table] {
			seen[r.Table] = true
			entries = append(entries, f.dir.Tables[r.Table].Columns...)
		}
	}
	return f.prove(ctx, Reading{Threads: threads}, entries)
}
