package native

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// hostCalls are the functions that an entry calls back, in one run.
type hostCalls struct {
	id    int64
	run   *run
	hosts []abi.Host
	funcs []*scalar.Func
	// failure is the value of a panic in a function. The panic must not unwind
	// through native code.
	failure atomic.Pointer[any]
}

// hostContexts maps the numbers that native code passes to hostCalls.
var hostContexts struct {
	sync.RWMutex
	last int64
	byID map[int64]*hostCalls
}

// hostCallback returns the address of the function that native code calls for
// all host functions.
var hostCallback = sync.OnceValue(func() uintptr {
	return llvm.NewCallback(func(context, number, items int64, frame *unsafe.Pointer) {
		hostContexts.RLock()
		h := hostContexts.byID[context]
		hostContexts.RUnlock()
		h.call(int(number), int(items), frame)
	})
})

// newHostCalls registers the functions of an entry until the run ends.
func (r *run) newHostCalls(e *abi.Entry) (*hostCalls, error) {
	h := &hostCalls{run: r, hosts: e.Hosts}
	for _, f := range e.Hosts {
		fn := scalar.Lookup(f.Func)
		if fn == nil {
			return nil, fmt.Errorf("%s calls the function %s, which there is not", e.Symbol, f.Func)
		}
		h.funcs = append(h.funcs, fn)
	}
	hostContexts.Lock()
	defer hostContexts.Unlock()
	if hostContexts.byID == nil {
		hostContexts.byID = map[int64]*hostCalls{}
	}
	hostContexts.last++
	h.id = hostContexts.last
	hostContexts.byID[h.id] = h
	r.hosts = append(r.hosts, h)
	return h, nil
}

// freeHosts unregisters the functions of a run.
func (r *run) freeHosts() {
	if len(r.hosts) == 0 {
		return
	}
	hostContexts.Lock()
	defer hostContexts.Unlock()
	for _, h := range r.hosts {
		delete(hostContexts.byID, h.id)
	}
}

// hostArg is an argument for a tile: words, the upper words of decimals, and
// which rows have a value.
type hostArg struct {
	words, high []int64
	present     []byte
}

// call evaluates a function for the live rows of a tile (abi.Host).
func (h *hostCalls) call(number, items int, frame *unsafe.Pointer) {
	defer func() {
		if p := recover(); p != nil {
			h.failure.CompareAndSwap(nil, &p)
		}
	}()
	host, fn := &h.hosts[number], h.funcs[number]
	slots := unsafe.Slice(frame, 3+3*len(host.Args))
	live, result, present := view[byte](slots[0], items), view[int64](slots[1],
		items), view[byte](slots[2], items)
	args := make([]hostArg, len(host.Args))
	domains := make([]int, len(host.Args))
	strings := 0
	for i, t := range host.Args {
		at := slots[3+3*i:]
		args[i] = hostArg{view[int64](at[0], items), view[int64](at[1], items),
			view[byte](at[2], items)}
		if t.Kind == scalar.String {
			domains[i] = host.Domains[strings]
			strings++
		}
	}
	values := make([]scalar.Value, len(args))
rows:
	for i := range items {
		if live[i] == 0 {
			continue
		}
		present[i] = 0
		for k := range args {
			if p := args[k].present; p != nil && p[i] == 0 {
				continue rows
			}
			values[k] = h.value(host.Args[k], domains[k], &args[k], i)
		}
		v, ok := fn.Eval(host.Result, values)
		if !ok {
			continue
		}
		present[i] = 1
		if host.Result.Kind == scalar.String {
			result[i] = h.run.Data.Intern(host.Domain, v.Str())
		} else {
			result[i] = int64(v.Bits())
		}
	}
}

// value returns argument k of row i.
func (h *hostCalls) value(t scalar.Type, domain int, a *hostArg, i int) scalar.Value {
	switch {
	case t.Kind == scalar.String:
		return scalar.OfString(h.run.Data.String(domain, a.words[i]))
	case a.high != nil:
		return scalar.OfInt128(t, scalar.Int128{Hi: a.high[i], Lo: uint64(a.words[i])})
	}
	return scalar.OfBits(t, uint64(a.words[i]))
}

// view returns a slice over memory of native code, or nil for a null pointer.
func view[T any](p unsafe.Pointer, n int) []T {
	if p == nil {
		return nil
	}
	return unsafe.Slice((*T)(p), n)
}
