package cuda

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/internal/dynlib"
)

// Kinds of failure, for errors.Is. What driver or device do not have is
// errors.ErrUnsupported.
var (
	// ErrOutOfMemory says that the device, or the host's pinned memory, is
	// full.
	ErrOutOfMemory = errors.New("out of GPU memory")
	// ErrLost says that a fault has made the context useless: close it and open
	// another.
	ErrLost = errors.New("the GPU context is lost")
	// ErrInvalidPTX says that the driver's compiler refused a text.
	ErrInvalidPTX = errors.New("invalid PTX")
	// ErrUnsupportedPTX says that the text is of a version that is newer than
	// the driver.
	ErrUnsupportedPTX = errors.New("PTX of a version that the driver does not know")
	// ErrNoBinary says that an image has no code for this device.
	ErrNoBinary = errors.New("no code for this GPU")
	// ErrNotFound says that a module has no such function or variable.
	ErrNotFound = errors.New("no such name in the module")
	// ErrNotReady says that work is still under way.
	ErrNotReady = errors.New("not ready")
	// ErrCapture says that a call is not allowed while a stream is captured, or
	// that one made the capture useless.
	ErrCapture = errors.New("stream capture failed")
	// ErrClosed says that an object is used after Close.
	ErrClosed = errors.New("used after Close")
)

// Error is a failure of the driver, or a wrong use of this package.
type Error struct {
	Call   string // the C function without its version: "cuMemAlloc"
	Detail string // what it was called for, "" where the call says it all
	Code   Code   // the driver's; negative where this package refused the call
	Name   string // "CUDA_ERROR_OUT_OF_MEMORY"
	Text   string // "out of memory"
	Log    string // what the driver's compiler said
	Since  string // the call that learned of the fault, if the context was lost before this one

	kind error
}

// Error names the call, what it was for, the code and the driver's words, with
// the compiler's log on lines of its own.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("CUDA: " + e.Call)
	if e.Detail != "" {
		b.WriteString(" (" + e.Detail + ")")
	}
	if e.Since != "" {
		b.WriteString(": the context is lost since " + e.Since)
	}
	if e.Name != "" {
		b.WriteString(": " + e.Name)
	}
	if e.Text != "" {
		b.WriteString(": " + e.Text)
	}
	if e.Log != "" {
		b.WriteString("\n" + e.Log)
	}
	return b.String()
}

// Is reports whether the failure is of a kind.
func (e *Error) Is(kind error) bool {
	if e.kind != nil && e.kind == kind {
		return true
	}
	switch kind {
	case ErrOutOfMemory:
		return e.Code == outOfMemory
	case ErrLost:
		return e.Code.losesContext()
	case ErrInvalidPTX:
		return e.Code == invalidPTX
	case ErrUnsupportedPTX:
		return e.Code == unsupportedPTX
	case ErrNoBinary:
		return e.Code == noBinaryForGPU || e.Code == invalidImage
	case ErrNotFound:
		return e.Code == notFound
	case ErrNotReady:
		return e.Code == notReady
	case ErrCapture:
		return e.Code >= captureUnsupported && e.Code <= captureThread
	case errors.ErrUnsupported:
		return e.Code == notSupported || e.Code == missingFunction
	}
	return false
}

// failure turns a code into an error, nil for success.
func (f *functions) failure(call string, code Code) error {
	switch code {
	case success:
		return nil
	case missingFunction:
		return &Error{Call: call, Code: code,
			Text: "needs a driver for CUDA " + sinceOf(call) + " or newer"}
	}
	e := &Error{Call: call, Code: code}
	var p *byte
	if f.GetErrorName(code, &p) == success {
		e.Name = dynlib.Text(p)
	} else {
		e.Name = fmt.Sprintf("error %d", code)
	}
	if f.GetErrorString(code, &p) == success {
		e.Text = dynlib.Text(p)
	}
	return e
}

// refused is a call that this package did not make.
func refused(call string, kind error, format string, args ...any) *Error {
	return &Error{Call: call, Code: refusedCall, Text: fmt.Sprintf(format, args...), kind: kind}
}

// describe adds what a call was for to its error, if there is one.
func describe(err error, format string, args ...any) error {
	if e, ok := err.(*Error); ok {
		e.Detail = fmt.Sprintf(format, args...)
	}
	return err
}
