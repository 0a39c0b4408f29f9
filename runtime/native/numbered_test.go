package native

import (
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

// TestNumberedSet fills a relation and wants its set to take the form that its
// values are for, and to have its tuples in each form and no others.
func TestNumberedSet(t *testing.T) {
	for _, c := range []struct {
		name   string
		tuple  func(i int) (x, y int64)
		tuples int
		forms  []abi.Form
	}{
		{"values far apart", func(i int) (x, y int64) {
			return int64(i*7919) % 4096, int64(i/4096) * 1500
		}, 100_000, []abi.Form{abi.Hash, abi.Numbered}},
		{"half of all values", func(i int) (x, y int64) {
			return int64(i*7919) % 4096, int64(i*104_729) % 45_000
		}, 1_600_000, []abi.Form{abi.Hash, abi.Numbered, abi.Direct}},
		{"all values", func(i int) (x, y int64) { return int64(i / 65_536), int64(i % 65_536) },
			300_000, []abi.Form{abi.Hash, abi.Direct}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := account.New(0)
			defer m.Close()
			r := pairs(m)
			forms := []abi.Form{r.set.form}
			for n := 0; n < c.tuples; n += 500 {
				if err := r.makeRoom(500); err != nil {
					t.Fatal(err)
				}
				if last := forms[len(forms)-1]; r.set.form != last {
					forms = append(forms, r.set.form)
					wantInSet(t, r)
				}
				for i := range 500 {
					x, y := c.tuple(n + i)
					r.cols[0].write([]int64{x}, n+i)
					r.cols[1].write([]int64{y}, n+i)
				}
				r.gauge.cursor += 500
				if r.set.form == abi.Hash {
					slots := account.Words(&r.set.keys.Region)
					for i := range 500 {
						x, y := c.tuple(n + i)
						r.set.keys.put(slots, uint64(x<<16|y))
					}
				}
			}
			if !slices.Equal(forms, c.forms) {
				t.Errorf("the forms are %v, not %v", forms, c.forms)
			}
			if err := r.Release(); err != nil || m.Held() != 0 {
				t.Errorf("%d bytes are held in the end: %v", m.Held(), err)
			}
		})
	}
}

// pairs returns an empty relation of 4,096 values and 65,536 values.
func pairs(m *account.Memory) *relation {
	decl := &harmony.Relation{Name: "r", Kind: queryplan.Derived,
		Cols: []harmony.Column{{Type: scalar.IntType}, {Type: scalar.IntType}}}
	lay := layout.Pack([]interval.Interval{{Lo: 0, Hi: 4095}, {Lo: 0, Hi: 65_535}})
	lay.Open = true
	r := &relation{Versions: machine.Versions{Decl: decl, What: "r"}, mem: m, gauge: &gauge{},
		set: newTupleSet(m, "r", lay, 0)}
	for range decl.Cols {
		r.cols = append(r.cols, &column{Column: layout.Words, Region: account.Region{Memory: m}})
	}
	return r
}

// wantInSet wants the bits of a set to be those of its relation's tuples.
func wantInSet(t *testing.T, r *relation) {
	t.Helper()
	words, bits := account.Words(&r.set.bits), 0
	for _, w := range words {
		for ; w != 0; w &= w - 1 {
			bits++
		}
	}
	tuples := map[uint64]bool{}
	r.set.pack(r, func(key uint64) {
		tuples[key] = true
		at := key
		if r.set.form == abi.Numbered {
			numbers := account.Words(&r.set.numbers)
			number := numbers[key&0xffff/2] >> (32 * (key & 1)) & (1<<32 - 1)
			at = r.set.numbered.place(number, key>>16)
		}
		if words[at/64]>>(at%64)&1 == 0 {
			t.Fatalf("key %d is not in the set of form %v", key, r.set.form)
		}
	})
	if bits != len(tuples) {
		t.Errorf("the set of form %v has %d bits for %d tuples", r.set.form, bits, len(tuples))
	}
}

// TestNumberedPrograms compares programs whose sets get numbers of values while
// kernels fill them: most values come after the set has changed its form.
func TestNumberedPrograms(t *testing.T) {
	const program = `
		next(x, y) -> int(x), int(y).
		link(x, y) -> int(x), int(y).
		p(x, y) <- next(x, _), y = 7.
		p(x, z) <- p(x, y), link(y, z).
		p(x, z) <- next(x, y), p(y, z).`
	facts := oracle.Facts{}
	pair := func(name string, x, y int64) {
		facts[name] = append(facts[name], oracle.Tuple{scalar.OfInt(scalar.IntType, x),
			scalar.OfInt(scalar.IntType, y)})
	}
	for i := range int64(1500) {
		pair("next", i, i+1)
		pair("next", i, (i*31+7)%1500)
	}
	for i := range int64(40) {
		pair("link", 7+i*1500, 7+(i+1)*1500)
	}
	plan, db := enginetest.Stored(t, program, facts)
	for _, threads := range []int{1, 3} {
		for _, items := range []int{32, 1024} {
			e := newEngine(t, items, false)
			e.sizes.convert = 0
			enginetest.Compare(t, "far values", e,
				runtime.Request{Plan: plan, Facts: db, Threads: threads})
		}
	}
}
