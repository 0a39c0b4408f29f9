package native

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// TestBeginsOfAscendingKeys compares the begins of an index whose rows ascend
// by its key with a count of the smaller keys, for keys without a row before,
// between and behind those that have one, and for keys whose rows lie in
// several blocks and tasks.
func TestBeginsOfAscendingKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 1023, 1025, ascendingRows, 2*ascendingRows + 7} {
		var words []int64
		key := int64(-50)
		for len(words) < n {
			key += 1 + rng.Int64N(3)*rng.Int64N(3)
			many := 1 + rng.IntN(6)
			if rng.IntN(2000) == 0 {
				many = ascendingRows + 5000
			}
			for range min(many, n-len(words)) {
				words = append(words, key)
			}
		}
		m := account.New(0)
		bound := interval.Interval{Lo: -60, Hi: key + 9}
		rel := &relation{
			Versions: machine.Versions{
				Decl: &harmony.Relation{Name: "r", Kind: queryplan.Input}, What: "r"}, mem: m,
			gauge: &gauge{cursor: int64(n)},
			facts: []*store.Column{store.ColumnOf(scalar.IntType, words, nil)},
		}
		x := newIndex(m, &harmony.Index{Kind: harmony.Multi, Of: rel.Decl, Key: []int{0}},
			layout.Pack([]interval.Interval{bound}), rel)
		x.Lay.Form = x.Lay.FormFor(harmony.Multi, 1<<30)
		passes, err := x.prepare(x.Decl.Version)
		if err != nil || !x.Identity || len(passes) != 1 {
			t.Fatalf("%d rows: %d passes, by rows alone: %t, %v", n, len(passes), x.Identity, err)
		}
		tasks := passes[0].Tasks
		rng.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
		for _, f := range tasks {
			f()
		}
		for i, begin := range account.Words(&x.Begins)[:x.Lay.Size+1] {
			if want, _ := slices.BinarySearch(words, bound.Lo+int64(i)); int(begin) != want {
				t.Fatalf("%d rows: key %d begins at row %d, not %d", n, bound.Lo+int64(i), begin,
					want)
			}
		}
		if err := x.Release(); err != nil {
			t.Fatal(err)
		}
		m.Close()
	}
}
