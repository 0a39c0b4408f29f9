package machine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/store"
)

// piece is memory of a fakeDevice.
type piece struct{ data []byte }

// word returns a word of a piece.
func (p *piece) word(i int64) uint64 { return binary.LittleEndian.Uint64(p.data[8*i:]) }

func (p *piece) set(i int64, w uint64) { binary.LittleEndian.PutUint64(p.data[8*i:], w) }

// row returns a number of 4 bytes of a piece.
func (p *piece) row(i int64) int { return int(binary.LittleEndian.Uint32(p.data[4*i:])) }

func (p *piece) setRow(i int64, row int) {
	binary.LittleEndian.PutUint32(p.data[4*i:], uint32(row))
}

// fakeDevice has memory in Go. Memory that is not zeroed holds garbage.
type fakeDevice struct{ live map[*byte]bool }

func (d *fakeDevice) Address(p *piece) int64 {
	if len(p.data) == 0 {
		return 0
	}
	return int64(len(p.data))
}

func (d *fakeDevice) alloc(p *piece, bytes int64, fill byte) error {
	if err := d.Free(p); err != nil {
		return err
	}
	p.data = slices.Repeat([]byte{fill}, int(bytes))
	d.live[&p.data[0]] = true
	return nil
}

func (d *fakeDevice) Renew(p *piece, _ string, bytes int64) error { return d.alloc(p, bytes, 0) }

func (d *fakeDevice) Reserve(p *piece, _ string, bytes int64) error {
	return d.alloc(p, bytes, 0xa5)
}

func (d *fakeDevice) Free(p *piece) error {
	if len(p.data) > 0 {
		if !d.live[&p.data[0]] {
			return errors.New("memory is freed twice")
		}
		delete(d.live, &p.data[0])
	}
	p.data = nil
	return nil
}

// fakeBuilder is an engine whose kernels are Go functions over one column.
type fakeBuilder struct {
	*testing.T
	x     *Index[piece]
	words []int64 // of the relation's key
	wide  int64   // for how many rows Number made room
}

func (b *fakeBuilder) Slots(keys int64) int64 { return SlotsFor(keys) }

func (b *fakeBuilder) Number(n int64) error {
	b.wide = n
	return nil
}

func (b *fakeBuilder) Words() (columns, gauge int64) { return 77, 88 }

// Ascend sets the first row of each number.
func (b *fakeBuilder) Ascend(numbers int64) Pass {
	return Pass{Tasks: []func(){func() {
		for n := range numbers + 1 {
			first := slices.IndexFunc(b.words[b.x.From:b.x.Until],
				func(w int64) bool { return w-b.x.Lay.Fields[0].Base >= n })
			if first < 0 {
				first = int(b.x.Until - b.x.From)
			}
			b.x.Begins.set(n, uint64(first))
		}
	}}}
}

// Sum adds up the counts, which start at the second word.
func (b *fakeBuilder) Sum(numbers int64) error {
	sum := uint64(0)
	for n := range numbers {
		count := b.x.Begins.word(n + 1)
		b.x.Begins.set(n+1, sum)
		sum += count
	}
	return nil
}

// key is the packed key of a row.
func (b *fakeBuilder) key(row int64) int64 { return b.words[row] - b.x.Lay.Fields[0].Base }

// number returns the number of a key: the key itself, or its slot of a hash
// table, where it is entered.
func (b *fakeBuilder) number(key int64) int64 {
	if b.x.Form == abi.Direct {
		return key
	}
	stride := int64(1)
	if b.x.Decl.Kind == harmony.Unique {
		stride = 2 // a slot has a row behind the key
	}
	mask := int64(b.x.Mask)
	if key == 0 {
		b.x.Table.set(stride*(mask+1), 1)
		return mask + 1
	}
	for at, tries := key*7&mask, int64(0); ; at, tries = (at+1)&mask, tries+1 {
		switch found := b.x.Table.word(stride * at); {
		case tries > mask:
			b.Fatal("the hash table is full")
		case found == uint64(key):
			return at
		case found == 0:
			b.x.Table.set(stride*at, uint64(key))
			return at
		}
	}
}

// run carries out the code of a role.
func (b *fakeBuilder) run(role abi.Role, from, until int64) error {
	x := b.x
	for row := from; row < until; row++ {
		number := b.number(b.key(row))
		switch {
		case role == abi.BuildCount:
			x.Begins.set(number+1, x.Begins.word(number+1)+1)
		case role == abi.BuildFill:
			at := x.Begins.word(number + 1)
			x.Begins.set(number+1, at+1)
			x.Rows.setRow(int64(at), int(row-x.From))
		case x.Decl.Kind == harmony.Exists && x.Form == abi.Direct:
			x.Table.data[number/8] |= 1 << (number % 8)
		case x.Decl.Kind == harmony.Unique && x.Form == abi.Direct:
			x.Table.setRow(number, int(row)+1)
		case x.Decl.Kind == harmony.Unique:
			x.Table.set(2*number+1, uint64(row))
		}
	}
	return nil
}

func (b *fakeBuilder) tasks(list []func()) error {
	for _, f := range list {
		f()
	}
	return nil
}

// rows returns the rows with a key by the tables of the index.
func (b *fakeBuilder) rows(key int64) (rows []int) {
	x := b.x
	number := key
	if x.Form == abi.Hash {
		stride := int64(1)
		if x.Decl.Kind == harmony.Unique {
			stride = 2
		}
		for number = key * 7 & int64(x.Mask); key != 0; number = (number + 1) & int64(x.Mask) {
			found := x.Table.word(stride * number)
			if found == 0 {
				return nil
			}
			if found == uint64(key) {
				break
			}
		}
		if key == 0 {
			if number = int64(x.Mask) + 1; x.Table.word(stride*number) == 0 {
				return nil
			}
		}
	}
	switch x.Decl.Kind {
	case harmony.Exists:
		if x.Form == abi.Direct && x.Table.data[number/8]>>(number%8)&1 == 0 {
			return nil
		}
		return []int{-1} // there is one
	case harmony.Unique:
		if x.Form == abi.Hash {
			return []int{int(x.Table.word(2*number + 1))}
		}
		if row := x.Table.row(number); row > 0 {
			return []int{row - 1}
		}
		return nil
	}
	for at := x.Begins.word(number); at < x.Begins.word(number+1); at++ {
		if x.Identity {
			rows = append(rows, int(int64(at)+x.From))
		} else {
			rows = append(rows, int(int64(x.Rows.row(int64(at)))+x.From))
		}
	}
	return rows
}

// newFake returns an index over a column of words in [0, most], on a device in
// memory.
func newFake(t *testing.T, kind harmony.IndexKind, form abi.Form, words []int64, most int64,
) (*Index[piece], *fakeBuilder, *fakeDevice) {
	lay := layout.Pack([]interval.Interval{{Lo: 0, Hi: most}})
	lay.Form = form
	rel := &harmony.Relation{Name: "r", Kind: queryplan.Derived,
		Cols: []harmony.Column{{Name: "k", Type: scalar.IntType}}}
	d, b := &fakeDevice{live: map[*byte]bool{}}, &fakeBuilder{T: t, words: words}
	x := NewIndex[piece](d, b, &harmony.Index{Name: "x", Kind: kind, Of: rel, Key: []int{0}}, lay, "x")
	b.x = &x
	return &x, b, d
}

// build builds or extends an index over rows.
func (b *fakeBuilder) build(from, until int64, generation int, facts []*store.Column) {
	b.Helper()
	passes, done := b.x.Update(from, until, generation)
	if !done {
		b.x.Begin(from, until, generation, facts)
		var err error
		if passes, err = b.x.Passes(); err != nil {
			b.Fatal(err)
		}
	}
	if err := RunPasses(passes, b.run, b.tasks); err != nil {
		b.Fatal(err)
	}
}

// check compares the rows of each key with those of a scan.
func (b *fakeBuilder) check(what string, most int64) {
	b.Helper()
	for key := range most + 1 {
		var want []int
		for row := b.x.From; row < b.x.Until; row++ {
			if b.words[row] == key {
				want = append(want, int(row))
			}
		}
		if b.x.Decl.Kind == harmony.Exists && want != nil {
			want = []int{-1}
		}
		if got := b.rows(key); !slices.Equal(got, want) {
			b.Fatalf("%s: key %d has the rows %v, want %v", what, key, got, want)
		}
	}
}

// TestIndexes builds indexes of each kind and form over rows in a random order,
// extends them, and builds them anew over other rows.
func TestIndexes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, kind := range []harmony.IndexKind{harmony.Exists, harmony.Unique, harmony.Multi} {
		for _, form := range []abi.Form{abi.Direct, abi.Hash} {
			for _, n := range []int64{1, 2, 43, 300} {
				what := fmt.Sprint(kind, " ", form, " ", n)
				var words []int64
				for _, k := range rng.Perm(int(2 * n)) {
					words = append(words, int64(k))
				}
				if kind == harmony.Multi {
					for i := range words {
						words[i] /= 3
					}
				}
				_, b, d := newFake(t, kind, form, words, 2*n-1)
				for i, rows := range [][2]int64{{0, n / 2}, {0, n}, {0, 2 * n}, {n, 2 * n}} {
					b.build(rows[0], rows[1], i/3, nil)
					b.check(what, 2*n-1)
				}
				if err := b.x.Release(); err != nil || len(d.live) != 0 {
					t.Errorf("%s: %d pieces are not freed: %v", what, len(d.live), err)
				}
			}
		}
	}
}

// TestAscendingIndex has rows ascend by the key, so that an index needs no list
// of rows.
func TestAscendingIndex(t *testing.T) {
	words := []int64{2, 2, 3, 7, 7, 7, 9}
	column := store.ColumnOf(scalar.IntType, words, nil)
	x, b, _ := newFake(t, harmony.Multi, abi.Direct, words, 9)
	b.build(0, 7, 0, []*store.Column{column})
	if !x.Identity || len(x.Rows.data) != 0 {
		t.Errorf("identity %v, and %d bytes of rows", x.Identity, len(x.Rows.data))
	}
	b.check("ascending", 9)
	if w, err := x.Word(abi.Param{Kind: abi.IndexRows}); w != 0 || err != nil {
		t.Errorf("the address of rows is %d, %v", w, err)
	}
}

// TestUpdate asks which builds an index needs.
func TestUpdate(t *testing.T) {
	words := make([]int64, 4096)
	for i := range words {
		words[i] = int64(i)
	}
	for _, c := range []struct {
		kind        harmony.IndexKind
		form        abi.Form
		open        bool
		from, until int64
		generation  int
		done        bool
		passFrom    int64 // of the pass that extends the index, -1 for none
	}{
		{harmony.Unique, abi.Hash, false, 0, 30, 0, true, -1},
		{harmony.Unique, abi.Hash, false, 0, 42, 0, true, 30},  // two thirds of 64 slots
		{harmony.Unique, abi.Hash, false, 0, 43, 0, false, -1}, // beyond
		{harmony.Unique, abi.Hash, false, 0, 20, 0, false, -1}, // rows have left
		{harmony.Unique, abi.Hash, false, 1, 30, 0, false, -1}, // other rows
		{harmony.Unique, abi.Hash, false, 0, 30, 1, false, -1}, // another generation
		{harmony.Exists, abi.Direct, false, 0, 4000, 0, true, 30},
		{harmony.Multi, abi.Direct, false, 0, 31, 0, false, -1},
		{harmony.Exists, abi.Wide, false, 0, 31, 0, false, -1},
		{harmony.Exists, abi.Hash, true, 0, 42, 0, false, -1}, // a bit set is better
	} {
		x, _, _ := newFake(t, c.kind, c.form, words, 4095)
		x.Begin(0, 30, 0, nil)
		if _, err := x.Passes(); err != nil {
			t.Fatal(err)
		}
		x.Lay.Open = c.open
		passes, done := x.Update(c.from, c.until, c.generation)
		if done != c.done {
			t.Errorf("%+v: done is %v", c, done)
		}
		switch {
		case c.passFrom < 0 && len(passes) > 0:
			t.Errorf("%+v: passes %v", c, passes)
		case c.passFrom >= 0 && (len(passes) != 1 || passes[0].From != c.passFrom ||
			passes[0].Until != c.until || passes[0].Role != abi.BuildInsert || x.Until != c.until):
			t.Errorf("%+v: passes %v, until %d", c, passes, x.Until)
		}
	}
	x, b, _ := newFake(t, harmony.Unique, abi.Hash, words, 4095)
	b.build(0, 30, 3, nil)
	if !x.BuiltFrom(0, 3) || x.BuiltFrom(1, 3) || x.BuiltFrom(0, 4) {
		t.Error("BuiltFrom does not know the rows of a build")
	}
	if err := x.Release(); err != nil || x.BuiltFrom(0, 3) {
		t.Errorf("an index that is released counts as built: %v", err)
	}
}

// TestWideIndex makes the tables of keys wider than a word, and asks for the
// words of its parameters.
func TestWideIndex(t *testing.T) {
	x, b, d := newFake(t, harmony.Multi, abi.Wide, make([]int64, 100), 0)
	x.Begin(10, 100, 0, nil)
	passes, err := x.Passes()
	if err != nil || len(passes) != 2 || passes[0].Role != abi.BuildCount ||
		passes[1].Role != abi.BuildFill || passes[0].From != 10 || passes[1].Until != 100 {
		t.Fatalf("passes %v, %v", passes, err)
	}
	if b.wide != 90 || len(x.Wide.data) != 8*(256+1) || len(x.Begins.data) != 8*(90+2) {
		t.Errorf("room for %d tuples, %d bytes of slots, %d of begins", b.wide, len(x.Wide.data),
			len(x.Begins.data))
	}
	for kind, want := range map[abi.Kind]int64{
		abi.IndexForm: int64(abi.Wide), abi.IndexSize: 90, abi.IndexTable: 0,
		abi.IndexWideMask: 255, abi.IndexWideSlots: d.Address(&x.Wide),
		abi.IndexBegins: d.Address(&x.Begins), abi.IndexRows: d.Address(&x.Rows),
		abi.IndexWideColumns: 77, abi.IndexWideGauge: 88,
	} {
		if got, err := x.Word(abi.Param{Kind: kind}); got != want || err != nil {
			t.Errorf("parameter %v is %d, want %d: %v", kind, got, want, err)
		}
	}
	if _, err := x.Word(abi.Param{Kind: abi.Gauge, Var: "x"}); err == nil {
		t.Error("an index has no gauge")
	}
}

// TestSlots checks the load of hash tables.
func TestSlots(t *testing.T) {
	for keys := int64(0); keys < 5000; keys += 7 {
		slots := SlotsFor(keys)
		if slots&(slots-1) != 0 || RoomOf(uint64(slots-1)) < keys ||
			slots > 64 && RoomOf(uint64(slots/2-1)) >= keys {
			t.Fatalf("%d slots for %d keys", slots, keys)
		}
	}
}

// TestRunPasses has a pass fail, and those after it not run.
func TestRunPasses(t *testing.T) {
	why := errors.New("why")
	var ran []int64
	exec := func(_ abi.Role, from, _ int64) error {
		ran = append(ran, from)
		return nil
	}
	passes := []Pass{{From: 1}, {From: 2, After: func() error { return why }}, {From: 3}}
	if err := RunPasses(passes, exec, nil); err != why || !slices.Equal(ran, []int64{1, 2}) {
		t.Errorf("%v after the passes %v", err, ran)
	}
}
