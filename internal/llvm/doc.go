// Package llvm binds the C API of libLLVM, versions 15 to 19, opened at run
// time and without cgo.
//
// In: LLVM IR as text or bitcode. Out: optimised IR, assembly, object code,
// PTX, or the addresses of functions compiled into this process. All of it
// happens in memory. Bindings know nothing of LogiQL: the package must not
// import any phase of redfox, and is the only one that knows how to call
// libLLVM.
//
// # Use
//
// [Open] finds libLLVM once per process. A [Module] owns its LLVM context, so
// modules are independent: one goroutine can compile one while another compiles
// the next. A [TargetMachine] generates code for a processor, and a [JIT] holds
// code that runs:
//
//	lib, err := llvm.Open()             // *NotFoundError says what to install
//	options, err := lib.PTXOptions(90, 0)
//	machine, err := lib.NewTargetMachine(options)
//	defer machine.Close()
//	m, err := machine.ParseIR("kernel", text)
//	defer m.Close()
//	err = m.LinkBitcode("primitives", bitcode)
//	err = m.Internalize("kernel")
//	err = m.Optimize(machine, "default<O3>", llvm.OptimizeOptions{})
//	ptx, err := machine.EmitAssembly(m)
//
// [TargetMachine.Compile] is the same at once and faster, for IR that is good
// for nothing else.
//
// A process that only has to know which library there is, and what it says of
// the processor, need not open it: [Library.Note] is a text for a later
// process, which keeps it under [Place], and [Recall] makes a Library of it
// that opens itself when it is needed.
//
// # Ownership
//
// Modules, target machines and JITs hold memory that Go's collector does not
// see; Close frees it. Using one after Close is an error, never a crash.
// Closing twice does nothing. Every type is safe for concurrent use; a call
// waits while another goroutine uses the same module or the same target
// machine, so workers that are to run in parallel have a target machine each.
//
// # Failures
//
// Every failure after [Open] is an [*Error] with LLVM's own message and the IR
// that provoked it. That includes what LLVM says through a context's diagnostic
// handler, and its fatal errors, such as an instruction that the target cannot
// select: these abandon the memory of the compilation and leave the process,
// the module and the target machine usable. A failed step leaves the module as
// it was before the step. LLVM writes nothing to standard error, with one
// exception that its API leaves no way around: the name of a processor or
// feature that it does not know. [Library.HostOptions] and [Library.PTXOptions]
// give names that it knows.
//
// # Differences between versions
//
// One table, type functions, holds every C function that is called, with its
// signature; all but LLVMGetVersion are the same in all versions. The JIT takes
// objects, not IR, because how ORC takes over contexts changed between
// versions. From version 17 on libLLVM must be opened with RTLD_GLOBAL, or ORC
// does not find its own llvm_orc_registerEHFrameSectionWrapper.
package llvm
