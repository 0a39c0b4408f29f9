package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	goruntime "runtime"
	"testing"

	"github.com/redfoxdb/redfox/internal/scratch"
)

// pagedLedger returns a ledger with a file's pages in a folder, of which the
// given bytes are held.
func pagedLedger(t *testing.T, folder string, bound int64, held *int64) *Ledger {
	t.Helper()
	if !scratch.CanMap {
		t.Skip("files cannot be mapped")
	}
	g := NewLedger(func(what string, n int64) error {
		if *held+n > bound {
			return fmt.Errorf("%s: %d bytes of %d, and %d more", what, *held, bound, n)
		}
		*held += n
		return nil
	}, bound)
	g.SpillTo(scratch.NewPages(folder), func() int64 { return *held })
	return g
}

// TestLongColumnLiesInPages makes a column that would leave no memory for
// others.
func TestLongColumnLiesInPages(t *testing.T) {
	held := int64(0)
	g := pagedLedger(t, t.TempDir(), 1<<20, &held)
	_, owner, err := room[uint32](g, "a short one", 1<<10)
	if err != nil || owner != nil || held != 4<<10 {
		t.Errorf("a short one: owner %v, %d bytes held: %v", owner, held, err)
	}
	list, owner, err := room[uint32](g, "a long one", 1<<17)
	if err != nil || owner == nil || held != 4<<10 || len(list) != 1<<17 {
		t.Errorf("a long one: owner %v, %d bytes held: %v", owner, held, err)
	}
}

// TestMergeInPages merges strings that do not fit memory, and compares the
// dictionary with that of interners in memory.
func TestMergeInPages(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	const bound = 3 << 20
	held := int64(0)
	paged := pagedLedger(t, t.TempDir(), bound, &held)
	var inPages, inMemory []*Interner
	var codes, wantCodes [2][]uint32
	for i := range 2 {
		a, b := NewInterner(paged, "strings"), NewInterner(nil, "")
		for range 100_000 {
			s := fmt.Sprintf("string %d of some length", r.IntN(150_000))
			codes[i] = append(codes[i], a.Code(s))
			wantCodes[i] = append(wantCodes[i], b.Code(s))
		}
		if a.Err() != nil {
			t.Fatal(a.Err())
		}
		a.DropTable()
		b.DropTable()
		inPages, inMemory = append(inPages, a), append(inMemory, b)
	}
	if held > bound {
		t.Errorf("%d bytes held", held)
	}
	got, err := MergeInterners(context.Background(), 2, inPages, paged, "strings")
	if err != nil {
		t.Fatal(err)
	}
	want, err := MergeInterners(context.Background(), 2, inMemory, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if !got.Dict.OnDisk || got.Dict.Len() != want.Dict.Len() {
		t.Fatalf("%d strings, on disk %v, want %d", got.Dict.Len(), got.Dict.OnDisk, want.Dict.Len())
	}
	code := func(m *Merged, i int, number uint32) uint32 {
		if m.Remaps[i] == nil {
			return number
		}
		return m.Remaps[i][number]
	}
	for i := range codes {
		for j := range codes[i] {
			a, b := code(got, i, codes[i][j]), code(want, i, wantCodes[i][j])
			if a != b {
				t.Fatalf("string %d of %d has code %d, want %d", j, i, a, b)
			}
		}
	}
	got.Release()
	want.Release()
	if held != 0 {
		t.Errorf("%d bytes held in the end", held)
	}
	// A string outlives its dictionary.
	d, last := got.Dict, ""
	got = nil
	for i := range d.Len() {
		last = d.String(uint32(i))
		if wanted := want.Dict.String(uint32(i)); last != wanted {
			t.Fatalf("code %d is %q, want %q", i, last, wanted)
		}
	}
	if code, ok := d.Lookup(last); !ok || int(code) != d.Len()-1 {
		t.Errorf("the last string is at %d, %v", code, ok)
	}
	if d.Intern(last) != uint32(d.Len()-1) || d.Intern("another") != uint32(d.Sorted()) {
		t.Error("strings are not found when others are interned")
	}
	d = nil
	goruntime.GC()
	goruntime.GC()
	if last != want.Dict.String(uint32(want.Dict.Len()-1)) {
		t.Errorf("the last string is now %q", last)
	}
}

// TestMergeNowhere spills strings to a folder that is not there.
func TestMergeNowhere(t *testing.T) {
	held := int64(0)
	paged := pagedLedger(t, filepath.Join(t.TempDir(), "none"), 1<<20, &held)
	in := NewInterner(paged, "strings")
	for i := range 100_000 {
		in.Code(fmt.Sprint("a string ", i))
	}
	var failed *scratch.Error
	if !errors.As(in.Err(), &failed) || failed.Do != "make" {
		t.Errorf("got %v", in.Err())
	}
}
