package emit

import (
	"math"
	"slices"

	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// sharesList reports whether groups are known to be one list for all that fill it, as those
// of form Ordered are on a GPU.
func (f *function) sharesList(g *harmony.Groups) bool {
	shared, known := f.fixed(abi.GroupShared, g.Name, 0)
	return f.isOrdered(g) && (f.target.GPU || known && shared != 0)
}

// runThreads is how many threads a GPU's block has that looks for runs: each block meets
// others in the runs that it shares with them, so that few large tiles are best.
const runThreads = 512

// findsRuns reports whether the kernel adds to groups that are one list.
func (w *kernel) findsRuns() bool {
	return slices.ContainsFunc(w.k.Sinks, func(s harmony.Sink) bool {
		g, ok := s.(*harmony.Group)
		return ok && w.sharesList(g.To)
	})
}

// runs is a tile's runs of rows with the same key, as primitives/src/runs.h finds them.
type runs struct {
	*kernel
	slots, heads, puts *array
	live               *array
}

// runWords are an accumulator's words of the parts of runs.
type runWords struct {
	*accumulator
	words, high *array // of an extreme or a sum, nil if the accumulator only counts
	count       *array // nil if it does not
}

// groupRuns adds the live rows to groups whose keys come in their order. What a run of rows
// comes to is stored; only the first and the last run of a tile are added to cells.
func (w *kernel) groupRuns(s *harmony.Group) error {
	_, key := w.groupKey(s)
	g := s.To
	r := &runs{kernel: w, slots: w.array(types.I32), heads: w.array(types.I8), puts: w.array(types.I8), live: w.liveFlags()}
	w.call("rf_block_runs", r.slots.ptr, r.heads.ptr, r.puts.ptr, r.live.ptr, key.ptr, w.param(abi.GroupTable, g.Name, 0),
		w.param(abi.GroupSize, g.Name, 0), w.param(abi.Gauge, g.Name, 0), truth(w.keyBits(g) <= 32), w.scratchOf("rf_block_runs"), i32(w.target.Threads), w.items)
	var count *array
	for i, a := range g.Accs {
		acc := &accumulator{kernel: w, groups: g, index: i, acc: a}
		if acc.shares() {
			continue
		}
		p := runWords{accumulator: acc}
		if a.Fn != queryplan.Count {
			d := w.module.opts.Domains.Sink(s, len(s.Key)+i)
			if d != nil && d.Grows {
				return acc.noStrings()
			}
			r.scan(&p, s.Vals[i], w.operandArrays(s.Vals[i], d).words)
		}
		if acc.counts() {
			if count == nil {
				count = r.counts()
			}
			p.count = count
		}
		// What begins a run of the list is in its cells before anything is added to them.
		// One accumulator after the other takes fewer registers than all at once.
		r.store(p)
		w.barrier()
		r.add(p)
	}
	return nil
}

// keyBits returns how many bits packed keys of groups have at most.
func (w *kernel) keyBits(g *harmony.Groups) int {
	k := &keys{kernel: w, kinds: groupKey, name: g.Name, words: make([]*array, len(g.Keys))}
	if most, ok := k.packedBits(); ok {
		return most
	}
	return 64
}

// counts counts the rows of parts.
func (r *runs) counts() *array {
	out := r.array(types.I64)
	r.eachItem(func(i value.Value) { r.set(out, i, r.Cur.NewZExt(r.get(r.live, i), types.I64)) })
	r.sums(out, true)
	return out
}

// sums adds up words in parts.
func (r *runs) sums(words *array, narrow bool) {
	r.call("rf_tile_run_sums", words.ptr, r.heads.ptr, r.live.ptr, truth(narrow), r.items)
}

// scan makes an accumulator's words of an operand's, which stay as they are.
func (r *runs) scan(p *runWords, o harmony.Operand, words *array) {
	rows := r.target.Threads * r.target.Items
	lo, hi, bounded := r.boundsOf(o)
	within := func(most int64) bool { return bounded && lo >= -most && hi <= most }
	p.words = r.array(types.I64)
	switch kind := p.acc.In.Kind; {
	case p.acc.Fn == queryplan.Min || p.acc.Fn == queryplan.Max:
		r.eachItem(func(i value.Value) { r.set(p.words, i, p.orderedWord(r.get(words, i))) })
		narrow := kind != scalar.Uint && kind != scalar.Float && within(math.MaxInt32)
		r.call("rf_tile_run_extremes", p.words.ptr, r.heads.ptr, r.live.ptr, p.least(), truth(narrow), r.items)
	case r.sumFits(o, rows):
		r.eachItem(func(i value.Value) { r.set(p.words, i, r.get(words, i)) })
		r.sums(p.words, within(math.MaxInt32/int64(rows)))
	default:
		// The halves apart: nothing carries.
		p.high = r.array(types.I64)
		r.eachItem(func(i value.Value) {
			word := r.get(words, i)
			r.set(p.words, i, r.Cur.NewAnd(word, i64(math.MaxUint32)))
			high := value.Value(r.Cur.NewAShr(word, i64(32)))
			if kind == scalar.Uint {
				high = r.Cur.NewLShr(word, i64(32))
			}
			r.set(p.high, i, high)
		})
		r.sums(p.words, false)
		r.sums(p.high, false)
	}
}

// store writes the parts that begin runs of the list.
func (r *runs) store(p runWords) {
	switch {
	case p.words == nil:
	case p.acc.Fn == queryplan.Min || p.acc.Fn == queryplan.Max:
		r.call("rf_tile_run_store", p.cells(0), i32(1), r.slots.ptr, r.puts.ptr, p.words.ptr, r.items)
	default:
		r.call("rf_tile_run_store_sum", p.cells(0), i32(p.stride()), r.slots.ptr, r.puts.ptr, p.words.ptr, p.upper(), r.items)
	}
	if p.count != nil {
		last := p.stride() - 1
		r.call("rf_tile_run_store", p.cells(last), i32(p.stride()), r.slots.ptr, r.puts.ptr, p.count.ptr, r.items)
	}
}

// add adds all other parts to what is in their cells.
func (r *runs) add(p runWords) {
	switch {
	case p.words == nil:
	case p.acc.Fn == queryplan.Min || p.acc.Fn == queryplan.Max:
		r.call("rf_tile_run_add_extremes", p.cells(0), r.slots.ptr, r.puts.ptr, p.words.ptr, p.least(), r.items)
	default:
		r.call("rf_tile_run_add_sum", p.cells(0), i32(p.stride()), r.slots.ptr, r.puts.ptr, p.words.ptr, p.upper(), r.items)
	}
	if p.count != nil {
		last := p.stride() - 1
		r.call("rf_tile_run_add", p.cells(last), i32(p.stride()), r.slots.ptr, r.puts.ptr, p.count.ptr, r.items)
	}
}

// upper returns the address of the upper halves, null where a word has the whole sum.
func (p *runWords) upper() value.Value {
	if p.high == nil {
		return null
	}
	return p.high.ptr
}

// truth returns 1 for true.
func truth(b bool) value.Value {
	if b {
		return i32(1)
	}
	return i32(0)
}
