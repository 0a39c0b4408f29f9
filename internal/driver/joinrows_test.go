package driver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/short"
)

// The random programs of TestSelectRowsByJoins are over joinTables files of a
// key and joinFields fields, which are keys of the others.
const (
	joinTables = 4
	joinFields = 2
)

// joinProgram returns rules that join fields of tables and facts of their own,
// with comparisons, negation and totals; later ones read what earlier ones
// derive.
func joinProgram(rng *rand.Rand) string {
	var b strings.Builder
	for t := range joinTables {
		for f := range joinFields {
			fmt.Fprintf(&b, "t%d:f%d[k] = v -> int(k), int(v).\n", t, f)
		}
	}
	for range 1 + rng.IntN(4) {
		fmt.Fprintf(&b, "pair(%d, %d).\n", rng.IntN(40), rng.IntN(40))
	}
	vars := []string{"a", "b", "c", "d", "e"}
	rules := 1 + rng.IntN(3)
	for r := range rules {
		var body, bound []string
		atom := func(x, y string) string {
			if r > 0 && rng.IntN(4) == 0 {
				return fmt.Sprintf("d%d(%s, %s)", rng.IntN(r), x, y)
			}
			if rng.IntN(8) == 0 {
				return fmt.Sprintf("pair(%s, %s)", x, y)
			}
			return fmt.Sprintf("t%d:f%d[%s] = %s", rng.IntN(joinTables), rng.IntN(joinFields), x, y)
		}
		for range 1 + rng.IntN(4) {
			x, y := vars[rng.IntN(len(vars))], vars[rng.IntN(len(vars))]
			if len(bound) > 0 {
				x = bound[rng.IntN(len(bound))]
				if rng.IntN(3) == 0 {
					x, y = y, x
				}
			}
			body = append(body, atom(x, y))
			for _, v := range []string{x, y} {
				if !slices.Contains(bound, v) {
					bound = append(bound, v)
				}
			}
		}
		pick := func() string { return bound[rng.IntN(len(bound))] }
		for range 1 + rng.IntN(2) {
			op := []string{"<", ">", "=", "!="}[rng.IntN(4)]
			body = append(body, fmt.Sprintf("%s %s %d", pick(), op, rng.IntN(60)))
		}
		if rng.IntN(3) == 0 {
			body = append(body, "!"+atom(pick(), "_"))
		}
		if rng.IntN(4) == 0 {
			body = append(body, "!"+atom(pick(), pick()))
		}
		all := strings.Join(body, ", ")
		if rng.IntN(3) == 0 {
			g := pick()
			fmt.Fprintf(&b, "n%d[%s] = s <- agg<<s = count()>> %s.\n", r, g, all)
			fmt.Fprintf(&b, "d%d(x, y) <- n%d[x] = y.\n", r, r)
			continue
		}
		fmt.Fprintf(&b, "d%d(%s, %s) <- %s.\n", r, pick(), pick(), all)
	}
	fmt.Fprintf(&b, "_(x, y) <- d%d(x, y).\n", rules-1)
	return b.String()
}

// TestSelectRowsByJoins compares random programs over Parquet files of which
// rows are left out wherever that is possible with the same over all rows.
func TestSelectRowsByJoins(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range joinTables {
		rows := 20 + 40*i
		columns := make([][]int64, 1+joinFields)
		for row := range rows {
			columns[0] = append(columns[0], int64(row*(1+i%2)))
			for f := range joinFields {
				columns[1+f] = append(columns[1+f], rng.Int64N(int64(30+30*f)))
			}
		}
		writeParquet(t, filepath.Join(dir, fmt.Sprintf("t%d.parquet", i)),
			[]string{"k", "f0", "f1"}, columns...)
	}
	joined := 0
	for n := range short.Count(t, 600, "programs") {
		text := joinProgram(rng)
		answer := func(load LoadOptions, disable ...string) (string, int64) {
			prog := compileText(t, text, Options{Disable: disable})
			load.Once, load.proofs = true, keptProofs(map[string][]byte{})
			opts := RunOptions{Engine: EngineGo, Load: load}
			db, err := prog.LoadFor(ctx, NewFacts().Dir(dir), opts)
			if err != nil {
				t.Fatalf("program %d: %v\n%s", n, err, text)
			}
			res, err := prog.RunOn(ctx, db, opts)
			if err != nil {
				t.Fatalf("program %d: %v\n%s", n, err, text)
			}
			var kept int64
			for _, f := range db.Report().Files {
				if f.Selected {
					kept += f.Rows - f.Kept
				}
			}
			return fmt.Sprint(slices.Collect(res.Rows("_"))), kept
		}
		want, _ := answer(LoadOptions{}, leaveKeys, selectRows)
		_, compared := answer(LoadOptions{always: true}, joinRows)
		got, left := answer(LoadOptions{always: true})
		if got != want {
			t.Errorf("program %d: %s over the rows that are left, %s over all\n%s", n, got, want, text)
		}
		if left > compared {
			joined++
		}
	}
	if joined == 0 {
		t.Error("no program has left out rows that its joins have no use for")
	}
	t.Logf("joins of %d programs have left rows out", joined)
}
