package redfox

import (
	"context"
	"errors"
	"testing"

	"github.com/redfoxdb/redfox/frontend/diag"
)

// TestKeepGoing has the result of a run beside its violated constraints, on all
// engines, and none where a total does not fit.
func TestKeepGoing(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		opts := RunOptions{Engine: engine, KeepGoing: true}
		for _, tt := range []struct {
			program string
			code    *diag.Code
			tuples  int64
		}{
			{"n(1). n(2). n(3). n(x) -> x < 3. out(x + 1) <- n(x).", diag.ConstraintViolated, 3},
			{"n(1). n(2). n(x) -> x < 3. out(x + 1) <- n(x).", nil, 2},
			{"n(1). n(9223372036854775807). out[] = s <- agg<<s = total(x)>> n(x).",
				diag.TotalOverflow, -1},
		} {
			prog := compileText(t, tt.program, Options{})
			res, err := prog.Run(context.Background(), NewFacts(), opts)
			var wrong *ProgramError
			switch {
			case tt.code == nil && err != nil:
				t.Errorf("%s: %v", tt.program, err)
			case tt.code != nil && !errors.As(err, &wrong),
				tt.code != nil && wrong.Diagnostics[0].Code != tt.code:
				t.Errorf("%s: error %v, want %s", tt.program, err, tt.code.ID)
			case (res == nil) != (tt.tuples < 0):
				t.Errorf("%s: result %v", tt.program, res)
			case res != nil && res.Len("out") != tt.tuples:
				t.Errorf("%s: %d tuples, want %d", tt.program, res.Len("out"), tt.tuples)
			}
		}
	})
}
