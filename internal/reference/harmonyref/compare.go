package harmonyref

import (
	"fmt"
	"math/rand/v2"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// RandomFacts returns fewer than 20 rows for each input of a program. value
// draws a value of a type.
func RandomFacts(rng *rand.Rand, p *harmony.Program,
	value func(t scalar.Type) scalar.Value) map[string]planref.Rows {
	facts := map[string]planref.Rows{}
	for _, r := range p.Relations {
		if r.Kind != queryplan.Input || facts[r.Source] != nil {
			continue
		}
		rows := planref.Rows{}
		seen := map[string]bool{}
		for range rng.IntN(20) {
			row := make([]scalar.Value, len(r.Cols))
			for i, c := range r.Cols {
				row[i] = value(c.Type)
			}
			if key := planref.Key(row[:r.Keys]); !seen[key] {
				seen[key] = true
				rows = append(rows, row)
			}
		}
		facts[r.Source] = rows
	}
	return facts
}

// Disagreement runs a program before and after a transformation over the same
// facts, the second time with its rows in another order. It returns how the
// results differ, or "".
func Disagreement(facts map[string]planref.Rows, before, after *harmony.Program,
	seed uint64) string {
	want, wantErr := Run(before, facts, Options{})
	got, gotErr := Run(after, facts, Options{Shuffle: rand.New(rand.NewPCG(seed, 2))})
	switch {
	case (wantErr == nil) != (gotErr == nil):
		return fmt.Sprintf("error %v, was %v, of\n%s\nand\n%s", gotErr, wantErr, after, before)
	case wantErr == nil && fmt.Sprint(want) != fmt.Sprint(got):
		return fmt.Sprintf("the result is\n%v\nand was\n%v\nof\n%s\nand\n%s", got, want, after,
			before)
	}
	return ""
}
