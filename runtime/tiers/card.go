package tiers

import (
	"errors"

	"github.com/redfoxdb/redfox/runtime"
)

// Card is the engine of a GPU, which is opened at its first use.
type Card interface {
	runtime.Compiler
	// IsOpen reports whether the GPU is open.
	IsOpen() bool
	// Room returns the memory that a run may take there, in bytes.
	Room() (int64, error)
}

// CardError says that a GPU cannot be opened, or is lost: further calls fail.
type CardError struct{ Err error }

// Error returns the cause.
func (e *CardError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *CardError) Unwrap() error { return e.Err }

// SetCard lets loops of adaptive runs change over to a GPU. It is called before
// the first run.
func (e *Engine) SetCard(c Card) { e.card = c }

// usesCard reports whether loops may change over to a GPU.
func (e *Engine) usesCard() bool { return e.card != nil && !e.noCard.Load() }

// failed notes the error of a use of the GPU.
func (e *Engine) failed(err error) {
	var card *CardError
	if errors.As(err, &card) {
		e.noCard.Store(true)
	}
}

// isOfCard reports whether an error is one of a GPU, so that another engine can
// do without it.
func isOfCard(err error) bool {
	var card *CardError
	var device *runtime.DeviceError
	var memory *runtime.MemoryError
	return errors.As(err, &card) || errors.As(err, &device) ||
		errors.As(err, &memory) && memory.Device
}

// fits reports whether a GPU has room for the facts and the tuples of a loop,
// and for as much again, which the tables over them take.
func (r *run) fits(x *rest, at runtime.Round) bool {
	const word = 8 // bytes of a value, at most
	need := int64(0)
	for _, rel := range r.facts(x.seg, x.settled).Relations() {
		need += bytes(rel)
	}
	width := 0
	for _, v := range x.seg.Plan.Vars {
		for _, name := range x.seg.Resumes {
			if v.Name == name {
				width = max(width, len(v.Cols))
			}
		}
	}
	need += at.Total * int64(width) * word
	room, err := r.card.Room()
	r.failed(err)
	return err == nil && need <= room/2
}
