package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// TestFaults has every call of a run fail, in a way that costs the context and
// in one that does not. The run says so; another engine then works.
func TestFaults(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, apart(5))
	c := card{small: true}
	e, d := c.open(t)
	before := d.Calls()
	check(t, "without faults", e, plan, db)
	for call, n := range d.Calls() {
		if n -= before[call]; n == 0 {
			continue
		}
		for _, code := range []cuda.Code{emulated.LaunchFailed, emulated.InvalidValue} {
			if code == emulated.InvalidValue &&
				(call == emulated.Execution || call == "cuMemFreeAsync") {
				continue // it costs the context, or leaves memory that nobody can free
			}
			for _, nth := range []int{1, n/2 + 1, n} {
				t.Run(fmt.Sprintf("%s %d %d", call, nth, code), func(t *testing.T) {
					c.fault(t, plan, db, call, nth, code)
				})
			}
		}
	}
}

// fault has a call fail, and wants an error that says so and the process to go
// on.
func (c card) fault(t *testing.T, plan *queryplan.Plan, db *store.Database, call string, nth int,
	code cuda.Code) {
	c.Seed = uint64(nth)
	e, d := c.open(t)
	d.Inject(emulated.Fault{Calls: []string{call}, Nth: nth, Times: 1, Code: code})
	_, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
	if !d.Heal() {
		if err != nil {
			t.Errorf("the call was not made: %v", err)
		}
		return // goroutines met in another way
	}
	lost := code == emulated.LaunchFailed
	var device *runtime.DeviceError
	switch {
	case err == nil && lost:
		t.Error("a run on a lost device works")
	case err != nil && lost && !(errors.As(err, &device) && errors.Is(err, cuda.ErrLost)):
		t.Errorf("a lost device: %v", err)
	}
	if e.Lost() != lost {
		t.Errorf("the engine says that the device is lost: %v", e.Lost())
	}
	if !lost {
		check(t, "after it", e, plan, db)
		return
	}
	if _, err := e.Run(context.Background(),
		&runtime.Request{Plan: plan, Facts: db}); !errors.Is(err, cuda.ErrLost) {
		t.Errorf("the next run: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	again, err := New(Options{Device: d.Devices()[0], Version: d.Version(), Lower: c.lower,
		Compile: e.opts.Compile})
	if err != nil {
		t.Fatal(err)
	}
	check(t, "another engine", again, plan, db)
	if err := again.Close(); err != nil {
		t.Errorf("closing the other engine: %v", err)
	}
}

// TestResidentFails has the copy of a column fail when a part is on its way:
// one, which is the run's or was begun ahead, so that the run makes its own, or
// both.
func TestResidentFails(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, apart(500))
	for seed := range uint64(4) {
		for times := range 3 {
			e, d := card{small: true, Options: emulated.Options{Seed: seed}}.open(t)
			if times > 0 {
				d.Inject(emulated.Fault{Calls: []string{"cuEventCreate"}, Times: times,
					Code: emulated.InvalidValue})
			}
			_, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
			if times != 1 && (err != nil) != (times > 1) || times > 0 && !d.Heal() {
				t.Errorf("%d copies fail: %v", times, err)
			}
			check(t, "after it", e, plan, db)
		}
	}
}

// TestStuckDevice has a device that does not recover within the process.
func TestStuckDevice(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(3))
	e, d := card{Options: emulated.Options{Stuck: true}}.open(t)
	d.Inject(emulated.Fault{Calls: []string{emulated.Execution}, Code: emulated.IllegalAddress})
	if _, err := e.Run(context.Background(),
		&runtime.Request{Plan: plan, Facts: db}); !errors.Is(err, cuda.ErrLost) {
		t.Errorf("got %v", err)
	}
	d.Heal()
	if err := e.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	var device *runtime.DeviceError
	if _, err := New(Options{Device: d.Devices()[0], Version: d.Version()}); !errors.As(err,
		&device) || !errors.Is(err, cuda.ErrLost) {
		t.Errorf("got %v", err)
	}
}

// TestOpenFails has every call of New fail.
func TestOpenFails(t *testing.T) {
	lib, err := library()
	if err != nil {
		t.Skip(err)
	}
	for n := 1; ; n++ {
		d := emulated.New(emulated.Options{Library: lib})
		d.Inject(emulated.Fault{Nth: n, Times: 1, Code: emulated.OutOfMemory})
		e, err := New(Options{Device: d.Devices()[0], Version: d.Version()})
		opened := err == nil
		if opened {
			err = e.waitServices()
		}
		failed := d.Heal()
		// The service kernels are loaded again if that failed.
		if (n == 1 || !failed) && failed != (err != nil) {
			t.Errorf("call %d: %v", n, err)
		}
		if opened {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
		// Nothing else can free what cuMemFreeAsync does not.
		if err := d.Check(); err != nil &&
			!strings.Contains(err.Error(), "of a pool's memory were never freed") {
			t.Errorf("call %d: %v", n, err)
		}
		if !failed {
			break
		}
	}
}

// opening is a device that opens once code has been generated for it. If the
// generator waited for the device, the test would not end.
type opening struct {
	driver.Device
	generated chan struct{}
}

func (d opening) OpenContext() (driver.Context, error) {
	<-d.generated
	return d.Device.OpenContext()
}

// TestStart has a run generate its code while the device is being opened, which
// then works or fails.
func TestStart(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(3))
	c := card{}
	e, d := c.open(t)
	for _, fails := range []bool{false, true} {
		generated := make(chan struct{})
		late := Start(Options{Device: opening{d.Devices()[0], generated}, Version: d.Version(),
			Lower: c.lower,
			Compile: func(p *harmony.Program, k woven.Knowledge, early func(string)) (*Code,
				error) {
				defer close(generated)
				if fails {
					d.Inject(emulated.Fault{Times: 1, Code: emulated.OutOfMemory})
				}
				return e.opts.Compile(p, k, early)
			}})
		if !fails {
			var mu sync.Mutex
			var names, driver []string
			if _, err := late.Run(context.Background(),
				&runtime.Request{Plan: plan, Facts: db, Trace: func(s runtime.Span) {
					mu.Lock()
					defer mu.Unlock()
					switch s.Track { // the first two go on beside the others
					case copiesTrack:
					case driverTrack:
						driver = append(driver, s.Name)
					default:
						names = append(names, s.Name)
					}
				}}); err != nil || len(names) < 3 ||
				!slices.Equal(names[:3], []string{"make code", "open the device", "load code"}) {
				t.Errorf("%v, and the trace begins with %q", err, names)
			}
			if len(driver) == 0 {
				t.Error("the trace lacks what the driver compiled")
			}
			check(t, "a device that opens late", late, plan, db)
		} else {
			for range 2 {
				var device *runtime.DeviceError
				if _, err := late.Run(context.Background(),
					&runtime.Request{Plan: plan, Facts: db}); !errors.As(err, &device) ||
					!errors.Is(err, cuda.ErrOutOfMemory) {
					t.Errorf("a device that does not open: %v", err)
				}
				generated = make(chan struct{})
			}
			d.Heal()
		}
		if late.Lost() != fails {
			t.Errorf("the engine is lost: %v, want %v", late.Lost(), fails)
		}
		late.Forget(db)
		if use := late.Use(); (use == device.Use{}) != fails {
			t.Errorf("the engine holds %+v", use)
		}
		if err := late.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	}
}

// TestCompileFails passes the generator's and the driver's errors on.
func TestCompileFails(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(3))
	e, _ := card{}.open(t)
	compile := e.opts.Compile
	why := errors.New("no code today")
	e.opts.Compile = func(*harmony.Program, woven.Knowledge, func(string)) (*Code, error) {
		return nil, why
	}
	if _, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db}); err != why {
		t.Errorf("got %v", err)
	}
	for _, change := range []func(*Code){
		func(c *Code) { c.PTX += "define void @broken(" },
		func(c *Code) { c.PTX = "\x7fELF of something else" },
		func(c *Code) { c.Module.Entries[0].Symbol += "_of_another" },
	} {
		e.opts.Compile = func(p *harmony.Program, k woven.Knowledge, early func(string)) (*Code,
			error) {
			code, err := compile(p, k, early)
			if err == nil {
				change(code)
			}
			return code, err
		}
		if _, err := e.Run(context.Background(),
			&runtime.Request{Plan: plan, Facts: db}); err == nil {
			t.Error("wrong code runs")
		}
	}
	e.opts.Compile = compile
	check(t, "after it", e, plan, db)
}
