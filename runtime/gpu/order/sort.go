package order

import (
	"cmp"
	"math"
	"slices"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/primitives/service"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/tables"
)

// Sorts of all rows of a relation: passes over keys of 32 bits, each with a
// payload of as many, by the kernels of package service.

// sort orders all rows with a radix sort by 32 bits of the keys at a time,
// least significant first.
func (o *ordering) sort() error {
	levels, last := o.levels(32)
	switch {
	case len(levels) == 0:
		return nil // all rows are the same
	case o.taken != nil && o.alone && len(levels) == 2 && o.asWords(levels, last):
		return o.sortWords()
	case o.taken != nil && o.alone && len(levels) <= 2:
		return o.sortKeys(levels, last)
	}
	p, err := o.newPairs(halfPasses)
	if err != nil {
		return err
	}
	for at := len(levels) - 1; at >= 0; at-- {
		width := int64(32)
		if at == len(levels)-1 {
			width = last
		}
		keys := words{at: p.keys()}
		if err := o.keys(keys.at, 4, levels[at], o.rows, o.n); err != nil {
			return err
		}
		rows := words{at: o.rows.Word()}
		if err := p.sort(&keys, &rows, 0, width); err != nil {
			return err
		}
		o.rows = device.Buffer{At: cuda.Pointer(rows.at), Bytes: 4 * o.n}
	}
	return nil
}

// sortKeys sorts the keys of all rows, which have at most two levels and
// determine the rows, so no row is looked up. The level that is not sorted by
// goes along as the payload. Bits that others determine are not sorted by. Keys
// of one level have no payload.
func (o *ordering) sortKeys(levels [][]service.OrderField, last int64) error {
	p, err := o.newPairs(halfPasses)
	if err != nil {
		return err
	}
	lowest, highest := levels[len(levels)-1], levels[:len(levels)-1]
	if o.low.at, err = o.level(lowest, p.keys()); err != nil {
		return err
	}
	o.packed, o.lowBits = true, last
	if len(highest) == 0 {
		o.low.to = o.target(lowest, 4)
		return p.sort(&o.low, nil, 0, last)
	}
	if o.high.at, err = o.level(highest[0], p.payloads()); err != nil {
		return err
	}
	if err := p.sort(&o.low, &o.high, o.rest, last); err != nil {
		return err
	}
	o.low.to, o.high.to = o.target(lowest, 4), o.target(highest[0], 4)
	if !slices.ContainsFunc(o.to.Cols, func(c *tables.Column) bool { return !o.isPlaced(c) }) {
		o.low.unread, o.high.unread = o.low.to == 0, o.high.to == 0
	}
	return p.sort(&o.high, &o.low, o.rest-last, 32)
}

// asWords reports whether keys of two levels should be sorted as words of 64
// bits. They should if that takes fewer passes, or as many and not both levels
// are columns that can be sorted where they are.
func (o *ordering) asWords(levels [][]service.OrderField, last int64) bool {
	apart := passes(o.rest, last) + passes(o.rest-last, 32)
	together := passes(o.rest, 32+last)
	_, low := only(levels[0])
	_, high := only(levels[1])
	return together < apart || together == apart && !(low && high)
}

// passes returns the number of digits that contain a bit between from and
// until.
func passes(from, until int64) int64 {
	if from >= until {
		return 0
	}
	return (until+pairDigit-1)/pairDigit - max(0, from)/pairDigit
}

// sortWords is sortKeys for keys as words of 64 bits.
func (o *ordering) sortWords() error {
	p, err := o.newPairs(2 * halfPasses)
	if err != nil {
		return err
	}
	levels, width := o.levels(64)
	o.packed, o.low.at, o.high.at = true, p.keys(), service.Together
	if f, ok := only(levels[0]); ok && f.Width == 8 && f.Step == 1 && f.Base == zero(f) {
		o.low.at = f.Data
	} else if err := o.keys(o.low.at, 8, levels[0], device.Buffer{}, o.n); err != nil {
		return err
	}
	o.low.to = o.target(levels[0], 8)
	return p.sort(&o.low, &words{at: service.Together, to: service.Together}, o.rest, width)
}

// words are n words of 32 bits, or of 64 bits if the payloads are Together.
type words struct {
	at int64 // their address; 0 for payloads that are the row numbers
	to int64 // where the last pass of a sort writes them, if not 0
	// unread means that nothing reads them after the last pass.
	unread bool
}

// level computes the 32-bit keys of a level and returns their address. If a
// column already has the form of the keys, that is the column's address.
func (o *ordering) level(level []service.OrderField, to int64) (at int64, err error) {
	if f, ok := only(level); ok && f.Width == 4 && f.Step == 1 && f.Base == zero(f) {
		return f.Data, nil
	}
	return to, o.keys(to, 4, level, device.Buffer{}, o.n)
}

// target returns the address of the column of the destination, of width bytes a
// value, whose words are the keys of a level. It returns 0 if there is none or
// not all rows go to the destination.
func (o *ordering) target(level []service.OrderField, width int) int64 {
	f, ok := only(level)
	if !ok || o.most < o.n {
		return 0
	}
	at := slices.Index(o.taken, o.columnOf(f))
	if at < 0 {
		return 0
	}
	c := o.to.Cols[at]
	if c.Width != width || c.Base != zero(f) {
		return 0
	}
	return c.Data.Word() + int64(width)*o.to.Most
}

// columnOf returns the column of a field.
func (o *ordering) columnOf(f service.OrderField) int {
	return o.bits[slices.IndexFunc(o.bits, func(b orderBits) bool {
		return b.At == 0 && b.Data == f.Data && b.bits >= f.Bits
	})].col
}

// only returns the field of a level that consists of one field, if its numbers
// are the distances of the column's words from the first one.
func only(level []service.OrderField) (f service.OrderField, ok bool) {
	f = level[0]
	return f, len(level) == 1 && f.Kind != service.OrderFloat && !f.Descends && f.Drop == 0
}

// zero returns the word of a column whose number is 0.
func zero(f service.OrderField) int64 {
	if f.Kind == service.OrderUnsigned {
		return f.First ^ math.MinInt64
	}
	return f.First
}

// pairs sorts 32-bit keys with 32-bit payloads. Between passes, a key and its
// payload are adjacent. Before the first pass and after the last, keys and
// payloads are separate arrays: the halves of the first buffer, unless they lie
// elsewhere. Words of 64 bits are pairs that are always adjacent.
type pairs struct {
	*ordering
	buffers [2]device.Buffer
	zeroed  device.Buffer // the histogram of keys, and the scratch memory of each pass
	each    int64         // scratch memory of a pass, in bytes
}

// pairDigit is the number of bits of a digit, and halfPasses the number of
// digits in 32 bits.
const pairDigit, halfPasses = 8, 4

// newPairs allocates the memory of a sort of passes passes.
func (o *ordering) newPairs(passes int64) (p pairs, err error) {
	p.ordering, p.each = o, service.PairsScratch(o.n)
	for i := range p.buffers {
		if p.buffers[i], err = o.memory(8 * o.n); err != nil {
			return p, err
		}
	}
	p.zeroed, err = o.memory(8*service.PairsCounts + passes*p.each)
	return p, err
}

// keys and payloads are the halves of the first buffer.
func (p *pairs) keys() int64     { return p.buffers[0].Word() }
func (p *pairs) payloads() int64 { return p.buffers[0].Word() + 4*p.n }

// sort orders keys by bits from up to until, together with payloads unless they
// are nil. A negative from means 0.
func (p *pairs) sort(keys, payloads *words, from, until int64) error {
	if from >= until {
		return nil
	}
	if err := p.Zero(p.zeroed); err != nil {
		return err
	}
	count := service.PairsCount
	if payloads != nil && payloads.at == service.Together {
		count = service.WordsCount
	}
	if err := p.launch(count(keys.at, p.n, p.zeroed.Word())); err != nil {
		return err
	}
	scratch, alone := p.zeroed.Word()+8*service.PairsCounts, payloads == nil
	if alone {
		payloads = &words{}
	}
	for shift := max(0, from/pairDigit*pairDigit); shift < until; shift += pairDigit {
		p.buffers[0], p.buffers[1] = p.buffers[1], p.buffers[0]
		keysTo, payloadsTo := p.keys(), int64(service.Together)
		if shift+pairDigit >= until {
			keysTo, payloadsTo = cmp.Or(keys.to, p.keys()), cmp.Or(payloads.to, p.payloads())
			if keys.unread {
				keysTo = 0
			}
			if payloads.unread {
				payloadsTo = 0
			}
		}
		if alone {
			payloadsTo = 0
		}
		err := p.launch(service.PairsMove(keysTo, payloadsTo, keys.at, payloads.at, p.n, shift,
			p.zeroed.Word(), scratch))
		if err != nil {
			return err
		}
		keys.at, payloads.at = keysTo, payloadsTo
		scratch += p.each
	}
	return nil
}

// canSort reports whether the device has the sorting kernels, which a driver
// may lack the shared memory for.
func canSort(kernels map[string]driver.Function) bool {
	return kernels[service.PairsMove(0, 0, 0, 0, 0, 0, 0, 0).Kernel] != nil
}
