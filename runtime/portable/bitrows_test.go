package portable_test

import (
	"context"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable"
)

// TestBitRows compares dense programs by bits with those by rows.
func TestBitRows(t *testing.T) {
	e := portable.New()
	enginetest.Dense(t, func(t *testing.T, name string, req runtime.Request) (byBits bool) {
		enginetest.Compare(t, name, e, req)
		answer, err := e.Run(context.Background(), &req)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(answer.Profile,
			func(c runtime.CommandProfile) bool { return c.ByBits })
	})
}
