package native

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/bitrows"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// bitRows is a form of a multi index: for each key, a bit for each value of one
// column (runtime/bitrows). It grows with the relation.
type bitRows struct {
	account.Region
	col        int // the column of the relation
	base       int64
	width      int   // words of bits for each key
	until      int64 // the bits cover the rows before this one
	generation int   // the generation of the relation
	on         bool  // the running kernel joins by them
}

// seen records, for one column of a relation's tuples, which bits of each word
// joins by bits have found before.
type seen struct {
	account.Region
	on bool
}

// bitJoin is the choice of a kernel between joining by bits and by rows.
type bitJoin struct {
	index  *index
	out    *relation
	col    int // the column of the index's relation
	outCol int
}

// bitJoin returns the choice of a kernel's function, or nil if the function can
// only join by rows.
func (b *boundEntry) bitJoin() *bitJoin {
	j := &bitJoin{}
	for _, p := range b.params {
		switch p.Kind {
		case abi.IndexBitRows:
			j.index, j.col = p.Of.(*index), p.Index
		case abi.SetSeen:
			j.out, j.outCol = p.Of.(*relation), p.Index
		}
	}
	if j.index == nil || j.out == nil || j.out.set == nil || j.index.Decl.Version == harmony.Delta {
		return nil
	}
	return j
}

// choose decides between bits and rows.
func (j *bitJoin) choose(mem *account.Memory) error {
	lay, set := j.index.Lay, j.out.set.lay
	until := int(j.index.Until)
	if set.Parted || set.Size == 0 || lay.Size == 0 || lay.ByRow ||
		j.index.Form == abi.Wide || j.index.Form == abi.None {
		return nil
	}
	field := set.Fields[j.outCol]
	// The other columns of a tuple are packed without a gap.
	join := bitrows.Join{Keys: lay.Size, Values: 1 << field.Bits,
		Rests: max(set.Size>>field.Bits, uint64(1)<<field.Shift)}
	if !join.Pays(until) {
		return nil
	}
	b, s := j.index.bitRowsOf(j.col, field.Base, join.Width()), j.out.seenOf(j.outCol)
	missing := 0
	for r, n := range map[*account.Region]int{&b.Region: join.RowsWords(),
		&s.Region: join.SeenWords()} {
		if r.Data == nil {
			missing += 8 * n
		}
	}
	if !join.Fits(j.index.rel.bytes()+j.out.bytes(), int64(missing), mem.Room()) {
		return nil
	}
	if b.Data == nil {
		if err := b.Alloc(mem, j.index.What, 8*join.RowsWords()); err != nil {
			return err
		}
		bitrows.NewRows(account.Words(&b.Region), join)
	}
	if s.Data == nil {
		if err := s.Alloc(mem, j.out.What, 8*join.SeenWords()); err != nil {
			return err
		}
		bitrows.NewSeen(account.Words(&s.Region), join)
	}
	b.extend(j.index, int64(until))
	b.on, s.on = true, true
	return nil
}

// bytes returns the size of a relation's tuples.
func (r *relation) bytes() int64 { return r.gauge.cursor * int64(r.rowBytes()) }

// bitRowsOf returns the bits of a column. They may be empty.
func (x *index) bitRowsOf(col int, base int64, width int) *bitRows {
	for _, b := range x.bits {
		if b.col == col && b.base == base && b.width == width {
			return b
		}
	}
	b := &bitRows{col: col, base: base, width: width}
	x.bits = append(x.bits, b)
	return b
}

// seenOf returns the bits found before for a column of the relation.
func (r *relation) seenOf(col int) *seen {
	if r.seen == nil {
		r.seen = make([]seen, len(r.cols))
	}
	return &r.seen[col]
}

// extend adds the rows of the relation before row until.
func (b *bitRows) extend(x *index, until int64) {
	rows := bitrows.Rows{Words: account.Words(&b.Region), Width: b.width}
	if b.generation != x.rel.Generation || b.until > until {
		rows.Clear()
		b.until, b.generation = 0, x.rel.Generation
	}
	var block, packed [1024]int64
	for b.until < until {
		n := int(min(until-b.until, int64(len(block))))
		clear(packed[:n])
		for i, f := range x.Lay.Fields {
			x.rel.cols[x.Decl.Key[i]].Read(block[:n], int(b.until))
			for k, w := range block[:n] {
				packed[k] |= (w - f.Base) << (f.Shift & 63)
			}
		}
		x.rel.cols[b.col].Read(block[:n], int(b.until))
		for k, w := range block[:n] {
			rows.Enter(uint64(packed[k]), uint64(w-b.base))
		}
		b.until += int64(n)
	}
}

// done ends the use of the bits after the kernel has run.
func (j *bitJoin) done() {
	for _, b := range j.index.bits {
		b.on = false
	}
	j.out.seenOf(j.outCol).on = false
}

// noRuns are the runs of an index whose kernel joins by bits.
var noRuns machine.Runs[*index]

// runsOf returns the runs of an index that a kernel iterates over.
func (x *index) runsOf(j *bitJoin) *machine.Runs[*index] {
	if j != nil && j.index == x && x.joinsByBits() {
		return &noRuns
	}
	return &x.runs
}

func (x *index) joinsByBits() bool {
	for _, b := range x.bits {
		if b.on {
			return true
		}
	}
	return false
}

// bitWord returns the value of the parameter abi.IndexBitRows.
func (x *index) bitWord(col int) int64 {
	for _, b := range x.bits {
		if b.on && b.col == col {
			return b.Address()
		}
	}
	return 0
}

// forgetSeen clears what joins have found, because the relation has become
// empty. With free, it frees the memory.
func (r *relation) forgetSeen(free bool) {
	for i := range r.seen {
		s := &r.seen[i]
		if free {
			s.Free()
		} else if s.Data != nil {
			bitrows.Seen{Words: account.Words(&s.Region)}.Clear()
		}
	}
}
