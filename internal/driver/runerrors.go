package driver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/internal/scratch"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/diagnose"
	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/spill"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/read"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// runError words the failure of an engine: a fault of the program or its data
// is a diagnostic, a lack of the machine an *EnvironmentError, and all else is
// a bug.
func (p *Program) runError(ctx context.Context, engine string, err error) error {
	var undecoded *store.DecodeError
	switch {
	case read.IsUnread(err): // the file is read again
		return err
	case errors.As(err, &undecoded):
		return loadError(ctx, undecoded.Err)
	}
	about := diagnose.Program{Plan: p.plan, About: p.about}
	if found := about.Failure(err); found != nil {
		return &ProgramError{Diagnostics: []*Diagnostic{found}}
	}
	var memory *runtime.MemoryError
	var spilled *runtime.SpillError
	switch {
	case errors.As(err, &spilled):
		return spillFailure(err)
	case errors.As(err, &memory):
		return &EnvironmentError{Message: diagnose.Shown(memory.Error()),
			Help: about.Memory(memory, p.warnings), Err: err}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	var none *llvm.NotFoundError
	if errors.As(err, &none) { // a library that was there when the run began
		return failure.Missing(none)
	}
	var internal *InternalError
	var environment *EnvironmentError
	switch {
	case errors.As(err, &internal):
		return internal
	case errors.As(err, &environment):
		return environment
	}
	if err = machine.DeviceFailure(err); errors.As(err, &environment) {
		return environment
	}
	return engineBug(engine, err)
}

// CouldSpill reports whether an error is that a run without RunOptions.Spill
// has reached its bound of memory.
func CouldSpill(err error) bool {
	var memory *runtime.MemoryError
	return errors.As(err, &memory) && !memory.Device && memory.System == nil &&
		(!memory.Loading || scratch.CanMap)
}

// deviceBound returns the memory of a GPU that a run did not fit, if the error
// is that; else 0.
func deviceBound(err error) int64 {
	var memory *runtime.MemoryError
	if !errors.As(err, &memory) || !memory.Device {
		return 0
	}
	return memory.Bound
}

// CheckSpill reports whether runs can keep relations in a folder.
func CheckSpill(folder string) error {
	if err := spill.Check(folder); err != nil {
		return spillFailure(err)
	}
	return nil
}

// spillFailure words a file of RunOptions.Spill that cannot be written or read.
func spillFailure(err error) error {
	help := "free space there, or name another folder with --spill"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		help = "make the folder, or name another one with --spill"
	case errors.Is(err, syscall.ENOTDIR):
		help = "name a folder with --spill"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		help = "name a folder that can be written with --spill"
	}
	return &EnvironmentError{Message: err.Error(), Help: help, Err: err}
}

// engineBug is a bug of an engine, with the details that the engine reports.
func engineBug(engine string, err error) *InternalError {
	bug := &InternalError{Phase: "the " + engine + " engine", Err: err}
	var inGo *portable.InternalError
	var inWoven *woven.InternalError
	var refused *llvm.Error
	switch {
	case errors.As(err, &inGo):
		bug.Stack = inGo.Stack
	case errors.As(err, &inWoven):
		bug.Err, bug.Stack = fmt.Errorf("%v, in %s", inWoven.Cause, inWoven.Command), inWoven.Stack
	case errors.As(err, &refused):
		bug.Dump = refused.IR
	}
	return bug
}

// about returns the places of the clauses that have a predicate as head, and
// the families of its columns.
func (p *Program) about(pred string) ([]source.Span, []string) {
	for _, q := range p.preds {
		if q.Name == pred {
			return q.clauses, q.Families
		}
	}
	return nil, nil
}
