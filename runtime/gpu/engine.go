package gpu

import (
	"context"
	"errors"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// ObjectCache keeps machine code from one process to the next. It is safe for
// concurrent use.
type ObjectCache interface {
	Get(key string) ([]byte, bool)
	Put(key string, object []byte)
}

// Code is generated code.
type Code struct {
	Module *abi.Module
	PTX    string
}

// Options is what the engine is made of.
type Options struct {
	Device *cuda.Device
	// Limit bounds, in bytes, what runs and resident columns take of the device's
	// memory; 0 is what the device has.
	Limit int64
	Cache ObjectCache // of machine code; nil for none
	// Lower turns a plan into a verified kernel graph, and fuses its kernels.
	Lower func(*queryplan.Plan) (*harmony.Program, error)
	// Compile makes code for the device's architecture, for what is known of the facts.
	Compile func(*harmony.Program, woven.Knowledge) (*Code, error)
}

// Engine runs plans on one GPU. It is safe for concurrent use.
type Engine struct{ opts Options }

// Use is what an engine holds of the device's memory, in bytes.
type Use struct {
	Resident int64 // columns of facts
	Held     int64 // all together
	Peak     int64
	Limit    int64
}

// New opens the device's context.
func New(o Options) (*Engine, error) { return &Engine{opts: o}, nil }

// Name returns "gpu".
func (e *Engine) Name() string { return "gpu" }

// Run evaluates the plan.
func (e *Engine) Run(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	return nil, errors.ErrUnsupported
}

// Use returns what the engine holds.
func (e *Engine) Use() Use { return Use{} }

// Forget gives the memory of facts' columns back that no run uses.
func (e *Engine) Forget(facts *store.Database) {}

// Close gives all memory back. No run may be at work.
func (e *Engine) Close() error { return nil }
