package native

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// TestExtents adds rows to an index in many rounds and wants the rows of each
// key in their order, in places that are no one else's.
func TestExtents(t *testing.T) {
	for _, form := range []abi.Form{abi.Direct, abi.Hash} {
		t.Run(form.String(), func(t *testing.T) {
			m := account.New(0)
			defer m.Close()
			x := growingIndex(m, form)
			random := rand.New(rand.NewPCG(1, uint64(form)))
			want := map[int64][]uint32{}
			word := int64(100) // the base of the keys, whose packed key is 0
			add := func(n int) {
				rel := x.rel
				if err := rel.cols[0].Grow("keys", 8*int(rel.Full+int64(n))); err != nil {
					t.Fatal(err)
				}
				for range n {
					rel.cols[0].write([]int64{word}, int(rel.Full))
					want[word] = append(want[word], uint32(rel.Full))
					rel.Full++
					// Some keys have many more rows than others.
					word = 100 + min(random.Int64N(300), random.Int64N(300), random.Int64N(300))
				}
				rel.gauge.cursor = rel.Full
			}
			add(20)
			passes, err := x.prepare(x.Decl.Version)
			if err != nil || len(passes) == 0 {
				t.Fatalf("the first build has no passes: %v", err)
			}
			fillByHand(x)
			slots := x.Mask
			for range 60 {
				add(1 + random.IntN(min(700, int(x.Until))))
				if passes, err := x.prepare(x.Decl.Version); err != nil || passes != nil {
					t.Fatalf("rows are not added in place: %v, %v", passes, err)
				}
			}
			if spaced, _ := x.Word(abi.Param{Kind: abi.IndexSpaced}); spaced != 1 {
				t.Error("code does not learn that there are extents")
			}
			wantRows(t, x, want)
			if form == abi.Hash && x.Mask == slots {
				t.Error("the hash table did not grow")
			}
			add(3 * int(x.Until))
			if passes, err := x.prepare(x.Decl.Version); err != nil || len(passes) == 0 {
				t.Errorf("most rows are new and are added in place: %v", err)
			}
			if spaced, _ := x.Word(abi.Param{Kind: abi.IndexSpaced}); spaced != 0 {
				t.Error("an index that is built has extents")
			}
			if err := x.Release(); err != nil || m.Held() != int64(x.rel.cols[0].Bytes) {
				t.Errorf("%d bytes are held in the end: %v", m.Held(), err)
			}
		})
	}
}

// growingIndex returns an index over words of a relation without rows.
func growingIndex(m *account.Memory, form abi.Form) *index {
	decl := &harmony.Relation{Name: "r", Kind: queryplan.Derived,
		Cols: []harmony.Column{{Type: scalar.IntType}}}
	rel := &relation{Versions: machine.Versions{Decl: decl, What: "r"}, mem: m, gauge: &gauge{},
		cols: []*column{{Column: layout.Words, Region: account.Region{Memory: m}}}}
	lay := layout.Pack([]interval.Interval{{Lo: 100, Hi: 399}})
	lay.Form = form
	x := newIndex(m, &harmony.Index{Name: "x", Kind: harmony.Multi, Of: decl, Key: []int{0}},
		lay, rel)
	x.extents = extents{able: true, threads: 1}
	return x
}

// fillByHand does what the passes of a build do.
func fillByHand(x *index) {
	begins, places := account.Words(&x.Begins), x.places()
	table := keyTable{mask: x.Mask}
	numbers := make([]int, x.Until)
	var word [1]int64
	for row := range numbers {
		x.rel.cols[0].Read(word[:], row)
		numbers[row] = int(word[0] - 100)
		if x.Form == abi.Hash {
			numbers[row] = table.put(account.Words(&x.Table), uint64(word[0]-100))
		}
	}
	at := uint64(0)
	for number := range int(x.Numbers()) {
		begins[number] = at
		for row, n := range numbers {
			if n == number {
				places[at] = uint32(row)
				at++
			}
		}
	}
	begins[x.Numbers()] = at
}

// wantRows compares the rows of all keys of an index.
func wantRows(t *testing.T, x *index, want map[int64][]uint32) {
	t.Helper()
	table := keyTable{mask: x.Mask}
	all := 0
	for _, e := range extentsOf(&x.Begins) {
		all += int(e.end - e.begin)
		if e.begin > e.end || e.end > e.limit || int(e.limit) > len(x.places()) {
			t.Fatalf("there is an extent %v", e)
		}
	}
	if all != int(x.Until) {
		t.Errorf("extents have %d of %d rows", all, x.Until)
	}
	for word, rows := range want {
		number := int(word - 100)
		if x.Form == abi.Hash {
			number = table.slot(account.Words(&x.Table), uint64(number))
		}
		e := extentsOf(&x.Begins)[number]
		if got := x.places()[e.begin:e.end]; !slices.Equal(got, rows) {
			t.Fatalf("key %d has rows %v, not %v", word, got, rows)
		}
	}
}

// TestExtentsOfHashedKeys compares a program whose keys are far apart.
func TestExtentsOfHashedKeys(t *testing.T) {
	facts := oracle.Facts{}
	far := func(x int64) scalar.Value { return scalar.OfInt(scalar.IntType, x*x*x*1_000_003) }
	for name, tuples := range brackets(200) {
		for _, tuple := range tuples {
			facts[name] = append(facts[name],
				oracle.Tuple{far(tuple[0].Int()), far(tuple[1].Int())})
		}
	}
	plan, db := enginetest.Stored(t, nested, facts)
	for _, threads := range []int{1, 3} {
		enginetest.Compare(t, "far brackets", newEngine(t, 32, false),
			runtime.Request{Plan: plan, Facts: db, Threads: threads})
	}
}
