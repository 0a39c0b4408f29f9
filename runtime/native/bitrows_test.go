package native

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/runtime"
)

// TestBitRows compares dense programs by bits and by rows with the go engine.
func TestBitRows(t *testing.T) {
	enginetest.Dense(t, func(t *testing.T, name string, req runtime.Request) (byBits bool) {
		want := enginetest.WantOf(req)
		for _, items := range []int{32, 1024} {
			e := newEngine(t, items, false)
			want.Compare(t, fmt.Sprintf("%s, tiles of %d", name, items), e, req)
			rows := req
			rows.NoBitJoins = true
			want.Compare(t, name+" by rows", e, rows)
			answer, err := e.Run(context.Background(), &req)
			if err != nil {
				t.Fatal(err)
			}
			byBits = byBits || slices.ContainsFunc(answer.Kernels,
				func(k runtime.KernelProfile) bool { return k.ByBits })
		}
		return byBits
	})
}
