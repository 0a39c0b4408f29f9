package spill

import (
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// bag is a multiset of rows: stored columns in memory, or blocks of the file.
type bag struct {
	types []scalar.Type
	tuple int // columns of a tuple; a further column numbers them
	rows  int64

	facts  []*store.Column // nil for a bag of blocks
	part   bool            // facts are slices for one box
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

// dim selects the rows whose value in a column is in a class. The class of a
// value is the first bits of its hash, or its position among ranges of values.
// The column wholeRow stands for all columns of a set of tuples.
type dim struct {
	col    int
	bits   uint8
	class  uint64
	ranges *ranges // nil for hashes
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

// rowsOf returns the number of rows in blocks.
func rowsOf(blocks []block) (rows int64) {
	for i := range blocks {
		rows += int64(blocks[i].rows)
	}
	return rows
}

// firstColumns lists the first n columns.
func firstColumns(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
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
