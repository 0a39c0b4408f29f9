package rfdb

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/store"
)

// TestFile writes a file, reads it while it is written, compacts it, and reads
// what was mapped before.
func TestFile(t *testing.T) {
	all := states()
	path := filepath.Join(t.TempDir(), "shop.rfdb")
	if err := Create(path, "test", Writing{}, all[0].rels, all[0].texts); err != nil {
		t.Fatal(err)
	}
	first, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := OpenWriter(path, "test")
	if err != nil {
		t.Fatal(err)
	}
	var locked *LockedError
	if _, err := OpenWriter(path, "test"); !errors.As(err, &locked) {
		t.Errorf("the second writer's error is %v", err)
	}
	if err := Create(path, "test", Writing{}, nil, nil); !errors.As(err, &locked) {
		t.Errorf("the error of another file in its place is %v", err)
	}
	for _, s := range all[1:5] {
		if err := w.Commit(s.rels, s.texts); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	latest, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := latest.Transaction(); got != 5 {
		t.Errorf("transaction %d is the latest, want 5", got)
	}
	before := latest.Info()
	if err := Compact(context.Background(), path, "test", Writing{}); err != nil {
		t.Fatal(err)
	}
	compact, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	after := compact.Info()
	if after.Transaction != 5 || after.Bytes >= before.Bytes || after.Unused > 4*pageSize {
		t.Errorf("after compaction the file is %+v, before %+v", after, before)
	}
	for f, want := range map[*File]state{first: all[0], latest: all[4], compact: all[4]} {
		if got, err := contents(f); err != nil || got != want.String() {
			t.Errorf("transaction %d: %v\n%s", f.Transaction(), err, got)
		}
	}
	// The same contents are the same bytes.
	again := filepath.Join(t.TempDir(), "again.rfdb")
	for range 2 {
		if err := Create(again, "test", Writing{}, all[4].rels, all[4].texts); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(again)
		if err != nil {
			t.Fatal(err)
		}
		other := newImage(nil)
		if err := writeNew(other, "test", Writing{}, 1, all[4].rels, all[4].texts); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, other.platter) {
			t.Error("the same contents are different bytes")
		}
	}
}

// random returns words that no form packs.
func random(n int) []int64 {
	r := rand.New(rand.NewPCG(7, 8))
	words := make([]int64, n)
	for i := range words {
		words[i] = int64(r.Uint64())
	}
	return words
}

// TestInPlace holds that columns that are not packed lie in the mapping, on
// pages.
func TestInPlace(t *testing.T) {
	d := newImage(nil)
	given := []*store.Relation{
		relation("stock", 1, store.ColumnOf(scalar.IntType, random(2000), nil),
			store.ColumnOf(scalar.FloatType, random(2000), nil)),
		relation("name", 1, store.StringColumn([]string{"pear", "apple", "plum"}))}
	if err := writeNew(d, "test", Writing{}, 1, given, nil); err != nil {
		t.Fatal(err)
	}
	f, err := open("test", d)
	if err != nil {
		t.Fatal(err)
	}
	rels, err := f.Relations(context.Background(), []string{"stock", "name"}, Reading{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	from := address(f.mapped.data)
	for _, r := range rels {
		for i := range r.Cols {
			at := address(r.Column(i).Entries()) - from
			if at < 0 || at >= len(f.mapped.data) {
				t.Errorf("column %d of %s is not in the file", i, r.Name)
			}
			if len(r.Column(i).Entries()) >= pageSize && at%pageSize != 0 {
				t.Errorf("column %d of %s is at byte %d", i, r.Name, at)
			}
		}
	}
}

// TestCutWhileMapped cuts a file that is mapped: reading it is an error.
func TestCutWhileMapped(t *testing.T) {
	all := states()
	path := filepath.Join(t.TempDir(), "shop.rfdb")
	if err := Create(path, "test", Writing{}, all[0].rels, all[0].texts); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, firstPage); err != nil {
		t.Fatal(err)
	}
	var damage *DamageError
	_, err = f.Relations(context.Background(), f.Names(), Reading{Threads: 2})
	if !errors.As(err, &damage) || !strings.Contains(err.Error(), "shorter") {
		t.Errorf("the error is %v", err)
	}
	if _, err := f.Text("program"); !errors.As(err, &damage) {
		t.Errorf("the error of a text is %v", err)
	}
}

func TestForeign(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "it is empty",
		"SQLite format 3\x00":             "it is no database of redfox",
		Magic:                             "the file ends there",
		string(header(Format)[:pageSize]): "the file ends there",
	} {
		if _, err := open("test", newImage([]byte(text))); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
	other := written(t)
	binary.LittleEndian.PutUint32(other.data[8:], Format+1)
	binary.LittleEndian.PutUint32(other.data[12:], checksum(other.data[:12]))
	var version *VersionError
	if _, err := open("test", other); !errors.As(err, &version) || version.Found != Format+1 {
		t.Errorf("the error of another version is %v", err)
	}
}

// resigned returns a disk whose directory has other text, with the checksums
// that belong to it.
func resigned(d *image, f *File, text []byte) *image {
	out := newImage(d.data)
	next := f.root
	next.at, next.size, next.sum = aligned(int64(len(out.data)), alignment), int64(len(text)),
		checksum(text)
	next.end = aligned(next.at+next.size, pageSize) + pageSize
	out.data = extended(out.data, next.end)
	copy(out.data[next.at:], text)
	for at := pageSize; at < firstPage; at += pageSize {
		copy(out.data[at:], next.page())
	}
	return out
}

// TestHostile changes what a database says and gives it checksums that hold:
// whatever is read, nothing panics.
func TestHostile(t *testing.T) {
	d := written(t)
	f, err := open("test", d)
	if err != nil {
		t.Fatal(err)
	}
	text := d.data[f.root.at : f.root.at+f.root.size]
	r := rand.New(rand.NewPCG(5, 6))
	count := 800
	switch {
	case short.EveryMutation():
		count = 3_000
	case testing.Short():
		count = 200
	}
	refused, read := 0, 0
	for range count {
		changed := bytes.Clone(text)
		for range 1 + r.IntN(3) {
			at := r.IntN(len(changed))
			if c := changed[at]; c >= '0' && c <= '9' {
				changed[at] = byte('0' + r.IntN(10))
				if r.IntN(4) == 0 {
					changed = bytes.Join([][]byte{changed[:at], changed[at:]}, []byte{c})
				}
			} else if r.IntN(8) == 0 {
				changed[at] = byte(32 + r.IntN(95))
			}
		}
		if r.IntN(2) == 0 {
			changed = withSums(t, d, changed)
		}
		f, err := open("test", resigned(d, f, changed))
		if err == nil {
			_, err = contents(f)
		}
		switch {
		case err == nil:
			read++
		case isKnown(err):
			refused++
		default:
			t.Fatalf("%v, of\n%s", err, changed)
		}
	}
	if refused == 0 || read == 0 {
		t.Errorf("%d were refused and %d were read", refused, read)
	}
}

// withSums gives the sections of a directory the checksums of the bytes where
// they are now, if it can be parsed.
func withSums(t *testing.T, d *image, text []byte) []byte {
	dir, err := parseDirectory(text, int64(len(d.data)))
	if err != nil {
		return text
	}
	sign := func(s *section) { s.Sums = sumsFrom(d.data[s.At:s.At+s.Size], 0) }
	for _, e := range dir.Dicts {
		sign(&e.Text)
		sign(&e.Ends)
		if e.Packed != nil {
			sign(&e.Packed.Symbols)
		}
	}
	for _, table := range dir.Tables {
		for _, e := range table.Columns {
			sign(&e.Entries)
			if e.Packed != nil {
				sign(&e.Packed.Headers)
			}
			if e.Sample != nil {
				sign(&e.Sample.Words)
			}
		}
	}
	out, err := json.Marshal(dir)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLong has columns of several blocks: damage is named with its block.
func TestLong(t *testing.T) {
	words := random(1 << 18)
	d := newImage(nil)
	long := relation("long", 2, store.ColumnOf(scalar.IntType, words, nil),
		store.ColumnOf(scalar.DatetimeType, words, nil))
	if err := writeNew(d, "test", Writing{}, 1, []*store.Relation{long}, nil); err != nil {
		t.Fatal(err)
	}
	f, err := open("test", d)
	if err != nil {
		t.Fatal(err)
	}
	s := f.dir.Tables[0].Columns[1].Entries
	if s.blocks() != 8 {
		t.Fatalf("the column has %d blocks", s.blocks())
	}
	d.data[s.At+3*blockSize+5] ^= 1
	if f, err = open("test", d); err != nil {
		t.Fatal(err)
	}
	var damage *DamageError
	_, err = f.Relations(context.Background(), []string{"long"}, Reading{Threads: 2})
	if !errors.As(err, &damage) || damage.Offset != s.At+3*blockSize ||
		damage.Part != "column c1 of long" {
		t.Errorf("the error is %v", err)
	}
	found, err := f.Check(context.Background(), 2)
	if err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
}

// TestFormat1 reads a database that a redfox of the first format has written,
// runs a transaction, which leaves the format as it is, and compacts it.
func TestFormat1(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "format1.rfdb"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "format1.rfdb")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(format int, extra ...*store.Relation) []*store.Relation {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := f.Check(context.Background(), 1); err != nil || len(found) > 0 {
			t.Errorf("found %v, %v", found, err)
		}
		if got := f.Info().Format; got != format {
			t.Errorf("the format is %d, want %d", got, format)
		}
		rels, err := f.Relations(context.Background(), f.Names(), Reading{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(rels) != 2+len(extra) {
			t.Fatalf("there are %d relations", len(rels))
		}
		for i, r := range extra {
			got := show(rels[2+i:3+i], func(string) []byte { return nil })
			if want := show([]*store.Relation{r}, func(string) []byte { return nil }); got != want {
				t.Errorf("%s is\n%s, want\n%s", r.Name, got, want)
			}
		}
		total := int64(0)
		for i := range rels[1].Rows() {
			total += rels[1].Column(1).Word(i)
		}
		if rels[1].Name != "stock" || rels[1].Rows() != 1012 || total != 504_045 {
			t.Errorf("%s has %d rows with %d", rels[1].Name, rels[1].Rows(), total)
		}
		if got := rels[0].Column(1).Value(59).Str(); rels[0].Rows() != 60 || got != "fig 19" {
			t.Errorf("name has %d rows, the last is %q", rels[0].Rows(), got)
		}
		return rels
	}
	rels := read(1)
	w, err := OpenWriter(path, "test")
	if err != nil {
		t.Fatal(err)
	}
	packed := packable(5000)
	if err := errors.Join(w.Commit(append(rels, packed), nil), w.Close()); err != nil {
		t.Fatal(err)
	}
	read(1, packed)
	if err := Compact(context.Background(), path, "test", Writing{}); err != nil {
		t.Fatal(err)
	}
	read(2, packed)
}
