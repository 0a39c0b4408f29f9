package cuda

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// TestTable holds the table of functions against what bindAll needs of it: a
// name for each symbol, a code as result, and arguments that are words.
func TestTable(t *testing.T) {
	table := reflect.TypeFor[functions]()
	seen := map[string]bool{}
	for i := range table.NumField() {
		field := table.Field(i)
		name := symbolOf(field)
		if base, _, _ := strings.Cut(name, "_v"); seen[name] || base != "cu"+field.Name {
			t.Errorf("%s is bound to %s", field.Name, name)
		}
		seen[name] = true
		if field.Type.NumOut() != 1 || field.Type.Out(0) != reflect.TypeFor[Code]() {
			t.Errorf("%s is a %v", name, field.Type)
		}
	}
	for _, layout := range []struct {
		name      string
		got, want uintptr
	}{
		{"CUmemPoolProps", unsafe.Sizeof(poolProperties{}), 88},
		{"CUmemAllocationProp", unsafe.Sizeof(memoryProperties{}), 32},
		{"CUmemAccessDesc", unsafe.Sizeof(memoryAccess{}), 12},
	} {
		if layout.got != layout.want {
			t.Errorf("%s has %d bytes, not %d", layout.name, layout.got, layout.want)
		}
	}
}

// TestMissingFunctions binds a library that has nothing.
func TestMissingFunctions(t *testing.T) {
	var fn functions
	missing := fn.bindAll(func(string) uintptr { return 0 })
	if !slices.Contains(missing, "cuMemAlloc_v2") || slices.Contains(missing, "cuFuncLoad") {
		t.Errorf("missing: %v", missing)
	}
	fn.GetErrorName = nil // is not asked
	err := fn.failure("cuFuncLoad", fn.FuncLoad(1))
	if !errors.Is(err, errors.ErrUnsupported) ||
		err.Error() != "CUDA: cuFuncLoad: needs a driver for CUDA 12.4 or newer" {
		t.Error(err)
	}
}

// TestOpen opens drivers that cannot be used, and one that can.
func TestOpen(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*fake)
		problem Problem
		message string
	}{
		{"too old", func(k *fake) {
			k.version = 11030
		}, DriverTooOld,
			"there is no NVIDIA GPU to use; fake: a driver for CUDA 11.3; install a driver for CUDA 11.4 or newer, version 470 or later"},
		{"no device", func(k *fake) {
			k.initCode = noDevice
		}, NoDevice,
			"there is no NVIDIA GPU to use; fake: the driver finds no GPU; see whether nvidia-smi lists one, and whether CUDA_VISIBLE_DEVICES hides it"},
		{"devices hidden", func(k *fake) {
			k.devices = 0
		}, NoDevice,
			"there is no NVIDIA GPU to use; fake: the driver finds no GPU; see whether nvidia-smi lists one, and whether CUDA_VISIBLE_DEVICES hides it"},
		{"stub", func(k *fake) {
			k.initCode = stubLibrary
		}, NoDriver,
			"there is no NVIDIA GPU to use; fake: the toolkit's stand-in for linking, not the driver; install NVIDIA's driver, whose library is libcuda.so.1, or set REDFOX_CUDA to its path"},
		{"stub that has no version", func(k *fake) {
			k.answers["cuDriverGetVersion"] = stubLibrary
		}, NoDriver,
			"there is no NVIDIA GPU to use; fake: the toolkit's stand-in for linking, not the driver; install NVIDIA's driver, whose library is libcuda.so.1, or set REDFOX_CUDA to its path"},
		{"kernel module of another version", func(k *fake) {
			k.initCode = 803
		}, DriverRefuses,
			"there is no NVIDIA GPU to use; fake: CUDA: cuInit: error 803; see what nvidia-smi says; after an update of the driver its kernel module must be loaded anew"},
	} {
		k := newFake()
		c.change(k)
		_, err := k.open()
		switch {
		case err == nil:
			t.Errorf("%s: opened", c.name)
		case err.Problem() != c.problem || supported && err.Error() != c.message:
			t.Errorf("%s: problem %d, %v", c.name, err.Problem(), err)
		}
	}
	k := newFake()
	k.devices = 2
	k.version = 13010
	d, err := openFirst([]string{"first", "fake"}, func(name string, fn *functions) error {
		if name == "first" {
			return errors.New(notThere)
		}
		*fn = k.fn
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if d.Path() != "fake" || d.Version().String() != "13.1" || len(d.Devices()) != 2 {
		t.Errorf("%s, version %v, %d devices", d.Path(), d.Version(), len(d.Devices()))
	}
	v := d.Devices()[1]
	if v.Index != 1 || v.Name != "Fake 1" || v.UUID != "GPU-00000000-0000-0000-0000-000000000002" ||
		v.Memory != 1<<37 ||
		v.Architecture() != "sm_90" || !v.Attributes.VirtualMemory || v.Attributes.ClockRate != 0 ||
		v.PeakBandwidth() != 2*3.201e9*768 {
		t.Errorf("device %+v", v)
	}
}

// TestLoads finds the functions of a library once, and those of others each
// time.
func TestLoads(t *testing.T) {
	var l loaded
	if l.bind("libc.so.6") || l.name != "" {
		t.Errorf("another library is taken for the driver: %q", l.name)
	}
	fn := functions{DriverGetVersion: func(*int32) Code { return success }}
	l.name, l.fn = "fake", fn
	var taken functions
	if err := l.take("fake", &taken); err != nil || taken.DriverGetVersion == nil {
		t.Errorf("what was found is not taken: %v", err)
	}
	if !l.bind("fake") || l.bind("libc.so.6") {
		t.Error("what was found is looked for again")
	}
	if err := l.take("libredfox-is-not-there.so", &taken); err == nil {
		t.Error("a library that is not there has functions")
	}
}

// TestNotFound reads what is said about libraries that are tried.
func TestNotFound(t *testing.T) {
	if !supported {
		t.Skip("libraries cannot be opened on this platform")
	}
	var fn functions
	for name, want := range map[string]string{
		"libc.so.6":                 "not the CUDA driver",
		"/nowhere/libcuda.so.1":     notThere,
		"libredfox-is-not-there.so": notThere,
	} {
		if err := load(name, &fn); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := &NotFoundError{Tried: []Attempt{{"a", NoDriver, notThere},
		{"b", NoDriver, "wrong ELF class"}, {"c", NoDriver, "wrong ELF class"}}}
	if want := "there is no NVIDIA GPU to use; b: wrong ELF class; install NVIDIA's driver, whose library is libcuda.so.1, or set REDFOX_CUDA to its path"; err.Error() != want {
		t.Error(err)
	}
	err = &NotFoundError{Tried: []Attempt{{"/mine", NoDriver, notThere}}, Named: true}
	if !strings.Contains(err.Error(), "REDFOX_CUDA is /mine: no such library") {
		t.Error(err)
	}
}
