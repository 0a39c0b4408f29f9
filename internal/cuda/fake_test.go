package cuda

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// fake is a driver in Go. Every function of the table succeeds and gives out
// fresh handles, unless it is told otherwise; those about devices, contexts,
// memory and launches do what they are for, so that swapped parameters are
// seen.
type fake struct {
	fn functions

	mu      sync.Mutex
	calls   []string        // in order, by symbol without its version
	answers map[string]Code // what a call says in place of success
	last    uintptr         // handle given out

	version  int32
	initCode Code
	devices  int32
	attrs    map[int32]int32
	resets   int // of primary contexts
	resetOK  bool
	dead     Code // what the context says since a fault

	memory   map[Pointer][]byte // of the device, by its first byte
	live     map[memoryHandle]uint64
	mapped   map[Pointer]uint64
	reserved map[Pointer]uint64
	launches []launched

	onCall func(name string) // for tests that look at threads
}

type launched struct {
	f           functionHandle
	grid, block Dim
	shared      uint32
	stream      streamHandle
	words       []int64
	cooperative bool
}

// texts are the driver's static strings.
var texts = map[Code][2][]byte{
	outOfMemory: {[]byte("CUDA_ERROR_OUT_OF_MEMORY\x00"), []byte("out of memory\x00")},
	illegalAddress: {[]byte("CUDA_ERROR_ILLEGAL_ADDRESS\x00"),
		[]byte("an illegal memory access was encountered\x00")},
	invalidPTX: {[]byte("CUDA_ERROR_INVALID_PTX\x00"),
		[]byte("a PTX JIT compilation failed\x00")},
	notFound: {[]byte("CUDA_ERROR_NOT_FOUND\x00"), []byte("named symbol not found\x00")},
}

// newFake makes a driver of version 12.4 with one device.
func newFake() *fake {
	k := &fake{
		answers: map[string]Code{}, version: 12040, devices: 1, resetOK: true,
		attrs:  map[int32]int32{75: 9, 76: 0, 16: 132, 102: 1, 115: 1, 36: 3201000, 37: 6144},
		memory: map[Pointer][]byte{}, live: map[memoryHandle]uint64{}, mapped: map[Pointer]uint64{},
		reserved: map[Pointer]uint64{},
	}
	table := reflect.ValueOf(&k.fn).Elem()
	for i := range table.NumField() {
		field := table.Type().Field(i)
		table.Field(i).Set(k.function("cu"+field.Name, field.Type))
	}
	k.describeDevices()
	k.keepMemory()
	k.keepRegions()
	k.keepLaunches()
	return k
}

// function makes a function that is logged, says what it is told to, and gives
// out handles.
func (k *fake) function(name string, t reflect.Type) reflect.Value {
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		code := k.enter(name)
		if code == success && len(args) > 0 {
			k.giveHandle(args)
		}
		return []reflect.Value{reflect.ValueOf(code)}
	})
}

// enter logs a call and returns what it is to say.
func (k *fake) enter(name string) Code {
	if k.onCall != nil {
		k.onCall(name)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls = append(k.calls, name)
	if code, ok := k.answers[name]; ok {
		return code
	}
	if name != "cuDevicePrimaryCtxRetain" && name != "cuDevicePrimaryCtxReset" &&
		name != "cuCtxSetCurrent" {
		return k.dead
	}
	return success
}

func (k *fake) giveHandle(args []reflect.Value) {
	for _, a := range args {
		if a.Kind() == reflect.Pointer && !a.IsNil() && a.Elem().Kind() == reflect.Uintptr &&
			strings.Contains(strings.ToLower(a.Type().String()), "handle") ||
			a.Type() == reflect.TypeFor[*graphExec]() {
			k.mu.Lock()
			k.last += 16
			a.Elem().SetUint(uint64(k.last))
			k.mu.Unlock()
		}
	}
}

// set gives what a call says from now on.
func (k *fake) set(name string, code Code) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answers[name] = code
}

// took returns the calls since the last time.
func (k *fake) took() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := slices.DeleteFunc(k.calls, func(s string) bool {
		return s == "cuCtxSetCurrent" || s == "cuGetErrorName" || s == "cuGetErrorString"
	})
	k.calls = nil
	return out
}

func (k *fake) describeDevices() {
	fn := &k.fn
	fn.GetErrorName = func(c Code, p **byte) Code { return say(c, 0, p) }
	fn.GetErrorString = func(c Code, p **byte) Code { return say(c, 1, p) }
	fn.DriverGetVersion = func(v *int32) Code {
		*v = k.version
		return k.enter("cuDriverGetVersion")
	}
	fn.Init = func(uint32) Code { k.enter("cuInit"); return k.initCode }
	fn.DeviceGetCount = func(n *int32) Code { *n = k.devices; return k.enter("cuDeviceGetCount") }
	fn.DeviceGet = func(d *deviceHandle, i int32) Code { *d = deviceHandle(i); return success }
	fn.DeviceGetName = func(p *byte, n int32, d deviceHandle) Code {
		copy(unsafe.Slice(p, n), fmt.Sprintf("Fake %d", d))
		return k.enter("cuDeviceGetName")
	}
	fn.DeviceTotalMem = func(n *uint64, _ deviceHandle) Code { *n = 1 << 37; return success }
	fn.DeviceGetUuid = func(u *[16]byte, d deviceHandle) Code {
		u[15] = byte(d) + 1
		return success
	}
	fn.DeviceGetAttribute = func(v *int32, a int32, _ deviceHandle) Code {
		value, ok := k.attrs[a]
		if !ok {
			return invalidValue
		}
		*v = value
		return success
	}
	fn.DevicePrimaryCtxRetain = func(c *contextHandle, d deviceHandle) Code {
		*c = contextHandle(0x100 + d)
		return k.enter("cuDevicePrimaryCtxRetain")
	}
	fn.DevicePrimaryCtxReset = func(deviceHandle) Code {
		code := k.enter("cuDevicePrimaryCtxReset")
		if k.resets++; k.resetOK {
			k.dead = success
		}
		return code
	}
}

func say(c Code, which int, p **byte) Code {
	t, ok := texts[c]
	if !ok {
		return invalidValue
	}
	*p = &t[which][0]
	return success
}

// at returns device memory from an address on.
func (k *fake) at(p Pointer, n uint64) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	for start, m := range k.memory {
		if p >= start && uint64(p-start)+n <= uint64(len(m)) {
			return m[p-start:][:n]
		}
	}
	return nil
}

func (k *fake) keepMemory() {
	fn := &k.fn
	alloc := func(name string, p *Pointer, n uint64) Code {
		if code := k.enter(name); code != success {
			return code
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		k.last += 1 << 24
		*p = Pointer(k.last)
		k.memory[*p] = make([]byte, n)
		return success
	}
	free := func(name string, p Pointer) Code {
		if code := k.enter(name); code != success {
			return code
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if _, ok := k.memory[p]; !ok {
			return invalidValue
		}
		delete(k.memory, p)
		return success
	}
	move := func(name string, to, from []byte) Code {
		if code := k.enter(name); code != success {
			return code
		}
		if to == nil || from == nil {
			return invalidValue
		}
		copy(to, from)
		return success
	}
	fill := func(name string, p Pointer, value []byte, n uint64) Code {
		return move(name, k.at(p, n*uint64(len(value))), slices.Repeat(value, int(n)))
	}
	word := func(v uint32) []byte {
		return []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)}
	}
	fn.MemAlloc = func(p *Pointer, n uint64) Code { return alloc("cuMemAlloc", p, n) }
	fn.MemFree = func(p Pointer) Code { return free("cuMemFree", p) }
	fn.MemAllocFromPoolAsync = func(p *Pointer, n uint64, _ poolHandle, _ streamHandle) Code {
		return alloc("cuMemAllocFromPoolAsync", p, n)
	}
	fn.MemFreeAsync = func(p Pointer, _ streamHandle) Code { return free("cuMemFreeAsync", p) }
	fn.MemHostAlloc = func(p *unsafe.Pointer, n uint64, _ uint32) Code {
		*p = unsafe.Pointer(unsafe.SliceData(make([]byte, n)))
		return k.enter("cuMemHostAlloc")
	}
	fn.MemcpyHtoD = func(to Pointer, from *byte, n uint64) Code {
		return move("cuMemcpyHtoD", k.at(to, n), unsafe.Slice(from, n))
	}
	fn.MemcpyDtoH = func(to *byte, from Pointer, n uint64) Code {
		return move("cuMemcpyDtoH", unsafe.Slice(to, n), k.at(from, n))
	}
	fn.MemcpyDtoD = func(to, from Pointer, n uint64) Code {
		return move("cuMemcpyDtoD", k.at(to, n), k.at(from, n))
	}
	fn.MemcpyHtoDAsync = func(to Pointer, from *byte, n uint64, _ streamHandle) Code {
		return move("cuMemcpyHtoDAsync", k.at(to, n), unsafe.Slice(from, n))
	}
	fn.MemcpyDtoHAsync = func(to *byte, from Pointer, n uint64, _ streamHandle) Code {
		return move("cuMemcpyDtoHAsync", unsafe.Slice(to, n), k.at(from, n))
	}
	fn.MemcpyDtoDAsync = func(to, from Pointer, n uint64, _ streamHandle) Code {
		return move("cuMemcpyDtoDAsync", k.at(to, n), k.at(from, n))
	}
	fn.MemsetD8 = func(p Pointer, v uint8, n uint64) Code {
		return fill("cuMemsetD8", p, []byte{v}, n)
	}
	fn.MemsetD32 = func(p Pointer, v uint32, n uint64) Code {
		return fill("cuMemsetD32", p, word(v), n)
	}
	fn.MemsetD8Async = func(p Pointer, v uint8, n uint64, _ streamHandle) Code {
		return fill("cuMemsetD8Async", p, []byte{v}, n)
	}
	fn.MemsetD32Async = func(p Pointer, v uint32, n uint64, _ streamHandle) Code {
		return fill("cuMemsetD32Async", p, word(v), n)
	}
}

// grain is what the fake maps at once.
const grain = 1 << 21

func (k *fake) keepRegions() {
	fn := &k.fn
	fn.MemGetAllocationGranularity = func(g *uint64, p *memoryProperties, _ int32) Code {
		if p.allocation != allocationPinned || p.location.kind != locationDevice {
			return invalidValue
		}
		*g = grain
		return k.enter("cuMemGetAllocationGranularity")
	}
	fn.MemAddressReserve = func(p *Pointer, n, _ uint64, _ Pointer, _ uint64) Code {
		k.last++
		*p = Pointer(k.last) << 40
		k.reserved[*p] = n
		return k.enter("cuMemAddressReserve")
	}
	fn.MemAddressFree = func(p Pointer, n uint64) Code {
		if k.reserved[p] != n || len(k.mapped) != 0 {
			return invalidValue
		}
		delete(k.reserved, p)
		return k.enter("cuMemAddressFree")
	}
	fn.MemCreate = func(m *memoryHandle, n uint64, _ *memoryProperties, _ uint64) Code {
		code := k.enter("cuMemCreate")
		if code == success {
			k.last++
			*m = memoryHandle(k.last)
			k.live[*m] = n
		}
		return code
	}
	fn.MemRelease = func(m memoryHandle) Code {
		if k.live[m] == 0 {
			return invalidValue
		}
		delete(k.live, m)
		return k.enter("cuMemRelease")
	}
	fn.MemMap = func(p Pointer, n, offset uint64, m memoryHandle, _ uint64) Code {
		code := k.enter("cuMemMap")
		if code != success {
			return code
		}
		if k.live[m] != n || offset != 0 || k.mapped[p] != 0 || n%grain != 0 {
			return invalidValue
		}
		k.mapped[p] = n
		return success
	}
	fn.MemUnmap = func(p Pointer, n uint64) Code {
		if k.mapped[p] != n {
			return invalidValue
		}
		delete(k.mapped, p)
		return k.enter("cuMemUnmap")
	}
	fn.MemSetAccess = func(p Pointer, n uint64, a *memoryAccess, count uint64) Code {
		if k.mapped[p] != n || a.flags != accessReadWrite || count != 1 {
			return invalidValue
		}
		return k.enter("cuMemSetAccess")
	}
}

// kernelParameters is how many parameters the fake's kernels have.
const kernelParameters = 3

func (k *fake) keepLaunches() {
	fn := &k.fn
	launch := func(cooperative bool, name string) func(functionHandle, Dim, Dim, uint32,
		streamHandle, *unsafe.Pointer) Code {
		return func(f functionHandle, grid, block Dim, shared uint32, s streamHandle,
			params *unsafe.Pointer) Code {
			if code := k.enter(name); code != success {
				return code
			}
			l := launched{f, grid, block, shared, s, nil, cooperative}
			for _, p := range unsafe.Slice(params, kernelParameters) {
				l.words = append(l.words, *(*int64)(p))
			}
			k.mu.Lock()
			defer k.mu.Unlock()
			k.launches = append(k.launches, l)
			return success
		}
	}
	fn.LaunchKernel = launch(false, "cuLaunchKernel")
	fn.LaunchCooperativeKernel = launch(true, "cuLaunchCooperativeKernel")
	fn.FuncGetParamInfo = func(_ functionHandle, i uintptr, offset, size *uintptr) Code {
		if i >= kernelParameters {
			return invalidValue
		}
		*offset, *size = 8*i, 8
		return success
	}
	fn.FuncGetAttribute = func(v *int32, a int32, _ functionHandle) Code {
		*v = 100 + a
		return success
	}
}

// open opens the fake as Open would.
func (k *fake) open() (*Driver, *NotFoundError) {
	return openFirst([]string{"fake"}, func(_ string, fn *functions) error {
		*fn = k.fn
		return nil
	})
}

// start opens the fake and a context of its first device.
func (k *fake) start(t testing.TB) *Context {
	t.Helper()
	d, err := k.open()
	if err != nil {
		t.Fatal(err)
	}
	c, e := d.Devices()[0].OpenContext()
	if e != nil {
		t.Fatal(e)
	}
	k.took()
	return c
}

// must returns a value that could be made.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
