package native

import (
	"context"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// TestClear empties variables of every kind and fills them again.
func TestClear(t *testing.T) {
	for _, e := range []*engine{newEngine(t, 1024, false), newEngine(t, 32, false)} {
		enginetest.Clears(t,
			func(graph *harmony.Program, db *store.Database) (*runtime.Answer, error) {
				e.opts.Lower = func(*queryplan.Plan) (*harmony.Program, error) { return graph, nil }
				return e.Run(context.Background(),
					&runtime.Request{Plan: &queryplan.Plan{}, Facts: db, Threads: 3})
			})
	}
}
