package native

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// bitRows are the rows of an index as bits: for each key those of the words of
// a column, as primitives/src/bitrows.h has them. They grow with the relation.
type bitRows struct {
	account.Region
	col        int // of the relation
	base       int64
	width      int64 // words of bits
	until      int64 // row of the relation up to which they have its rows
	generation int   // of the relation
	on         bool  // whether the kernel that runs joins by them
}

// headWords are the words before the bits.
const headWords = 8

// seen are the bits of the words that joins by bit rows have found for a column
// of a relation's tuples.
type seen struct {
	account.Region
	on bool
}

// bitJoin is the choice between bit rows and rows that a kernel has.
type bitJoin struct {
	index  *index
	out    *relation
	col    int // of the index's relation
	outCol int
}

// bitJoin returns the choice that a kernel's function has, nil if it has none.
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

const (
	// smallBitRows is the size in bytes up to which bit rows are made whatever
	// the size of the relations.
	smallBitRows = 32 << 20
	// wordsOfMatch is how many words of bits are looked at in the time that a
	// match takes which is a row.
	wordsOfMatch = 8
)

// choose decides between bit rows and rows. Bit rows are less work where the
// index has many rows for a key. They take at most the memory of the relations,
// or smallBitRows, and a quarter of what is free.
func (j *bitJoin) choose(mem *account.Memory) error {
	lay, set := j.index.Lay, j.out.set.lay
	_, until := j.index.rel.version(j.index.Decl.Version)
	if set.Parted || set.Size == 0 || lay.Size == 0 || lay.ByRow ||
		j.index.Form == abi.Wide || j.index.Form == abi.None {
		return nil
	}
	field := set.Fields[j.outCol]
	width := (int64(1)<<field.Bits + 63) / 64
	// The other columns of a tuple, packed without a gap.
	rests := max(set.Size>>field.Bits, uint64(1)<<field.Shift)
	const most = 1 << 32
	if lay.Size > most || rests > most || uint64(until) < lay.Size/wordsOfMatch*uint64(width) {
		return nil
	}
	bytes := 8 * (headWords + int64(lay.Size)*(width+1))
	seenBytes := 8 * (headWords + int64(rests)*width)
	held := j.index.rel.bytes() + j.out.bytes()
	b, s := j.index.bitRowsOf(j.col, field.Base, width), j.out.seenOf(j.outCol)
	if bytes+seenBytes > max(smallBitRows, held) {
		return nil
	}
	want := int64(0)
	for r, n := range map[*account.Region]int64{&b.Region: bytes, &s.Region: seenBytes} {
		if r.Data == nil {
			want += n
		}
	}
	if want > 0 && want > mem.Room()/4 {
		return nil
	}
	if b.Data == nil {
		if err := b.Alloc(mem, j.index.What, int(bytes)); err != nil {
			return err
		}
		words := account.Words(&b.Region)
		words[0] = lay.Size
	}
	if s.Data == nil {
		if err := s.Alloc(mem, j.out.What, int(seenBytes)); err != nil {
			return err
		}
		account.Words(&s.Region)[0] = rests
	}
	b.extend(j.index, int64(until))
	b.on, s.on = true, true
	return nil
}

// bytes is the size of a relation's tuples.
func (r *relation) bytes() int64 { return r.gauge.cursor * int64(r.rowBytes()) }

// bitRowsOf returns the bit rows of a column, which may be empty.
func (x *index) bitRowsOf(col int, base, width int64) *bitRows {
	for _, b := range x.bits {
		if b.col == col && b.base == base && b.width == width {
			return b
		}
	}
	b := &bitRows{col: col, base: base, width: width}
	x.bits = append(x.bits, b)
	return b
}

// seenOf returns what has been found of a column of the relation's tuples.
func (r *relation) seenOf(col int) *seen {
	if r.seen == nil {
		r.seen = make([]seen, len(r.cols))
	}
	return &r.seen[col]
}

// extend enters rows of the relation up to one. Words that are out of bounds
// are in no tuple.
func (b *bitRows) extend(x *index, until int64) {
	words := account.Words(&b.Region)
	if b.generation != x.rel.Generation || b.until > until {
		clear(words[1:])
		b.until, b.generation = 0, x.rel.Generation
	}
	var block, packed [1024]int64
	for b.until < until {
		n := int(min(until-b.until, int64(len(block))))
		clear(packed[:n])
		valid := true
		for i, f := range x.Lay.Fields {
			x.rel.cols[x.Decl.Key[i]].Read(block[:n], int(b.until))
			for k, w := range block[:n] {
				packed[k] |= (w - f.Base) << (f.Shift & 63)
			}
		}
		x.rel.cols[b.col].Read(block[:n], int(b.until))
		for k, w := range block[:n] {
			key, bit := uint64(packed[k]), uint64(w-b.base)
			if valid = key < x.Lay.Size && bit < uint64(64*b.width); !valid {
				continue
			}
			row := words[headWords+key*uint64(b.width+1):][:b.width+1]
			at := bit / 64
			row[1+at] |= 1 << (bit % 64)
			from, end := row[0]&(1<<32-1), row[0]>>32
			if end == 0 {
				from = at
			}
			row[0] = min(from, at) | max(end, at+1)<<32
		}
		b.until += int64(n)
	}
}

// done says that the kernel has run.
func (j *bitJoin) done() {
	for _, b := range j.index.bits {
		b.on = false
	}
	j.out.seenOf(j.outCol).on = false
}

// noRuns are those of an index whose kernel joins by bit rows.
var noRuns machine.Runs[*index]

// runsOf returns the runs of an index that a kernel goes through.
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

// bitWord returns the word of abi.IndexBitRows.
func (x *index) bitWord(col int) int64 {
	for _, b := range x.bits {
		if b.on && b.col == col {
			return b.Address()
		}
	}
	return 0
}

// forgetSeen empties what has been found, as the relation has become empty.
func (r *relation) forgetSeen(free bool) {
	for i := range r.seen {
		s := &r.seen[i]
		if free {
			s.Free()
		} else if s.Data != nil {
			clear(account.Words(&s.Region)[1:])
		}
	}
}
