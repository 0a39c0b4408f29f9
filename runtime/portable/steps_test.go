package portable

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/queryplan"
)

// stepShapes are bodies by the variables of their atoms. Capital atoms recurse.
var stepShapes = map[string][]string{
	"triangle of a recursion":      {"XY", "YZ", "ZX"},
	"triangle closed by facts":     {"XY", "YZ", "xz"},
	"triangle and a path":          {"XY", "YZ", "XZ", "zw"},
	"square":                       {"XY", "yz", "ZW", "wx"},
	"clique of four":               {"XY", "xz", "XW", "yz", "YW", "zw"},
	"the delta's own columns":      {"XY", "YX", "yz", "XZ"},
	"a variable of one column":     {"XY", "YZ", "xz", "z"},
	"three columns":                {"XY", "xyz", "YZ"},
	"a product has no steps":       {"XY", "zw", "XZ", "YW", "Z"},
	"a relation with itself twice": {"XY", "XZ", "YZ", "XZ"},
}

// stepPlan is a plan whose loop has the versions of the rule of a shape: each
// recursive atom is the delta of one, and those behind it are as they were.
func stepPlan(rng *rand.Rand, shape []string) (text string, facts map[string]planref.Rows) {
	arity := func(vars string) string { return fmt.Sprint("in", len(vars)) }
	facts = map[string]planref.Rows{}
	values := 3 + rng.IntN(9)
	for k := 1; k <= 3; k++ {
		var rows [][]int64
		for range rng.IntN(1 + []int{0, 4, 30, 60}[k]) {
			row := make([]int64, k)
			for i := range row {
				// Small values have many more tuples than large ones.
				row[i] = int64(rng.IntN(1 + rng.IntN(values)))
			}
			rows = append(rows, row)
		}
		facts[fmt.Sprint("in", k)] = distinct(ints(rows...))
	}
	var b strings.Builder
	b.WriteString(`var in1(a: int) input "in1"
var in2(a: int, b: int) input "in2"
var in3(a: int, b: int, c: int) input "in3"
var r1(a: int) derived output
var r2(a: int, b: int) derived output
block b0:
  insert r1
    scan in1(a)
  insert r2
    filter le(a, 3)
      scan in2(a, b)
  merge r1
  merge r2
  branch delta r1, r2 -> b1 else b2
block b1:
`)
	recursive := func(vars string) bool { return vars == strings.ToUpper(vars) }
	for delta, vars := range shape {
		if !recursive(vars) {
			continue
		}
		var all []string
		for _, v := range strings.Split(strings.ToLower(strings.Join(shape, "")), "") {
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
		var order []string
		for _, v := range all {
			if strings.Count(strings.ToLower(strings.Join(shape, "")), v) > 1 {
				order = append(order, v)
			}
		}
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		head := []string{all[rng.IntN(len(all))], all[rng.IntN(len(all))]}
		if head[0] == head[1] {
			head[1] = all[(slices.Index(all, head[0])+1)%len(all)]
		}
		fmt.Fprintf(&b, "  insert r2\n    project %s as a, %s as b\n      multijoin %s\n", head[0],
			head[1], strings.Join(order, ", "))
		for i, other := range shape {
			from := arity(other)
			if recursive(other) {
				from = []string{"", "old "}[min(1, max(0, i-delta))] + fmt.Sprint("r", len(other))
				if i == delta {
					from = "delta " + fmt.Sprint("r", len(other))
				}
			}
			fmt.Fprintf(&b, "        scan %s(%s)\n", from,
				strings.Join(strings.Split(strings.ToLower(other), ""), ", "))
		}
	}
	b.WriteString("  merge r1\n  merge r2\n  branch delta r1, r2 -> b1 else b2\nblock b2:\n  halt\n")
	return b.String(), facts
}

// TestSteps compares multijoins over growing relations with the naive
// interpreter.
func TestSteps(t *testing.T) {
	steps, grown := 0, 0
	for seed := range uint64(40) {
		for i, name := range slices.Sorted(maps.Keys(stepShapes)) {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			text, facts := stepPlan(rng, stepShapes[name])
			p := parse(t, text)
			if err := agree(p, facts); err != nil {
				t.Fatalf("%s, seed %d: %v\n%s\n%v", name, seed, err, text, facts)
			}
			for _, c := range p.Blocks[1].Cmds {
				if n := queryplan.CommandNode(c); n != nil {
					if _, ok := n.Inputs()[0].(*queryplan.MultiJoin).Steps(); ok {
						steps++
					}
				}
			}
			ans, err := planref.Run(p, facts)
			if err != nil {
				t.Fatal(err)
			}
			if len(ans.Outputs["r2"]) > len(facts["in2"]) {
				grown++
			}
		}
	}
	if steps < 400 || grown < 40 {
		t.Errorf("%d multijoins go by steps, and %d recursions derive more than facts", steps, grown)
	}
}
