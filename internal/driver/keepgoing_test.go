package driver

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

// TestKeepGoingTransactions keeps transactions that violate a constraint, with
// their results, and rolls back others that fail.
func TestKeepGoingTransactions(t *testing.T) {
	ctx := context.Background()
	inSessions(t, func(t *testing.T, s *Session) {
		opts := RunOptions{KeepGoing: true}
		w, err := s.OpenWorkspace(ctx, []Source{Text("program.logic",
			"n(x) -> int(x). n(x) -> x < 3. f[k] = x -> int(k), int(x). "+
				"+n(1). +n(5). out(x + 1) <- n(x).")}, NewFacts(), Options{}, opts)
		var wrong *ProgramError
		if w == nil || !errors.As(err, &wrong) ||
			wrong.Diagnostics[0].Code != diag.ConstraintViolated {
			t.Fatalf("workspace %v, error %v", w, err)
		}
		for _, tt := range []struct {
			text string
			code *diag.Code
			want string // "" if it is rolled back
		}{
			{"+n(7). _(x) <- n(x).", diag.ConstraintViolated, "1; 5; 7"},
			{"+f[1] = x <- n(x). +n(2).", diag.KeyConflict, ""},
			{"-n(5). -n(7). _(x) <- n(x).", nil, "1"},
		} {
			res, err := s.Exec(ctx, w,
				Transaction{Sources: []Source{Text("exec.logic", tt.text)}}, opts)
			switch {
			case tt.code == nil && err != nil:
				t.Errorf("%s: %v", tt.text, err)
			case tt.code != nil && !errors.As(err, &wrong),
				tt.code != nil && wrong.Diagnostics[0].Code != tt.code:
				t.Errorf("%s: error %v, want %s", tt.text, err, tt.code.ID)
			case (res == nil) != (tt.want == ""):
				t.Errorf("%s: result %v", tt.text, res)
			case res != nil && tuples(res)["_"] != tt.want:
				t.Errorf("%s: %s, want %s", tt.text, tuples(res)["_"], tt.want)
			}
		}
		res, err := s.Read(ctx, w, opts)
		if err != nil || tuples(res)["out"] != "2" {
			t.Errorf("%v, %v", res, err)
		}
	})
}
