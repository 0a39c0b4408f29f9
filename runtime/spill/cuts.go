package spill

import (
	"fmt"
	"math/bits"
)

// cut is a partitioned copy of a bag's rows. Blocks that are added to the bag
// later wait until there are many, see lateShare.
type cut struct {
	dims  []dim // without a class
	parts [][]block
	done  int  // blocks of the bag that are in it
	whole bool // those that the bag had at first are
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
	var from []block
	if g.facts == nil {
		from = g.blocks[c.done:]
	}
	if err := r.distribute(g, from, g.types, c.dims, c.parts, nil); err != nil {
		// Rows that are in some parts already must not come a second time.
		for _, p := range c.parts {
			r.freeBlocks(p)
		}
		delete(g.cuts, key)
		return nil, err
	}
	c.done, c.whole = len(g.blocks), true
	return c, nil
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
