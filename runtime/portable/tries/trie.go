package tries

import (
	"math"
	"slices"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// Word is what tries hold for a column's word: the word minus a base that
// all columns of a multijoin share, in as few bits as their ranges allow.
type Word interface{ uint32 | uint64 }

// Trie is the sorted rows of an input of a multijoin, column by column: a node
// of level l is a distinct combination of the first l+1 columns, and the nodes
// of a level lie in one array, in order, so that the children of a node are a
// range of the next level's (a trie as in Veldhuizen, ICDT 2014, in arrays as
// in Aberger et al., EmptyHeaded, SIGMOD 2016).
type Trie[K Word] struct {
	Rows int
	vals [][]K // of each level
	// Node j of level l has the children below[l][j]..below[l][j+1]-1 on the
	// next level, and on the last level those rows; nil on the last level if
	// each node there is one row.
	below [][]uint32
	// direct finds nodes of the first level, which searches start from anew for
	// each value above them, in one step: entry v-least is the first node with
	// a value of at least v, and there is one more behind the largest. It is
	// nil if the values lie far apart.
	direct []uint32
	least  K
	// words are the sorted packed rows, kept if they have a payload, and lay is
	// their layout.
	words []uint64
	lay   *interval.Layout
}

// Shape is how the packed rows of an input become a trie.
type Shape struct {
	Name   string          // for messages
	Layout interval.Layout // of the levels and then of the payload
	Levels int
	Base   int64
}

// find returns the node of the first level with a value.
func (t *Trie[K]) find(v K) (node uint32, ok bool) {
	at := v - t.least // wraps below the least
	if at >= K(len(t.direct)-1) {
		return 0, false
	}
	node = t.direct[at]
	return node, t.direct[at+1] > node
}

// lowerBound returns the first node of the first level with a value of at least
// v.
func (t *Trie[K]) lowerBound(v K) uint32 {
	if v < t.least {
		return 0
	}
	return t.direct[min(v-t.least, K(len(t.direct)-1))]
}

// index makes direct.
func (t *Trie[K]) index(mem *work.Memory, name string) {
	roots := t.vals[0]
	t.least = roots[0]
	span := uint64(roots[len(roots)-1]-t.least) + 1
	if span > uint64(8*len(roots)+256) || span == 0 {
		return
	}
	t.direct = work.Alloc[uint32](mem, name, int(span)+1)
	next := 0
	for node, v := range roots {
		for ; next <= int(v-t.least); next++ {
			t.direct[next] = uint32(node)
		}
	}
	t.direct[next] = uint32(len(roots))
}

// firstRow returns the first row under a node.
func (t *Trie[K]) firstRow(level int, node uint32) uint32 {
	for l := level; l < len(t.below) && t.below[l] != nil; l++ {
		node = t.below[l][node]
	}
	return node
}

// nodeOf returns the node of a level, among from..to-1, that a row is under.
func (t *Trie[K]) nodeOf(level int, from, to, row uint32) uint32 {
	for to-from > 1 {
		mid := from + (to-from)/2
		if t.firstRow(level, mid) <= row {
			from = mid
		} else {
			to = mid
		}
	}
	return from
}

// children returns the range under a node: of nodes of the next level, or of
// rows.
func (t *Trie[K]) children(level int, node uint32) (from, to uint32) {
	if b := t.below[level]; b != nil {
		return b[node], b[node+1]
	}
	return node, node + 1
}

// trieChunk is how many rows one task of building a trie looks at.
const trieChunk = 1 << 16

// Build returns the trie of packed rows, which it owns from now on.
func Build[K Word](r *work.Run, s *Shape, words []uint64, rows int) *Trie[K] {
	t := &Trie[K]{Rows: rows, lay: &s.Layout}
	if rows == 0 {
		return t
	}
	if rows >= math.MaxUint32 {
		work.Abort(work.TooManyRows(s.Name))
	}
	words = s.sort(r, words, rows)

	// A row makes a new node on the level on which it first differs from the
	// row before, and on all below that.
	chunks := (rows + trieChunk - 1) / trieChunk
	starts := make([][]uint32, chunks+1)
	starts[0] = make([]uint32, s.Levels)
	differs := s.differs(words)
	r.Tasks(chunks, func(c int) {
		made := make([]uint32, s.Levels+1)
		for row := c * trieChunk; row < min((c+1)*trieChunk, rows); row++ {
			made[differs(row)]++
		}
		for l := 1; l < s.Levels; l++ {
			made[l] += made[l-1]
		}
		starts[c+1] = made[:s.Levels]
	})
	for c := range chunks {
		for l := range s.Levels {
			starts[c+1][l] += starts[c][l]
		}
	}
	nodes := starts[chunks]
	for l, n := range nodes {
		t.vals = append(t.vals, work.Alloc[K](r.Mem, s.Name, int(n)))
		var below []uint32
		if l < s.Levels-1 || int(n) < rows {
			below = work.Alloc[uint32](r.Mem, s.Name, int(n)+1)
			below[n] = uint32(rows)
			if l < s.Levels-1 {
				below[n] = nodes[l+1]
			}
		}
		t.below = append(t.below, below)
	}
	r.Tasks(chunks, func(c int) {
		next := slices.Clone(starts[c])
		for row := c * trieChunk; row < min((c+1)*trieChunk, rows); row++ {
			for l := differs(row); l < s.Levels; l++ {
				f := &s.Layout.Fields[l]
				v := words[row*s.Layout.Words+f.Word] >> (f.Shift & 63) & f.Mask()
				t.vals[l][next[l]] = K(v + uint64(f.Base) - uint64(s.Base))
				if t.below[l] != nil {
					t.below[l][next[l]] = uint32(row)
					if l < s.Levels-1 {
						t.below[l][next[l]] = next[l+1]
					}
				}
				next[l]++
			}
		}
	})
	t.index(r.Mem, s.Name)
	if len(s.Layout.Fields) > s.Levels {
		t.words = words
	} else {
		work.Free(r.Mem, words)
	}
	return t
}

// Free gives back the memory of the trie, which is then empty.
func (t *Trie[K]) Free(mem *work.Memory) {
	for _, v := range t.vals {
		work.Free(mem, v)
	}
	for _, b := range t.below {
		work.Free(mem, b)
	}
	work.Free(mem, t.direct)
	work.Free(mem, t.words)
	*t = Trie[K]{}
}

// sort orders the packed rows by the columns of the levels.
func (s *Shape) sort(r *work.Run, words []uint64, rows int) []uint64 {
	w := s.Layout.Words
	if w == 1 {
		payload := 0
		for _, f := range s.Layout.Fields[s.Levels:] {
			payload += int(f.Bits)
		}
		if err := r.Sorter().SortWords(r.Stop.Ctx, s.Name, words, payload,
			s.Layout.Bits); err != nil {
			work.Abort(err)
		}
		return words
	}
	order := work.Alloc[uint32](r.Mem, s.Name, rows)
	defer work.Free(r.Mem, order)
	for i := range order {
		order[i] = uint32(i)
	}
	keys := s.Layout.Fields[:s.Levels]
	slices.SortFunc(order, func(a, b uint32) int {
		for i := range keys {
			f := &keys[i]
			x := words[int(a)*w+f.Word] >> (f.Shift & 63) & f.Mask()
			y := words[int(b)*w+f.Word] >> (f.Shift & 63) & f.Mask()
			if x != y {
				return 2*work.Bit(x > y) - 1
			}
		}
		return 0
	})
	sorted := work.Alloc[uint64](r.Mem, s.Name, rows*w)
	for i, o := range order {
		copy(sorted[i*w:i*w+w], words[int(o)*w:])
	}
	work.Free(r.Mem, words)
	return sorted
}

// differs returns a function that gives the first level on which a row differs
// from the row before it, and the number of levels if it does on none.
func (s *Shape) differs(words []uint64) func(row int) int {
	w, keys := s.Layout.Words, s.Layout.Fields[:s.Levels]
	if w > 1 {
		return func(row int) int {
			if row == 0 {
				return 0
			}
			a, b := words[row*w-w:row*w], words[row*w:row*w+w]
			for l := range keys {
				f := &keys[l]
				if (a[f.Word]^b[f.Word])>>(f.Shift&63)&f.Mask() != 0 {
					return l
				}
			}
			return len(keys)
		}
	}
	// Columns lie in their order, so that a shift leaves those of the levels up
	// to one. A column without bits may leave nothing to shift out.
	shifts := make([]int, len(keys))
	left := s.Layout.Bits
	for l := range keys {
		left -= int(keys[l].Bits)
		shifts[l] = left
	}
	return func(row int) int {
		if row == 0 {
			return 0
		}
		x := words[row] ^ words[row-1]
		for l, shift := range shifts {
			if x>>shift != 0 {
				return l
			}
		}
		return len(shifts)
	}
}
