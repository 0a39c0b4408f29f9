package driver

import (
	"context"
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/runtime/byrows"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// paidText declares a large table of payments and a small one of cities.
const paidText = `
paid:much[id] = m -> int(id), decimal[18,2](m).
paid:who[id] = w -> int(id), int(w).
paid:day[id] = d -> int(id), int(d).
city[w] = c -> int(w), string(c).
`

// batchCases are rules over payments, and how many steps of their plans run by
// batches. Without one, the run goes by parts that spill.
var batchCases = []struct {
	name, text string
	steps      int
}{
	{"totals and averages", `
sum[c] = s, mean[c] = m, number[c] = n, last[c] = l <-
    agg<<s = total(x), m = avg(x), n = count(), l = max(d)>>
    paid:much[i] = x, paid:who[i] = w, paid:day[i] = d, city[w] = c.`, 1},
	{"a total of 38 digits", `
big[w] = s -> int(w), decimal[38,4](s).
big[w] = s <- agg<<s = total(y)>> paid:much[i] = x, paid:who[i] = w, y = x * x.
_(w, s) <- big[w] = s.`, 1},
	{"tuples", `_(w, d) <- paid:who[i] = w, paid:day[i] = d, paid:much[i] > 49.00, d < 5.`, 1},
	{"the greatest", `_(i, m) <- paid:much[i] = m, paid:day[i] > 3.
lang:output:orderBy[` + "`_] = \"m desc\"" + `.
lang:output:limit[` + "`_] = 7" + `.`, 1},
	{"a total of totals", `
spent[w] = s <- agg<<s = total(x)>> paid:much[i] = x, paid:who[i] = w.
_[c] = m <- agg<<m = max(s)>> spent[w] = s, city[w] = c.`, 1},
	{"a total whose parts overflow", `
_signed[i] = y <- paid:day[i] = 0, y = 4000000000000000000 * (1 - 2 * (i / 20000)).
_[] = s <- agg<<s = total(y)>> _signed[i] = y.`, 0},
}

// paidFacts are 40,000 payments by 200 people.
func paidFacts() *Facts {
	r := rand.New(rand.NewPCG(5, 6))
	var paid, city strings.Builder
	for i := range 40_000 {
		day := 1 + r.IntN(9)
		if i%1000 == 7 {
			day = 0
		}
		fmt.Fprintf(&paid, "%d\t%d.%02d\t%d\t%d\n", i, r.IntN(50), r.IntN(100), r.IntN(200),
			day)
	}
	for w := range 200 {
		fmt.Fprintf(&city, "%d\t%s\n", w, []string{"Ulm", "Aalen", "Bern"}[w%3])
	}
	return NewFacts().Add(FactFile{Pred: "paid", Reader: strings.NewReader(paid.String()),
		Format: TSVFacts, Names: []string{"id", "much", "who", "day"}}).
		Reader("city", TSVFacts, strings.NewReader(city.String()))
}

// TestBatches runs programs on a device whose memory cannot hold their facts.
func TestBatches(t *testing.T) {
	emulateGPU(t, emulated.Options{Seed: 9})
	process.Batches.Least = 1000
	ctx := context.Background()
	for _, c := range batchCases {
		prog := compileText(t, paidText+c.text, Options{})
		db, err := prog.Load(ctx, paidFacts(), LoadOptions{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		want, err := prog.RunOn(ctx, db, RunOptions{Engine: EngineGo})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		most, spilled := 0, false
		for memory := int64(256 << 10); memory >= 100<<10; memory = memory * 3 / 4 {
			res, err := prog.RunOn(ctx, db, RunOptions{Engine: EngineGPU, DeviceMemory: memory})
			if err != nil {
				t.Errorf("%s in %d bytes: %v", c.name, memory, err)
				continue
			}
			if got := resultText(t, res); got != resultText(t, want) {
				t.Errorf("%s in %d bytes: got\n%.500s", c.name, memory, got)
			}
			steps := 0
			for _, s := range res.Stats.Segments {
				if s.Batches > 1 {
					steps++
				}
			}
			most, spilled = max(most, steps), spilled || res.Stats.Spill != nil
		}
		if most != c.steps || spilled != (c.steps == 0) {
			t.Errorf("%s: %d steps by batches, want %d; it spills: %v", c.name, most, c.steps,
				spilled)
		}
	}
}

// TestStarByBatches runs star programs by batches of a few rows.
func TestStarByBatches(t *testing.T) {
	emulateGPU(t, emulated.Options{Seed: 9})
	process.Batches = byrows.Sizes{Least: 3, Always: 3}
	starOnEngine(t, EngineGPU, *starGPU, goruntime.NumCPU())
}

// TestBatchesOfRandomPrograms runs random programs by batches of two rows.
func TestBatchesOfRandomPrograms(t *testing.T) {
	emulateGPU(t, emulated.Options{Seed: 9})
	process.Batches = byrows.Sizes{Least: 2, Always: 2}
	randomByRows(t, EngineGPU, 7_700_410)
}
