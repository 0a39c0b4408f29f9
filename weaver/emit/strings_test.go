package emit

import (
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// dictionary has the strings of a domain, sorted unless it grows.
type dictionary struct {
	strings []string
	grows   bool
}

func (d *dictionary) bounds() interval.Interval {
	if d.grows {
		return interval.Interval{Lo: 0, Hi: 1<<31 - 1}
	}
	return interval.Interval{Lo: 0, Hi: max(0, int64(len(d.strings))-1)}
}

func (d *dictionary) code(s string) int64 { return int64(slices.Index(d.strings, s)) }

func (d *dictionary) intern(s string) int64 {
	if at := d.code(s); at >= 0 {
		return at
	}
	d.strings = append(d.strings, s)
	return int64(len(d.strings)) - 1
}

// tableData is a function of the entries of a dictionary.
type tableData struct {
	words   []int64
	present []byte // nil: all have a value
}

func (t *tableData) param(k abi.Kind) int64 {
	return map[abi.Kind]int64{
		abi.TableData: address(t.words), abi.TableBase: 0, abi.TableStep: 1, abi.TableWidth: 8,
		abi.TablePresent: address(t.present),
	}[k]
}

// settle makes the dictionaries and tables.
func (d *driver) settle(facts map[string]planref.Rows) {
	for _, dom := range d.domains.All() {
		dict := &dictionary{grows: dom.Grows, strings: slices.Clone(dom.Consts)}
		for _, in := range dom.Inputs {
			for _, row := range factsOf(in.Rel, facts) {
				dict.strings = append(dict.strings, row[in.Col].Str())
			}
		}
		d.dicts = append(d.dicts, dict)
	}
	tables := d.domains.Tables()
	// Results of tables enter other dictionaries, as often as tables can follow
	// on each other.
	for range len(tables) + 1 {
		for _, t := range tables {
			if t.Result.Kind == scalar.String {
				for _, s := range d.dicts[t.In].strings {
					if v, ok := evalTable(t, s); ok {
						d.dicts[t.Out].intern(v.Str())
					}
				}
			}
		}
	}
	for _, dict := range d.dicts {
		slices.Sort(dict.strings)
		dict.strings = slices.Compact(dict.strings)
		if dict.grows {
			slices.Reverse(dict.strings) // in any order but that of strings
		}
	}
	for _, t := range tables {
		data := &tableData{words: alloc[int64](&d.mem, len(d.dicts[t.In].strings)+1),
			present: alloc[byte](&d.mem, len(d.dicts[t.In].strings)+1)}
		all := true
		for i, s := range d.dicts[t.In].strings {
			v, ok := evalTable(t, s)
			all = all && ok
			if ok {
				data.present[i] = 1
				var out *domain.Domain
				if t.Result.Kind == scalar.String {
					out = d.domains.All()[t.Out]
				}
				data.words[i] = d.word(v, out)
			}
		}
		if all {
			data.present = nil
		}
		d.tables = append(d.tables, data)
	}
}

func evalTable(t abi.Table, s string) (scalar.Value, bool) {
	args := slices.Clone(t.Args)
	args[t.String] = scalar.OfString(s)
	return scalar.Lookup(t.Func).Eval(t.Result, args)
}

// word returns a value's word, of a string its code.
func (d *driver) word(v scalar.Value, dom *domain.Domain) int64 {
	if v.Type.Kind == scalar.String {
		code := d.dicts[dom.ID].code(v.Str())
		if code < 0 {
			d.t.Fatalf("%q has no code", v.Str())
		}
		return code
	}
	return int64(v.Bits())
}

func (d *driver) valueOf(t scalar.Type, word int64, dom *domain.Domain) scalar.Value {
	if t.Kind == scalar.String {
		return scalar.OfString(d.dicts[dom.ID].strings[word])
	}
	return scalar.OfBits(t, uint64(word))
}

func (d *driver) literal(k abi.Kind, l abi.Literal) int64 {
	if l.Value.Type.Kind != scalar.String {
		if k == abi.LiteralHigh {
			return l.Value.Int128().Hi
		}
		return int64(l.Value.Bits())
	}
	dict := d.dicts[l.Domain]
	low, found := slices.BinarySearchFunc(dict.strings, l.Value.Str(), strings.Compare)
	switch {
	case k == abi.PlaceLow:
		return int64(low)
	case k == abi.PlaceHigh && found:
		return int64(low) + 1
	case k == abi.PlaceHigh:
		return int64(low)
	}
	return dict.code(l.Value.Str())
}

// hostCall describes an entry that calls the host.
type hostCall struct {
	d *driver
	e *abi.Entry
}

var hostCalls struct {
	sync.Mutex
	calls []hostCall
}

func (d *driver) hostContext(e *abi.Entry) int {
	hostCalls.Lock()
	defer hostCalls.Unlock()
	hostCalls.calls = append(hostCalls.calls, hostCall{d, e})
	return len(hostCalls.calls) - 1
}

var hostCallback = sync.OnceValue(func() uintptr {
	return llvm.NewCallback(func(context, number, items int64, frame *unsafe.Pointer) {
		hostCalls.Lock()
		c := hostCalls.calls[context]
		hostCalls.Unlock()
		c.call(c.e.Hosts[number], int(items), frame)
	})
})

// call evaluates a function for the live items of a tile.
func (c hostCall) call(h abi.Host, items int, frame *unsafe.Pointer) {
	parts := unsafe.Slice(frame, 3+3*len(h.Args))
	bytes := func(i int) []byte { return unsafe.Slice((*byte)(parts[i]), items) }
	words := func(i int) []int64 { return unsafe.Slice((*int64)(parts[i]), items) }
	live, out, present := bytes(0), words(1), bytes(2)
	fn := scalar.Lookup(h.Func)
	for i := range items {
		if live[i] == 0 {
			continue
		}
		present[i] = 0
		args, all, strs := make([]scalar.Value, len(h.Args)), true, 0
		for a, t := range h.Args {
			at := 3 + 3*a
			if parts[at+2] != nil && bytes(at + 2)[i] == 0 {
				all = false
			}
			word := words(at)[i]
			switch {
			case t.Kind == scalar.String:
				if all {
					args[a] = scalar.OfString(c.d.dicts[h.Domains[strs]].strings[word])
				}
				strs++
			case t.Kind == scalar.Decimal && parts[at+1] != nil:
				args[a] = scalar.OfInt128(t, scalar.Int128{Hi: words(at + 1)[i], Lo: uint64(word)})
			default:
				args[a] = scalar.OfBits(t, uint64(word))
			}
		}
		if !all {
			continue
		}
		if v, ok := fn.Eval(h.Result, args); ok {
			present[i] = 1
			if h.Result.Kind == scalar.String {
				out[i] = c.d.dicts[h.Domain].intern(v.Str())
			} else {
				out[i] = int64(v.Bits())
			}
		}
	}
}
