package fsst

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
)

const (
	// escape stands before a byte that is no symbol.
	escape = 255
	// longest is the length of the longest symbol, in bytes.
	longest = 8
	rounds  = 5 // of training
)

// symbol is a string of 1 to longest bytes, the first one in the lowest bits.
type symbol struct {
	bytes  uint64
	length uint8
}

func (s symbol) first() byte { return byte(s.bytes) }

// mask has the bits of the bytes of a length.
func mask(length uint8) uint64 { return ^uint64(0) >> (64 - 8*uint(length)) }

// Table is a table of symbols. The code of a symbol is its place.
type Table struct {
	symbols []symbol
	// bytes and lengths are those of the symbol of each code. A code without a
	// symbol has length 0.
	bytes   [256]uint64
	lengths [256]uint8
	// finder is nil in a table that was read.
	finder *finder
}

// finder finds the longest symbol that a text begins with.
type finder struct {
	// long has symbols of three bytes and more, by the hash of the first three:
	// one symbol for each hash.
	long [1 << 12]found
	// short has those of two bytes and of one, by the next two bytes.
	short [1 << 16]uint16
}

type found struct {
	symbol
	code uint16
}

// none is the code of a byte that is no symbol.
const none = 256

func hash(three uint64) int { return int(three & 0xffffff * 0x9e3779b97f4a7c15 >> 52) }

// newTable returns the table of symbols, which come in the order of what they
// are worth.
func newTable(symbols []symbol) *Table {
	t := &Table{finder: &finder{}}
	f := t.finder
	for i := range f.short {
		f.short[i] = none
	}
	var two []found
	for _, s := range symbols {
		if len(t.symbols) == escape {
			break
		}
		code := uint16(len(t.symbols))
		switch s.length {
		case 1:
			for next := range 256 {
				f.short[int(s.first())|next<<8] = code
			}
		case 2:
			two = append(two, found{s, code})
		default:
			at := &f.long[hash(s.bytes)]
			if at.length > 0 {
				continue
			}
			*at = found{s, code}
		}
		t.symbols = append(t.symbols, s)
	}
	for _, s := range two {
		f.short[s.bytes] = s.code
	}
	t.complete()
	return t
}

// complete fills what decoding needs.
func (t *Table) complete() {
	for code, s := range t.symbols {
		t.bytes[code], t.lengths[code] = s.bytes, s.length
	}
}

// next returns the code of the longest symbol at the beginning of a text of n
// bytes, or none, and the length of the symbol. Word has its next eight bytes,
// or zeros.
func (t *Table) next(word uint64, n int) (code uint16, length int) {
	f := t.finder
	if s := &f.long[hash(word)]; s.length > 0 && word&mask(s.length) == s.bytes &&
		int(s.length) <= n {
		return s.code, int(s.length)
	}
	if code = f.short[uint16(word)]; code == none {
		return none, 1
	}
	if length = int(t.lengths[code]); length > n {
		// The zero behind the last byte is not part of the text.
		for i, s := range t.symbols {
			if s.length == 1 && s.first() == byte(word) {
				return uint16(i), 1
			}
		}
		return none, 1
	}
	return code, length
}

// wordAt returns the eight bytes from a place on, with zeros behind the text.
func wordAt(text []byte, at int) uint64 {
	if at+8 <= len(text) {
		return binary.LittleEndian.Uint64(text[at:])
	}
	var room [8]byte
	copy(room[:], text[at:])
	return binary.LittleEndian.Uint64(room[:])
}

// counts is how often codes, and pairs of codes, are in a sample. Codes from
// none on are bytes that are no symbols.
type counts struct {
	one  [2 * none]uint32
	pair [2 * none][2 * none]uint32
}

// Train makes a table for texts such as the sample.
func Train(sample []byte) *Table {
	t := newTable(nil)
	c := &counts{}
	for range rounds {
		*c = counts{}
		t.count(sample, c)
		t = newTable(t.best(c))
	}
	return t
}

// count counts the codes of a sample.
func (t *Table) count(sample []byte, c *counts) {
	before := -1
	for at := 0; at < len(sample); {
		code, length := t.next(wordAt(sample, at), len(sample)-at)
		id := int(code)
		single := none + int(sample[at])
		if code == none {
			id = single
		}
		c.one[id]++
		if before >= 0 {
			c.pair[before][id]++
		}
		if length > 1 {
			// Another table may have the first byte by itself.
			c.one[single]++
			if before >= 0 {
				c.pair[before][single]++
			}
		}
		before = id
		at += length
	}
}

// symbolOf returns the symbol of a code of counts.
func (t *Table) symbolOf(id int) symbol {
	if id < none {
		return t.symbols[id]
	}
	return symbol{uint64(id - none), 1}
}

const (
	// leastCount is how often a symbol must be in a sample.
	leastCount = 5
	// boost is what makes single bytes worth more: without them, bytes are
	// escaped.
	boost = 8
)

// best returns the symbols that save the most bytes, of those that the table
// has and those that two of them make.
func (t *Table) best(c *counts) []symbol {
	gains := map[symbol]uint64{}
	for i, n := range c.one {
		if n < leastCount {
			continue
		}
		s := t.symbolOf(i)
		gain := uint64(n) * uint64(s.length)
		if s.length == 1 {
			gain *= boost
		}
		gains[s] += gain
		if s.length == longest {
			continue
		}
		for j, n := range c.pair[i] {
			if n < leastCount {
				continue
			}
			next := t.symbolOf(j)
			both := symbol{s.bytes | next.bytes<<(8*s.length), min(s.length+next.length, longest)}
			gains[both] += uint64(n) * uint64(both.length)
		}
	}
	out := make([]symbol, 0, len(gains))
	for s := range gains {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(gains[b], gains[a]), cmp.Compare(a.bytes, b.bytes),
			cmp.Compare(a.length, b.length))
	})
	return out
}

// Append appends the table as a file has it: the number of symbols, their
// lengths, a byte each, and their bytes.
func (t *Table) Append(dst []byte) []byte {
	dst = append(dst, byte(len(t.symbols)))
	for _, s := range t.symbols {
		dst = append(dst, s.length)
	}
	for _, s := range t.symbols {
		dst = append(dst, binary.LittleEndian.AppendUint64(nil, s.bytes)[:s.length]...)
	}
	return dst
}

var errTable = errors.New("this is no table of symbols")

// Read returns the table that Append has written. It only decodes.
func Read(src []byte) (*Table, error) {
	if len(src) == 0 || int(src[0]) >= len(src) || src[0] > escape {
		return nil, errTable
	}
	n := int(src[0])
	lengths, bytes := src[1:1+n], src[1+n:]
	t := &Table{}
	for _, length := range lengths {
		if length < 1 || length > longest || int(length) > len(bytes) {
			return nil, errTable
		}
		t.symbols = append(t.symbols, symbol{wordAt(bytes[:length], 0), length})
		bytes = bytes[length:]
	}
	if len(bytes) > 0 {
		return nil, errTable
	}
	t.complete()
	return t, nil
}
