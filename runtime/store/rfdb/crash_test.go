package rfdb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
)

func address(data []byte) int { return int(uintptr(unsafe.Pointer(unsafe.SliceData(data)))) }

// state is what a database of the tests holds.
type state struct {
	rels  []*store.Relation
	texts map[string][]byte
}

// show renders a state.
func show(rels []*store.Relation, text func(name string) []byte) string {
	var b strings.Builder
	for _, r := range rels {
		fmt.Fprintf(&b, "%s keys %d table %s %v: %s\n", r.Name, r.Keys, r.Table.Name, r.Names(),
			strings.Join(storetest.Tuples(r), "; "))
		fmt.Fprintln(&b, r.Table.Sample().Rows)
	}
	for _, name := range []string{"program", "note"} {
		fmt.Fprintf(&b, "%s %q\n", name, text(name))
	}
	return b.String()
}

func (s state) String() string {
	return show(s.rels, func(name string) []byte { return s.texts[name] })
}

// contents reads all of a database.
func contents(f *File) (string, error) {
	rels, err := f.Relations(context.Background(), f.Names(), Reading{Threads: 1})
	if err != nil {
		return "", err
	}
	for _, name := range []string{"program", "note"} {
		if _, err := f.Text(name); err != nil {
			return "", err
		}
	}
	return show(rels, func(name string) []byte {
		text, _ := f.Text(name)
		return text
	}), nil
}

// digest reads all of a database, faster than contents.
func digest(f *File) (string, error) {
	rels, err := f.Relations(context.Background(), f.Names(), Reading{Threads: 1})
	if err != nil {
		return "", err
	}
	db := store.NewDatabase()
	for _, r := range rels {
		db.Put(r)
	}
	text, err := f.Text("program")
	return fmt.Sprintf("%x %q", db.Digest(1), text), err
}

func relation(name string, keys int, columns ...*store.Column) *store.Relation {
	t := &store.Table{Name: name, Columns: columns, Rows: columns[0].Len()}
	r := &store.Relation{Name: name, Table: t, Keys: keys}
	for i := range columns {
		t.Names = append(t.Names, fmt.Sprintf("c%d", i))
		r.Cols = append(r.Cols, i)
	}
	return r
}

// states returns what a database holds after each of its transactions:
// relations grow, change, come and go, and share tables.
func states() []state {
	var out []state
	var keys, values []int64
	for i := range int64(3000) {
		keys, values = append(keys, i), append(values, i*i%1000+1)
	}
	first := relation("stock", 1, store.ColumnOf(scalar.IntType, keys, nil),
		store.ColumnOf(scalar.IntType, values, nil))
	price := &store.Relation{Name: "price", Table: first.Table, Cols: []int{0, 1}, Keys: 2}
	names := relation("name", 1, store.StringColumn([]string{"pear", "apple", "plum"}))
	var long []string
	for i := range 1500 {
		long = append(long, fmt.Sprintf("Customer#%09d", i*7919%100_003))
	}
	customer := relation("customer", 1, store.StringColumn(long))
	empty := relation("none", 1, store.StringColumn(nil))
	one := relation("one", 1, store.ColumnOf(scalar.FloatType, []int64{1, 1}, nil).Select([]uint32{0}))
	add := func(texts map[string][]byte, rels ...*store.Relation) {
		out = append(out, state{rels, texts})
	}
	text := map[string][]byte{"program": []byte("stock[x] = y -> int(x), int(y).")}
	add(text, first, price, names, empty, customer)
	grown := first
	for i := range int64(4) {
		k, ok := grown.Column(0).Grow([]int64{3000 + 2*i, 3001 + 2*i})
		v, fits := grown.Column(1).Grow([]int64{7, 8})
		if !ok || !fits {
			panic("the words do not fit")
		}
		grown = relation("stock", 1, k, v)
		add(text, grown, price, names, one, customer)
	}
	interned := store.NewDict([]string{"apple", "pear"})
	interned.Intern("fig")
	codes := store.ColumnOf(scalar.StringType, []int64{2, 0, 1}, interned)
	add(map[string][]byte{"program": text["program"], "note": []byte("changed")}, grown,
		relation("name", 1, codes), one)
	wide := store.ColumnOf(scalar.WideDecimalOf(2).WordOf(scalar.High), []int64{-1, 5}, nil)
	low := store.ColumnOf(scalar.WideDecimalOf(2).WordOf(scalar.Low), []int64{1 << 62, 3}, nil)
	add(nil, relation("sum", 2, wide, low), relation("name", 1, codes), grown)
	return out
}

// written returns the disk after all states.
func written(t testing.TB) *image {
	d := newImage(nil)
	if done, err := play(d, states()); err != nil {
		t.Fatalf("after %d transactions: %v", done, err)
	}
	return d
}

// play writes states, and returns how many are committed.
func play(d *image, all []state) (done int, err error) {
	if err := writeNew(d, "test", Writing{}, 1, all[0].rels, all[0].texts); err != nil {
		return 0, err
	}
	w, err := openWriter("test", "test", d)
	if err != nil {
		return 1, err
	}
	for i, s := range all[1:] {
		if err := w.Commit(s.rels, s.texts); err != nil {
			return i + 1, err
		}
	}
	return len(all), nil
}

func TestStates(t *testing.T) {
	all := states()
	for n := 1; n <= len(all); n++ {
		d := newImage(nil)
		if _, err := play(d, all[:n]); err != nil {
			t.Fatal(err)
		}
		f, err := open("test", d)
		if err != nil {
			t.Fatal(err)
		}
		got, err := contents(f)
		if err != nil {
			t.Fatal(err)
		}
		if want := all[n-1].String(); got != want {
			t.Errorf("after transaction %d the contents are\n%s, want\n%s", n, got, want)
		}
		if damage, err := f.Check(context.Background(), 1); err != nil || len(damage) > 0 {
			t.Errorf("after transaction %d: %v, %v", n, damage, err)
		}
	}
}

// TestGrowth appends rows: they are written behind those that are there.
func TestGrowth(t *testing.T) {
	all := states()
	before := 0
	for n := 3; n <= 5; n++ {
		d := newImage(nil)
		if _, err := play(d, all[:n]); err != nil {
			t.Fatal(err)
		}
		if n > 3 && len(d.data)-before > 6*pageSize {
			t.Errorf("transaction %d takes %d bytes, although it adds two rows", n,
				len(d.data)-before)
		}
		before = len(d.data)
	}
}

// TestKilled kills the process at every write, sync and truncation, and loses
// what was not synced: each time the database is at the last transaction or at
// the one that was being written, and the next transaction can be written.
func TestKilled(t *testing.T) {
	all := states()
	var want []string
	for _, s := range all {
		want = append(want, s.String())
	}
	r := rand.New(rand.NewPCG(1, 2))
	first := newImage(nil)
	if err := writeNew(first, "test", Writing{}, 1, all[0].rels, all[0].texts); err != nil {
		t.Fatal(err)
	}
	seeds := 2
	if short.EveryMutation() {
		seeds = 20
	}
	newer, repaired := 0, 0
	for kill := 0; ; kill++ {
		d := newImage(first.platter)
		d.left = kill
		done := 1
		w, err := openWriter("test", "test", d)
		for done < len(all) && err == nil {
			if err = w.Commit(all[done].rels, all[done].texts); err == nil {
				done++
			}
		}
		if err == nil {
			break
		}
		if !errors.Is(err, errKilled) {
			t.Fatalf("killed at %d: %v", kill, err)
		}
		for range seeds {
			after := newImage(d.crash(r))
			f, err := open("test", after)
			if err != nil {
				t.Fatalf("killed at %d after %d transactions: %v", kill, done, err)
			}
			n := int(f.Transaction())
			if n != done && n != done+1 {
				t.Fatalf("killed at %d: transaction %d is there, after %d", kill, n, done)
			}
			if n > done {
				newer++
			}
			repaired += len(f.slots)
			got, err := contents(f)
			if err != nil || got != want[n-1] {
				t.Fatalf("killed at %d: transaction %d is\n%s\n%v, want\n%s", kill, n, got, err,
					want[n-1])
			}
			w, err := openWriter("test", "test", after)
			if err != nil {
				t.Fatal(err)
			}
			next := all[min(n, len(all)-1)]
			if err := w.Commit(next.rels, next.texts); err != nil {
				t.Fatal(err)
			}
			if f, err = open("test", newImage(after.platter)); err == nil {
				got, err = contents(f)
			}
			if err != nil || got != next.String() {
				t.Fatalf("killed at %d, and after another transaction: %v, %s", kill, err, got)
			}
		}
	}
	if newer == 0 || repaired == 0 {
		t.Errorf("%d crashes kept the transaction, %d tore a root", newer, repaired)
	}
}

// TestFailingWrite has a write fail: the writer goes on from the transaction
// before.
func TestFailingWrite(t *testing.T) {
	all := states()
	d := newImage(nil)
	if err := writeNew(d, "test", Writing{}, 1, all[0].rels, all[0].texts); err != nil {
		t.Fatal(err)
	}
	w, err := openWriter("test", "test", d)
	if err != nil {
		t.Fatal(err)
	}
	d.left = 2
	if err := w.Commit(all[1].rels, all[1].texts); !errors.Is(err, errKilled) {
		t.Fatalf("the error is %v", err)
	}
	d.left = -1
	if err := w.Commit(all[5].rels, all[5].texts); err != nil {
		t.Fatal(err)
	}
	f, err := open("test", d)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := contents(f); err != nil || got != all[5].String() || f.Transaction() != 2 {
		t.Errorf("transaction %d: %v\n%s", f.Transaction(), err, got)
	}
}

// isKnown reports whether an error says what is wrong with a file.
func isKnown(err error) bool {
	var foreign *ForeignError
	var version *VersionError
	var damage *DamageError
	return errors.As(err, &foreign) || errors.As(err, &version) || errors.As(err, &damage)
}

// TestTruncated cuts a database at many lengths: each is refused.
func TestTruncated(t *testing.T) {
	whole := written(t).platter
	step := 61
	if short.EveryMutation() {
		step = 7
	}
	for n := 0; n < len(whole); n += step {
		if _, err := open("test", newImage(whole[:n])); !isKnown(err) {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(whole), err)
		}
	}
}

// part names the kind of the part in which damage was found.
func part(err error) string {
	var damage *DamageError
	if !errors.As(err, &damage) {
		return "foreign"
	}
	for _, kind := range []string{"the header", "the directory", "column", "root"} {
		if strings.HasPrefix(damage.Part, kind) {
			return kind
		}
	}
	return damage.Part
}

// unpin lets go of the mappings of files that nothing reads any more: a test
// that opens thousands would fill the memory.
func unpin() {
	pinned.Lock()
	defer pinned.Unlock()
	pinned.all = nil
}

// TestMutated changes bits and bytes, and swaps pages, so that a root and what
// it points to are damaged at once: what is read is what was written, or an
// error says where it is not.
func TestMutated(t *testing.T) {
	d := written(t)
	f, err := open("test", d)
	if err != nil {
		t.Fatal(err)
	}
	want, err := digest(f)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	count := 3000
	switch {
	case short.EveryMutation():
		count = 100_000
	case testing.Short():
		count = 500
	}
	refused := map[string]int{}
	for i := range count {
		at := r.IntN(len(d.data))
		if i%2 == 0 { // most pages are of earlier transactions
			sections := []int{0, pageSize, 2 * pageSize, len(d.data) - pageSize}
			at = sections[r.IntN(4)] + r.IntN(rootSize)
		}
		n := min(1+r.IntN(1<<r.IntN(12)), len(d.data)-at)
		was := slices.Clone(d.data)
		switch r.IntN(4) {
		case 0:
			pages := len(d.data) / pageSize
			a, b := r.IntN(3), pages-1-r.IntN(min(4, pages))
			copy(d.data[a*pageSize:], was[b*pageSize:(b+1)*pageSize])
			copy(d.data[b*pageSize:], was[a*pageSize:(a+1)*pageSize])
			if _, ok := readRoot(d.data[a*pageSize:]); ok {
				copy(d.data, was) // as before the last transaction
			}
			at, n = a*pageSize, pageSize
		case 1:
			d.data[at] ^= 1 << r.IntN(8)
		case 2:
			clear(d.data[at : at+n])
		default:
			for j := range n {
				d.data[at+j] = byte(r.Uint32())
			}
		}
		f, err := open("test", d)
		got := ""
		if err == nil {
			got, err = digest(f)
		}
		switch {
		case err == nil && got != want:
			t.Fatalf("changed %d bytes at %d: the contents are others", n, at)
		case err != nil && !isKnown(err):
			t.Fatalf("changed %d bytes at %d: %v", n, at, err)
		case err != nil:
			refused[part(err)]++
		}
		copy(d.data, was)
		unpin()
	}
	for _, part := range []string{"the directory", "column", "foreign", "the header", "root"} {
		if refused[part] == 0 {
			t.Errorf("no change was found in %q: %v", part, refused)
		}
	}
}
