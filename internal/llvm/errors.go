package llvm

import (
	"slices"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/internal/dynlib"
)

// Error is a failure of LLVM, or a wrong use of this package.
type Error struct {
	Op      string // what was to be done: "parse", "link", "verify", "optimize", ...
	Module  string // the name of the module, or ""
	Message string // LLVM's own words, possibly of several lines
	IR      string // the module's text before the failed step, for a report
}

// Error returns what failed and LLVM's message, without the IR.
func (e *Error) Error() string {
	op := e.Op
	if e.Module != "" {
		op += " " + e.Module
	}
	return "LLVM: " + op + ": " + e.Message
}

// fatal is the panic that carries LLVM's fatal error past its frames.
type fatal struct{ reason string }

// installHandlers makes the functions that LLVM calls back. LLVM ends the
// process when a fatal error's handler returns; this one does not return. Its
// panic unwinds to the Go caller and drops LLVM's frames without running their
// destructors, as LLVM's own CrashRecoveryContext does. What the frames owned
// is lost, so callers of attempt never free an object that was being changed.
func (l *Library) installHandlers() {
	l.onDiagnostic = NewCallback(l.diagnose)
	l.onReport = NewCallback(l.report)
	l.fn.InstallFatalErrorHandler(NewCallback(func(reason *byte) {
		panic(fatal{dynlib.Text(reason)})
	}))
}

// attempt runs calls of LLVM. It returns the error of f, or what was said when
// LLVM gave up; lost then tells that f did not come to its end.
func attempt(f func() error) (err error, lost bool) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case fatal:
			err, lost = message(r.reason), true
		default:
			panic(r)
		}
	}()
	return f(), false
}

// message is an error of LLVM's before it is known where it happened.
type message string

func (m message) Error() string { return strings.TrimSpace(string(m)) }

// failed turns an LLVMErrorRef, which it consumes, into an error.
func (l *Library) failed(e errorRef) error {
	if e == 0 {
		return nil
	}
	p := l.fn.GetErrorMessage(e)
	s := dynlib.Text(p)
	l.fn.DisposeErrorMessage(p)
	return message(s)
}

// listener collects what LLVM says of a context or of a JIT beside the results
// of calls. C knows it by a number, because C must not keep pointers into Go.
type listener struct {
	id uintptr

	mu       sync.Mutex
	errors   []string
	warnings []string
}

// listeners are those that C knows.
var listeners = struct {
	sync.Mutex
	last uintptr
	byID map[uintptr]*listener
}{byID: map[uintptr]*listener{}}

func newListener() *listener {
	listeners.Lock()
	defer listeners.Unlock()
	listeners.last++
	n := &listener{id: listeners.last}
	listeners.byID[n.id] = n
	return n
}

func (n *listener) close() {
	listeners.Lock()
	defer listeners.Unlock()
	delete(listeners.byID, n.id)
}

// hear records what was said to the listener with a number.
func hear(id uintptr, severity int32, what string) {
	listeners.Lock()
	n := listeners.byID[id]
	listeners.Unlock()
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch what = strings.TrimSpace(what); severity {
	case severityError:
		n.errors = append(n.errors, what)
	case severityWarning:
		n.warnings = append(n.warnings, what)
	}
}

// diagnose is the LLVMDiagnosticHandler of every context.
func (l *Library) diagnose(info, id uintptr) {
	hear(id, l.fn.GetDiagInfoSeverity(info), l.fn.takeMessage(l.fn.GetDiagInfoDescription(info)))
}

// report is the LLVMOrcErrorReporterFunction of every JIT.
func (l *Library) report(id uintptr, e errorRef) {
	if err := l.failed(e); err != nil {
		hear(id, severityError, err.Error())
	}
}

// takeErrors returns err together with the errors heard since the last call,
// each once, or nil where there are none.
func (n *listener) takeErrors(err error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []string
	if err != nil && err.Error() != "" {
		all = append(all, err.Error())
	}
	for _, heard := range n.errors {
		if !slices.Contains(all, heard) {
			all = append(all, heard)
		}
	}
	n.errors = nil
	switch {
	case len(all) > 0:
		return message(strings.Join(all, "\n"))
	case err != nil:
		return message("failed without a message")
	}
	return nil
}
