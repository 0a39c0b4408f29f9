package emulated

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/primitives/service"
)

// sortKernels are the kernels of service.Sorting.
var sortKernels = named(service.Sorting.Kernels, map[string]serviceKernel{
	"rf_pairs_count":   pairsCount,
	"rf_pairs_move":    pairsMove,
	"rf_order_keys":    orderKeys,
	"rf_order_select":  orderSelect,
	"rf_order_upto":    orderUpTo,
	"rf_order_rank":    orderRank,
	"rf_order_heads":   orderHeads,
	"rf_order_starts":  orderStarts,
	"rf_order_places":  orderPlaces,
	"rf_order_below":   orderBelow,
	"rf_order_keep":    orderKeep,
	"rf_order_move":    orderMove,
	"rf_order_unpack":  orderUnpack,
	"rf_order_numbers": orderNumbers,
})

// halves returns numbers of 32 bits.
func (m *Memory) halves(at, n int64) ([]uint32, error) {
	if n == 0 {
		return nil, nil
	}
	if n < 0 || at%4 != 0 {
		return nil, fmt.Errorf("%d numbers of 32 bits at %#x", n, at)
	}
	b, err := m.Bytes(cuda.Pointer(at), uint64(4*n))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*uint32)(unsafe.Pointer(&b[0])), n), nil
}

// arguments reads the arguments of a kernel. It keeps the first error.
type arguments struct {
	m   *Memory
	err error
}

func (a *arguments) words(at, n int64) (out []uint64) {
	if a.err == nil {
		out, a.err = a.m.Words(at, n)
	}
	return out
}

func (a *arguments) halves(at, n int64) (out []uint32) {
	if a.err == nil {
		out, a.err = a.m.halves(at, n)
	}
	return out
}

// rows returns a function that returns the row at a place.
func (a *arguments) rows(at, n int64) func(place int64) int64 {
	if at == 0 {
		return func(place int64) int64 { return place }
	}
	rows := a.halves(at, n)
	return func(place int64) int64 { return int64(rows[place]) }
}

// column returns a function that reads the word of a row of a column.
func (a *arguments) column(data, base, step, width int64) func(row int64) int64 {
	return func(row int64) int64 {
		if width == 0 || a.err != nil {
			return base
		}
		size, bits := 8*width, abi.PackedBits(width)
		if bits > 0 {
			size = bits
		}
		first, last := row*size/8, (row*size+size+7)/8
		b, err := a.m.Bytes(cuda.Pointer(data+first), uint64(last-first))
		if err != nil {
			a.err = err
			return 0
		}
		offset := uint64(0)
		for i := range size {
			at := row*size - 8*first + i
			offset |= uint64(b[at/8]>>(at%8)&1) << i
		}
		return base + step*int64(offset)
	}
}

func pairsCount(m *Memory, p []int64) error {
	a := arguments{m: m}
	keys, counts := a.halves(p[0], p[1]), a.words(p[3], service.PairsCounts)
	if a.err != nil {
		return a.err
	}
	for i, k := range keys {
		for pass := range 4 {
			counts[(pass+4*(i&1*int(p[2])))<<8|int(k>>(8*pass)&255)]++
		}
	}
	return nil
}

func pairsMove(m *Memory, p []int64) error {
	a, n, shift := arguments{m: m}, p[4], p[5]
	out, in := a.pairs(p[0], p[1], n), a.pairs(p[2], p[3], n)
	counts, scratch := a.words(p[6], service.PairsCounts), a.words(p[7], service.PairsScratch(n)/8)
	if a.err == nil {
		a.err = wantZero("scratch", scratch)
	}
	if a.err == nil && shift >= 32 && p[3] != service.Together {
		a.err = errors.New("the digit is of payloads that do not lie with their keys")
	}
	if a.err != nil {
		return a.err
	}
	for i := range scratch {
		scratch[i] = 1 // a pass leaves garbage there
	}
	var next [256]uint64
	sum := uint64(0)
	for d, c := range counts[shift/8*256:][:256] {
		next[d], sum = sum, sum+c
	}
	if sum != uint64(n) {
		return fmt.Errorf("%d of %d keys are counted", sum, n)
	}
	for i := range n {
		key, payload := in.keys[i*in.step], uint32(i)
		if in.payloads != nil {
			payload = in.payloads[i*in.step]
		}
		d := uint64(payload)<<32 | uint64(key)
		d = d >> uint(shift) & 255
		if next[d] >= uint64(n) {
			return fmt.Errorf("key %d goes to %d of %d", i, next[d], n)
		}
		to := int64(next[d]) * out.step
		if out.keys != nil {
			out.keys[to] = key
		}
		if out.payloads != nil {
			out.payloads[to] = payload
		}
		next[d]++
	}
	return nil
}

// pairs are keys and payloads: each payload behind its key, with a step of 2,
// or apart; or one of the two alone.
type pairs struct {
	keys, payloads []uint32
	step           int64
}

func (a *arguments) pairs(keys, payloads, n int64) pairs {
	array := func(at int64) []uint32 {
		if at == 0 {
			return nil
		}
		return a.halves(at, n)
	}
	switch {
	case n == 0:
		return pairs{step: 1}
	case payloads == service.Together:
		all := a.halves(keys, 2*n)
		if a.err != nil {
			return pairs{}
		}
		return pairs{all, all[1:], 2}
	}
	return pairs{array(keys), array(payloads), 1}
}

// mapped maps words of a kind to integers in their order, and those to words.
func mapped(w, kind int64) int64 {
	switch kind {
	case service.OrderUnsigned:
		w ^= -1 << 63
	case service.OrderFloat:
		w ^= int64(uint64(w>>63) >> 1)
	}
	return w
}

// orderFields returns what makes the key of a row, and what compares the words
// of two.
func (a *arguments) orderFields(at,
	count int64) (key func(row int64) uint64, equal func(x, y int64) bool) {
	all := a.words(at, service.OrderFieldWords*count)
	var fields []service.OrderField
	var columns []func(row int64) int64
	for ; len(all) > 0; all = all[service.OrderFieldWords:] {
		f := service.OrderField{Kind: int64(all[4]), First: int64(all[5]), Descends: all[6] != 0,
			Drop: int64(all[7]), Bits: int64(all[8]), At: int64(all[9])}
		fields = append(fields, f)
		columns = append(columns,
			a.column(int64(all[0]), int64(all[1]), int64(all[2]), int64(all[3])))
	}
	key = func(row int64) (key uint64) {
		for i, f := range fields {
			w := mapped(columns[i](row), f.Kind)
			number := uint64(w - f.First)
			if f.Descends {
				number = uint64(f.First - w)
			}
			key |= number >> uint(f.Drop) & (1<<uint(f.Bits) - 1) << uint(f.At)
		}
		return key
	}
	equal = func(x, y int64) bool {
		for _, c := range columns {
			if c(x) != c(y) {
				return false
			}
		}
		return true
	}
	return key, equal
}

func orderKeys(m *Memory, p []int64) error {
	a, size, n := arguments{m: m}, p[1], p[5]
	row := a.rows(p[2], n)
	key, _ := a.orderFields(p[3], p[4])
	if size == 4 {
		keys := a.halves(p[0], n)
		for i := int64(0); i < n && a.err == nil; i++ {
			keys[i] = uint32(key(row(i)))
		}
		return a.err
	}
	keys := a.words(p[0], n)
	for i := int64(0); i < n && a.err == nil; i++ {
		keys[i] = key(row(i))
	}
	return a.err
}

func orderSelect(m *Memory, p []int64) error {
	a, shift := arguments{m: m}, uint(p[2])
	keys, state := a.words(p[0], p[1]), a.words(p[3], service.SelectState)
	if a.err != nil {
		return a.err
	}
	if err := wantZero("counters", state[2:]); err != nil {
		return err
	}
	var counts [1 << service.SelectBits]uint64
	for _, k := range keys {
		if k>>shift>>service.SelectBits == state[0] {
			counts[k>>shift&(1<<service.SelectBits-1)]++
		}
	}
	for d, c := range counts {
		if state[1] <= c {
			state[0] = state[0]<<service.SelectBits | uint64(d)
			return nil
		}
		state[1] -= c
	}
	return fmt.Errorf("place %d of %d keys", state[1], len(keys))
}

func orderUpTo(m *Memory, p []int64) error {
	a, most := arguments{m: m}, p[1]
	keys, state, count := a.words(p[2], p[3]), a.words(p[4], service.SelectState), a.words(p[5], 1)
	rows := a.halves(p[0], most)
	if a.err != nil {
		return a.err
	}
	for i, k := range keys {
		if k > state[0] {
			continue
		}
		if count[0] < uint64(most) {
			rows[count[0]] = uint32(i)
		}
		count[0]++
	}
	return nil
}

func orderRank(m *Memory, p []int64) error {
	a, levels, n, limit := arguments{m: m}, p[3], p[4], p[5]
	to, row, keys := a.halves(p[0], min(n, limit)), a.rows(p[1], n), a.words(p[2], levels*n)
	if a.err != nil {
		return a.err
	}
	for i := range n {
		rank := int64(0)
		for j := range n {
			less := j < i
			for l := range levels {
				if mine, other := keys[l*n+i], keys[l*n+j]; mine != other {
					less = other < mine
					break
				}
			}
			if less {
				rank++
			}
		}
		if rank < limit {
			to[rank] = uint32(row(i))
		}
	}
	return nil
}

func orderHeads(m *Memory, p []int64) error {
	a, n := arguments{m: m}, p[4]
	heads, row := a.words(p[0], n), a.rows(p[1], n)
	_, equal := a.orderFields(p[2], p[3])
	for i := int64(0); i < n && a.err == nil; i++ {
		heads[i] = 1
		if i > 0 && equal(row(i-1), row(i)) {
			heads[i] = 0
		}
	}
	return a.err
}

func orderStarts(m *Memory, p []int64) error {
	a, n := arguments{m: m}, p[2]
	groups := a.words(p[1], n)
	if a.err != nil || n == 0 {
		return a.err
	}
	starts := a.words(p[0], int64(groups[n-1]))
	for i, g := range groups {
		if a.err == nil && (i == 0 || groups[i-1] != g) {
			starts[g-1] = uint64(i)
		}
	}
	return a.err
}

func orderPlaces(m *Memory, p []int64) error {
	a, n := arguments{m: m}, p[2]
	groups := a.words(p[0], n)
	var starts []uint64
	if n > 0 && a.err == nil {
		starts = a.words(p[1], int64(groups[n-1]))
	}
	if a.err != nil {
		return a.err
	}
	for i, g := range groups {
		groups[i] = uint64(i) - starts[g-1]
	}
	return nil
}

func orderBelow(m *Memory, p []int64) error {
	words, err := m.Words(p[0], p[2])
	for i, w := range words {
		words[i] = 0
		if w < uint64(p[1]) {
			words[i] = 1
		}
	}
	return err
}

func orderKeep(m *Memory, p []int64) error {
	a, n := arguments{m: m}, p[3]
	row, sums := a.rows(p[1], n), a.words(p[2], n+1)
	if a.err != nil {
		return a.err
	}
	to := a.halves(p[0], int64(sums[n]))
	for i := int64(0); i < n && a.err == nil; i++ {
		if sums[i+1] != sums[i] {
			to[sums[i]] = uint32(row(i))
		}
	}
	return a.err
}

func orderMove(m *Memory, p []int64) error {
	a, n, first := arguments{m: m}, p[3], p[4]
	row := a.rows(p[2], n)
	for all := a.words(p[0], service.MovedColumnWords*p[1]); len(all) > 0 &&
		a.err == nil; all = all[service.MovedColumnWords:] {
		read := a.column(int64(all[0]), int64(all[1]), int64(all[2]), int64(all[3]))
		to, base, width, inOrder := int64(all[4]), int64(all[5]), int64(all[6]), all[7] != 0
		if width == 0 || n == 0 {
			continue
		}
		into, err := m.Bytes(cuda.Pointer(to+first*width), uint64(n*width))
		if err != nil {
			return err
		}
		for i := int64(0); i < n && a.err == nil; i++ {
			from := i
			if !inOrder {
				from = row(i)
			}
			offset := uint64(read(from) - base)
			for b := range width {
				into[i*width+b] = byte(offset >> (8 * b))
			}
		}
	}
	return a.err
}

func orderUnpack(m *Memory, p []int64) error {
	a, lowBits, n, first := arguments{m: m}, uint(p[4]), p[5], p[6]
	key := func(i int64) uint64 { return 0 }
	switch {
	case p[2] == 0:
	case p[3] == service.Together:
		words := a.words(p[2], n)
		key = func(i int64) uint64 { return words[i] }
	case p[3] == 0:
		low := a.halves(p[2], n)
		key = func(i int64) uint64 { return uint64(low[i]) }
	default:
		low, high := a.halves(p[2], n), a.halves(p[3], n)
		key = func(i int64) uint64 { return uint64(low[i]) | uint64(high[i])<<lowBits }
	}
	for all := a.words(p[0], service.UnpackedColumnWords*p[1]); len(all) > 0 &&
		a.err == nil; all = all[service.UnpackedColumnWords:] {
		kind, start, descends, bits, at := int64(all[0]), int64(all[1]), all[2] != 0, int64(all[3]),
			uint(all[4])
		to, base, width := int64(all[5]), int64(all[6]), int64(all[7])
		if width == 0 || n == 0 {
			continue
		}
		into, err := m.Bytes(cuda.Pointer(to+first*width), uint64(n*width))
		if err != nil {
			return err
		}
		for i := range n {
			number := int64(key(i) >> at & (1<<uint(bits) - 1))
			if descends {
				number = -number
			}
			offset := uint64(mapped(start+number, kind) - base)
			for b := range width {
				into[i*width+b] = byte(offset >> (8 * b))
			}
		}
	}
	return a.err
}

func orderNumbers(m *Memory, p []int64) error {
	to, base, width, n, first := p[0], p[1], p[2], p[3], p[4]
	if n == 0 {
		return nil
	}
	if to%16 != 0 {
		return fmt.Errorf("a column at %#x", to)
	}
	into, err := m.Bytes(cuda.Pointer(to+first*width), uint64(n*width))
	if err != nil {
		return err
	}
	for i := range n {
		for b := range width {
			into[i*width+b] = byte(uint64(i-base) >> (8 * b))
		}
	}
	return nil
}
