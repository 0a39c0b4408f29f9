package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Compare runs a plan on an engine and on the go engine, and wants the same
// answer or the same error.
func Compare(t testing.TB, name string, e runtime.Engine, req runtime.Request) {
	t.Helper()
	if err := Same(e, req); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// Same is Compare for goroutines that are no test's own: it returns what
// differs.
func Same(e runtime.Engine, req runtime.Request) error {
	return WantOf(req).Same(e, req)
}

// Want is what the go engine answers.
type Want struct {
	answer *runtime.Answer
	err    error
}

// mostViolations is how many tuples of a constraint answers have.
const mostViolations = 10

// WantOf runs a plan on the go engine, by rows, with nothing at two places of
// it. Several runs of an engine can be compared with one answer.
func WantOf(req runtime.Request) Want {
	req.MaxViolations, req.NoBitJoins = mostViolations, true
	req.Plan = Apart(req.Plan)
	answer, err := portable.New().Run(context.Background(), &req)
	return Want{answer, err}
}

// Compare is like the function, with an answer that is there.
func (w Want) Compare(t testing.TB, name string, e runtime.Engine, req runtime.Request) {
	t.Helper()
	if err := w.Same(e, req); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// Same is Compare for goroutines that are no test's own.
func (w Want) Same(e runtime.Engine, req runtime.Request) error {
	req.MaxViolations = mostViolations
	got, err := e.Run(context.Background(), &req)
	if a, b := errorText(err), errorText(w.err); a != b {
		return fmt.Errorf("error %q, not %q", a, b)
	}
	if err == nil {
		if d := Difference(got, w.answer); d != "" {
			return errors.New(d)
		}
		for _, rel := range got.Outputs {
			if err := bounded(rel); err != nil {
				return err
			}
		}
	}
	return nil
}

// bounded wants the statistics of columns to bound their words: sorting takes
// them for granted.
func bounded(rel *store.Relation) error {
	for i, c := range rel.Columns() {
		k := c.Type.Kind
		low, high := scalar.Ordered(k, c.Stats.Min), scalar.Ordered(k, c.Stats.Max)
		for row := range c.Len() {
			if w := scalar.Ordered(k, c.Word(row)); w < low || w > high {
				return fmt.Errorf("column %d of %s has %v, and bounds %d to %d", i, rel.Name,
					c.Value(row), c.Stats.Min, c.Stats.Max)
			}
		}
	}
	return nil
}

// Difference says where two answers differ, "" if they are equal.
func Difference(got, want *runtime.Answer) string {
	for name, rel := range want.Outputs {
		if got.Outputs[name] == nil {
			return "no output " + name
		}
		a, b := Contents(got.Outputs[name]), Contents(rel)
		if !slices.EqualFunc(a, b, func(x, y oracle.Tuple) bool {
			return oracle.Compare(x, y) == 0
		}) {
			return fmt.Sprintf("%s has %d tuples, not %d:\n%.2000v\nwant\n%.2000v", name, len(a),
				len(b), a, b)
		}
	}
	if len(got.Outputs) != len(want.Outputs) {
		return fmt.Sprintf("%d outputs, not %d", len(got.Outputs), len(want.Outputs))
	}
	if got.Dropped != want.Dropped {
		return fmt.Sprintf("%d decimals are dropped, not %d", got.Dropped, want.Dropped)
	}
	return violationDifference(got.Violations, want.Violations)
}

// Contents returns the tuples of a relation, sorted.
func Contents(rel *store.Relation) []oracle.Tuple {
	out := make([]oracle.Tuple, rel.Rows())
	for i := range out {
		for _, c := range rel.Columns() {
			out[i] = append(out[i], c.Value(i))
		}
	}
	slices.SortFunc(out, oracle.Compare)
	return out
}

func violationDifference(got, want []runtime.Violation) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d constraints are violated, not %d", len(got), len(want))
	}
	for i, v := range want {
		w := got[i]
		if v.Check.Text != w.Check.Text || v.Check.Span != w.Check.Span || v.Count != w.Count ||
			fmt.Sprint(v.Cols, v.Tuples) != fmt.Sprint(w.Cols, w.Tuples) {
			return fmt.Sprintf("violation %v, not %v", w, v)
		}
	}
	return ""
}

// errorText is what two engines have to agree on of an error.
func errorText(err error) string {
	var key *runtime.KeyError
	var overflow *runtime.OverflowError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &key):
		return fmt.Sprint(key, key.Span.Start, key.Var.Name)
	case errors.As(err, &overflow):
		return fmt.Sprint(overflow, overflow.Span.Start, overflow.Span.End)
	}
	return "other: " + err.Error()
}
