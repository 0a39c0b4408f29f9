package expr

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/columns"
	"github.com/redfoxdb/redfox/runtime/portable/work"
	"github.com/redfoxdb/redfox/runtime/prepare"
)

// rowCache remembers results of an expression of one column by the column's
// word. For strings the word is a code, so up to maxCache entries every string
// is looked at once; for other types it is a direct-mapped cache.
type rowCache struct {
	words   []int64
	results []int64
	state   []uint8 // isCached, and the flags of the row
	codes   bool    // words are codes, which are places themselves
}

const (
	isCached = 1 << 7
	minCache = 1 << 12
	maxCache = 1 << 20

	// cacheDigits is the number of bits of a place in the cache of other words.
	cacheDigits = 13
)

func newRowCache(dict *prepare.Dictionary) *rowCache {
	size := 1 << cacheDigits
	if dict != nil {
		for size = minCache; size < dict.Dict.Len() && size < maxCache; size *= 2 {
		}
	}
	return &rowCache{make([]int64, size), make([]int64, size), make([]uint8, size), dict != nil}
}

// slot returns the place of a word. Other words than codes may all be a
// multiple of a power of two, as days are in microseconds.
func (c *rowCache) slot(w int64) int {
	if c.codes {
		return int(uint64(w)) & (len(c.words) - 1)
	}
	return int(uint64(w) * work.MixA >> (64 - cacheDigits))
}

// rowwise compiles a call that has no kernel: it is evaluated for each row by
// the reference implementation, or once per distinct word if it depends on one
// column only.
func (c *exprCompiler) rowwise(call *queryplan.Call) operand {
	bounds := map[string]interval.Interval{}
	for _, b := range c.p.binds {
		bounds[b.Name] = b.Bound
	}
	o := operand{reg: c.newReg()}
	o.rng = columns.ValueOf(call, bounds).Bound
	if call.Result.Kind == scalar.String {
		o.dict = c.strings(call)
		o.rng = o.dict.Bounds()
	}
	names, volatile := queryplan.ExprColumns(call), queryplan.IsVolatile(call)
	binds := make([]*columns.Column, len(names))
	for i, n := range names {
		binds[i] = columns.Find(c.p.binds, n)
	}
	set := func(m *Machine, i int, v scalar.Value, ok bool) {
		switch {
		case !ok:
			m.flag(i, noValue)
		case !v.FitsWord():
			m.flag(i, inexact)
		default:
			m.Vectors[o.reg][i] = columns.WordOf(v, o.dict)
		}
	}
	if len(binds) != 1 || volatile {
		c.step(func(m *Machine) {
			for i := range m.n {
				v, ok := queryplan.Eval(call,
					func(name string) scalar.Value { return m.lookup(name, i) })
				set(m, i, v, ok)
			}
		})
		return o
	}
	b := binds[0]
	eval := singleColumn(call, b)
	table := newStringTable(call, b.Dict, o.dict)
	cache := c.p.caches
	c.p.caches++
	c.step(func(m *Machine) {
		if table != nil {
			if made := table.results(m.r); made != nil {
				table.look(m, made, m.Vectors[o.reg][:m.n], m.Vectors[b.Slot][:m.n])
				return
			}
		}
		if m.caches[cache] == nil {
			m.caches[cache] = newRowCache(b.Dict)
		}
		memo := m.caches[cache]
		out := m.Vectors[o.reg]
		misses := 0
		for i, w := range m.Vectors[b.Slot][:m.n] {
			at := memo.slot(w)
			if memo.state[at] == 0 || memo.words[at] != w {
				misses++
				memo.words[at], memo.state[at] = w, isCached
				v, ok := eval(w)
				switch {
				case !ok:
					memo.state[at] |= noValue
				case !v.FitsWord():
					memo.state[at] |= inexact
				default:
					memo.results[at] = columns.WordOf(v, o.dict)
				}
			}
			if s := memo.state[at] &^ isCached; s != 0 {
				m.flag(i, s)
			}
			out[i] = memo.results[at]
		}
		if table != nil {
			table.asked.Add(int64(misses))
		}
	})
	return o
}

// singleColumn returns the evaluation of a call that depends on one column.
func singleColumn(call *queryplan.Call, b *columns.Column) func(w int64) (scalar.Value, bool) {
	if f := stringFunction(call); f != nil {
		eval := f.Call()
		return func(w int64) (scalar.Value, bool) { return eval(b.Dict.Dict.String(uint32(w))) }
	}
	return func(w int64) (scalar.Value, bool) {
		return queryplan.Eval(call, func(string) scalar.Value { return b.Value(w) })
	}
}

// stringFunction returns a call as a function of one String column, or nil. All
// other arguments are constants.
func stringFunction(call *queryplan.Call) *prepare.Function {
	place := -1
	args := make([]scalar.Value, len(call.Args))
	for i, a := range call.Args {
		switch a := a.(type) {
		case *queryplan.Const:
			args[i] = a.Value
		case *queryplan.ColRef:
			if place >= 0 || a.Type().Kind != scalar.String {
				return nil
			}
			place = i
		default:
			return nil
		}
	}
	if place < 0 {
		return nil
	}
	return &prepare.Function{Func: call.Func, Result: call.Result, Args: args, Place: place}
}
