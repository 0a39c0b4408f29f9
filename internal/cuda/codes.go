package cuda

// Code is a CUresult.
type Code int32

// The codes that this package treats as something other than a failure of no
// particular kind.
const (
	success            Code = 0
	invalidValue       Code = 1
	outOfMemory        Code = 2
	stubLibrary        Code = 34
	noDevice           Code = 100
	invalidImage       Code = 200
	noBinaryForGPU     Code = 209
	eccUncorrectable   Code = 214
	invalidPTX         Code = 218
	nvlinkUncorrected  Code = 220
	unsupportedPTX     Code = 222
	contained          Code = 226
	notFound           Code = 500
	notReady           Code = 600
	illegalAddress     Code = 700
	launchTimeout      Code = 702
	contextDestroyed   Code = 709
	deviceAssert       Code = 710
	hardwareStackError Code = 714
	illegalInstruction Code = 715
	misalignedAddress  Code = 716
	invalidSpace       Code = 717
	invalidPC          Code = 718
	launchFailed       Code = 719
	tensorMemoryLeak   Code = 721
	notSupported       Code = 801
	mpsTerminated      Code = 810
	captureUnsupported Code = 900
	captureThread      Code = 908
	externalDevice     Code = 911

	// missingFunction is this package's: the driver does not have the function.
	missingFunction Code = -1
	// refusedCall is, too: a wrong use of this package, which the driver did
	// not see.
	refusedCall Code = -2
)

// losesContext reports whether a code says that the context is of no more use:
// the driver answers every later call with it.
func (c Code) losesContext() bool {
	switch c {
	case eccUncorrectable, nvlinkUncorrected, contained, illegalAddress, launchTimeout,
		contextDestroyed,
		deviceAssert, hardwareStackError, illegalInstruction, misalignedAddress, invalidSpace,
		invalidPC,
		launchFailed, tensorMemoryLeak, mpsTerminated, externalDevice:
		return true
	}
	return false
}

// Flags and enumerators of the driver API.
const (
	jitMaxRegisters      = 0 // CU_JIT_...
	jitInfoLog           = 3
	jitInfoLogSize       = 4
	jitErrorLog          = 5
	jitErrorLogSize      = 6
	jitOptimizationLevel = 7
	jitLogVerbose        = 12
	jitLineInfo          = 13

	jitInputCubin = 0 // CU_JIT_INPUT_...
	jitInputPTX   = 1

	eagerLoading = 1 // CU_MODULE_EAGER_LOADING

	functionMaxThreads       = 0 // CU_FUNC_ATTRIBUTE_...
	functionShared           = 1
	functionConst            = 2
	functionLocal            = 3
	functionRegisters        = 4
	functionPTXVersion       = 5
	functionBinaryVersion    = 6
	functionMaxDynamicShared = 8
	functionSharedCarveout   = 9

	streamNonBlocking = 1 // CU_STREAM_NON_BLOCKING

	eventDisableTiming = 2 // CU_EVENT_DISABLE_TIMING

	hostPortable      = 1 // CU_MEMHOSTALLOC_...
	hostDeviceMap     = 2
	hostWriteCombined = 4

	poolReleaseThreshold = 4 // CU_MEMPOOL_ATTR_...
	poolReserved         = 5
	poolReservedHigh     = 6
	poolUsed             = 7
	poolUsedHigh         = 8

	allocationPinned       = 1 // CU_MEM_ALLOCATION_TYPE_PINNED
	locationDevice         = 1 // CU_MEM_LOCATION_TYPE_DEVICE
	accessReadWrite        = 3 // CU_MEM_ACCESS_FLAGS_PROT_READWRITE
	granularityRecommended = 1 // CU_MEM_ALLOC_GRANULARITY_RECOMMENDED

	captureRelaxed = 2 // CU_STREAM_CAPTURE_MODE_RELAXED
)
