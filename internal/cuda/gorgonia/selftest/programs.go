package main

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// program runs a program's kernels as an engine does.
type program struct {
	name  string
	forms []abi.Form // of groups and sets
	steps func(c *code, form abi.Form)
}

var programs = []program{
	{"totals", []abi.Form{abi.None}, totals},
	{"groups", []abi.Form{abi.Direct, abi.Hash}, groups},
	{"closure", []abi.Form{abi.Direct, abi.Hash}, closure},
}

func (p program) run(gpu driver.Context, form abi.Form) error {
	c, err := load(gpu, p.name)
	if err != nil {
		return err
	}
	p.steps(c, form)
	return c.close()
}

// offsets makes n random offsets below a bound.
func offsets(rng *rand.Rand, n, below int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(rng.IntN(below))
	}
	return out
}

// rows is how many facts there are; the last tile is not full.
const rows = 1_000_003

// totals scans two columns of a byte and of four bytes, filters, multiplies and
// sums up in 128 bits.
func totals(c *code, _ abi.Form) {
	const quantityBase, quantityStep, priceBase = -9, 3, math.MaxInt64/64 - 1<<33
	rng := rand.New(rand.NewPCG(1, 2))
	quantity, price := offsets(rng, rows, 200), offsets(rng, rows, math.MaxUint32)
	w := words{}
	c.column(w, "sale", 1, 1, quantityBase, quantityStep, quantity)
	c.column(w, "sale", 2, 4, priceBase, 1, price)
	cells, occupied := c.alloc(16), c.alloc(8)
	w.put(24, abi.LiteralWord, "", 0)
	w.put(int64(cells), abi.GroupCells, "g0", 0)
	w.put(int64(occupied), abi.GroupOccupied, "g0", 0)
	w.put(1, abi.GroupShared, "g0", 0)
	gauge := c.gauge(w, "g0")
	c.run("kernel k0_k1_k2", w, 0, rows, gauge)

	var low, high uint64
	for i := range rows {
		q := quantityBase + quantityStep*int64(quantity[i])
		if q < 24 {
			v, carry := q*(priceBase+int64(price[i])), uint64(0)
			low, carry = bits.Add64(low, uint64(v), 0)
			high += uint64(v>>63) + carry
		}
	}
	if got := c.read(cells, 2); got[0] != int64(low) || got[1] != int64(high) {
		c.keep(fmt.Errorf("the sum is %#x, %#x, not %#x, %#x", uint64(got[1]), uint64(got[0]), high,
			low))
	}
	if got := c.read(occupied, 1); got[0] == 0 {
		c.keep(fmt.Errorf("no row is counted"))
	}
}

// groups sums up by a key, and stores the groups as a relation.
func groups(c *code, form abi.Form) {
	const keys, keyBase, priceBase = 1000, 5000, -1 << 20
	rng := rand.New(rand.NewPCG(3, 4))
	key, price := offsets(rng, rows, keys), offsets(rng, rows, 1<<16)
	w := words{}
	c.column(w, "sale", 1, 2, keyBase, 1, key)
	c.column(w, "sale", 2, 2, priceBase, 1, price)

	const keyBits = 10
	slots, size, table := 1<<keyBits, int64(1<<keyBits), int64(0)
	if form == abi.Hash {
		const capacity = 1 << 12
		slots, size, table = capacity+1, capacity-1, int64(c.alloc(8*(capacity+2)))
	}
	w.put(int64(form), abi.GroupForm, "g0", 0)
	w.put(table, abi.GroupTable, "g0", 0)
	w.put(size, abi.GroupSize, "g0", 0)
	w.put(0, abi.GroupShift, "g0", 0)
	w.put(keyBase, abi.GroupBase, "g0", 0)
	w.put(keyBits, abi.GroupBits, "g0", 0)
	w.put(1, abi.GroupShared, "g0", 0)
	w.put(int64(c.alloc(8*slots)), abi.GroupOccupied, "g0", 0)
	w.put(int64(c.alloc(16*slots)), abi.GroupCells, "g0", 0)
	c.run("kernel k0", w, 0, rows, c.gauge(w, "g0"))

	fault := c.alloc(8)
	w.put(int64(fault), abi.Fault, "", 0)
	set(w, "revenue", abi.None, 0, 0, [2]int64{64, 64}) // all keys fit
	products, revenues := c.alloc(8*slots), c.alloc(8*slots)
	w.column("revenue", 0, 8, 0, 1, products)
	w.column("revenue", 1, 8, 0, 1, revenues)
	gauge := c.gauge(w, "revenue")
	c.run("kernel k1", w, 0, int64(slots), gauge)

	want := map[int64]int64{}
	for i := range rows {
		want[keyBase+int64(key[i])] += priceBase + int64(price[i])
	}
	n := int(c.read(gauge, 1)[0])
	if n != len(want) {
		c.keep(fmt.Errorf("%d groups, not %d", n, len(want)))
		return
	}
	k, v := c.read(products, n), c.read(revenues, n)
	for i := range n {
		if sum, ok := want[k[i]]; !ok || sum != v[i] {
			c.keep(fmt.Errorf("the sum of %d is %d, not %d", k[i], v[i], sum))
		}
		delete(want, k[i])
	}
	if got := c.read(fault, 1)[0]; got != 0 {
		c.keep(fmt.Errorf("a fault: %#x", got))
	}
}

// set adds the words about the set of a relation of two columns, of which keys
// take some bits each.
func set(w words, relation string, form abi.Form, table, size int64, keyBits [2]int64) {
	w.put(int64(form), abi.SetForm, relation, 0)
	w.put(table, abi.SetTable, relation, 0)
	w.put(size, abi.SetSize, relation, 0)
	w.put(0, abi.SetColumns, relation, 0)
	w.put(1, abi.SetShared, relation, 0)
	shift := int64(0)
	for i, b := range keyBits {
		w.put(shift, abi.SetShift, relation, i)
		w.put(0, abi.SetBase, relation, i)
		w.put(b, abi.SetBits, relation, i)
		shift += b
	}
}

// closure builds an index of a random graph and steps from delta to delta until
// there is none.
func closure(c *code, form abi.Form) {
	const nodeBits, edges = 10, 1300
	const nodes, most = 1 << nodeBits, 1 << (2 * nodeBits)
	rng := rand.New(rand.NewPCG(5, 6))
	from, to := offsets(rng, edges, nodes), offsets(rng, edges, nodes)
	w := words{}
	c.column(w, "edge", 0, 2, 0, 1, from)
	c.column(w, "edge", 1, 2, 0, 1, to)

	size, length := int64(most), most/64
	if form == abi.Hash {
		size, length = 2*most-1, 2*most+2
	}
	set(w, "path", form, int64(c.alloc(8*length)), size, [2]int64{nodeBits, nodeBits})
	x, y := c.alloc(4*most), c.alloc(4*most)
	w.column("path", 0, 4, 0, 1, x)
	w.column("path", 1, 4, 0, 1, y)
	gauge := c.gauge(w, "path")
	c.run("kernel k0", w, 0, edges, gauge)

	begins := c.alloc(8 * (nodes + 2))
	w.put(int64(abi.Direct), abi.IndexForm, "i0", 0)
	w.put(0, abi.IndexTable, "i0", 0)
	w.put(nodes, abi.IndexSize, "i0", 0)
	w.put(0, abi.IndexShift, "i0", 0)
	w.put(0, abi.IndexBase, "i0", 0)
	w.put(nodeBits, abi.IndexBits, "i0", 0)
	w.put(int64(begins), abi.IndexBegins, "i0", 0)
	w.put(int64(c.alloc(4*edges)), abi.IndexRows, "i0", 0)
	c.run("build_count i0", w, 0, edges, 0)
	counts := c.read(begins, nodes+2)
	sum := int64(0)
	for i := 1; i < len(counts); i++ {
		sum, counts[i] = sum+counts[i], sum
	}
	c.write(begins, counts)
	c.run("build_fill i0", w, 0, edges, 0)

	rounds := 0
	for old, full := int64(0), c.read(gauge, 1)[0]; old < full && c.err == nil; rounds++ {
		c.run("kernel k1", w, old, full, gauge)
		old, full = full, c.read(gauge, 1)[0]
	}

	reached, n := reach(nodes, from, to)
	if got := int(c.read(gauge, 1)[0]); got != n {
		c.keep(fmt.Errorf("%d paths after %d rounds, not %d", got, rounds, n))
		return
	}
	// Two offsets of four bytes a word.
	xs, ys := c.read(x, (n+1)/2), c.read(y, (n+1)/2)
	half := func(words []int64, i int) uint32 { return uint32(words[i/2] >> (32 * (i % 2))) }
	for i := range n {
		a, b := half(xs, i), half(ys, i)
		if a >= nodes || b >= nodes || !reached[a][b] {
			c.keep(fmt.Errorf("path %d is from %d to %d, which there is not, or twice", i, a, b))
			return
		}
		reached[a][b] = false
	}
}

// reach returns which nodes are reached from which, and how many pairs there
// are.
func reach(nodes int, from, to []uint64) (reached [][]bool, pairs int) {
	next := make([][]uint64, nodes)
	for i := range from {
		next[from[i]] = append(next[from[i]], to[i])
	}
	reached = make([][]bool, nodes)
	for start := range reached {
		seen := make([]bool, nodes)
		for stack := slices.Clone(next[start]); len(stack) > 0; {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !seen[at] {
				seen[at] = true
				pairs++
				stack = append(stack, next[at]...)
			}
		}
		reached[start] = seen
	}
	return reached, pairs
}
