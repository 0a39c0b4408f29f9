package lower

import (
	"fmt"
	"reflect"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
)

// SurvivorError is a bug: an operation that lowering should have replaced or
// has no replacement for.
type SurvivorError struct {
	Op   string
	Span source.Span // of the rule or constraint, if it has one
}

// Error names the operation and where its rule stands.
func (e *SurvivorError) Error() string {
	if !e.Span.IsValid() {
		return "lowering leaves " + e.Op
	}
	pos := e.Span.Position()
	return fmt.Sprintf("lowering leaves %s of %s:%d:%d", e.Op, pos.File, pos.Line, pos.Column)
}

// legal are the operations that a lowered program may have. The rest of package
// harmony is for later phases: several sinks of one kernel.
var legal = types(
	(*harmony.Run)(nil), (*harmony.Build)(nil), (*harmony.Number)(nil), (*harmony.TopK)(nil),
	(*harmony.Merge)(nil), (*harmony.Clear)(nil), (*harmony.Check)(nil), (*harmony.CheckKey)(nil),

	(*harmony.Rows)(nil), (*harmony.GroupRows)(nil), (*harmony.Values)(nil),

	(*harmony.Load)(nil), (*harmony.Map)(nil), (*harmony.Filter)(nil), (*harmony.Need)(nil),
	(*harmony.Probe)(nil), (*harmony.Gather)(nil),

	(*harmony.Store)(nil), (*harmony.Insert)(nil), (*harmony.Group)(nil),
)

func types(ops ...any) map[reflect.Type]bool {
	out := map[reflect.Type]bool{}
	for _, op := range ops {
		out[reflect.TypeOf(op)] = true
	}
	return out
}

// checkLegal returns an error that names the first operation that lowering must
// not leave in a program.
func checkLegal(p *harmony.Program) error {
	for _, c := range p.Commands() {
		ops, span := []any{c}, source.Span{}
		if run, ok := c.(*harmony.Run); ok {
			k := run.Kernel
			span = k.Span
			ops = append(ops, k.Source)
			for _, s := range k.Stages {
				ops = append(ops, s)
			}
			for _, s := range k.Sinks {
				ops = append(ops, s)
			}
			if len(k.Sinks) != 1 || len(k.Ops) != 1 {
				return &SurvivorError{fmt.Sprintf("%d operators and %d sinks in kernel %s",
					len(k.Ops), len(k.Sinks), k.Name), span}
			}
		}
		for _, op := range ops {
			if !legal[reflect.TypeOf(op)] {
				return &SurvivorError{fmt.Sprintf("%T", op), span}
			}
		}
	}
	return nil
}
