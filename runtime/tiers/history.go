package tiers

import (
	"context"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
)

// history is what an engine knows of earlier runs of plans without loops. A
// process that runs a plan again and again makes its code, beside a run, once
// the runs have taken several times as long as that will take.
type history struct {
	mu    sync.Mutex
	plans map[string]*planHistory // by text
}

// planHistory is what is known of a plan.
type planHistory struct {
	spent time.Duration // on the plain engine
	made  chan bool     // closed once its code is made; nil if it has not begun
}

// keptHistories is the number of plans from which a history starts anew.
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

// isMaking reports whether the code of a plan is being made, which nobody waits
// for.
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

// beginCode makes the code of a plan beside a run, if earlier runs have taken
// long.
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

// ran notes that a run of a plan has taken so long.
func (h *history) ran(p *planHistory, took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.spent += took
}
