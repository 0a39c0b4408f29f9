package gpu

import (
	"slices"

	"github.com/redfoxdb/redfox/primitives/service"
)

// Sorts of all rows of a relation: passes over keys of 32 bits, each with a payload of as
// many, by the kernels of package service.

// sort puts all rows in order: by 32 bits of the keys at a time, the lowest first.
func (o *ordering) sort() error {
	levels, last := o.levels(32)
	switch {
	case len(levels) == 0:
		return nil // all rows are the same
	case o.all && o.alone && len(levels) <= 2:
		return o.sortKeys(levels, last)
	}
	keys, err := o.words()
	if err != nil {
		return err
	}
	rows, err := o.words()
	if err != nil {
		return err
	}
	rows.at = 0
	p, err := o.newPairs()
	if err != nil {
		return err
	}
	for at := len(levels) - 1; at >= 0; at-- {
		width := int64(32)
		if at == len(levels)-1 {
			width = last
		}
		if err := o.keys(keys.at, 4, levels[at], o.rows, o.n); err != nil {
			return err
		}
		if err := p.sort(&keys, &rows, 0, width); err != nil {
			return err
		}
		o.rows = rows.buffers[0]
	}
	return nil
}

// sortKeys puts the keys of all rows in order, of two levels at most, which tell all of
// the rows: what is not a digit goes along as the payload, and no row is looked up. Bits
// that others determine are no digits. The keys of one level go alone.
func (o *ordering) sortKeys(levels [][]service.OrderField, last int64) error {
	lowest, highest := levels[len(levels)-1], levels[:len(levels)-1]
	var err error
	if o.low, err = o.level(lowest); err != nil {
		return err
	}
	if len(highest) > 0 {
		if o.high, err = o.level(highest[0]); err != nil {
			return err
		}
	}
	p, err := o.newPairs()
	if err != nil {
		return err
	}
	o.packed, o.lowBits = true, last
	if len(highest) == 0 {
		o.low.to = o.target(lowest)
		return p.sort(&o.low, &o.high, 0, last)
	}
	if err := p.sort(&o.low, &o.high, o.rest, last); err != nil {
		return err
	}
	o.low.to, o.high.to = o.target(lowest), o.target(highest[0])
	return p.sort(&o.high, &o.low, o.rest-last, 32)
}

// words are n words of 32 bits that passes of a sort move between two buffers.
type words struct {
	at      int64 // where they are; as payloads they are the numbers of rows at 0
	buffers [2]buffer
	to      int64 // where the last pass puts them, if not 0
}

func (o *ordering) words() (w words, err error) {
	for i := range w.buffers {
		if w.buffers[i], err = o.memory(4 * o.n); err != nil {
			return w, err
		}
	}
	w.at = w.buffers[0].word()
	return w, nil
}

// next returns where a pass moves the words.
func (w *words) next(last bool) int64 {
	if last && w.to != 0 {
		return w.to
	}
	w.buffers[0], w.buffers[1] = w.buffers[1], w.buffers[0]
	return w.buffers[0].word()
}

// level makes the keys of a level of 32 bits. A column that is these stays where it is.
func (o *ordering) level(level []service.OrderField) (words, error) {
	w, err := o.words()
	if err != nil {
		return w, err
	}
	if f, ok := only(level); ok && f.Width == 4 && f.Step == 1 && f.Base == f.First {
		w.at = f.Data
		return w, nil
	}
	return w, o.keys(w.at, 4, level, buffer{}, o.n)
}

// target returns where the column is to go that the keys of a level are, word for word; 0
// if they are none, or not all are to go there.
func (o *ordering) target(level []service.OrderField) int64 {
	f, ok := only(level)
	if !ok || o.most < o.n {
		return 0
	}
	c := o.to.cols[o.columnOf(f)]
	if c.Width != 4 || c.Base != f.First {
		return 0
	}
	return c.data.word() + 4*o.to.most
}

// columnOf returns the column of a field.
func (o *ordering) columnOf(f service.OrderField) int {
	return o.bits[slices.IndexFunc(o.bits, func(b orderBits) bool { return b.At == 0 && b.Data == f.Data && b.bits >= f.Bits })].col
}

// only returns the field of a level that has no other, if its numbers are the distances of
// the column's words from the first one.
func only(level []service.OrderField) (f service.OrderField, ok bool) {
	f = level[0]
	return f, len(level) == 1 && f.Kind == service.OrderSigned && !f.Descends && f.Drop == 0
}

// pairs sorts keys of 32 bits with payloads of 32 bits.
type pairs struct {
	*ordering
	zeroed buffer // the counts of keys, and the scratch of each pass
	each   int64  // bytes of the scratch of a pass
}

const pairPasses, pairDigit = 4, 8

func (o *ordering) newPairs() (p pairs, err error) {
	p.ordering, p.each = o, service.PairsScratch(o.n)
	p.zeroed, err = o.memory(8*service.PairsCounts + pairPasses*p.each)
	return p, err
}

// sort puts keys in order by their bits from from, or 0, until until, and payloads, if there
// are buffers for them, with the keys.
func (p pairs) sort(keys, payloads *words, from, until int64) error {
	if from >= until {
		return nil
	}
	if err := p.zero(p.zeroed); err != nil {
		return err
	}
	if err := p.launch(service.PairsCount(keys.at, p.n, p.zeroed.word())); err != nil {
		return err
	}
	scratch := p.zeroed.word() + 8*service.PairsCounts
	for shift := max(0, from/pairDigit*pairDigit); shift < until; shift += pairDigit {
		last := shift+pairDigit >= until
		keysTo, payloadsTo := keys.next(last), payloads.next(last)
		if err := p.launch(service.PairsMove(keysTo, payloadsTo, keys.at, payloads.at, p.n, shift, p.zeroed.word(), scratch)); err != nil {
			return err
		}
		keys.at, payloads.at = keysTo, payloadsTo
		scratch += p.each
	}
	return nil
}
