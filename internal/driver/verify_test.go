package driver

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/core"
)

// TestCoreIsVerified damages a checked program: the error is a bug of redfox,
// and it names the front end.
func TestCoreIsVerified(t *testing.T) {
	source := Text("p.logic", "p(x) <- q(x), x > 1.\nq(2).\n")
	res, err := check(context.Background(), []Source{source}, Options{})
	if err != nil || res.program == nil {
		t.Fatalf("the program is refused: %v, %v", err, res)
	}
	rule := res.program.Strata[1].Rules[0]
	rule.Head.Args[0] = &core.Var{Name: "y", Type: rule.Head.Pred.Args[0].Type}
	err = verifyCore(res.program)
	var bug *InternalError
	if !errors.As(err, &bug) || bug.Phase != "the front end" ||
		!strings.Contains(err.Error(), "head variable y") {
		t.Errorf("got %v", err)
	}
}
