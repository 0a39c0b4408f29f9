package cuda

import (
	"reflect"
	"strings"
	"unsafe"
)

// Handles of the driver's objects. Zero is the null handle.
type (
	deviceHandle   int32 // an ordinal in disguise; zero is the first
	contextHandle  uintptr
	moduleHandle   uintptr
	functionHandle uintptr
	linkHandle     uintptr
	streamHandle   uintptr
	eventHandle    uintptr
	poolHandle     uintptr
	graphHandle    uintptr
	graphExec      uintptr
	memoryHandle   uint64
)

// functions is the table of all C functions that are called. A field's name is
// the C function's without the prefix cu, and the tag says what the symbol is
// called where it has a version, the one that cuda.h of CUDA 12 and 13 uses if
// 11.4 has it. A field with a tag since is missing in older drivers.
type functions struct {
	// Initialisation, errors, devices. None needs a current context.
	Init             func(flags uint32) Code
	DriverGetVersion func(*int32) Code
	GetErrorName     func(Code, **byte) Code
	GetErrorString   func(Code, **byte) Code

	DeviceGet               func(d *deviceHandle, ordinal int32) Code
	DeviceGetCount          func(*int32) Code
	DeviceGetName           func(name *byte, size int32, d deviceHandle) Code
	DeviceGetPCIBusId       func(name *byte, size int32, d deviceHandle) Code
	DeviceGetUuid           func(uuid *[16]byte, d deviceHandle) Code `symbol:"cuDeviceGetUuid_v2"`
	DeviceTotalMem          func(bytes *uint64, d deviceHandle) Code  `symbol:"cuDeviceTotalMem_v2"`
	DeviceGetAttribute      func(value *int32, a int32, d deviceHandle) Code
	DevicePrimaryCtxRetain  func(c *contextHandle, d deviceHandle) Code
	DevicePrimaryCtxRelease func(d deviceHandle) Code `symbol:"cuDevicePrimaryCtxRelease_v2"`
	DevicePrimaryCtxReset   func(d deviceHandle) Code `symbol:"cuDevicePrimaryCtxReset_v2"`

	// Contexts.
	CtxSetCurrent  func(contextHandle) Code
	CtxSynchronize func() Code

	// Modules and functions.
	ModuleGetLoadingMode func(mode *int32) Code `since:"11.7"`
	ModuleLoadDataEx     func(m *moduleHandle, image *byte, options uint32, names *int32,
		values *uintptr) Code
	ModuleUnload      func(moduleHandle) Code
	ModuleGetFunction func(f *functionHandle, m moduleHandle, name string) Code
	ModuleGetGlobal   func(p *Pointer, bytes *uint64, m moduleHandle,
		name string) Code `symbol:"cuModuleGetGlobal_v2"`
	LinkCreate func(options uint32, names *int32, values *uintptr,
		s *linkHandle) Code `symbol:"cuLinkCreate_v2"`
	LinkAddData func(s linkHandle, kind int32, data *byte, size uintptr, name string,
		options uint32, names *int32, values *uintptr) Code `symbol:"cuLinkAddData_v2"`
	LinkComplete     func(s linkHandle, cubin **byte, size *uintptr) Code
	LinkDestroy      func(linkHandle) Code
	FuncGetAttribute func(value *int32, a int32, f functionHandle) Code
	FuncSetAttribute func(f functionHandle, a, value int32) Code
	FuncGetParamInfo func(f functionHandle, index uintptr, offset,
		size *uintptr) Code `since:"12.4"`
	FuncLoad func(functionHandle) Code `since:"12.4"`

	OccupancyMaxActiveBlocksPerMultiprocessor func(blocks *int32, f functionHandle, threads int32,
		shared uintptr) Code
	OccupancyMaxPotentialBlockSize func(blocks, threads *int32, f functionHandle,
		sharedOf, shared uintptr, limit int32) Code

	// Launches, streams, events.
	LaunchKernel func(f functionHandle, grid, block Dim, shared uint32, s streamHandle,
		params *unsafe.Pointer) Code
	LaunchCooperativeKernel func(f functionHandle, grid, block Dim, shared uint32, s streamHandle,
		params *unsafe.Pointer) Code
	StreamCreate      func(s *streamHandle, flags uint32) Code
	StreamDestroy     func(streamHandle) Code `symbol:"cuStreamDestroy_v2"`
	StreamQuery       func(streamHandle) Code
	StreamSynchronize func(streamHandle) Code
	StreamWaitEvent   func(s streamHandle, e eventHandle, flags uint32) Code
	EventCreate       func(e *eventHandle, flags uint32) Code
	EventDestroy      func(eventHandle) Code `symbol:"cuEventDestroy_v2"`
	EventRecord       func(e eventHandle, s streamHandle) Code
	EventQuery        func(eventHandle) Code
	EventSynchronize  func(eventHandle) Code
	EventElapsedTime  func(milliseconds *float32, from, to eventHandle) Code

	// Memory.
	MemAlloc     func(p *Pointer, bytes uint64) Code `symbol:"cuMemAlloc_v2"`
	MemFree      func(Pointer) Code                  `symbol:"cuMemFree_v2"`
	MemGetInfo   func(free, total *uint64) Code      `symbol:"cuMemGetInfo_v2"`
	MemHostAlloc func(p *unsafe.Pointer, bytes uint64, flags uint32) Code
	MemFreeHost  func(unsafe.Pointer) Code
	MemcpyHtoD   func(to Pointer, from *byte,
		bytes uint64) Code `symbol:"cuMemcpyHtoD_v2"`
	MemcpyDtoH func(to *byte, from Pointer,
		bytes uint64) Code `symbol:"cuMemcpyDtoH_v2"`
	MemcpyDtoD func(to, from Pointer,
		bytes uint64) Code `symbol:"cuMemcpyDtoD_v2"`
	MemcpyHtoDAsync func(to Pointer, from *byte, bytes uint64,
		s streamHandle) Code `symbol:"cuMemcpyHtoDAsync_v2"`
	MemcpyDtoHAsync func(to *byte, from Pointer, bytes uint64,
		s streamHandle) Code `symbol:"cuMemcpyDtoHAsync_v2"`
	MemcpyDtoDAsync func(to, from Pointer, bytes uint64,
		s streamHandle) Code `symbol:"cuMemcpyDtoDAsync_v2"`
	MemsetD8 func(p Pointer, value uint8,
		n uint64) Code `symbol:"cuMemsetD8_v2"`
	MemsetD32 func(p Pointer, value uint32,
		n uint64) Code `symbol:"cuMemsetD32_v2"`
	MemsetD8Async  func(p Pointer, value uint8, n uint64, s streamHandle) Code
	MemsetD32Async func(p Pointer, value uint32, n uint64, s streamHandle) Code

	// Stream-ordered memory.
	MemPoolCreate         func(p *poolHandle, properties *poolProperties) Code
	MemPoolDestroy        func(poolHandle) Code
	MemPoolSetAttribute   func(p poolHandle, a int32, value *uint64) Code
	MemPoolGetAttribute   func(p poolHandle, a int32, value *uint64) Code
	MemPoolTrimTo         func(p poolHandle, keep uint64) Code
	MemAllocFromPoolAsync func(p *Pointer, bytes uint64, pool poolHandle, s streamHandle) Code
	MemFreeAsync          func(p Pointer, s streamHandle) Code

	// Virtual memory.
	MemGetAllocationGranularity func(g *uint64, properties *memoryProperties, which int32) Code
	MemAddressReserve           func(p *Pointer, bytes, alignment uint64, hint Pointer,
		flags uint64) Code
	MemAddressFree func(p Pointer, bytes uint64) Code
	MemCreate      func(m *memoryHandle, bytes uint64, properties *memoryProperties,
		flags uint64) Code
	MemRelease func(memoryHandle) Code
	MemMap     func(p Pointer, bytes, offset uint64, m memoryHandle,
		flags uint64) Code
	MemUnmap     func(p Pointer, bytes uint64) Code
	MemSetAccess func(p Pointer, bytes uint64, access *memoryAccess, n uint64) Code

	// Graphs.
	StreamBeginCapture func(s streamHandle,
		mode int32) Code `symbol:"cuStreamBeginCapture_v2"`
	StreamEndCapture          func(s streamHandle, g *graphHandle) Code
	GraphGetNodes             func(g graphHandle, nodes *uintptr, n *uintptr) Code
	GraphInstantiateWithFlags func(x *graphExec, g graphHandle, flags uint64) Code
	GraphUpload               func(x graphExec, s streamHandle) Code
	GraphLaunch               func(x graphExec, s streamHandle) Code
	GraphExecDestroy          func(graphExec) Code
	GraphDestroy              func(graphHandle) Code
}

// memoryLocation is CUmemLocation.
type memoryLocation struct {
	kind int32
	id   int32
}

// poolProperties is CUmemPoolProps, whose end older drivers know as reserved.
type poolProperties struct {
	allocation int32
	_          int32 // the kind of handles for other processes
	location   memoryLocation
	_          uintptr // a security descriptor, on Windows
	_          [64]byte
}

// memoryProperties is CUmemAllocationProp.
type memoryProperties struct {
	allocation int32
	_          int32 // the kind of handles for other processes
	location   memoryLocation
	_          uintptr // an object's attributes, on Windows
	_          [8]byte // compression, RDMA, usage
}

// memoryAccess is CUmemAccessDesc.
type memoryAccess struct {
	location memoryLocation
	flags    int32
}

// symbolOf returns the name under which the driver exports a field's function.
func symbolOf(field reflect.StructField) string {
	if name, ok := field.Tag.Lookup("symbol"); ok {
		return name
	}
	return "cu" + field.Name
}

// bindAll fills the table and returns the names of functions that must be there
// and are not. A function that may be missing becomes one that says so.
func (f *functions) bindAll(address func(name string) uintptr) (missing []string) {
	table := reflect.ValueOf(f).Elem()
	for i := range table.NumField() {
		field, name := table.Type().Field(i), symbolOf(table.Type().Field(i))
		switch p := address(name); {
		case p != 0:
			bind(table.Field(i).Addr().Interface(), p)
		case field.Tag.Get("since") != "":
			table.Field(i).Set(reflect.MakeFunc(field.Type, func([]reflect.Value) []reflect.Value {
				return []reflect.Value{reflect.ValueOf(missingFunction)}
			}))
		default:
			missing = append(missing, name)
		}
	}
	return missing
}

// sinceOf returns the version of CUDA that brought a C function, "" for those
// of 11.4.
func sinceOf(call string) string {
	field, _ := reflect.TypeFor[functions]().FieldByName(strings.TrimPrefix(call, "cu"))
	return field.Tag.Get("since")
}
