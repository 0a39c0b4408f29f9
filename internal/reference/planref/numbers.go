package planref

import (
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/queryplan"
)

// HideNumbers takes the predicates whose columns hold numbers of entities out
// of the outputs of a program's plan: the numbers differ between plans and
// engines.
func HideNumbers(prog *core.Program, p *queryplan.Plan) {
	hidden := map[string]bool{}
	for _, pred := range prog.Preds {
		hidden[pred.Name] = pred.HasNumbers()
	}
	for _, v := range p.Vars {
		if hidden[v.Name] {
			v.Output, v.OrderBy, v.Limit = false, nil, -1
		}
	}
}
