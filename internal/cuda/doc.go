// Package cuda binds the CUDA driver API, versions 11.4 to 13, opened at run
// time and without cgo.
//
// In: PTX or machine code, words and bytes. Out: kernels that run on an NVIDIA
// GPU, their memory, and what they answered. Bindings know nothing of LogiQL:
// the package must not import any package of redfox, and is the only one that
// knows how to call libcuda. It works on Linux, on amd64 and arm64; elsewhere
// it compiles, and [Open] says that it is not supported.
//
// # Use
//
//	driver, err := cuda.Open()            // *NotFoundError says what to do
//	devices, err := driver.Devices()
//	gpu, err := devices[0].OpenContext()
//	defer gpu.Close()
//	module, err := gpu.LoadModule(ptx, cuda.ModuleOptions{})
//	kernel, err := module.Function("count")
//	stream, err := gpu.NewStream()
//	rows, err := gpu.Alloc(8 * n)
//	err = stream.CopyToDevice(rows, bytes)
//	shape := cuda.Shape{Grid: cuda.Dim{X: 132}, Block: cuda.Dim{X: 256}}
//	err = stream.Launch(kernel, shape, []int64{int64(rows), n})
//	err = stream.Synchronize(ctx)
//
// Methods of [Stream] start work and return before it is done. Methods of
// [Context] with the same names do it at once. The memory that a stream's copy
// reads or writes stays as it is until the stream has passed the copy.
//
// # Threads
//
// The driver keeps a current context for each thread of the operating system,
// and a goroutine may change threads between any two calls. So each call locks
// its goroutine to the thread, makes the context current, calls, and unlocks.
// The alternative, one locked goroutine that makes all calls for the others,
// pays for two switches between threads a call, 11 microseconds where this
// takes a quarter of one (bench/history.md), and lets one caller's wait hold up
// all.
//
// Every type is safe for concurrent use. The context stays current on the
// thread after a call; a program that makes CUDA calls of its own from a locked
// goroutine finds ours there when it has called this package.
//
// # Waiting
//
// [Stream.Synchronize] and [Event.Synchronize] end when their context.Context
// does. The device then works on. They ask the driver again and again, at first
// all the time and then with naps that grow to a millisecond, because the
// driver's own waits cannot be interrupted, and either keep a core busy or
// wake up late.
//
// # Ownership
//
// Contexts, modules, streams, events, graphs, pools, regions and host memory
// hold what Go's collector does not see; Close frees it. Close waits for calls
// that use the object. Using one after Close is an [ErrClosed], never a crash.
// Closing twice does nothing. A [Context] is the device's primary context,
// which all users in the process share: close what was made in it before
// closing it. A [Pointer] is a number, and whether what it points to is there
// is up to the caller.
//
// # Failures
//
// Every failure after [Open] is an [*Error] with the call, the driver's code
// and words, and the log of its compiler. errors.Is tells the kinds apart:
// [ErrOutOfMemory], [ErrLost], [ErrInvalidPTX], [ErrUnsupportedPTX],
// [ErrNoBinary], and errors.ErrUnsupported for what driver or device do not
// have.
//
// A kernel that faults takes its context with it. The first call that learns of
// it returns the fault, and all later calls of that context return it again, as
// [ErrLost], without asking the driver. Close the context and open another:
// [Device.OpenContext] resets the device's primary context if it is still in
// that state. After an illegal address driver 580 refuses the process any
// further context; the error then says to start the program again.
//
// # Differences between versions
//
// One table, type functions, holds every C function that is called, with its
// signature and the version of the function, which is part of the symbol: a
// symbol's signature never changes. Functions that came after CUDA 11.4 are
// optional, and what needs them fails with errors.ErrUnsupported.
//
// Modules are loaded eagerly: lazy loading, which 12.2 made the default, would
// put the loading of a kernel into its first launch, where it waits for the
// device and breaks a capture. The driver reads CUDA_MODULE_LOADING when it is
// initialised, so [Open] sets it to EAGER for the C library alone, unless the
// user has set it. What [LimitQueues] says goes the same way.
package cuda
