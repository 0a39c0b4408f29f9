package portable

import (
	"math"
	"sync"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
)

// aggregation computes an Aggregate when a pipeline scans it.
type aggregation struct {
	cached
	name  string // for messages
	pipes []*pipeline
	node  *queryplan.Aggregate
	span  source.Span
	by    []binding
	in    []binding // of each aggregate; Count has none
	key   layout
	// sums and extremes are the accumulators, each once: avg(x) and total(x)
	// share one.
	accs []accSpec
	uses []int // of each aggregate; -1 for Count
}

type accSpec struct {
	fn queryplan.AggFn // Total, Min or Max
	in binding
}

func newAggregation(name string, n *queryplan.Aggregate, pipes []*pipeline, span source.Span, inputs stamp) *aggregation {
	a := &aggregation{cached: cached{inputs: inputs}, name: name, pipes: pipes, node: n, span: span}
	ranges := make([]interval, len(n.By))
	for i, name := range n.By {
		a.by = append(a.by, *mergedBinding(pipes, name))
		ranges[i] = a.by[i].rng
	}
	a.key = newLayout(ranges)
	for _, g := range n.Aggs {
		if g.Fn == queryplan.Count {
			a.in, a.uses = append(a.in, binding{}), append(a.uses, -1)
			continue
		}
		b := *mergedBinding(pipes, g.In)
		fn := g.Fn
		if fn == queryplan.Avg {
			fn = queryplan.Total
		}
		use := -1
		for i, s := range a.accs {
			if s.fn == fn && s.in.name == b.name {
				use = i
			}
		}
		if use < 0 {
			use = len(a.accs)
			a.accs = append(a.accs, accSpec{fn, b})
		}
		a.in, a.uses = append(a.in, b), append(a.uses, use)
	}
	return a
}

// mergedBinding returns a column of pipelines that go into one sink, with the
// bounds of all of them.
func mergedBinding(pipes []*pipeline, name string) *binding {
	b := *pipes[0].find(name)
	for _, p := range pipes[1:] {
		b.rng = b.rng.union(p.find(name).rng)
	}
	return &b
}

// columns returns the result's columns.
func (a *aggregation) columns() []binding {
	var out []binding
	for _, b := range a.by {
		b.slot = len(out)
		out = append(out, b)
	}
	for i, g := range a.node.Aggs {
		out = append(out, binding{name: g.Out.Name, slot: len(out), typ: g.Out.Type, dom: a.in[i].dom, rng: aggRange(g, a.in[i].rng)})
	}
	return out
}

// compute returns the groups.
func (a *aggregation) compute(r *run) *bag {
	return a.refresh(r, func() *bag {
		sink := &groupSink{agg: a, tables: make([]*groups, r.threads)}
		for _, p := range a.pipes {
			p.sink, p.chains = sink, nil
		}
		r.exec(a.pipes)
		var all *groups
		for _, t := range sink.tables {
			switch {
			case t == nil:
			case all == nil:
				all = t
			default:
				all.merge(t)
				t.free()
			}
		}
		if all == nil || all.n == 0 {
			return &bag{}
		}
		defer all.free()
		return a.finish(r, all)
	})
}

// finish turns accumulators into columns.
func (a *aggregation) finish(r *run, t *groups) *bag {
	p := part{n: t.n}
	for i := range a.by {
		col := alloc[int64](r.mem, a.name, t.n)
		a.key.unpack(col, t.keys, i, t.n)
		p.cols = append(p.cols, col)
	}
	for _, s := range t.accs {
		if w, ok := s.(*wholeAcc); ok {
			w.spill()
		}
	}
	for i, g := range a.node.Aggs {
		col := alloc[int64](r.mem, a.name, t.n)
		p.cols = append(p.cols, col)
		if g.Fn == queryplan.Count {
			copy(col, t.counts)
			continue
		}
		overflow := -1
		for k := range col {
			w, ok := t.accs[a.uses[i]].result(k, g, a.in[i].typ, t.counts)
			col[k] = w
			if !ok && (overflow < 0 || a.compareGroups(p.cols, k, overflow) < 0) {
				overflow = k
			}
		}
		if overflow >= 0 {
			abort(a.overflow(g, p.cols, overflow))
		}
	}
	return &bag{parts: []part{p}}
}

func (a *aggregation) compareGroups(cols [][]int64, i, j int) int {
	for c, b := range a.by {
		if o := compareWords(b.typ, b.dom, cols[c][i], cols[c][j]); o != 0 {
			return o
		}
	}
	return 0
}

func (a *aggregation) overflow(g queryplan.Agg, cols [][]int64, k int) error {
	e := &runtime.OverflowError{Fn: g.Fn, Out: g.Out, Span: a.span}
	for c, b := range a.by {
		e.By = append(e.By, queryplan.Column{Name: b.name, Type: b.typ})
		e.Group = append(e.Group, b.value(cols[c][k]))
	}
	return e
}

// groups is a worker's hash table of groups: their packed keys, and the
// accumulators by the group's number.
type groups struct {
	agg    *aggregation
	mem    *memory
	n      int
	keys   []uint64
	direct []uint32 // 1 + the number of a group, by key
	slots  []uint64 // pairs of key or hash, and 1 + the number
	mask   uint64
	counts []int64
	accs   []accumulator
	held   int64 // bytes accounted for accumulators
}

// maxDirectGroups is the largest key domain, in bits, that is addressed
// directly.
const maxDirectGroups = 16

// accumulator is one aggregate of all groups.
type accumulator interface {
	grow(n int)
	add(groups []uint32, col []int64) // nil groups: all rows are of group 0
	merge(from accumulator, ids []uint32)
	// result returns a group's word, and whether it fits the type.
	result(g int, agg queryplan.Agg, in scalar.Type, counts []int64) (int64, bool)
}

func newGroups(a *aggregation, mem *memory) *groups {
	t := &groups{agg: a, mem: mem}
	if a.key.words == 1 && a.key.bits <= maxDirectGroups {
		t.direct = alloc[uint32](mem, a.name, 1<<a.key.bits)
	}
	for _, s := range a.accs {
		t.accs = append(t.accs, newAccumulator(s))
	}
	return t
}

func (t *groups) free() {
	free(t.mem, t.keys)
	free(t.mem, t.direct)
	free(t.mem, t.slots)
	t.mem.release(t.held)
	t.keys, t.direct, t.slots, t.held = nil, nil, nil, 0
}

func newAccumulator(s accSpec) accumulator {
	switch {
	case s.fn != queryplan.Total && s.in.dom != nil && s.in.dom.grows:
		return &stringExtreme{dom: s.in.dom, max: s.fn == queryplan.Max}
	case s.fn != queryplan.Total:
		return &extreme{kind: s.in.typ.Kind, max: s.fn == queryplan.Max}
	case s.in.typ.Kind == scalar.Float:
		return &floatAcc{}
	}
	return &wholeAcc{wholeSum: newWholeSum(s.in.typ, s.in.rng)}
}

// accBytes is what a group takes in the accumulators, about: their slices grow
// by doubling.
const accBytes = 24

// reserveGroups makes room for the accumulators of n groups.
func (t *groups) reserveGroups(n int) {
	if n <= len(t.counts) && n > 0 && len(t.counts) > 0 {
		return
	}
	room := max(n, 2*len(t.counts), 16)
	more := int64(room-len(t.counts)) * (8 + accBytes*int64(len(t.accs)))
	t.mem.reserve(t.agg.name, more)
	t.held += more
	t.counts = growTo(t.counts, room)
	for _, a := range t.accs {
		a.grow(room)
	}
}

// number returns a key's group, a new one if there is none.
func (t *groups) number(key []uint64) uint32 {
	kw := len(key)
	if kw == 0 {
		if t.n == 0 {
			t.newGroup(key)
		}
		return 0
	}
	if t.direct != nil {
		p := &t.direct[key[0]]
		if *p == 0 {
			*p = t.newGroup(key)
		}
		return *p - 1
	}
	if 4*(t.n+1) > len(t.slots) {
		t.rehash()
	}
	word, h := key[0], uint64(0)
	if kw == 1 {
		h = hashWord(word)
	} else {
		word = hashWords(key)
		h = word
	}
	at := h & t.mask
	for {
		g := t.slots[2*at+1]
		if g == 0 {
			t.slots[2*at] = word
			n := t.newGroup(key)
			t.slots[2*at+1] = uint64(n)
			return n - 1
		}
		if t.slots[2*at] == word && (kw == 1 || equalWords(t.keys[int(g-1)*kw:int(g)*kw], key)) {
			return uint32(g - 1)
		}
		at = (at + 1) & t.mask
	}
}

func (t *groups) newGroup(key []uint64) uint32 {
	if t.n == math.MaxUint32-1 {
		abort(errIndexRows{t.agg.name})
	}
	t.keys = append(regrow(t.mem, t.agg.name, t.keys, (t.n+1)*len(key)), key...)
	t.n++
	t.reserveGroups(t.n)
	return uint32(t.n)
}

func (t *groups) rehash() {
	had := t.slots
	size := max(64, len(had))
	t.slots = alloc[uint64](t.mem, t.agg.name, 2*size)
	t.mask = uint64(size - 1)
	kw := t.agg.key.words
	for i := 0; i < len(had); i += 2 {
		if had[i+1] == 0 {
			continue
		}
		h := had[i]
		if kw == 1 {
			h = hashWord(h)
		}
		at := h & t.mask
		for t.slots[2*at+1] != 0 {
			at = (at + 1) & t.mask
		}
		t.slots[2*at], t.slots[2*at+1] = had[i], had[i+1]
	}
	free(t.mem, had)
}

// merge adds another worker's groups.
func (t *groups) merge(from *groups) {
	kw := t.agg.key.words
	ids := make([]uint32, from.n)
	for g := range ids {
		ids[g] = t.number(from.keys[g*kw : g*kw+kw])
		t.counts[ids[g]] += from.counts[g]
	}
	for i, a := range t.accs {
		a.merge(from.accs[i], ids)
	}
}

// groupSink groups the rows of pipelines.
type groupSink struct {
	agg    *aggregation
	mu     sync.Mutex
	tables []*groups // of the workers
}

func (s *groupSink) begin(*run, bool) {}

func (s *groupSink) start(w *worker, p *pipeline) op {
	s.mu.Lock()
	if s.tables[w.id] == nil {
		s.tables[w.id] = newGroups(s.agg, w.run.mem)
	}
	t := s.tables[w.id]
	s.mu.Unlock()
	o := &groupOp{t: t, ids: make([]uint32, w.run.opts.vector), keys: make([]uint64, w.run.opts.vector*s.agg.key.words)}
	for _, b := range s.agg.by {
		o.by = append(o.by, p.find(b.name).slot)
	}
	for _, a := range s.agg.accs {
		o.in = append(o.in, p.find(a.in.name).slot)
	}
	o.cols = make([][]int64, len(o.by))
	return o
}

type groupOp struct {
	t      *groups
	by, in []int
	cols   [][]int64
	keys   []uint64
	ids    []uint32
}

func (o *groupOp) close() {}

func (o *groupOp) push(b *batch) {
	t := o.t
	if t.agg.key.words == 0 {
		t.number(nil)
		t.counts[0] += int64(b.n)
		for i, a := range t.accs {
			a.add(nil, b.cols[o.in[i]][:b.n])
		}
		return
	}
	for i, slot := range o.by {
		o.cols[i] = b.cols[slot]
	}
	t.agg.key.pack(o.keys, o.cols, b.n)
	ids := o.ids[:b.n]
	o.number(ids)
	counts := t.counts
	for _, g := range ids {
		counts[g]++
	}
	for i, a := range t.accs {
		a.add(ids, b.cols[o.in[i]][:b.n])
	}
}

// number finds the groups of all rows of the batch.
func (o *groupOp) number(ids []uint32) {
	t := o.t
	kw := t.agg.key.words
	if t.direct != nil {
		for i, k := range o.keys[:len(ids)] {
			g := t.direct[k]
			if g == 0 {
				g = t.number(o.keys[i:i+1]) + 1
			}
			ids[i] = g - 1
		}
		return
	}
	for i := range ids {
		ids[i] = t.number(o.keys[i*kw : i*kw+kw])
	}
}

// wholeAcc is Total and Avg of ints and decimals.
type wholeAcc struct{ *wholeSum }

func (a *wholeAcc) merge(from accumulator, ids []uint32) {
	a.wholeSum.merge(from.(*wholeAcc).wholeSum, ids)
}

func (a *wholeAcc) result(g int, agg queryplan.Agg, in scalar.Type, counts []int64) (int64, bool) {
	sum, ok := a.total(g), true
	out := agg.Out.Type
	if agg.Fn == queryplan.Avg {
		if out.Kind == scalar.Float {
			return canonical(sum.Float64() / math.Pow10(int(in.Scale)) / float64(counts[g])), true
		}
		if sum, ok = sum.Mul(scalar.Pow10(int(out.Scale) - int(in.Scale))); !ok {
			return 0, false
		}
		if sum, ok = sum.QuoRound(scalar.Int128Of(counts[g])); !ok {
			return 0, false
		}
	}
	if out == scalar.UintType {
		return int64(sum.Lo), sum.Hi == 0
	}
	w := sum.Int64()
	return w, sum.Fits64() && typeRange(out).contains(w)
}

// floatAcc is Total and Avg of floats.
type floatAcc struct{ floatSum }

func (a *floatAcc) merge(from accumulator, ids []uint32) {
	a.floatSum.merge(&from.(*floatAcc).floatSum, ids)
}

func (a *floatAcc) result(g int, agg queryplan.Agg, _ scalar.Type, counts []int64) (int64, bool) {
	f := a.total(g)
	if agg.Fn == queryplan.Avg {
		f /= float64(counts[g])
	}
	return int64(scalar.OfFloat(agg.Out.Type, f).Bits()), true
}

// extreme is Min and Max of types whose words order by orderWord.
type extreme struct {
	kind scalar.Kind
	max  bool
	best []int64 // as order words; complemented for Max
}

func (a *extreme) grow(n int) {
	had := len(a.best)
	a.best = growTo(a.best, n)
	for i := had; i < n; i++ {
		a.best[i] = math.MaxInt64
	}
}

// flip turns the greatest into the least.
func (a *extreme) flip() int64 {
	if a.max {
		return -1
	}
	return 0
}

func (a *extreme) add(groups []uint32, col []int64) {
	flip := a.flip()
	best := a.best
	if groups == nil {
		m := best[0]
		for _, w := range col {
			m = min(m, orderWord(a.kind, w)^flip)
		}
		best[0] = m
		return
	}
	groups = groups[:len(col)]
	for i, w := range col {
		g := groups[i]
		best[g] = min(best[g], orderWord(a.kind, w)^flip)
	}
}

func (a *extreme) merge(from accumulator, ids []uint32) {
	for g, to := range ids {
		a.best[to] = min(a.best[to], from.(*extreme).best[g])
	}
}

func (a *extreme) result(g int, _ queryplan.Agg, _ scalar.Type, _ []int64) (int64, bool) {
	// orderWord is its own inverse.
	return orderWord(a.kind, a.best[g]^a.flip()), true
}

// stringExtreme is Min and Max of strings whose codes are in no order.
type stringExtreme struct {
	dom  *domain
	max  bool
	best []int64 // codes; -1 before the first
}

func (a *stringExtreme) grow(n int) {
	had := len(a.best)
	a.best = growTo(a.best, n)
	for i := had; i < n; i++ {
		a.best[i] = -1
	}
}

func (a *stringExtreme) offer(g uint32, w int64) {
	have := a.best[g]
	if have == w {
		return
	}
	if have < 0 || a.dom.dict.Compare(uint32(w), uint32(have)) < 0 != a.max {
		a.best[g] = w
	}
}

func (a *stringExtreme) add(groups []uint32, col []int64) {
	g := uint32(0)
	for i, w := range col {
		if groups != nil {
			g = groups[i]
		}
		a.offer(g, w)
	}
}

func (a *stringExtreme) merge(from accumulator, ids []uint32) {
	for g, to := range ids {
		a.offer(to, from.(*stringExtreme).best[g])
	}
}

func (a *stringExtreme) result(g int, _ queryplan.Agg, _ scalar.Type, _ []int64) (int64, bool) {
	return a.best[g], true
}
