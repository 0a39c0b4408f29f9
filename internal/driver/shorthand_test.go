package driver_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/short"
)

// shorthand has the constructs that become rules before their types are known.
const shorthand = `
base[g, i] = x -> int(g), int(i), int(x).
upto[g, i] = v <- series<< v = runtotal[i] (x) >> base[g, i] = x.
small[g, i] = v <- series<< v = runtotal[i] (y) >> base[g, i] = x, y = 2 * x + 1, x < 50.

all(i) -> int(i).
first[] = i, next[i] = j <- list<<>> all(i).
at[k] = i <- list_to_seq<<>> first[] = _, next[_] = _.
of(g, i) -> int(g), int(i).
head[g] = i, after[g, i] = j <- list<<>> of(g, i).

start[] = i -> int(i).
step[i] = j -> int(i), int(j).
place[k] = i <- list_to_seq<<>> start[] = _, step[_] = _.

p[k] = v -> int(k), int(v).
q[k] = v -> int(k), int(v).
lang:defaultValue[` + "`p] = 0. lang:defaultValue[`q] = 7." + `
key(k) -> int(k).
both[k] = p[k] - q[k].
asked(k, v) <- key(k), p[k] = v.
nested(k, v) <- key(k), p[q[k]] = v.
either(k) <- key(k), (p[k] = 0 ; q[k] = 7).
unless(k) <- key(k), !p[k] = 0.
sum[] = t <- agg<<t = total(v)>> key(k), p[k] = v.
less(k, l) <- key(k), key(l), p[k] < q[l].
`

// TestShorthandByBruteForce compares the constructs with loops over random
// data.
func TestShorthandByBruteForce(t *testing.T) {
	prog := compile(t, shorthand, driver.Options{})
	for seed := range short.Count(t, 24, "random tables") {
		r := rand.New(rand.NewPCG(seed, 77))
		facts, want := driver.NewFacts(), map[string][]string{}
		say := func(pred string, values ...any) {
			want[pred] = append(want[pred], tupleLine(values...))
		}
		runningTotals(r, facts, say)
		linkedLists(r, facts, say)
		defaultValues(r, facts, say)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compareProgram(t, prog, facts, want) })
	}
}

// sortedKeys draws different numbers, in ascending order.
func sortedKeys(r *rand.Rand, most, below int) []int {
	var out []int
	for range r.IntN(most + 1) {
		out = append(out, r.IntN(below)-below/3)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func runningTotals(r *rand.Rand, facts *driver.Facts, say func(string, ...any)) {
	var rows [][]any
	for g := range r.IntN(4) {
		total, small := 0, 0
		for _, i := range sortedKeys(r, 40, 200) {
			x := r.IntN(200) - 100
			rows = append(rows, []any{g, i, x})
			total += x
			say("upto", g, i, total)
			if x < 50 {
				small += 2*x + 1
				say("small", g, i, small)
			}
		}
	}
	facts.Rows("base", rows...)
}

func linkedLists(r *rand.Rand, facts *driver.Facts, say func(string, ...any)) {
	var all, of, steps [][]any
	for k, i := range sortedKeys(r, 30, 90) {
		if k == 0 {
			say("first", i)
		} else {
			say("next", all[k-1][0], i)
		}
		say("at", k, i)
		all = append(all, []any{i})
	}
	for g := range r.IntN(4) {
		keys := sortedKeys(r, 9, 30)
		for k, i := range keys {
			of = append(of, []any{g, i})
			if k == 0 {
				say("head", g, i)
			} else {
				say("after", g, keys[k-1], i)
			}
		}
	}
	order := r.Perm(1 + r.IntN(40))
	for k, i := range order {
		say("place", k, i)
		if k > 0 {
			steps = append(steps, []any{order[k-1], i})
		}
	}
	facts.Rows("all", all...).Rows("of", of...).Rows("step", steps...)
	facts.Rows("start", []any{order[0]})
}

func defaultValues(r *rand.Rand, facts *driver.Facts, say func(string, ...any)) {
	p, q := map[int]int{}, map[int]int{}
	var pRows, qRows, keyRows [][]any
	for range r.IntN(12) {
		k, v := r.IntN(12), r.IntN(9)-1
		if _, ok := p[k]; !ok {
			p[k] = v
			pRows = append(pRows, []any{k, v})
		}
		k = r.IntN(12)
		if _, ok := q[k]; !ok {
			q[k] = v + 1
			qRows = append(qRows, []any{k, v + 1})
		}
	}
	of := func(m map[int]int, k, or int) int {
		if v, ok := m[k]; ok {
			return v
		}
		return or
	}
	for k := range 12 {
		_, inP := p[k]
		if _, inQ := q[k]; inP || inQ {
			say("both", k, of(p, k, 0)-of(q, k, 7))
		}
	}
	keys, total := sortedKeys(r, 9, 14), 0
	for _, k := range keys {
		keyRows = append(keyRows, []any{k})
		v, w := of(p, k, 0), of(q, k, 7)
		total += v
		say("asked", k, v)
		say("nested", k, of(p, w, 0))
		if v == 0 || w == 7 {
			say("either", k)
		}
		if v != 0 {
			say("unless", k)
		}
		for _, l := range keys {
			if v < of(q, l, 7) {
				say("less", k, l)
			}
		}
	}
	if len(keys) > 0 {
		say("sum", total)
	}
	facts.Rows("p", pRows...).Rows("q", qRows...).Rows("key", keyRows...)
}
