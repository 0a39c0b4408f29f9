package llvm

import (
	"reflect"
	goruntime "runtime"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/dynlib"
)

// Handles of LLVM's objects, as the C API names them. Zero is the null handle.
type (
	contextRef   uintptr
	moduleRef    uintptr
	valueRef     uintptr
	attributeRef uintptr
	bufferRef    uintptr
	targetRef    uintptr
	machineRef   uintptr
	layoutRef    uintptr
	passesRef    uintptr
	errorRef     uintptr
	jitRef       uintptr
	sessionRef   uintptr
	dylibRef     uintptr
	generatorRef uintptr
	unitRef      uintptr
	symbolRef    uintptr
)

// functions is the table of all C functions that are called. A field's name is
// the C function's without the prefix LLVM, and its type says how it is called:
// a string becomes a NUL-terminated copy for the time of the call, an LLVMBool
// is an int32, and a *byte that is returned must be given back as its comment
// says.
type functions struct {
	// Core.h: contexts, modules, values.
	DisposeMessage                        func(*byte)
	ContextCreate                         func() contextRef
	ContextDispose                        func(contextRef)
	ContextSetDiagnosticHandler           func(c contextRef, handler, argument uintptr)
	GetDiagInfoDescription                func(info uintptr) *byte // DisposeMessage
	GetDiagInfoSeverity                   func(info uintptr) int32
	CreateMemoryBufferWithMemoryRangeCopy func(data *byte, size uintptr, name string) bufferRef
	GetBufferStart                        func(bufferRef) *byte // the buffer's own
	GetBufferSize                         func(bufferRef) uintptr
	DisposeMemoryBuffer                   func(bufferRef)
	CloneModule                           func(moduleRef) moduleRef
	DisposeModule                         func(moduleRef)
	PrintModuleToString                   func(moduleRef) *byte // DisposeMessage
	GetTarget                             func(moduleRef) *byte // the module's own
	SetTarget                             func(moduleRef, string)
	GetDataLayoutStr                      func(moduleRef) *byte // the module's own
	SetDataLayout                         func(moduleRef, string)
	GetFirstFunction                      func(moduleRef) valueRef
	GetNextFunction                       func(valueRef) valueRef
	GetFirstGlobal                        func(moduleRef) valueRef
	GetNextGlobal                         func(valueRef) valueRef
	GetValueName2                         func(v valueRef, size *uintptr) *byte // the value's own
	IsDeclaration                         func(valueRef) int32
	GetLinkage                            func(valueRef) int32
	SetLinkage                            func(valueRef, int32)
	SetComdat                             func(valueRef, uintptr)
	GetEnumAttributeKindForName           func(name string, size uintptr) uint32
	CreateEnumAttribute                   func(c contextRef, kind uint32, value uint64) attributeRef
	AddAttributeAtIndex                   func(valueRef, uint32, attributeRef)
	GetEnumAttributeAtIndex               func(valueRef, uint32, uint32) attributeRef

	// IRReader.h, BitReader.h, BitWriter.h, Linker.h, Analysis.h.
	// DisposeMessage
	ParseIRInContext func(c contextRef, consumed bufferRef, m *moduleRef,
		message **byte) int32
	ParseBitcodeInContext2 func(c contextRef, b bufferRef, m *moduleRef) int32
	// consumed by a success alone
	GetBitcodeModuleInContext2 func(c contextRef, consumed bufferRef, m *moduleRef) int32
	WriteBitcodeToMemoryBuffer func(moduleRef) bufferRef
	LinkModules2               func(destination, consumed moduleRef) int32
	// DisposeMessage
	VerifyModule             func(m moduleRef, action int32, message **byte) int32
	InstallFatalErrorHandler func(handler uintptr)

	// Target.h, TargetMachine.h.
	// DisposeMessage
	GetDefaultTargetTriple func() *byte
	// DisposeMessage
	GetHostCPUName func() *byte
	// DisposeMessage
	GetHostCPUFeatures func() *byte
	// DisposeMessage
	GetTargetFromTriple func(triple string, t *targetRef, message **byte) int32
	CreateTargetMachine func(t targetRef, triple, cpu, features string, level, reloc,
		model int32) machineRef
	DisposeTargetMachine      func(machineRef)
	GetTargetMachineTriple    func(machineRef) *byte // DisposeMessage
	CreateTargetDataLayout    func(machineRef) layoutRef
	CopyStringRepOfTargetData func(layoutRef) *byte // DisposeMessage
	DisposeTargetData         func(layoutRef)
	// DisposeMessage
	TargetMachineEmitToMemoryBuffer func(t machineRef, m moduleRef, kind int32, message **byte,
		b *bufferRef) int32

	// Error.h, Transforms/PassBuilder.h.
	GetErrorMessage     func(consumed errorRef) *byte // DisposeErrorMessage
	DisposeErrorMessage func(*byte)
	RunPasses           func(m moduleRef, passes string, t machineRef,
		options passesRef) errorRef
	CreatePassBuilderOptions              func() passesRef
	DisposePassBuilderOptions             func(passesRef)
	PassBuilderOptionsSetVerifyEach       func(passesRef, int32)
	PassBuilderOptionsSetLoopInterleaving func(passesRef, int32)
	PassBuilderOptionsSetLoopUnrolling    func(passesRef, int32)

	// Orc.h, LLJIT.h.
	OrcCreateLLJIT              func(j *jitRef, builder uintptr) errorRef
	OrcDisposeLLJIT             func(jitRef) errorRef
	OrcLLJITGetExecutionSession func(jitRef) sessionRef
	OrcLLJITGetMainJITDylib     func(jitRef) dylibRef
	OrcLLJITGetGlobalPrefix     func(jitRef) int8
	OrcLLJITMangleAndIntern     func(jitRef, string) symbolRef
	OrcLLJITAddObjectFile       func(j jitRef, d dylibRef,
		consumed bufferRef) errorRef
	OrcLLJITLookup func(j jitRef, address *uint64,
		name string) errorRef
	OrcExecutionSessionSetErrorReporter              func(s sessionRef, reporter, argument uintptr)
	OrcCreateDynamicLibrarySearchGeneratorForProcess func(g *generatorRef, prefix int8, filter,
		argument uintptr) errorRef
	OrcJITDylibAddGenerator func(d dylibRef, consumed generatorRef)
	OrcAbsoluteSymbols      func(consumed *absoluteSymbol,
		n uintptr) unitRef
	OrcJITDylibDefine             func(d dylibRef, consumed unitRef) errorRef
	OrcDisposeMaterializationUnit func(unitRef)
}

// absoluteSymbol is LLVMOrcCSymbolMapPair.
type absoluteSymbol struct {
	name    symbolRef
	address uint64
	flags   uint8   // LLVMJITSymbolGenericFlags
	_       [7]byte // flags of the target, and padding
}

// Values of enumerations of the C API.
const (
	severityError   = 0 // LLVMDSError
	severityWarning = 1 // LLVMDSWarning

	returnStatus = 2 // LLVMReturnStatusAction

	assemblyFile = 0 // LLVMAssemblyFile
	objectFile   = 1 // LLVMObjectFile

	availableExternallyLinkage = 1
	appendingLinkage           = 7
	internalLinkage            = 8
	privateLinkage             = 9

	functionIndex = 1<<32 - 1 // LLVMAttributeFunctionIndex

	symbolExported = 1 << 0 // LLVMJITSymbolGenericFlagsExported
	symbolCallable = 1 << 2 // LLVMJITSymbolGenericFlagsCallable
)

// bindAll fills the table and returns the names of functions that the library
// does not have.
func (f *functions) bindAll(library uintptr) (missing []string) {
	table := reflect.ValueOf(f).Elem()
	for i := range table.NumField() {
		name := "LLVM" + table.Type().Field(i).Name
		address := dynlib.Symbol(library, name)
		if address == 0 {
			missing = append(missing, name)
			continue
		}
		bind(table.Field(i).Addr().Interface(), address)
	}
	return missing
}

// versionOf asks a library for its version. LLVMGetVersion came with version
// 16; LLVMPointerTypeInContext, which makes opaque pointers, came with 15.
func versionOf(library uintptr) Version {
	if address := dynlib.Symbol(library, "LLVMGetVersion"); address != 0 {
		var get func(major, minor, patch *uint32)
		bind(&get, address)
		var major, minor, patch uint32
		get(&major, &minor, &patch)
		return Version{int(major), int(minor), int(patch)}
	}
	if dynlib.Symbol(library, "LLVMPointerTypeInContext") != 0 {
		return Version{Major: 15}
	}
	return Version{}
}

// hostBackend is LLVM's name of the processor family that redfox runs on.
func hostBackend() string {
	if goruntime.GOARCH == "arm64" {
		return "AArch64"
	}
	return "X86"
}

// initializeBackend registers a target and reports whether the library has it.
func initializeBackend(library uintptr, name string) bool {
	for _, part := range []string{"TargetInfo", "Target", "TargetMC", "AsmPrinter"} {
		address := dynlib.Symbol(library, "LLVMInitialize"+name+part)
		if address == 0 {
			return false
		}
		Call(address)
	}
	// PTX has no assembler in LLVM; the host's reads inline assembly.
	if address := dynlib.Symbol(library, "LLVMInitialize"+name+"AsmParser"); address != 0 {
		Call(address)
	}
	return true
}

// takeMessage copies a message of LLVM's and frees it.
func (f *functions) takeMessage(p *byte) string {
	if p == nil {
		return ""
	}
	s := dynlib.Text(p)
	f.DisposeMessage(p)
	return s
}

// takeBuffer copies the bytes of a memory buffer and frees it.
func (f *functions) takeBuffer(b bufferRef) []byte {
	out := make([]byte, f.GetBufferSize(b))
	copy(out, unsafe.Slice(f.GetBufferStart(b), len(out)))
	f.DisposeMemoryBuffer(b)
	return out
}

// newBuffer copies bytes into a memory buffer, with the NUL after them that
// LLVM's parsers want.
func (f *functions) newBuffer(name string, data []byte) bufferRef {
	return f.CreateMemoryBufferWithMemoryRangeCopy(unsafe.SliceData(data), uintptr(len(data)), name)
}
