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
	if err := Create(path, "test", all[0].rels, all[0].texts); err != nil {
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
	if err := Create(path, "test", nil, nil); !errors.As(err, &locked) {
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
	if err := Compact(context.Background(), path, "test", 1); err != nil {
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
		if err := Create(again, "test", all[4].rels, all[4].texts); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(again)
		if err != nil {
			t.Fatal(err)
		}
		other := newImage(nil)
		if err := writeNew(other, "test", 1, all[4].rels, all[4].texts); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, other.platter) {
			t.Error("the same contents are different bytes")
		}
	}
}

// TestInPlace holds that columns lie in the mapping, on pages.
func TestInPlace(t *testing.T) {
	f, err := open("test", written(t))
	if err != nil {
		t.Fatal(err)
	}
	rels, err := f.Relations(context.Background(), 1, []string{"stock", "name"}, nil)
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
	if err := Create(path, "test", all[0].rels, all[0].texts); err != nil {
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
	if _, err := f.Relations(context.Background(), 2, f.Names(), nil); !errors.As(err, &damage) ||
		!strings.Contains(err.Error(), "shorter") {
		t.Errorf("the error is %v", err)
	}
	if _, err := f.Text("program"); !errors.As(err, &damage) {
		t.Errorf("the error of a text is %v", err)
	}
}

func TestForeign(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "it is empty",
		"SQLite format 3\x00":       "it is no database of redfox",
		magic:                       "the file ends there",
		string(header()[:pageSize]): "the file ends there",
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
	case short.Every():
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
	}
	for _, table := range dir.Tables {
		for _, e := range table.Columns {
			sign(&e.Entries)
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
	words := make([]int64, 1<<18)
	for i := range words {
		words[i] = int64(i) * 3 % 70_001
	}
	d := newImage(nil)
	long := relation("long", 2, store.ColumnOf(scalar.IntType, words, nil),
		store.ColumnOf(scalar.DatetimeType, words, nil))
	if err := writeNew(d, "test", 1, []*store.Relation{long}, nil); err != nil {
		t.Fatal(err)
	}
	f, err := open("test", d)
	if err != nil {
		t.Fatal(err)
	}
	s := f.dir.Tables[0].Columns[1].Entries
	if s.blocks() != 4 {
		t.Fatalf("the column has %d blocks", s.blocks())
	}
	d.data[s.At+3*blockSize+5] ^= 1
	if f, err = open("test", d); err != nil {
		t.Fatal(err)
	}
	var damage *DamageError
	_, err = f.Relations(context.Background(), 2, []string{"long"}, nil)
	if !errors.As(err, &damage) || damage.Offset != s.At+3*blockSize ||
		damage.Part != "column c1 of long" {
		t.Errorf("the error is %v", err)
	}
	found, err := f.Check(context.Background(), 2)
	if err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
}
