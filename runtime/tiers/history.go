package tiers

import (
	"context"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
)

// history is what an engine knows of earlier runs of plans without loops. If a
// process runs a plan again and again, its code is compiled once, concurrently
// with a run, when the runs have taken several times as long as compiling will
// take.
type history struct {
	mu    sync.Mutex
	plans map[string]*planHistory // by the plan's text
}

// planHistory is what is known of a plan.
type planHistory struct {
	spent time.Duration // the time of runs on the plain engine
	made  chan bool     // closed when the code is compiled; nil before that begins
}

// keptHistories bounds the plans of a history, which is then cleared.
const keptHistories = 256

// of returns the history of a plan.
func (h *history) of(plan *queryplan.Plan) *planHistory {
	key := plan.String()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.plans == nil || len(h.plans) == keptHistories {
		h.plans = map[string]*planHistory{}
	}
	if h.plans[key] == nil {
		h.plans[key] = &planHistory{}
	}
	return h.plans[key]
}

// isMaking reports whether the code of a plan is being compiled.
func (h *history) isMaking(p *planHistory) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.made == nil {
		return false
	}
	select {
	case <-p.made:
		return false
	default:
		return true
	}
}

// beginCode compiles the code of a plan concurrently with a run, if earlier
// runs have taken long enough.
func (e *Engine) beginCode(p *planHistory, req *runtime.Request, code runtime.Compiler,
	commands int) {
	h := &e.history
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.made != nil || p.spent == 0 ||
		p.spent < time.Duration(e.sizes.Linear*commands)*e.sizes.Command {
		return
	}
	p.made = make(chan bool)
	ahead := *req
	ahead.Progress = nil
	e.beside.Go(func() {
		defer close(p.made)
		// If it fails, the plan stays on the plain engine.
		_ = code.Compile(context.Background(), &ahead, 1)
	})
}

// ran adds the time of a run of a plan.
func (h *history) ran(p *planHistory, took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.spent += took
}
