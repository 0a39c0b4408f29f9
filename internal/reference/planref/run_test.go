package planref

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// TestRun runs the plans of testdata/run over the facts edge = {1-2, 2-3, 3-1,
// 3-4} and sale = (shop, item, price) and prints outputs and violations.
func TestRun(t *testing.T) {
	facts := map[string]Rows{
		"edge": ints([]int64{1, 2}, []int64{2, 3}, []int64{3, 1}, []int64{3, 4}),
		"sale": {
			{scalar.OfString("a"), scalar.OfInt(scalar.IntType, 1), scalar.OfDecimal(2, 150)},
			{scalar.OfString("a"), scalar.OfInt(scalar.IntType, 2), scalar.OfDecimal(2, 150)},
			{scalar.OfString("b"), scalar.OfInt(scalar.IntType, 3), scalar.OfDecimal(2, -5)},
		},
	}
	datadriven.RunTest(t, "testdata/run", func(t *testing.T, d *datadriven.TestData) string {
		p, err := queryplan.Parse("test.plan", d.Input)
		if err == nil {
			err = queryplan.Verify(p)
		}
		if err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		ans, err := Run(p, facts)
		if err != nil {
			return err.Error() + "\n"
		}
		return show(ans)
	})
}

func show(ans *Answer) string {
	var b strings.Builder
	for _, set := range []map[string]Rows{ans.Outputs, ans.Violations} {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			fmt.Fprintf(&b, "%s:", name)
			for _, r := range set[name] {
				b.WriteString(" (" + strings.TrimSuffix(Key(r), ",") + ")")
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func ints(rows ...[]int64) Rows {
	var out Rows
	for _, r := range rows {
		var row []scalar.Value
		for _, v := range r {
			row = append(row, scalar.OfInt(scalar.IntType, v))
		}
		out = append(out, row)
	}
	return out
}

func TestDivergenceEnds(t *testing.T) {
	p, err := queryplan.Parse("test.plan", `
var n(x: int) derived output
block b0:
  insert n
    values (x: int)
      (0)
  merge n
  jump b1
block b1:
  insert n
    project y as x
      map y = add(x, 1)
        scan delta n(x)
  merge n
  branch delta n -> b1 else b2
block b2:
  halt
`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(p, nil); !errors.Is(err, ErrRounds) {
		t.Errorf("got %v", err)
	}
}
