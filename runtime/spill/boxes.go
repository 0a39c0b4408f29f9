package spill

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/parts"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// boxes evaluates a job box by box. A box selects a class of values for each
// way of the job. Its result is that of the job over the rows of the leaves in
// these classes.
type boxes struct {
	*run
	job     *parts.Job
	sources []*bag // of the leaves
	// take receives the answer of each box.
	take  func(*runtime.Answer) error
	on    runtime.Engine
	whole bool // no box may be cut

	// level is the number of bits of each way in the first box, chosen by the
	// sizes of the leaves.
	level []uint8
	// full is the smallest number of cuttable rows that is known not to fit a
	// box.
	full   int64
	most   []uint8   // bits of each way that a box had
	ranges []*ranges // of the ways that have any
	slices []slice   // of the leaves, for the last box
	// wrong holds the failures that data cause in boxes. The least one is
	// returned, because a run in one box would report that.
	wrong []error
	boxes int64
}

// box is a part of a job.
type box struct {
	bits  []uint8
	class []uint64
	// stalled counts, for each way, the consecutive cuts that left all rows in
	// one half, because there are too few values.
	stalled []uint8
	last    int   // the way that was cut last; -1 for none
	rows    int64 // of it before that cut
}

// slice is the rows of a leaf in a box.
type slice struct {
	dims []dim
	rel  *store.Relation
	held int64
}

const (
	// mostBits bounds the number of classes of a way, as a power of two.
	mostBits = 24
	// mostStalls bounds the consecutive cuts that leave all rows in one half.
	mostStalls = 4
	// leastBox is the smallest number of cuttable rows in a box on a device. If
	// even these do not fit, something else takes the memory.
	leastBox = 1 << 10
)

// errDevice means that the job must run on the host: the smallest box does not
// fit the device, or the first one cannot be cut.
var errDevice = errors.New("a box does not fit the device")

// newBoxes returns the boxes of a job over the sources of its leaves.
func (r *run) newBoxes(job *parts.Job, sources []*bag, take func(*runtime.Answer) error) *boxes {
	n := len(job.Ways)
	x := &boxes{run: r, job: job, sources: sources, take: take, level: make([]uint8, n),
		full: math.MaxInt64,
		most: make([]uint8, n), slices: make([]slice, len(job.Leaves))}
	for _, way := range job.Ways {
		x.ranges = append(x.ranges, x.rangesOfWay(way))
	}
	return x
}

// worth returns the value of a cut of a way that saves reading some bytes.
func (x *boxes) worth(way int, bytes int64) int64 {
	if x.ranges[way] != nil {
		return rangesWeight * bytes
	}
	return bytes
}

// evaluate runs the job. The error is a *runtime.MemoryError if a box that
// cannot be cut further does not fit.
func (x *boxes) evaluate() (err error) {
	r, n := x.run, len(x.job.Ways)
	defer x.release(func(int) bool { return true })
	x.estimate()
	whole := box{bits: make([]uint8, n), class: make([]uint64, n), stalled: make([]uint8, n),
		last: -1}
	x.on = r.inner
	err = x.eval(whole)
	if err == errDevice {
		x.on, x.full, x.wrong = r.host, math.MaxInt64, nil
		clear(x.level)
		err = x.eval(whole)
	}
	if err != nil {
		return x.named(err)
	}
	return least(x.wrong)
}

// named replaces the name of a leaf in a memory error by the name that the user
// knows.
func (x *boxes) named(err error) error {
	var memory *runtime.MemoryError
	if !errors.As(err, &memory) {
		return err
	}
	all := *memory
	for _, l := range x.job.Leaves {
		if l.Of != nil && l.Var.Name != l.Of.Name && strings.HasSuffix(all.What, l.Var.Name) {
			all.What = strings.TrimSuffix(all.What, l.Var.Name) + l.Of.Name
		}
	}
	return &all
}

// estimate chooses the first box so that what it reads takes a part of the free
// memory. Stored facts are in the host's memory anyway.
func (x *boxes) estimate() {
	sizes := make([]int64, len(x.sources))
	total := int64(0)
	for i, g := range x.sources {
		if g.facts == nil || x.host != nil {
			sizes[i] = g.bytes()
		}
		total += sizes[i]
	}
	for total > x.room()/3 {
		at, worth, gain := -1, int64(0), int64(0)
		for w, way := range x.job.Ways {
			sum := int64(0)
			for _, p := range way.Places {
				sum += sizes[p.Leaf] / 2
			}
			if x.worth(w, sum) > worth && x.level[w] < mostBits {
				at, worth, gain = w, x.worth(w, sum), sum
			}
		}
		if at < 0 {
			return
		}
		x.level[at]++
		for _, p := range x.job.Ways[at].Places {
			sizes[p.Leaf] /= 2
		}
		total -= gain
	}
}

// eval evaluates a box, or its halves if it does not fit.
func (x *boxes) eval(b box) error {
	for w, have := range b.bits {
		if have < x.level[w] && x.whole {
			return &runtime.MemoryError{}
		}
		if have < x.level[w] {
			return x.halve(b, w, 0)
		}
	}
	rows, err := x.attempt(&b, x.on)
	if !isMemory(err) || x.whole {
		return err
	}
	w, had := x.choose(b, rows)
	if x.host != nil && x.on != x.host && (w < 0 || x.cuttable(rows) < leastBox) {
		if x.boxes == 0 {
			return errDevice
		}
		if _, err = x.attempt(&b, x.host); !isMemory(err) {
			return err
		}
	}
	if w < 0 {
		return err
	}
	return x.halve(b, w, had)
}

// tell adds the boxes, and how they were cut, to the statistics of a piece.
func (x *boxes) tell(about *runtime.SpillPiece) {
	about.Boxes += x.boxes
	for w, bits := range x.most {
		list, name := &about.By, x.job.Ways[w].Name
		if x.ranges[w] != nil {
			list = &about.Ranges
		}
		if bits > 0 && !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
}

func (x *boxes) halve(b box, w int, had int64) error {
	for half := range uint64(2) {
		next := box{slices.Clone(b.bits), slices.Clone(b.class), slices.Clone(b.stalled), w, had}
		next.bits[w]++
		next.class[w] = next.class[w]<<1 | half
		if err := x.eval(next); err != nil {
			return err
		}
	}
	return nil
}

// choose returns the way whose cut leaves the fewest rows to read, and the rows
// of its leaves in the box. The way is -1 if no cut helps.
func (x *boxes) choose(b box, rows []int64) (way int, had int64) {
	way = -1
	worth := int64(0)
	for w, of := range x.job.Ways {
		sum, most, total := int64(0), int64(0), int64(0)
		for _, p := range of.Places {
			g := x.sources[p.Leaf]
			sum += rows[p.Leaf] * int64(8+4*len(g.types))
			most, total = max(most, rows[p.Leaf]), total+rows[p.Leaf]
		}
		if most > 1 && x.worth(w, sum) > worth && b.bits[w] < mostBits &&
			b.stalled[w] < mostStalls {
			way, worth, had = w, x.worth(w, sum), total
		}
	}
	return way, had
}

// attempt evaluates a box in one run. It returns the rows of each leaf that it
// read, or would have read.
func (x *boxes) attempt(b *box, on runtime.Engine) (rows []int64, err error) {
	if err := x.stopped(); err != nil {
		return nil, err
	}
	rows = make([]int64, len(x.sources))
	dims := make([][]dim, len(x.sources))
	for w, way := range x.job.Ways {
		if b.bits[w] == 0 {
			continue
		}
		for _, p := range way.Places {
			dims[p.Leaf] = append(dims[p.Leaf], dim{x.columnOf(p), b.bits[w], b.class[w],
				x.ranges[w]})
		}
	}
	x.release(func(i int) bool { return !slices.Equal(x.slices[i].dims, dims[i]) })
	order := make([]int, len(x.sources))
	for i, g := range x.sources {
		order[i] = i
		rows[i] = g.rows
		for _, d := range dims[i] {
			rows[i] = (rows[i] + 1<<d.bits - 1) >> d.bits
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(rows[a] - rows[b]) })
	facts := store.NewDatabase()
	for _, i := range order {
		if err := x.fetch(i, dims[i]); err != nil {
			return rows, err
		}
		rows[i] = int64(x.slices[i].rel.Rows())
		if rows[i] == 0 && x.job.Leaves[i].Needed {
			return rows, nil
		}
		facts.Put(x.slices[i].rel)
	}
	x.stalls(b, rows)
	load := x.cuttable(rows)
	if w, _ := x.choose(*b, rows); w >= 0 && load >= x.full && on == x.on {
		return rows, &runtime.MemoryError{} // the box is cut
	}
	answer, err := x.engine(on, x.job.Plan, facts)
	var key *runtime.KeyError
	var overflow *runtime.OverflowError
	switch {
	case errors.As(err, &key), errors.As(err, &overflow):
		x.wrong = append(x.wrong, err)
		return rows, nil
	case isMemory(err):
		x.file.profile.Tries++
		x.full = min(x.full, load-load/4)
		return rows, err
	case err != nil:
		return rows, err
	}
	if on == x.on {
		x.full = max(x.full, load+load/4+1)
	}
	x.boxes++
	x.file.profile.Boxes++
	for w, bits := range b.bits {
		x.most[w] = max(x.most[w], bits)
	}
	x.answer.Dropped += answer.Dropped
	return rows, x.take(answer)
}

// cuttable counts the rows that can be cut.
func (x *boxes) cuttable(rows []int64) int64 {
	cut := make([]bool, len(rows))
	sum := int64(0)
	for _, way := range x.job.Ways {
		for _, p := range way.Places {
			if !cut[p.Leaf] {
				cut[p.Leaf] = true
				sum += rows[p.Leaf]
			}
		}
	}
	return sum
}

// stalls records whether the last cut left all rows in this half.
func (x *boxes) stalls(b *box, rows []int64) {
	if b.last < 0 || b.rows == 0 {
		return
	}
	have := int64(0)
	for _, p := range x.job.Ways[b.last].Places {
		have += rows[p.Leaf]
	}
	if 10*have >= 9*b.rows {
		b.stalled[b.last]++
	} else {
		b.stalled[b.last] = 0
	}
}

// columnOf returns the column of a place in the bag of its leaf.
func (x *boxes) columnOf(p parts.Place) int {
	return x.inBag(p.Leaf, x.job.Leaves[p.Leaf].Cols[p.Col])
}

// inBag returns the bag's column for one of Leaf.Cols.
func (x *boxes) inBag(leaf, col int) int {
	if col == parts.Number {
		return len(x.sources[leaf].types) - 1
	}
	return col
}

// release frees the slices that a box cannot use.
func (x *boxes) release(which func(i int) bool) {
	for i := range x.slices {
		if s := &x.slices[i]; s.rel != nil && which(i) {
			x.mem.Release(s.held)
			*s = slice{}
		}
	}
}

// fetch makes the slice of a leaf.
func (x *boxes) fetch(i int, dims []dim) error {
	s := &x.slices[i]
	if s.rel != nil {
		return nil
	}
	leaf, from := x.job.Leaves[i], x.sources[i]
	table := &store.Table{Name: leaf.Var.Source, Names: queryplan.NamesOf(leaf.Var.Cols)}
	rel := &store.Relation{Name: leaf.Var.Source, Table: table, Keys: leaf.Var.Keys}
	var cols []int
	for at, c := range leaf.Cols {
		rel.Cols = append(rel.Cols, at)
		if c != parts.Row {
			cols = append(cols, x.inBag(i, c))
		}
	}
	var err error
	table.Columns, table.Rows, s.held, err = x.run.load(from, dims, cols, leaf.Var.Name)
	if err != nil {
		return err
	}
	if len(cols) < len(leaf.Cols) {
		last := max(int64(table.Rows)-1, 0)
		table.Columns = append(table.Columns, store.AbsentColumn(scalar.IntType, table.Rows,
			store.ColumnStats{Max: last, Distinct: int64(table.Rows), Ascending: true}))
	}
	s.rel, s.dims = rel, dims
	return nil
}

// load returns columns of a bag's rows in a part, and the bytes reserved for
// them.
func (r *run) load(g *bag, dims []dim, cols []int, name string) (out []*store.Column, rows int,
	held int64, err error) {
	g, dims = g.slice(dims)
	if g.facts != nil && len(dims) == 0 {
		for _, c := range cols {
			out = append(out, g.facts[c])
		}
		return out, int(g.rows), 0, nil
	}
	if g.part {
		return r.filtered(g, dims, cols, name)
	}
	blocks, rest, err := r.within(g, dims)
	if err != nil {
		return nil, 0, 0, err
	}
	b := newBuilder(g, blocks, cols, r.dict)
	expect := rowsOf(blocks)
	for _, d := range rest {
		expect >>= d.bits / 2
	}
	held = expect * b.width()
	if err := r.mem.Reserve(name, held); err != nil {
		return nil, 0, 0, err
	}
	b.expect(expect)
	all := slices.Clone(cols)
	for _, d := range rest {
		all = append(all, d.col)
	}
	// A wave of blocks is read, and then packed, a block a thread.
	wave := make([]loading, r.abreast(blocks, len(all)))
	for i := range wave {
		wave[i].reader = reader{r: r}
	}
	for len(blocks) > 0 && err == nil {
		n := min(len(wave), len(blocks))
		err = r.sideBySide(n, func(k int) error {
			return wave[k].read(&blocks[k], all, len(cols), rest)
		})
		if err != nil {
			break
		}
		for k := range n {
			wave[k].at = rows
			rows += wave[k].rows
		}
		if held, err = r.grow(b, rows, name, held); err != nil {
			break
		}
		err = r.sideBySide(n, func(k int) error {
			for i := range cols {
				b.put(i, wave[k].at, wave[k].vecs[i][:wave[k].rows])
			}
			return nil
		})
		blocks = blocks[n:]
	}
	if err != nil {
		r.mem.Release(held)
		return nil, 0, 0, err
	}
	if spare := held - int64(rows)*b.width(); spare > 0 {
		r.mem.Release(spare)
		held -= spare
	}
	return b.finish(rows), rows, held, nil
}

// loading is a block that a thread loads.
type loading struct {
	reader
	rows int // of the part
	at   int // in the columns
}

// read reads columns of a block, and keeps the rows of a part. The columns of
// the part's tests are behind the first n.
func (l *loading) read(b *block, cols []int, n int, part []dim) error {
	vecs, err := l.block(b, cols)
	if err != nil {
		return err
	}
	l.rows = b.rows
	for k, d := range part {
		l.rows = keep(vecs, l.rows, n+k, d)
	}
	return nil
}

// keep moves the rows of a class to the front and returns their number.
func keep(vecs [][]int64, n, col int, d dim) int {
	k := 0
	for i, w := range vecs[col][:n] {
		if classOf(w, d.bits) != d.class {
			continue
		}
		if k < i {
			for _, v := range vecs {
				v[k] = v[i]
			}
		}
		k++
	}
	return k
}
