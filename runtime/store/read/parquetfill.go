package read

import (
	"math"
	"slices"
	"sync"

	"github.com/redfoxdb/redfox/internal/hugepage"
	"github.com/redfoxdb/redfox/internal/parquet"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// If the statistics of all row groups bound the words of a field, its column is
// allocated first, and the words are decoded into it. If statistics turn out to
// be wrong, the file is read again without relying on them.

// fieldFiller allocates the column of a field when its first chunk is read.
type fieldFiller struct {
	once      sync.Once
	least     int64
	most      int64
	mayAscend bool
	filler    *store.Filler
	err       error
}

// planFillers finds the fields whose words the statistics bound.
func (p *parquetLoad) planFillers() {
	p.fillers = make([]*fieldFiller, len(p.fields))
	if p.source.distrusted || p.opts.OnError == Skip {
		return
	}
	for i := range p.fields {
		p.fillers[i] = p.planFiller(i)
	}
}

// planFiller returns nil if a column cannot be filled, or if its words may have
// a common step that makes them narrower.
func (p *parquetLoad) planFiller(i int) *fieldFiller {
	d := p.decoders[i]
	if t := d.field.typ; t.Kind != scalar.Int && t.Kind != scalar.Decimal ||
		t.Word != scalar.Whole || d.from.unsigned {
		return nil
	}
	out := &fieldFiller{least: math.MaxInt64, most: math.MinInt64, mayAscend: true}
	var words []int64
	for g := range p.file.Groups {
		s := p.file.Groups[g].Chunks[d.field.index].Meta.Statistics
		if s == nil || d.column.Definition > 0 && (s.Nulls == nil || *s.Nulls > 0) {
			return nil
		}
		least, most, ok := d.bounds(s.Min, s.Max)
		if !ok {
			return nil
		}
		out.mayAscend = out.mayAscend && (g == 0 || out.most <= least)
		out.least, out.most = min(out.least, least), max(out.most, most)
		words = append(words, least, most)
	}
	if out.least >= out.most {
		return nil
	}
	span := uint64(out.most) - uint64(out.least)
	step := uint64(1)
	if d.field.typ.Kind == scalar.Decimal {
		step = store.StepOf(words, out.least)
	}
	if width := store.WidthOf(span); width != store.FillerWidth ||
		store.WidthOf(span/step) != width {
		return nil
	}
	return out
}

// bounds converts PLAIN bounds of a column of integers to words.
func (d *parquetField) bounds(least, most []byte) (lo, hi int64, ok bool) {
	size := 4
	if d.column.Type == parquet.Int64 {
		size = 8
	}
	if d.column.Type != parquet.Int32 && d.column.Type != parquet.Int64 || len(least) != size ||
		len(most) != size {
		return 0, 0, false
	}
	r := &columnReader{parquetField: d, part: &columnPart{}}
	var words [2]int64
	for i, b := range [...][]byte{least, most} {
		v := parquet.Values{Plain: b}
		if r.plain(words[i:i+1], &v, r.refuser(0)) != nil {
			return 0, 0, false
		}
	}
	return words[0], words[1], len(r.part.bad) == 0 && words[0] <= words[1]
}

// filler returns the column that a field is decoded into, or nil.
func (p *parquetLoad) filler(i int) (*store.Filler, error) {
	f := p.fillers[i]
	if f == nil {
		return nil, nil
	}
	f.once.Do(func() {
		f.filler, f.err = store.NewFiller(p.fields[i].typ, int(p.file.Rows), f.least, f.most,
			p.ledger, p.names[i])
	})
	return f.filler, f.err
}

// fill decodes n rows into the column. It returns errUnread if the statistics
// are wrong.
func (r *columnReader) fill(v *parquet.Values, n int) error {
	at := r.firstRow + r.part.rows
	if v.Coded {
		places := r.room.places[:n]
		if err := v.Numbers.Read(places); err != nil {
			return err
		}
		if !r.filler.Places(at, places, r.room.entries) {
			return r.beyondDictionary()
		}
		return nil
	}
	ok := false
	if r.column.Type == parquet.Int64 && r.up == 1 && r.down == 1 &&
		(r.to.Kind == scalar.Decimal || r.to.Bits == 64) {
		if len(v.Plain)/8 < n {
			return errShortPage
		}
		ok = r.filler.Int64s(at, n, v.Plain)
		v.Plain = v.Plain[8*n:]
	} else {
		words := r.room.words[:n]
		if err := r.plain(words, v, r.refuser(r.part.rows)); err != nil {
			return err
		}
		ok = len(r.part.bad) == 0 && r.filler.Words(at, words)
	}
	if !ok {
		return errUnread
	}
	return nil
}

// fillDictionary computes the entries of the words of a dictionary.
func (r *columnReader) fillDictionary() error {
	n := len(r.dict.words)
	r.room.entries = hugepage.Advise(slices.Grow(r.room.entries[:0], n)[:n])
	if !r.filler.Entries(r.room.entries, r.dict.words) || r.dict.refused != nil {
		return errUnread
	}
	return nil
}
