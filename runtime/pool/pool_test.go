package pool

import (
	"errors"
	"testing"

	"github.com/redfoxdb/redfox/internal/await"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// TestClose closes a pool during a run: Close waits for it, and there is no
// later one.
func TestClose(t *testing.T) {
	p := New(machine.Host())
	choice := machine.Choice{Info: p.Machine.Engine(machine.Go)}
	atWork, ended := make(chan bool), false
	failed := make(chan error, 1)
	go func() {
		failed <- p.With(choice, assemble.Fusing{}, func(runtime.Engine) error {
			close(atWork)
			await.Until(t, "Close to wait", func() bool {
				closing := p.mu.TryLock()
				defer func() {
					if closing {
						p.mu.Unlock()
					}
				}()
				return closing && p.closed
			})
			ended = true
			return nil
		})
	}()
	<-atWork
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if !ended || p.runs > 0 {
		t.Errorf("%d runs go on after Close", p.runs)
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
	if err := p.With(choice, assemble.Fusing{}, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v from a pool that is closed", err)
	}
}

// TestEnginesAreShared holds which choices share an engine.
func TestEnginesAreShared(t *testing.T) {
	p := New(machine.Host())
	engine := func(how assemble.Fusing) (e runtime.Engine) {
		choice := machine.Choice{Info: p.Machine.Engine(machine.Go)}
		if err := p.With(choice, how, func(got runtime.Engine) error {
			e = got
			return nil
		}); err != nil {
			t.Error(err)
		}
		return e
	}
	// The go engine has no kernels, so fusing does not tell its engines apart.
	if a, b := engine(assemble.Fusing{}), engine(assemble.Fusing{Off: true}); a != b {
		t.Error("two runs get two engines")
	}
	one, other := keyOf(machine.Choice{Info: machine.Info{Name: machine.CPU}}, assemble.Fusing{}),
		keyOf(machine.Choice{Info: machine.Info{Name: machine.CPU}}, assemble.Fusing{Off: true})
	if one == other {
		t.Error("code that is fused and code that is not share an engine")
	}
}
