package service

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestOrderKeys(t *testing.T)  { onEach(t, &orderKeysKernel, checkOrderKeys) }
func TestSelect(t *testing.T)     { onEach(t, &orderSelectKernel, checkSelect) }
func TestRank(t *testing.T)       { onEach(t, &orderRankKernel, checkRank) }
func TestPlaces(t *testing.T)     { onEach(t, &orderPlacesKernel, checkPlaces) }
func TestKeep(t *testing.T)       { onEach(t, &orderKeepKernel, checkKeep) }
func TestMoveRows(t *testing.T)   { onEach(t, &orderMoveKernel, checkMoveRows) }
func TestUnpack(t *testing.T)     { onEach(t, &orderUnpackKernel, checkUnpack) }
func TestNumbers(t *testing.T)    { onEach(t, &orderNumbersKernel, checkNumbers) }
func TestOrderWords(t *testing.T) { checkOrderWords(t, emulator(t, 0)) }

// stored is a column in memory, and the words that it stands for.
type stored struct {
	at          int64
	width       int64
	base, step  int64
	words       []int64
	memoryWords int
}

// store puts n words on the device, in offsets of a width from a base.
func store(t testing.TB, m machine, n int, width, base, step int64, seed uint64) *stored {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	c := &stored{width: width, base: base, step: step, words: make([]int64, n),
		memoryWords: int((int64(n)*width+7)/8) + 1}
	memory := make([]uint64, c.memoryWords)
	for i := range c.words {
		offset := uint64(0)
		if width > 0 {
			offset = r.Uint64() >> (64 - 8*width)
		}
		for b := range width {
			at := int64(i)*width + b
			memory[at/8] |= offset >> (8 * b) & 0xff << (at % 8 * 8)
		}
		c.words[i] = base + step*int64(offset)
	}
	c.at = m.put(t, memory)
	return c
}

func (c *stored) free(t testing.TB, m machine) { m.get(t, c.at, 0) }

func (c *stored) field(f OrderField) OrderField {
	f.Data, f.Base, f.Step, f.Width = c.at, c.base, c.step, c.width
	return f
}

// shuffled returns the numbers below n in some order.
func shuffled(n int) []uint32 {
	out := make([]uint32, n)
	for i, p := range rand.New(rand.NewPCG(uint64(n), 7)).Perm(n) {
		out[i] = uint32(p)
	}
	return out
}

func checkOrderKeys(t *testing.T, m machine, n int) {
	bytes, wide, none := store(t, m, n, 1, -100, 1, 1), store(t, m, n, 2, 1000, 3, 2), store(t, m,
		n, 0, 77, 1, 3)
	fields := []OrderField{
		bytes.field(OrderField{First: -100, Bits: 8, At: 20}),
		none.field(OrderField{First: 77, Bits: 1, At: 31}),
		// The highest 5 of 18 bits, descending.
		wide.field(OrderField{First: 1000 + 3*65535, Descends: true, Drop: 13, Bits: 5, At: 2}),
	}
	fieldsAt := m.put(t, words(AppendOrderFields(nil, fields)))
	rows := shuffled(n)
	rowsAt := m.put(t, halves(rows))
	for _, numbered := range []bool{false, true} {
		want := make([]uint64, n)
		for p := range want {
			row := p
			if numbered {
				row = int(rows[p])
			}
			want[p] = uint64(bytes.words[row]+100)<<20 |
				uint64(1000+3*65535-wide.words[row])>>13&31<<2
		}
		from := int64(0)
		if numbered {
			from = rowsAt
		}
		at := m.put(t, random(n+1))
		m.run(t, OrderKeys(at, 8, from, fieldsAt, int64(len(fields)), int64(n)))
		same(t, "keys of 8 bytes", m.get(t, at, n+1), append(want, random(n + 1)[n]))
		small := make([]uint32, n)
		for p := range small {
			small[p] = uint32(want[p])
		}
		at = m.put(t, make([]uint64, (n+1)/2))
		m.run(t, OrderKeys(at, 4, from, fieldsAt, int64(len(fields)), int64(n)))
		same(t, "keys of 4 bytes", m.get(t, at, (n+1)/2), halves(small))
	}
	for _, c := range []*stored{bytes, wide, none} {
		c.free(t, m)
	}
	m.get(t, fieldsAt, 0)
	m.get(t, rowsAt, 0)
}

// checkOrderWords has words of every kind, ascending, become keys that ascend,
// and descend if that is wanted.
func checkOrderWords(t *testing.T, m machine) {
	floats := []int64{}
	for _, f := range []float64{math.Inf(-1), -1e300, -1, -1e-300, 0, 1e-300, 1, 2, math.Inf(1)} {
		floats = append(floats, int64(math.Float64bits(f)))
	}
	for _, c := range []struct {
		kind  int64
		words []int64
	}{
		{OrderSigned, []int64{math.MinInt64, -5, -1, 0, 1, 7, math.MaxInt64}},
		{OrderUnsigned, []int64{0, 1, 7, math.MaxInt64, math.MinInt64, -1}},
		{OrderFloat, floats},
	} {
		n := len(c.words)
		at := m.put(t, words(c.words))
		for _, descends := range []bool{false, true} {
			f := OrderField{Data: at, Step: 1, Width: 8, Kind: c.kind, First: math.MinInt64,
				Bits: 64}
			if descends {
				f.Descends, f.First = true, math.MaxInt64
			}
			fields, keys := m.put(t, words(AppendOrderFields(nil, []OrderField{f}))), m.put(t,
				make([]uint64, n))
			m.run(t, OrderKeys(keys, 8, 0, fields, 1, int64(n)))
			got := m.get(t, keys, n)
			if descends {
				slices.Reverse(got)
			}
			for i := 1; i < n; i++ {
				if got[i-1] >= got[i] {
					t.Errorf("kind %d, descending %t: key %#x before %#x", c.kind, descends,
						got[i-1], got[i])
				}
			}
			m.get(t, fields, 0)
		}
		m.get(t, at, 0)
	}
}

func checkSelect(t *testing.T, m machine, n int) {
	if n == 0 {
		return
	}
	for _, c := range []struct {
		bits int
		key  func(r uint64) uint64
	}{
		{64, func(r uint64) uint64 { return r }},
		{40, func(r uint64) uint64 { return r%3<<39 | r>>60 }}, // many ties
		{13, func(r uint64) uint64 { return r % 5000 }},
		{64, func(r uint64) uint64 { return 1 << 63 }},
	} {
		keys := random(n)
		for i, r := range keys {
			keys[i] = c.key(r)
		}
		sorted := slices.Sorted(slices.Values(keys))
		keysAt := m.put(t, keys)
		for _, place := range []int{1, (n + 1) / 2, n} {
			state := make([]uint64, SelectState)
			state[SelectPlace] = uint64(place)
			stateAt := m.put(t, state)
			for shift := (c.bits - 1) / SelectBits * SelectBits; shift >= 0; shift -= SelectBits {
				m.run(t, Select(keysAt, int64(n), int64(shift), stateAt))
			}
			most := place + 1
			rows, count := m.put(t, make([]uint64, n/2+2)), m.put(t, []uint64{0})
			m.run(t, SelectUpTo(rows, int64(most), keysAt, int64(n), stateAt, count))
			if got := m.get(t, stateAt, SelectState); got[0] != sorted[place-1] {
				t.Fatalf("place %d of keys of %d bits: %#x, want %#x", place, c.bits, got[0],
					sorted[place-1])
			} else {
				same(t, "counters", got[4:], make([]uint64, SelectState-4))
			}
			upTo, found := 0, m.get(t, count, 1)[0]
			for _, k := range keys {
				if k <= sorted[place-1] {
					upTo++
				}
			}
			if int(found) != upTo {
				t.Fatalf("%d rows are counted, want %d", found, upTo)
			}
			seen := map[uint32]bool{}
			memory := m.get(t, rows, n/2+2)
			for i := range min(most, upTo) {
				row := uint32(memory[i/2] >> (i % 2 * 32))
				if int(row) >= n || keys[row] > sorted[place-1] || seen[row] {
					t.Fatalf("row %d is collected", row)
				}
				seen[row] = true
			}
		}
		m.get(t, keysAt, 0)
	}
}

func checkRank(t *testing.T, m machine, n int) {
	const levels = 2
	keys := random(levels * n)
	for i := range n {
		keys[i] %= 4
		keys[n+i] %= uint64(n)
	}
	rows := shuffled(n)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(keys[n+a], keys[n+b]))
	})
	keysAt, rowsAt := m.put(t, keys), m.put(t, halves(rows))
	for _, limit := range []int{0, n / 3, n, n + 5} {
		for _, numbered := range []bool{false, true} {
			want := make([]uint32, n)
			for i, p := range order[:min(limit, n)] {
				if want[i] = uint32(p); numbered {
					want[i] = rows[p]
				}
			}
			from := int64(0)
			if numbered {
				from = rowsAt
			}
			to := m.put(t, make([]uint64, (n+1)/2))
			m.run(t, Rank(to, from, keysAt, levels, int64(n), int64(limit)))
			same(t, "rows", m.get(t, to, (n+1)/2), halves(want))
		}
	}
	m.get(t, keysAt, 0)
	m.get(t, rowsAt, 0)
}

// checkPlaces numbers rows within groups of two columns: Heads, Scan, Starts,
// Places.
func checkPlaces(t *testing.T, m machine, n int) {
	a, b := store(t, m, n, 1, 0, 1, 1), store(t, m, n, 1, 5, 1, 2)
	rows := shuffled(n)
	slices.SortStableFunc(rows, func(p, q uint32) int {
		return cmp.Or(cmp.Compare(a.words[p], a.words[q]), cmp.Compare(b.words[p], b.words[q]))
	})
	want := make([]uint64, n)
	for p := range want {
		if p > 0 && a.words[rows[p]] == a.words[rows[p-1]] &&
			b.words[rows[p]] == b.words[rows[p-1]] {
			want[p] = want[p-1] + 1
		}
	}
	rowsAt := m.put(t, halves(rows))
	fields := m.put(t,
		words(AppendOrderFields(nil, []OrderField{a.field(OrderField{}), b.field(OrderField{})})))
	groups, starts, scratch := m.put(t, random(n+1)), m.put(t, random(n)), m.put(t,
		make([]uint64, ScanScratch(int64(n))/8))
	m.run(t, Heads(groups, rowsAt, fields, 2, int64(n)))
	m.run(t, Scan(groups, int64(n), true, scratch))
	m.run(t, Starts(starts, groups, int64(n)))
	m.run(t, Places(groups, starts, int64(n)))
	same(t, "places", m.get(t, groups, n+1), append(want, random(n + 1)[n]))
	for _, at := range []int64{rowsAt, fields, starts, scratch} {
		m.get(t, at, 0)
	}
	a.free(t, m)
	b.free(t, m)
}

// checkKeep keeps the rows whose words are below a limit: Below, Scan, Keep.
func checkKeep(t *testing.T, m machine, n int) {
	numbers, rows := random(n+1), shuffled(n)
	var want []uint32
	for p := range n {
		numbers[p] %= 5
		if numbers[p] < 2 {
			want = append(want, rows[p])
		}
	}
	kept := len(want)
	want = append(want, make([]uint32, n-kept)...)
	numbers[n] = 9 // so that the last sum is that of all
	at, rowsAt := m.put(t, numbers), m.put(t, halves(rows))
	scratch, to := m.put(t, make([]uint64, ScanScratch(int64(n+1))/8)), m.put(t,
		make([]uint64, (n+1)/2))
	m.run(t, Below(at, 2, int64(n+1)))
	m.run(t, Scan(at, int64(n+1), false, scratch))
	m.run(t, Keep(to, rowsAt, at, int64(n)))
	if sums := m.get(t, at, n+1); sums[n] != uint64(kept) {
		t.Fatalf("%d rows are kept, want %d", sums[n], kept)
	}
	same(t, "rows", m.get(t, to, (n+1)/2), halves(want))
	m.get(t, rowsAt, 0)
	m.get(t, scratch, 0)
}

func checkMoveRows(t *testing.T, m machine, n int) {
	const first = 3
	rows := shuffled(n)
	rowsAt := m.put(t, halves(rows))
	type pair struct {
		from *stored
		to   int64
		into []uint64
	}
	var pairs []pair
	var columns []MovedColumn
	for i, c := range []struct{ width, base, step, to, toBase int64 }{
		{1, -7, 1, 1, -7}, {1, 3, 2, 2, 3}, {4, 0, 1, 8, 0}, {8, 5, 1, 8, 0}, {0, 9, 1, 4, 2},
		{2, 0, 1, 0, 0}, {2, 0, 1, 4, -1},
	} {
		from := store(t, m, n, c.width, c.base, c.step, uint64(i))
		into := random((first+n)*8/8 + 2)
		p := pair{from, m.put(t, into), slices.Clone(into)}
		columns = append(columns,
			MovedColumn{Data: from.at, Base: c.base, Step: c.step, Width: c.width,
				To: p.to, ToBase: c.toBase, ToWidth: c.to, InOrder: i == 6})
		for place := range n {
			row := int(rows[place])
			if i == 6 {
				row = place
			}
			offset := uint64(from.words[row] - c.toBase)
			for b := range c.to {
				at := int64(first+place)*c.to + b
				p.into[at/8] = p.into[at/8]&^(0xff<<(at%8*8)) | offset>>(8*b)&0xff<<(at%8*8)
			}
		}
		pairs = append(pairs, p)
	}
	columnsAt := m.put(t, words(AppendMovedColumns(nil, columns)))
	m.run(t, MoveRows(columnsAt, int64(len(columns)), rowsAt, int64(n), first))
	for _, p := range pairs {
		same(t, "moved", m.get(t, p.to, len(p.into)), p.into)
		p.from.free(t, m)
	}
	m.get(t, columnsAt, 0)
	m.get(t, rowsAt, 0)
}

// checkUnpack makes columns of keys of one and of two words.
func checkUnpack(t *testing.T, m machine, n int) {
	const first, lowBits = 2, 27
	low, high := make([]uint32, n), make([]uint32, n)
	for i, w := range random(n) {
		low[i], high[i] = uint32(w)>>(32-lowBits), uint32(w>>32)
	}
	lowAt, highAt := m.put(t, halves(low)), m.put(t, halves(high))
	together := make([]uint64, n)
	for i := range together {
		together[i] = uint64(low[i]) | uint64(high[i])<<lowBits
	}
	togetherAt := m.put(t, together)
	for _, keys := range []string{"low", "apart", "together", "none"} {
		wide := keys == "apart" || keys == "together"
		var columns []UnpackedColumn
		var wants [][]uint64
		for _, c := range []UnpackedColumn{
			{First: -100, Bits: 9, At: 4, ToBase: -100, ToWidth: 2},
			{First: 1 << 20, Descends: true, Bits: 20, ToWidth: 4},
			{Kind: OrderUnsigned, First: -1 << 63, Bits: lowBits, ToWidth: 8},
			{Kind: OrderFloat, First: 5, Descends: true, Bits: 11, At: 10, ToWidth: 8},
			{First: 200, ToBase: 199, ToWidth: 1}, // the same in all rows
			{First: 7, Bits: 3},                   // a column without memory
			{First: 3, Bits: 32 + 20, At: 7, ToWidth: 8},
		} {
			if c.At+c.Bits > lowBits && !wide {
				continue
			}
			into := random(first + n + 2)
			want := slices.Clone(into)
			for i := range n {
				key := together[i]
				switch keys {
				case "low":
					key = uint64(low[i])
				case "none":
					key = 0
				}
				number := int64(key >> c.At & (1<<c.Bits - 1))
				if c.Descends {
					number = -number
				}
				w := c.First + number
				switch {
				case c.Kind == OrderUnsigned:
					w ^= math.MinInt64
				case c.Kind == OrderFloat && w < 0:
					w ^= math.MaxInt64
				}
				for b := range c.ToWidth {
					at := int64(first+i)*c.ToWidth + b
					want[at/8] = want[at/8]&^(0xff<<(at%8*8)) |
						uint64(w-c.ToBase)>>(8*b)&0xff<<(at%8*8)
				}
			}
			c.To = m.put(t, into)
			columns, wants = append(columns, c), append(wants, want)
		}
		columnsAt, above := m.put(t, words(AppendUnpackedColumns(nil, columns))), int64(0)
		at := lowAt
		switch keys {
		case "apart":
			above = highAt
		case "together":
			at, above = togetherAt, Together
		case "none":
			at = 0
		}
		m.run(t, Unpack(columnsAt, int64(len(columns)), at, above, lowBits, int64(n), first))
		for i, c := range columns {
			same(t, fmt.Sprint("column ", i), m.get(t, c.To, len(wants[i])), wants[i])
		}
		m.get(t, columnsAt, 0)
	}
	m.get(t, lowAt, 0)
	m.get(t, highAt, 0)
	m.get(t, togetherAt, 0)
}

func checkNumbers(t *testing.T, m machine, n int) {
	const base = -3
	for _, first := range []int{0, 1, 3, 6} {
		for _, width := range []int{2, 4, 8} {
			want := random(n + first + 2)
			to := m.put(t, want)
			for i := range n {
				at := (first + i) * width
				mask := (uint64(1)<<(8*width) - 1) << (at % 8 * 8)
				want[at/8] = want[at/8]&^mask | uint64(i-base)<<(at%8*8)&mask
			}
			m.run(t, Numbers(to, base, int64(width), int64(n), int64(first)))
			same(t, fmt.Sprintf("from %d, %d bytes each", first, width), m.get(t, to, len(want)),
				want)
		}
	}
}
