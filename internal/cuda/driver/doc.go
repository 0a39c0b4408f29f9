// Package driver is the interface between what runs kernels and what calls the
// CUDA driver, so that the one can be had with another of the other.
//
// In: nothing. Out: the interfaces [Driver], [Device], [Context] and of the
// objects that a context makes, and [Of], which has package cuda behind them.
// [Open] is what redfox opens, and [Use] replaces it. A second implementation
// is internal/cuda/gorgonia, a module of its own. The package must not import
// anything of redfox but internal/cuda, whose values (pointers, shapes, images,
// attributes, errors) are those of every implementation.
//
// # What an implementation owes
//
// The contracts of package cuda's types hold here: methods of a [Stream] start
// work and return, those of a [Context] with the same names do it at once;
// every object is safe for concurrent use, and calls may come from any
// goroutine; Close waits for calls that use the object, and closing twice does
// nothing.
//
// errors.Is tells failures apart by the kinds of package cuda:
// cuda.ErrOutOfMemory, cuda.ErrLost and the others. What an implementation, a
// driver or a device does not have is an errors.ErrUnsupported, and a caller
// that can do without it does. These may be missing:
//
//	Context.AllocHost                 copies come from and go to Go's memory
//	Context.NewPool                   Context.Alloc
//	Context.Reserve                   a new allocation and a copy
//	Stream.Capture                    launches one by one
//	Function.SetMaxDynamicShared      48 KiB a block
//	Function.SetSharedCarveout        the driver's own choice
//	Shape.Cooperative                 launches in turn
//
// Attributes of a device say what works through the implementation: one without
// pools shows no memory pools. Objects of two implementations do not mix;
// memory does, for all share the primary context of a device.
//
// Package conformance holds an implementation against all this on a card.
package driver
