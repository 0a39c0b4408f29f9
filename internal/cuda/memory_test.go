package cuda

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/dynlib"
)

// TestCopies moves bytes through the fake's memory, both ways of each method.
func TestCopies(t *testing.T) {
	c := newFake().start(t)
	s := must(c.NewStream())(t)
	type mover interface {
		CopyToDevice(Pointer, []byte) error
		CopyToHost([]byte, Pointer) error
		Copy(to, from Pointer, bytes uint64) error
		Fill8(Pointer, uint8, uint64) error
		Fill32(Pointer, uint32, uint64) error
	}
	for _, m := range []mover{c, s} {
		a, b := must(c.Alloc(16))(t), must(c.Alloc(16))(t)
		ok(t, m.CopyToDevice(a, []byte("0123456789abcdef")))
		ok(t, m.Copy(b+1, a+4, 10))
		ok(t, m.Fill8(b, 'x', 1))
		ok(t, m.Fill32(b+12, 0x41424344, 1))
		got := make([]byte, 16)
		ok(t, m.CopyToHost(got, b))
		if want := "x456789abcd\x00DCBA"; string(got) != want {
			t.Errorf("%T: %q, not %q", m, got, want)
		}
		ok(t, m.CopyToDevice(0, nil)) // nothing is no failure
		ok(t, m.CopyToHost(nil, 0))
		ok(t, m.Copy(0, 0, 0))
		ok(t, m.Fill8(0, 0, 0))
		ok(t, m.Fill32(0, 0, 0))
		if err := m.CopyToDevice(a+8, make([]byte, 9)); err == nil ||
			!strings.Contains(err.Error(), "9 bytes") {
			t.Errorf("%T: past the end: %v", m, err)
		}
		ok(t, c.Free(a))
		ok(t, c.Free(b))
	}
	h := must(c.AllocHost(5, HostOptions{}))(t)
	if b := h.Bytes(); len(b) != 5 || Pointer(uintptr(unsafe.Pointer(&b[0]))) != h.Pointer() {
		t.Errorf("host memory %v at %x", b, h.Pointer())
	}
}

// TestUnsupported asks a device for what it does not have.
func TestUnsupported(t *testing.T) {
	k := newFake()
	k.attrs = nil
	c := k.start(t)
	if _, err := c.NewPool(PoolOptions{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a pool: %v", err)
	}
	if _, err := c.Reserve(1); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a region: %v", err)
	}
}

// TestRegion grows and shrinks.
func TestRegion(t *testing.T) {
	k := newFake()
	c := k.start(t)
	r := must(c.Reserve(10*grain - 5))(t)
	if r.Limit() != 10*grain || r.Size() != 0 {
		t.Errorf("limit %d, size %d", r.Limit(), r.Size())
	}
	for _, step := range []struct{ grow, size, pieces uint64 }{
		{0, 0, 0}, {1, grain, 1}, {grain, grain, 1}, {grain + 1, 2 * grain, 2},
		{5 * grain, 5 * grain, 3},
	} {
		ok(t, r.Grow(step.grow))
		if r.Size() != step.size || uint64(len(k.mapped)) != step.pieces {
			t.Errorf("Grow(%d): %d bytes in %d pieces", step.grow, r.Size(), len(k.mapped))
		}
	}
	if err := r.Grow(10*grain + 1); !errors.Is(err, ErrOutOfMemory) || r.Size() != 5*grain {
		t.Errorf("past the limit: %v", err)
	}
	for _, step := range []struct{ shrink, size uint64 }{
		{5 * grain, 5 * grain}, {3 * grain, 5 * grain}, {2*grain + 1, 5 * grain},
		{2 * grain, 2 * grain}, {1, grain}, {0, 0},
	} {
		ok(t, r.Shrink(step.shrink))
		if r.Size() != step.size {
			t.Errorf("Shrink(%d): %d bytes", step.shrink, r.Size())
		}
	}
	ok(t, r.Grow(10*grain))
	ok(t, r.Close())
	if len(k.live) != 0 || len(k.mapped) != 0 || len(k.reserved) != 0 {
		t.Errorf("left: %d allocations, %d mappings, %d reservations", len(k.live), len(k.mapped),
			len(k.reserved))
	}
}

// TestRegionFails lets each step of growing fail: what was there stays, and
// nothing is left over.
func TestRegionFails(t *testing.T) {
	for _, step := range []string{"cuMemCreate", "cuMemMap", "cuMemSetAccess"} {
		k := newFake()
		r := must(k.start(t).Reserve(10 * grain))(t)
		ok(t, r.Grow(grain))
		k.set(step, outOfMemory)
		err := r.Grow(4 * grain)
		var e *Error
		if !errors.Is(err, ErrOutOfMemory) || !errors.As(err, &e) || e.Call != step ||
			e.Detail != "from 2097152 bytes to 8388608" {
			t.Errorf("%s: %v", step, err)
		}
		if r.Size() != grain || len(k.live) != 1 || len(k.mapped) != 1 {
			t.Errorf("%s: %d bytes, %d allocations, %d mappings", step, r.Size(), len(k.live),
				len(k.mapped))
		}
		delete(k.answers, step)
		ok(t, r.Grow(4*grain))
		ok(t, r.Close())
	}
}

// TestModule sees what the driver's compiler gets, and its log in the error.
func TestModule(t *testing.T) {
	k := newFake()
	var image []byte
	options := map[int32]uintptr{}
	k.fn.ModuleLoadDataEx = func(m *moduleHandle, code *byte, n uint32, names *int32,
		values *uintptr) Code {
		image = append([]byte(dynlib.Text(code)), 0)
		for i, name := range unsafe.Slice(names, n) {
			value := unsafe.Slice(values, n)[i]
			options[name] = value
			if name == jitErrorLog || name == jitInfoLog {
				buffer := *(*unsafe.Pointer)(unsafe.Pointer(&value))
				copy(unsafe.Slice((*byte)(buffer), logSize),
					map[int32]string{jitErrorLog: "line 3: no\n", jitInfoLog: "by the way\n"}[name])
			}
		}
		*m = 1
		return k.enter("cuModuleLoadDataEx")
	}
	c := k.start(t)
	m := must(c.LoadModule(Image{"m", []byte(".version 7.0")},
		ModuleOptions{MaxRegisters: 64, Optimization: 2, LineInfo: true, Verbose: true}))(t)
	if !bytes.Equal(image, []byte(".version 7.0\x00")) || m.Log() != "line 3: no\nby the way" ||
		m.Name() != "m" {
		t.Errorf("image %q, log %q", image, m.Log())
	}
	if options[jitMaxRegisters] != 64 || options[jitOptimizationLevel] != 2 ||
		options[jitLineInfo] != 1 || options[jitLogVerbose] != 1 ||
		options[jitErrorLogSize] != logSize || options[jitInfoLogSize] != logSize {
		t.Errorf("options %v", options)
	}
	clear(options)
	k.set("cuModuleLoadDataEx", invalidPTX)
	_, err := c.LoadModule(Image{"m", nil}, ModuleOptions{})
	if want := "CUDA: cuModuleLoadDataEx (module m): CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed\nline 3: no\nby the way"; !errors.Is(err, ErrInvalidPTX) || err.Error() != want {
		t.Error(err)
	}
	if len(options) != 4 {
		t.Errorf("options %v", options)
	}
	for code, want := range map[string]bool{".version": true, "\x7fELF\x02": false, "": true} {
		if got := (Image{Code: []byte(code)}).isPTX(); got != want {
			t.Errorf("%q is PTX: %v", code, got)
		}
	}
	k.set("cuModuleGetFunction", notFound)
	if _, err := m.Function("gone"); !errors.Is(err, ErrNotFound) ||
		!strings.Contains(err.Error(), "kernel gone of module m") {
		t.Error(err)
	}
}

// TestLink sees machine code copied before the link is given back, on failure
// too.
func TestLink(t *testing.T) {
	k := newFake()
	made := []byte("\x7fELF machine code")
	k.fn.LinkComplete = func(_ linkHandle, cubin **byte, size *uintptr) Code {
		*cubin, *size = &made[0], uintptr(len(made))
		return k.enter("cuLinkComplete")
	}
	var kinds []int32
	k.fn.LinkAddData = func(_ linkHandle, kind int32, data *byte, size uintptr, name string,
		_ uint32, _ *int32, _ *uintptr) Code {
		kinds = append(kinds, kind)
		if last := unsafe.Slice(data, size)[size-1]; kind == jitInputPTX && last != 0 ||
			name == "" {
			return invalidValue
		}
		return k.enter("cuLinkAddData")
	}
	c := k.start(t)
	l := must(c.Link(ModuleOptions{}, Image{"a", []byte(".version 7.0")}, Image{"b", made}))(t)
	made[4] = 'X'
	if string(l.Code) != "\x7fELF machine code" ||
		!slices.Equal(kinds, []int32{jitInputPTX, jitInputCubin}) {
		t.Errorf("%q of %v", l.Code, kinds)
	}
	for _, step := range []string{"cuLinkAddData", "cuLinkComplete"} {
		k.took()
		k.set(step, invalidPTX)
		if _, err := c.Link(ModuleOptions{}, Image{"a", []byte(".version 7.0")}); !errors.Is(err,
			ErrInvalidPTX) {
			t.Errorf("%s: %v", step, err)
		}
		if calls := k.took(); calls[len(calls)-1] != "cuLinkDestroy" {
			t.Errorf("%s: calls %v", step, calls)
		}
		delete(k.answers, step)
	}
}
