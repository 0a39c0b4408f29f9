package emit

import (
	"math"

	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// runs is a tile's runs of rows with the same key, as primitives/src/runs.h
// finds them.
type runs struct {
	*kernel
	numbers, heads, ends *ir.Array
	live                 *ir.Array
	tile                 value.Value // what the block knows of them
	staged               []runWords
}

// runWords are words of the parts of runs, which the block's threads join in an
// area.
type runWords struct {
	words  *ir.Array
	area   value.Value
	narrow bool
	how    int // as rf_tile_run_join has it
}

// The ways to join parts.
const (
	addParts = iota
	leastOfParts
	greatestOfParts
)

// groupRuns adds the live rows to groups whose keys come in order. The results
// of a run are stored; only the first and the last run of a tile are added to
// cells.
func (w *kernel) groupRuns(s *harmony.Group, how *shape.Group) error {
	_, key := w.groupKey(s)
	g, threads := s.To, i32(w.Target.Threads)
	r := &runs{kernel: w, numbers: w.Array(types.I32), heads: w.Array(types.I8),
		ends: w.Array(types.I8), live: w.liveFlags()}
	r.tile = w.sharedWords(shape.RunsMemory + w.Target.Threads*w.Target.Items/4)
	narrow := how.KeyNarrow
	table := w.Param(abi.GroupTable, g.Name, 0)
	w.Call("rf_block_runs", r.numbers.Ptr, r.heads.Ptr, r.ends.Ptr, r.live.Ptr, key.Ptr, table,
		w.Param(abi.GroupSize, g.Name, 0), w.Param(abi.Gauge, g.Name, 0), truth(narrow), r.tile,
		threads, w.items)
	keys := r.stage(key, narrow, addParts)
	var count *runWords
	var puts []func()
	for i, a := range g.Accs {
		acc := &accumulator{kernel: w, groups: g, index: i, acc: a}
		if acc.shares() {
			continue
		}
		if a.Fn != queryplan.Count {
			d := w.Module.Options.Domains.Sink(s, len(s.Key)+i)
			if d != nil && d.Grows {
				return acc.noStrings()
			}
			puts = append(puts, r.scan(acc, how.Accs[i], w.operandArrays(s.Vals[i], d).Words))
		}
		if shape.Counts(a) {
			if count == nil {
				c := r.counts()
				count = &c
			}
			puts = append(puts, r.putWords(acc, acc.stride()-1, *count))
		}
	}
	w.Barrier()
	for _, p := range r.staged[1:] { // a part of a run has the key that is staged
		w.Call("rf_tile_run_join", p.area, truth(p.narrow), i32(p.how), r.numbers.Ptr, r.ends.Ptr,
			p.words.Ptr, w.items)
	}
	w.Barrier()
	w.Call("rf_block_run_keys", table, keys.area, truth(narrow), r.tile, threads)
	for _, put := range puts {
		put()
	}
	return nil
}

// sharedWords returns memory that a block's threads share; on a CPU it is the
// one thread's.
func (w *kernel) sharedWords(bytes int) value.Value {
	if w.Target.GPU {
		return w.Dynamic.More(bytes)
	}
	return w.Alloca(types.I64, (bytes+7)/8)
}

// stage writes the words of parts that begin runs to an area.
func (r *runs) stage(words *ir.Array, narrow bool, how int) runWords {
	bytes := 8
	if narrow {
		bytes = 4
	}
	p := runWords{words: words, area: r.sharedWords(bytes * r.Target.Threads * r.Target.Items),
		narrow: narrow, how: how}
	r.Call("rf_tile_run_stage", p.area, truth(narrow), r.numbers.Ptr, r.ends.Ptr, words.Ptr,
		r.items)
	r.staged = append(r.staged, p)
	return p
}

// counts counts the rows of parts.
func (r *runs) counts() runWords {
	out := r.Array(types.I64)
	r.eachItem(func(i value.Value) { r.Set(out, i, r.Cur.NewZExt(r.Get(r.live, i), types.I64)) })
	return r.sums(out, true)
}

// sums adds up words in parts.
func (r *runs) sums(words *ir.Array, narrow bool) runWords {
	r.Call("rf_tile_run_sums", words.Ptr, r.heads.Ptr, r.live.Ptr, truth(narrow), r.items)
	return r.stage(words, narrow, addParts)
}

// scan stages what an accumulator makes of an operand's words, and returns what
// puts it into the cells.
func (r *runs) scan(acc *accumulator, how shape.Acc, words *ir.Array) func() {
	// The words themselves may be those of other accumulators, too.
	mapped := func(of func(word value.Value) value.Value) *ir.Array {
		out := r.Array(types.I64)
		r.eachItem(func(i value.Value) { r.Set(out, i, of(r.Get(words, i))) })
		return out
	}
	switch {
	case shape.IsExtreme(acc.acc):
		ordered := mapped(acc.orderedWord)
		r.Call("rf_tile_run_extremes", ordered.Ptr, r.heads.Ptr, r.live.Ptr, acc.least(),
			truth(how.Narrow), r.items)
		join := greatestOfParts
		if acc.acc.Fn == queryplan.Min {
			join = leastOfParts
		}
		return r.putWords(acc, 0, r.stage(ordered, how.Narrow, join))
	case how.Fits:
		sum := r.sums(mapped(func(word value.Value) value.Value { return word }), how.Narrow)
		return r.putSums(acc, sum, null)
	}
	// The halves apart: nothing carries.
	low := r.sums(mapped(func(word value.Value) value.Value {
		return r.Cur.NewAnd(word, i64(math.MaxUint32))
	}), false)
	high := r.sums(mapped(func(word value.Value) value.Value {
		if acc.acc.In.Kind == scalar.Uint {
			return r.Cur.NewLShr(word, i64(32))
		}
		return r.Cur.NewAShr(word, i64(32))
	}), false)
	return r.putSums(acc, low, high.area)
}

// putWords puts staged words into a word of the cells of an accumulator.
func (r *runs) putWords(acc *accumulator, word int, p runWords) func() {
	return func() {
		r.Call("rf_block_run_words", acc.cells(word), i32(acc.stride()), p.area, truth(p.narrow),
			i32(p.how), r.tile, i32(r.Target.Threads))
	}
}

// putSums puts staged sums into the cells of an accumulator.
func (r *runs) putSums(acc *accumulator, p runWords, high value.Value) func() {
	return func() {
		r.Call("rf_block_run_sums", acc.cells(0), i32(acc.stride()), p.area, high, truth(p.narrow),
			r.tile, i32(r.Target.Threads))
	}
}

// truth returns 1 for true.
func truth(b bool) value.Value {
	if b {
		return i32(1)
	}
	return i32(0)
}
