package cuda

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/dynlib"
)

// PathVariable is the environment variable that names the library to open, as a
// path or as a name that the dynamic linker looks for. Where it is set, no
// other library is tried.
const PathVariable = "REDFOX_CUDA"

// The driver's own variables, which it reads when it is initialised: when
// modules are loaded, and how many queues of the hardware the streams of a
// context share.
const (
	loadingVariable = "CUDA_MODULE_LOADING"
	queuesVariable  = "CUDA_DEVICE_MAX_CONNECTIONS"
)

// queues is what LimitQueues was told, 0 for the driver's own choice.
var queues atomic.Int32

// LimitQueues has a driver that is opened later give its contexts n hardware
// queues and not eight, unless the user has set CUDA_DEVICE_MAX_CONNECTIONS.
// Work of streams that share a queue can wait for each other's. On an H200 with
// driver 580 a context takes 100 to 140 ms with eight queues and 60 to 70 with
// two, and ends 20 ms sooner.
func LimitQueues(n int) { queues.Store(int32(n)) }

// oldest is the version of CUDA that a driver must have, as cuDriverGetVersion
// writes it: 11.4, driver 470.
const oldest Version = 11040

// Version is a version of CUDA: 1000 times the major number and 10 times the
// minor one.
type Version int

// String returns the version as CUDA writes it: "12.4".
func (v Version) String() string { return fmt.Sprintf("%d.%d", int(v)/1000, int(v)%1000/10) }

// Driver is an opened and initialised libcuda.
type Driver struct {
	path    string
	version Version
	fn      functions
	devices []*Device
}

// Path returns the name by which the library was opened.
func (d *Driver) Path() string { return d.path }

// Version returns the newest version of CUDA that the driver knows. It runs PTX
// of that version and older ones.
func (d *Driver) Version() Version { return d.version }

// Devices returns the GPUs that this process may use, in the driver's order.
// There is at least one.
func (d *Driver) Devices() []*Device { return d.devices }

// IsEager reports whether modules are loaded as a whole. Drivers before 11.7
// know no other way.
func (d *Driver) IsEager() bool {
	var mode int32
	return d.fn.ModuleGetLoadingMode(&mode) != success || mode == eagerLoading
}

// Problem says why there is no driver to work with.
type Problem uint8

// The problems.
const (
	NoDriver      Problem = iota // libcuda is not there, or cannot be opened
	DriverTooOld                 // it is older than CUDA 11.4
	NoDevice                     // it finds no GPU
	DriverRefuses                // it cannot be initialised
)

// Attempt is one library that Open tried, and why it was not taken.
type Attempt struct {
	Name    string
	Problem Problem
	Reason  string
}

// NotFoundError says that this machine has no GPU that redfox can use.
type NotFoundError struct {
	Tried []Attempt // in the order of trying
	Named bool      // the one that was tried is REDFOX_CUDA's
}

// Problem returns the problem of the library that came closest.
func (e *NotFoundError) Problem() Problem {
	p := NoDriver
	for _, a := range e.Tried {
		p = max(p, a.Problem)
	}
	return p
}

// Error names what is needed, what was found of another kind, and what to do. A
// name that leads nowhere is worth a word only if the user gave it, and one
// library under several names gets one.
func (e *NotFoundError) Error() string {
	var b strings.Builder
	b.WriteString("there is no NVIDIA GPU to use")
	said := map[string]bool{notThere: true}
	for _, a := range e.Tried {
		switch {
		case e.Named:
			fmt.Fprintf(&b, "; %s is %s: %s", PathVariable, a.Name, a.Reason)
		case !said[a.Reason]:
			fmt.Fprintf(&b, "; %s: %s", a.Name, a.Reason)
		}
		said[a.Reason] = true
	}
	b.WriteString("; ")
	b.WriteString(e.Advice())
	return b.String()
}

// Advice says what to install or to change.
func (e *NotFoundError) Advice() string {
	if !supported {
		return "GPUs can be used on Linux, on amd64 and arm64"
	}
	switch e.Problem() {
	case DriverTooOld:
		return fmt.Sprintf("install a driver for CUDA %v or newer, version 470 or later", oldest)
	case NoDevice:
		return "see whether nvidia-smi lists one, and whether CUDA_VISIBLE_DEVICES hides it"
	case DriverRefuses:
		return "see what nvidia-smi says; after an update of the driver its kernel module must be loaded anew"
	}
	return "install NVIDIA's driver, whose library is libcuda.so.1, or set " + PathVariable +
		" to its path"
}

// notThere is the reason of an attempt that found no file.
const notThere = "no such library"

// Open opens the CUDA driver: the library that the environment variable
// REDFOX_CUDA names, or else libcuda.so.1 where the dynamic linker, WSL and
// containers have it. That happens once per process; later calls return the
// same driver or the same error, which is a *NotFoundError.
func Open() (*Driver, error) { return openOnce() }

var openOnce = sync.OnceValues(func() (*Driver, error) {
	names, named := candidates()
	d, err := openFirst(names, loads.take)
	if err != nil {
		err.Named = named
		return nil, err
	}
	return d, nil
})

// Load has the dynamic linker load the driver's library, if it finds one, and
// find its functions, for Open. That takes two milliseconds, and does not wait
// for a library that is loaded later, as Open would: the linker does one thing
// at a time.
func Load() {
	setVariables()
	names, _ := candidates()
	for _, name := range names {
		if loads.bind(name) {
			return
		}
	}
}

// loads has the functions of the library that Load has found.
var loads loaded

// loaded is a library whose functions are found. It is safe for concurrent use.
type loaded struct {
	mu   sync.Mutex
	name string // "" for none
	fn   functions
}

// bind loads a library and reports whether it has the functions.
func (l *loaded) bind(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.name != "" {
		return l.name == name
	}
	var fn functions
	if load(name, &fn) != nil {
		return false
	}
	l.name, l.fn = name, fn
	return true
}

// take is load, which has been done for the library of bind.
func (l *loaded) take(name string, fn *functions) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.name == name {
		*fn = l.fn
		return nil
	}
	return load(name, fn)
}

// candidates lists what Open tries, and tells whether the user has named it. A
// bare name is looked up by the dynamic linker.
func candidates() (names []string, named bool) {
	if name := os.Getenv(PathVariable); name != "" {
		return []string{name}, true
	}
	triple := "x86_64-linux-gnu"
	if goruntime.GOARCH == "arm64" {
		triple = "aarch64-linux-gnu"
	}
	return []string{
		"libcuda.so.1",
		"/usr/lib/wsl/lib/libcuda.so.1",             // Windows' driver, seen from WSL
		"/usr/local/nvidia/lib64/libcuda.so.1",      // containers
		"/usr/lib/" + triple + "/libcuda.so.1",      // Debian, Ubuntu
		"/usr/lib64/libcuda.so.1",                   // Fedora, SUSE
		"/run/opengl-driver/lib/libcuda.so.1",       // NixOS
		"/usr/lib/" + triple + "/nvidia/libcuda.so", // Debian's alternatives
	}, false
}

// openFirst opens the first library that works.
func openFirst(names []string,
	load func(name string, fn *functions) error) (*Driver, *NotFoundError) {
	failure := &NotFoundError{}
	for _, name := range names {
		d := &Driver{path: name}
		err := load(name, &d.fn)
		problem := NoDriver
		if err == nil {
			if problem, err = d.start(); err == nil {
				return d, nil
			}
		}
		failure.Tried = append(failure.Tried, Attempt{name, problem, err.Error()})
	}
	return nil, failure
}

// load opens one library and binds its functions. The version comes first: an
// old driver lacks functions, and that it is old says more than their names.
func load(name string, fn *functions) error {
	library, err := openLibrary(name)
	if err != nil {
		if strings.HasPrefix(err.Error(), name+": cannot open shared object file: No such file") ||
			isMissing(name) {
			return errors.New(notThere)
		}
		return err
	}
	address := func(name string) uintptr { return dynlib.Symbol(library, name) }
	if address("cuInit") == 0 {
		return errors.New("not the CUDA driver")
	}
	missing := fn.bindAll(address)
	if len(missing) == 0 {
		return nil
	}
	var version int32
	if fn.DriverGetVersion != nil && fn.DriverGetVersion(&version) == success {
		return fmt.Errorf("a driver for CUDA %v, without %s", Version(version),
			strings.Join(missing, ", "))
	}
	return fmt.Errorf("without %s", strings.Join(missing, ", "))
}

// start initialises the driver and lists its devices.
func (d *Driver) start() (Problem, error) {
	var version, n int32
	stub := errors.New("the toolkit's stand-in for linking, not the driver")
	switch code := d.fn.DriverGetVersion(&version); code {
	case success:
	case stubLibrary:
		return NoDriver, stub
	default:
		return NoDriver, d.fn.failure("cuDriverGetVersion", code)
	}
	if d.version = Version(version); d.version < oldest {
		return DriverTooOld, fmt.Errorf("a driver for CUDA %v", d.version)
	}
	setVariables()
	switch code := d.fn.Init(0); code {
	case success:
	case stubLibrary:
		return NoDriver, stub
	case noDevice:
		return NoDevice, errors.New("the driver finds no GPU")
	default:
		return DriverRefuses, d.fn.failure("cuInit", code)
	}
	if err := d.fn.failure("cuDeviceGetCount", d.fn.DeviceGetCount(&n)); err != nil {
		return DriverRefuses, err
	}
	if n == 0 {
		return NoDevice, errors.New("the driver finds no GPU")
	}
	for i := range n {
		device, err := d.newDevice(i)
		if err != nil {
			return DriverRefuses, err
		}
		d.devices = append(d.devices, device)
	}
	return 0, nil
}

// setVariables sets the driver's own variables for when it is initialised.
func setVariables() {
	setDefault(loadingVariable, "EAGER")
	if n := queues.Load(); n > 0 {
		setDefault(queuesVariable, strconv.Itoa(int(n)))
	}
}

// setDefault sets a variable for the driver alone, unless the user has set it.
func setDefault(variable, value string) {
	if os.Getenv(variable) == "" {
		setVariable(variable, value)
	}
}

// isMissing reports whether name is a path that leads nowhere.
func isMissing(name string) bool {
	if !filepath.IsAbs(name) {
		return false
	}
	_, err := os.Stat(name)
	return errors.Is(err, os.ErrNotExist)
}
