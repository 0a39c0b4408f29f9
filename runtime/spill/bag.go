package spill

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// bag is a multiset of rows: stored columns in memory, or blocks of the file.
type bag struct {
	types []scalar.Type
	tuple int // columns of a tuple; another one numbers them
	rows  int64

	facts  []*store.Column // nil for a bag of blocks
	blocks []block
	owned  bool // the blocks are freed with the bag

	// cuts are copies of the rows, partitioned by values of some columns; the
	// columns are the key.
	cuts map[string]*cut
}

// block is a group of rows in the file, column by column.
type block struct {
	at    int64
	rows  int
	cols  []field
	bytes int
}

// field is the storage of a block's column: words minus lo, in width bytes
// each.
type field struct {
	lo, hi int64
	width  uint8
}

// cut is a partitioned copy of a bag's rows. Blocks that are added to the bag
// later wait until there are many, see lateShare.
type cut struct {
	dims  []dim // without a class
	parts [][]block
	done  int  // blocks of the bag that are in it
	whole bool // those that the bag had at first are
}

// dim selects the rows whose value in a column has a class: the first bits of
// its hash. wholeRow stands for all columns of a set of tuples.
type dim struct {
	col   int
	bits  uint8
	class uint64
}

// wholeRow is the column of a dim over whole tuples, without the number of a
// tuple if it has one.
const wholeRow = -1

// hash spreads words over classes. It is independent of the hashes of tables,
// so that the rows of one class do not crowd into one part of a table.
func hash(word int64) uint64 {
	h := uint64(word) * 0x9e3779b97f4a7c15
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

// hashRow returns the hash of row i: for a single column, that of the word.
func hashRow(cols [][]int64, i int) uint64 {
	h := hash(cols[0][i])
	for _, c := range cols[1:] {
		h = hash(int64(h) ^ c[i])
	}
	return h
}

// classOf returns the class of a word, of 2^b.
func classOf(word int64, b uint8) uint64 { return classOfHash(hash(word), b) }

func classOfHash(h uint64, b uint8) uint64 { return h >> (64 - b) & (1<<b - 1) }

// bytes returns the size of the rows, in memory or in the file.
func (g *bag) bytes() int64 {
	var n int64
	for _, c := range g.facts {
		n += c.Bytes()
	}
	for i := range g.blocks {
		n += int64(g.blocks[i].bytes)
	}
	return n
}

// blockRows is the largest number of rows in a block, and leastRows the
// smallest in a full one.
const (
	blockRows = 1 << 16
	leastRows = 1 << 6
	// goodRows is the size of a block from which its overhead no longer
	// matters.
	goodRows = 1 << 9
)

// writing is the share of the memory that a writer's buffers take.
const writing = 8

// writer distributes rows over lists of blocks by the classes of their values.
type writer struct {
	r     *run
	types []scalar.Type
	dims  []dim
	tuple int // columns of a tuple
	to    []*[]block
	room  int       // rows of a buffer
	bufs  [][]int64 // row after row
	words []int64   // of a column
	data  []byte
}

// newWriter returns a writer to 2^b lists, where b is the sum of the bits of
// dims.
func (r *run) newWriter(types []scalar.Type, dims []dim, to []*[]block) *writer {
	w := &writer{r: r, types: types, dims: dims, to: to, bufs: make([][]int64, len(to))}
	w.tuple = len(types)
	w.room = int(r.bound/writing) / (8 * len(types) * len(to))
	w.room = min(max(w.room, leastRows), blockRows)
	return w
}

// add appends n rows of columns.
func (w *writer) add(cols [][]int64, n int) error {
	for i := range n {
		at := uint64(0)
		for _, d := range w.dims {
			if d.col == wholeRow {
				at = at<<d.bits | classOfHash(hashRow(cols[:w.tuple], i), d.bits)
				continue
			}
			at = at<<d.bits | classOf(cols[d.col][i], d.bits)
		}
		buf := w.bufs[at]
		if buf == nil {
			buf = make([]int64, 0, w.room*len(w.types))
		}
		for _, c := range cols {
			buf = append(buf, c[i])
		}
		w.bufs[at] = buf
		if len(buf) == cap(buf) {
			if err := w.flush(int(at), len(buf)/len(w.types)); err != nil {
				return err
			}
		}
	}
	return nil
}

// close writes what is left.
func (w *writer) close() error {
	for i, buf := range w.bufs {
		if len(buf) > 0 {
			if err := w.flush(i, len(buf)/len(w.types)); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes the rows of a buffer as a block.
func (w *writer) flush(at, rows int) error {
	b := block{rows: rows, cols: make([]field, len(w.types))}
	buf, k := w.bufs[at], len(w.types)
	w.data = w.data[:0]
	for c := range w.types {
		f := field{lo: buf[c], hi: buf[c]}
		for i := c; i < len(buf); i += k {
			f.lo, f.hi = min(f.lo, buf[i]), max(f.hi, buf[i])
		}
		f.width = store.WidthOf(uint64(f.hi) - uint64(f.lo))
		b.cols[c] = f
		w.words = w.words[:0]
		for i := c; i < len(buf); i += k {
			w.words = append(w.words, buf[i])
		}
		had, n := len(w.data), rows*int(f.width)
		w.data = slices.Grow(w.data, n)[:had+n]
		pack(w.data[had:], w.words, f)
	}
	w.bufs[at] = buf[:0]
	b.bytes = len(w.data)
	var err error
	if b.at, err = w.r.file.write(w.data); err != nil {
		return err
	}
	*w.to[at] = append(*w.to[at], b)
	return w.r.stopped()
}

// reader reads columns of blocks into vectors.
type reader struct {
	r    *run
	data []byte
	vecs [][]int64
}

// block reads some columns of a block into vectors.
func (d *reader) block(b *block, cols []int) ([][]int64, error) {
	if err := d.r.stopped(); err != nil {
		return nil, err
	}
	for len(d.vecs) < len(cols) {
		d.vecs = append(d.vecs, nil)
	}
	// A single read covers all columns and those between them.
	from, until := b.bytes, 0
	for _, c := range cols {
		at := b.offset(c)
		from, until = min(from, at), max(until, at+b.rows*int(b.cols[c].width))
	}
	if n := until - from; n > 0 {
		d.data = slices.Grow(d.data[:0], n)[:n]
		if err := d.r.file.read(d.data, b.at+int64(from)); err != nil {
			return nil, err
		}
	}
	for i, c := range cols {
		d.vecs[i] = slices.Grow(d.vecs[i][:0], b.rows)[:b.rows]
		f := b.cols[c]
		var data []byte
		if f.width > 0 {
			data = d.data[b.offset(c)-from:]
		}
		widen(d.vecs[i], data, f)
	}
	return d.vecs[:len(cols)], nil
}

// offset returns the place of a column in a block.
func (b *block) offset(col int) int {
	at := 0
	for _, f := range b.cols[:col] {
		at += b.rows * int(f.width)
	}
	return at
}

// widen is the reverse of pack.
func widen(dst []int64, data []byte, f field) {
	switch f.width {
	case 0:
		for i := range dst {
			dst[i] = f.lo
		}
	case 1:
		for i := range dst {
			dst[i] = f.lo + int64(data[i])
		}
	case 2:
		for i := range dst {
			dst[i] = f.lo + int64(binary.LittleEndian.Uint16(data[2*i:]))
		}
	case 4:
		for i := range dst {
			dst[i] = f.lo + int64(binary.LittleEndian.Uint32(data[4*i:]))
		}
	case 8:
		for i := range dst {
			dst[i] = f.lo + int64(binary.LittleEndian.Uint64(data[8*i:]))
		}
	}
}

// factRows is the number of rows of stored columns that are widened at a time.
const factRows = 1 << 12

// each calls f with some columns of the rows, block by block: first stored rows
// that belong to the part, then blocks.
func (r *run) each(g *bag, blocks []block, cols []int, f func(cols [][]int64, n int) error) error {
	d := reader{r: r}
	if g.facts != nil && blocks == nil {
		vecs := make([][]int64, len(cols))
		for i := range vecs {
			vecs[i] = make([]int64, factRows)
		}
		for from := 0; from < int(g.rows); from += factRows {
			n := min(factRows, int(g.rows)-from)
			for i, c := range cols {
				vecs[i] = vecs[i][:n]
				col := g.facts[c]
				if col.Absent {
					continue
				}
				col.Read(vecs[i], from)
				if col.Dict != nil {
					codes, err := r.codes(col.Dict)
					if err != nil {
						return err
					}
					if codes != nil {
						for k, w := range vecs[i] {
							vecs[i][k] = int64(codes[w])
						}
					}
				}
			}
			if err := r.stopped(); err != nil {
				return err
			}
			if err := f(vecs, n); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range blocks {
		vecs, err := d.block(&blocks[i], cols)
		if err != nil {
			return err
		}
		if err := f(vecs, blocks[i].rows); err != nil {
			return err
		}
	}
	return nil
}

// firstColumns lists the first n columns.
func firstColumns(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// leastCut and mostCut bound the number of partitions of a cut, as powers of
// two.
const (
	leastCut = 3
	mostCut  = 8
)

// mostParts returns the largest number of partitions, as a power of two, whose
// blocks still have goodRows rows of the given number of columns.
func (r *run) mostParts(cols int) int {
	parts := r.bound / writing / int64(8*cols*goodRows)
	return min(max(bits.Len64(uint64(parts))-1, leastCut), mostCut)
}

// lateShare is the share of the memory up to which added blocks wait to be
// partitioned. Until then every part reads them, but partitions of a few rows
// would become a block each.
const lateShare = 64

// cut returns the partitions of a bag by classes of values in columns. Blocks
// from done on are not partitioned yet.
func (r *run) cut(g *bag, dims []dim) (*cut, error) {
	key := ""
	for _, d := range dims {
		key += fmt.Sprint(d.col, " ")
	}
	c := g.cuts[key]
	if c != nil && c.coarse(dims, r.mostParts(len(g.types))) {
		for _, p := range c.parts {
			r.freeBlocks(p)
		}
		c = nil
	}
	if c == nil {
		c = &cut{}
		parts := 0
		for _, d := range dims {
			c.dims = append(c.dims, dim{col: d.col, bits: d.bits})
			parts += int(d.bits)
		}
		most := r.mostParts(len(g.types))
		for i := 0; parts > most; i = (i + 1) % len(dims) {
			if b := c.dims[i].bits; b > 1 || len(dims) > most && b > 0 {
				c.dims[i].bits--
				parts--
			}
		}
		want := bits.Len64(uint64(g.bytes() / max(r.bound/16, 1)))
		for i := 0; parts < min(want, most); i, parts = (i+1)%len(dims), parts+1 {
			c.dims[i].bits++
		}
		c.parts = make([][]block, 1<<parts)
		if g.cuts == nil {
			g.cuts = map[string]*cut{}
		}
		g.cuts[key] = c
	}
	late := int64(0)
	for i := c.done; i < len(g.blocks); i++ {
		late += int64(g.blocks[i].bytes)
	}
	if c.whole && (late == 0 || late <= r.bound/lateShare) {
		return c, nil
	}
	to := make([]*[]block, len(c.parts))
	for i := range to {
		to[i] = &c.parts[i]
	}
	w := r.newWriter(g.types, c.dims, to)
	w.tuple = g.tuple
	all := firstColumns(len(g.types))
	var from []block
	if g.facts == nil {
		from = g.blocks[c.done:]
	}
	if err := r.each(g, from, all, w.add); err != nil {
		return nil, err
	}
	c.done, c.whole = len(g.blocks), true
	return c, w.close()
}

// coarse reports whether parts are so much smaller than partitions that a finer
// partitioning pays.
func (c *cut) coarse(dims []dim, most int) bool {
	finer, bits := 0, 0
	for i, d := range dims {
		bits += int(c.dims[i].bits)
		finer += max(int(d.bits)-int(c.dims[i].bits), 0)
	}
	return finer >= 2 && bits+2 <= most
}

// within appends the blocks of the partitions that may contain rows of a part.
func (c *cut) within(dims []dim) []block {
	classes := []uint64{0}
	for i, have := range c.dims {
		d := dims[i]
		var next []uint64
		for _, at := range classes {
			if d.bits >= have.bits {
				next = append(next, at<<have.bits|d.class>>(d.bits-have.bits))
				continue
			}
			more := have.bits - d.bits
			for rest := range uint64(1) << more {
				next = append(next, at<<have.bits|d.class<<more|rest)
			}
		}
		classes = next
	}
	out := []block{}
	for _, at := range classes {
		out = append(out, c.parts[at]...)
	}
	return out
}

// within returns the blocks that may contain rows of a part, and the tests that
// remain for each row.
func (r *run) within(g *bag, dims []dim) (blocks []block, rest []dim, err error) {
	if len(dims) == 0 || g.facts == nil && g.bytes() <= r.bound/32 {
		return g.blocks, dims, nil
	}
	c, err := r.cut(g, dims)
	if err != nil {
		return nil, nil, err
	}
	blocks = c.within(dims)
	if c.done < len(g.blocks) {
		return append(blocks, g.blocks[c.done:]...), dims, nil
	}
	for i, d := range dims {
		if d.bits > c.dims[i].bits {
			rest = append(rest, d)
		}
	}
	return blocks, rest, nil
}

// drop frees the blocks of a bag.
func (r *run) drop(g *bag) {
	if g == nil {
		return
	}
	if g.owned {
		r.freeBlocks(g.blocks)
	}
	for _, c := range g.cuts {
		for _, p := range c.parts {
			r.freeBlocks(p)
		}
	}
	g.blocks, g.cuts, g.rows = nil, nil, 0
}

// freeBlocks frees the space of blocks, neighbours in one call.
func (r *run) freeBlocks(blocks []block) {
	var at, bytes int64
	for i := range blocks {
		b := &blocks[i]
		if at+bytes != b.at && bytes > 0 {
			r.file.free(at, bytes)
			bytes = 0
		}
		if bytes == 0 {
			at = b.at
		}
		bytes += int64(b.bytes)
	}
	if bytes > 0 {
		r.file.free(at, bytes)
	}
}
