package tiers

import (
	"fmt"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime"
)

// TestSizesOfLoops wants the rules of a loop not to double the sizes of what
// they fill one after the other: few facts are few rows behind the loop, too.
func TestSizesOfLoops(t *testing.T) {
	program := "edge(x, y) -> int(x), int(y).\nr(x, y) <- edge(x, y).\n"
	for i := range 20 {
		program += fmt.Sprintf("r(x, z) <- r(x, y), edge(y, z), x != %d.\n", i)
	}
	program += "n[] = n <- agg<<n = count()>> r(_, _).\n"
	facts := oracle.Facts{}
	for i := range int64(100) {
		facts["edge"] = append(facts["edge"], oracle.Tuple{scalar.OfInt(scalar.IntType, i),
			scalar.OfInt(scalar.IntType, i+1)})
	}
	plan, db := enginetest.Stored(t, program, facts)
	e := &Engine{sizes: DefaultSizes}
	if r := e.newRun(&runtime.Request{Plan: plan, Facts: db}); r.scansMuch(1) {
		t.Error("a loop over 100 facts is expected to leave millions of rows")
	}
}
