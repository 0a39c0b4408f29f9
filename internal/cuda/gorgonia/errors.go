package gorgonia

import (
	"fmt"
	"reflect"

	"gorgonia.org/cu"

	"github.com/redfoxdb/redfox/internal/cuda"
)

// failure turns an error of cu into one of package cuda, nil into nil. The type
// of cu's errors is not exported; it is an integer, the driver's code. cu knows
// the names of codes, and not the driver's words.
func failure(call string, err error) error {
	if err == nil {
		return nil
	}
	code := reflect.ValueOf(err)
	if !code.CanInt() {
		return fmt.Errorf("CUDA: %s: %w", call, err)
	}
	return &cuda.Error{Call: call, Code: cuda.Code(code.Int()), Name: err.Error()}
}

// describe adds what a call was for to its error, if there is one.
func describe(err error, format string, args ...any) error {
	if e, ok := err.(*cuda.Error); ok {
		e.Detail = fmt.Sprintf(format, args...)
	}
	return err
}

// unsupported says that cu does not have a call.
func unsupported(call string) error {
	e := failure(call, cu.NotSupported).(*cuda.Error)
	e.Text = "gorgonia.org/cu does not have it"
	return e
}

// closed says that a call was made with an object that is closed.
func closed(call string) error { return fmt.Errorf("CUDA: %s: %w", call, cuda.ErrClosed) }

// foreign says that an object is of another implementation or another context.
func foreign(call string, object any) error {
	return fmt.Errorf("CUDA: %s: a %T is of another implementation of the driver or of another context", call, object)
}
