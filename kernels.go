package redfox

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/lower"
	"github.com/redfoxdb/redfox/queryplan"
)

// lowerPlan turns an optimised plan into a kernel graph.
func lowerPlan(plan *queryplan.Plan) (p *harmony.Program, err error) {
	defer recoverPhase("lowering", &err)
	p, err = lower.Lower(plan)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		return nil, &InternalError{Phase: "lowering", Err: err}
	}
	return p, nil
}

// CheckHarmony reads the text of a kernel graph, as Emit writes it at
// StageHarmony, and verifies it. Its error says where the text is wrong. No engine
// runs kernel graphs yet.
func CheckHarmony(src Source) (err error) {
	defer recoverPhase("the parser of kernel graphs", &err)
	p, err := harmony.Parse(src.Name, src.Text)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		return &EnvironmentError{Message: err.Error(), Help: "write kernel graphs with redfox compile --emit harmony", Err: err}
	}
	return nil
}
