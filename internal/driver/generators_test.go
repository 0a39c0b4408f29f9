package driver_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
)

// compareGenerated runs a program over facts on the go engine and on the cpu
// engine, and compares its predicates with the wanted tuples.
func compareGenerated(
	t *testing.T, text string, facts *driver.Facts, want map[string][]string,
) {
	t.Helper()
	compareProgram(t, compile(t, text, driver.Options{}), facts, want)
}

// compareProgram is compareGenerated for a compiled program.
func compareProgram(
	t *testing.T, prog *driver.Program, facts *driver.Facts, want map[string][]string,
) {
	t.Helper()
	engines := []string{"go"}
	if _, _, err := driver.ChooseEngine("cpu"); err == nil && !testing.Short() {
		engines = append(engines, "cpu")
	}
	for _, engine := range engines {
		res, err := prog.Run(context.Background(), facts, driver.RunOptions{Engine: engine})
		if err != nil {
			t.Fatal(err)
		}
		for pred, lines := range want {
			var got []string
			for _, row := range rows(res, pred) {
				got = append(got, fmt.Sprintf("%#v", row))
			}
			slices.Sort(got)
			lines = slices.Compact(slices.Sorted(slices.Values(lines)))
			if !slices.Equal(got, lines) {
				t.Errorf("%s %s: got %d tuples, want %d:\n%.500s\nwant\n%.500s", engine, pred,
					len(got), len(lines), got, lines)
			}
		}
	}
}

// tupleLine writes a tuple as compareGenerated does.
func tupleLine(values ...any) string {
	row := make([]any, len(values))
	for i, v := range values {
		row[i] = v
		if n, ok := v.(int); ok {
			row[i] = int64(n)
		}
	}
	return fmt.Sprintf("%#v", row)
}

// TestRangesByBruteForce compares ranges of bytes, whose ends are those of the
// type, with loops.
func TestRangesByBruteForce(t *testing.T) {
	const program = `
n(lo, hi, step) -> int[8](lo), int[8](hi), int[8](step).
stepped(lo, hi, step, x) <- n(lo, hi, step), int:range(lo, hi, step, x).
filtered(lo, hi, step, x) <- n(lo, hi, step), n(x, _, _), int:range(lo, hi, step, x).
between(lo, hi, v) <- n(lo, hi, _), lo <= v, v < hi.
`
	rng := rand.New(rand.NewPCG(7, 7))
	ends := []int{-128, -127, -1, 0, 1, 126, 127}
	draw := func() int {
		if rng.IntN(2) == 0 {
			return ends[rng.IntN(len(ends))]
		}
		return rng.IntN(256) - 128
	}
	facts := driver.NewFacts()
	var all [][3]int
	for range 300 {
		n := [3]int{draw(), draw(), draw()}
		all = append(all, n)
		facts.Rows("n", []any{n[0], n[1], n[2]})
	}
	want := map[string][]string{}
	add := func(pred string, values ...any) {
		want[pred] = append(want[pred], tupleLine(values...))
	}
	for _, n := range all {
		lo, hi, step := n[0], n[1], n[2]
		in := map[int]bool{}
		for x := lo; step > 0 && x <= hi || step < 0 && x >= hi; x += step {
			in[x] = true
			add("stepped", lo, hi, step, x)
		}
		for _, m := range all {
			if in[m[0]] {
				add("filtered", lo, hi, step, m[0])
			}
		}
		for x := lo; x < hi; x++ {
			add("between", lo, hi, x)
		}
	}
	compareGenerated(t, program, facts, want)
}

// TestPartsByBruteForce compares the parts that string:split and
// string:substring enumerate with those that loops find.
func TestPartsByBruteForce(t *testing.T) {
	const program = `
text(s) -> string(s).
mark(d) -> string(d).
split(s, d, i, t) <- text(s), mark(d), string:split[s, d, i] = t.
sub(s, i, n, t) <- text(s), string:substring[s, i, n] = t.
found(s, d, i, n) <- text(s), mark(d), string:substring[s, i, n] = d.
prefix(s, d) <- text(s), mark(d), string:substring[s, 0, _] = d.
two(s, i, t) <- text(s), string:substring[s, i, 2] = t.
rest(s, n, t) <- text(s), string:substring[s, 1, n] = t.
`
	rng := rand.New(rand.NewPCG(11, 3))
	draw := func(most int) string {
		var b strings.Builder
		for range rng.IntN(most + 1) {
			b.WriteString([]string{"a", "b", ".", "é"}[rng.IntN(4)])
		}
		return b.String()
	}
	facts := driver.NewFacts()
	marks := []string{"", ".", "a", "aa", "é.", draw(3)}
	for _, d := range marks {
		facts.Rows("mark", []any{d})
	}
	want := map[string][]string{}
	add := func(pred string, values ...any) {
		want[pred] = append(want[pred], tupleLine(values...))
	}
	for range 60 {
		s := draw(9)
		facts.Rows("text", []any{s})
		for _, d := range marks {
			if d == "" {
				continue
			}
			for i, part := range strings.Split(s, d) {
				add("split", s, d, i, part)
			}
		}
		for _, d := range marks {
			if strings.HasPrefix(s, d) {
				add("prefix", s, d)
			}
		}
		runes := []rune(s)
		for i := 0; i <= len(runes); i++ {
			for n := 0; i+n <= len(runes); n++ {
				part := string(runes[i : i+n])
				add("sub", s, i, n, part)
				if slices.Contains(marks, part) {
					add("found", s, part, i, n)
				}
				if n == 2 {
					add("two", s, i, part)
				}
				if i == 1 {
					add("rest", s, n, part)
				}
			}
		}
	}
	compareGenerated(t, program, facts, want)
}
