package driver

import (
	"cmp"
	"errors"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/stats"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/runtime/tiers"
)

const (
	// rowsASecond is how many rows the go engine processes on a core.
	rowsASecond = 10e6
	// leastOnGPU is the least time of the go engine that is worth opening a
	// GPU, beside the time that compiling for it takes.
	leastOnGPU = 500 * time.Millisecond
)

// chooseFor is choose for a run whose facts are loaded. Commands outside of
// loops cannot change over to a GPU in the middle, so auto takes the GPU at
// once if they are estimated to take long.
func (p *Program) chooseFor(m *machine.Machine, db *Database,
	opts RunOptions) (machine.Choice, error) {
	chosen, err := p.choose(m, db, opts)
	if err != nil || db == nil || chosen.Later == nil {
		return chosen, err
	}
	derived, _, _, err := p.wantedOf(opts.Outputs)
	if err != nil {
		return chosen, nil // the run returns the error
	}
	plan, err := p.optimise(derived, db)
	if err != nil {
		return chosen, nil
	}
	rate := rowsASecond * float64(cmp.Or(opts.Threads, goruntime.GOMAXPROCS(0)))
	least := leastOnGPU + tiers.CardCode(plan.CommandCount())
	if p.rowsSeen(plan, db) < rate*least.Seconds() {
		return chosen, nil
	}
	s, err := m.Select(opts.want())
	if err != nil {
		return chosen, err
	}
	if card, ok := s.AtOnce(db.size(p), &p.codes); ok {
		card.Instead = &chosen
		return card, nil
	}
	return chosen, nil
}

// rowsSeen returns rowsOutsideLoops of an optimised plan, which it keeps.
func (p *Program) rowsSeen(plan *queryplan.Plan, db *Database) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	rows, ok := p.seen[plan]
	if !ok {
		rows = rowsOutsideLoops(plan, db.catalog())
		if p.seen == nil {
			p.seen = map[*queryplan.Plan]float64{}
		}
		p.seen[plan] = rows
	}
	return rows
}

// rowsOutsideLoops estimates the rows that the commands outside of loops see.
// Commands that read what loops fill are left out: nobody knows how much that
// becomes, and a loop that takes long changes over with what follows it.
func rowsOutsideLoops(plan *queryplan.Plan, cat *stats.Catalog) float64 {
	flow := queryplan.NewFlow(plan)
	unknown := map[*queryplan.Var]bool{}
	for b, c := range plan.Commands() {
		if v := queryplan.CommandVar(c); v != nil && flow.InLoop(b) {
			unknown[v] = true
		}
	}
	estimator := stats.NewEstimator(plan, cat)
	rows := 0.0
	for b, c := range plan.Commands() {
		n := queryplan.CommandNode(c)
		if n == nil || flow.InLoop(b) {
			continue
		}
		if slices.ContainsFunc(queryplan.Scans(n),
			func(s *queryplan.Scan) bool { return unknown[s.Var] }) {
			if v := queryplan.CommandVar(c); v != nil {
				unknown[v] = true
			}
			continue
		}
		queryplan.Walk(n, func(n queryplan.Node) {
			switch n.(type) {
			case *queryplan.Project, *queryplan.Map, *queryplan.Filter:
			default: // the others pass on the rows of their input
				rows += estimator.Rows(n)
			}
		})
	}
	return rows
}

// isOfDevice reports whether a run has failed because a GPU has.
func isOfDevice(err error) bool {
	var device *runtime.DeviceError
	var called *cuda.Error
	return errors.As(err, &device) || errors.As(err, &called)
}
