package harmonyref

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// TestRun runs the kernel graphs of testdata/run over edge = {1-2, 2-3, 3-1,
// 3-4} and prints outputs and violations.
func TestRun(t *testing.T) {
	var edge planref.Rows
	for _, e := range [][2]int64{{1, 2}, {2, 3}, {3, 1}, {3, 4}} {
		edge = append(edge,
			[]scalar.Value{scalar.OfInt(scalar.IntType, e[0]), scalar.OfInt(scalar.IntType, e[1])})
	}
	datadriven.RunTest(t, "testdata/run", func(t *testing.T, d *datadriven.TestData) string {
		p, err := harmony.Parse("test.harmony", d.Input)
		if err == nil {
			err = harmony.Verify(p)
		}
		if err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		ans, err := Run(p, map[string]planref.Rows{"edge": edge}, Options{})
		if err != nil {
			return err.Error() + "\n"
		}
		var b strings.Builder
		for _, set := range []map[string]planref.Rows{ans.Outputs, ans.Violations} {
			for _, name := range slices.Sorted(maps.Keys(set)) {
				fmt.Fprintf(&b, "%s:", name)
				for _, r := range set[name] {
					b.WriteString(" (" + strings.TrimSuffix(planref.Key(r), ",") + ")")
				}
				b.WriteByte('\n')
			}
		}
		return b.String()
	})
}
