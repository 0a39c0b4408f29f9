package spill

import (
	"errors"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime"
)

// least returns the failure that a run in one box would report: that of the
// first group or key, or nil.
func least(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	return slices.MinFunc(errs, func(a, b error) int {
		return slices.CompareFunc(tupleOf(a), tupleOf(b), scalar.Compare)
	})
}

// tupleOf returns the group of an overflow, or the first tuple of a conflict.
func tupleOf(err error) []scalar.Value {
	var key *runtime.KeyError
	var overflow *runtime.OverflowError
	switch {
	case errors.As(err, &key):
		return key.First
	case errors.As(err, &overflow):
		return overflow.Group
	}
	return nil
}

// isMemory reports whether an error is one of memory.
func isMemory(err error) bool {
	var memory *runtime.MemoryError
	return errors.As(err, &memory)
}
