package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/redfoxdb/redfox/runtime/gpu/device"
)

// past is what one run has left for later processes.
type past struct {
	facts Facts
	sizes []Size // of History.variables
	// The remaining fields are zero if the facts have no digest.
	peak int64  // device memory, in bytes
	rest []byte // an encoded detail
}

// detail is the part of a past that only a replay needs.
type detail struct {
	slab     int64
	launches []device.LaunchShape
	numbers  *numbers // or nil
}

// Facts identifies the facts of a run.
type Facts struct {
	Rows int64 // the rows of all relations
	// Digest is a digest of the facts, or zero if computing it is not worth its
	// time.
	Digest [sha256.Size]byte
}

// mostPast bounds the size of a program's records, in bytes.
const mostPast = 8 << 20

// append encodes the past for reader.past.
func (p *past) append(b []byte) []byte {
	b = binary.AppendVarint(b, p.facts.Rows)
	b = append(b, p.facts.Digest[:]...)
	b = binary.AppendUvarint(b, uint64(len(p.sizes)))
	for _, s := range p.sizes {
		b = binary.AppendVarint(binary.AppendVarint(b, s.Rows), s.Slack)
	}
	b = binary.AppendVarint(b, p.peak)
	b = binary.AppendUvarint(b, uint64(len(p.rest)))
	return append(b, p.rest...)
}

// bytes encodes the detail for parseDetail. The counters of a point are stored
// as differences to those of the point before, because most differences are 0.
func (d *detail) bytes() []byte {
	b := binary.AppendVarint(nil, d.slab)
	b = binary.AppendUvarint(b, uint64(len(d.launches)))
	for _, s := range d.launches {
		for _, word := range []int64{s.Blocks, s.Words, s.Tiles, s.Sharing, s.Tile} {
			b = binary.AppendVarint(b, word)
		}
	}
	if d.numbers == nil || len(d.numbers.points) == 0 {
		return binary.AppendUvarint(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(d.numbers.points)))
	width := len(d.numbers.at[0])
	b = binary.AppendUvarint(b, uint64(width))
	var last point
	before := make([]int64, width)
	for i, at := range d.numbers.points {
		b = binary.AppendVarint(b, at.command-last.command)
		b = binary.AppendVarint(b, at.launches)
		last = at
		for j, n := range d.numbers.at[i] {
			b = binary.AppendVarint(b, n-before[j])
		}
		before = d.numbers.at[i]
	}
	return b
}

// reader decodes values from the front of bytes. If the bytes are too short or
// malformed, bad is set and all further values are zero.
type reader struct {
	rest []byte
	bad  bool
}

// number returns a number between 0 and most.
func (r *reader) number(most int64) int64 {
	v := r.signed()
	r.bad = r.bad || v < 0 || v > most
	if r.bad {
		return 0
	}
	return v
}

func (r *reader) signed() int64 {
	v, n := binary.Varint(r.rest)
	if r.bad = r.bad || n <= 0; r.bad {
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// take returns the next n bytes.
func (r *reader) take(n int) []byte {
	if r.bad = r.bad || n > len(r.rest); r.bad {
		return nil
	}
	out := r.rest[:n:n]
	r.rest = r.rest[n:]
	return out
}

// length returns the number of items that follow. Each takes at least one byte.
func (r *reader) length() int {
	v, n := binary.Uvarint(r.rest)
	if r.bad = r.bad || n <= 0 || v > uint64(len(r.rest)-n); r.bad {
		return 0
	}
	r.rest = r.rest[n:]
	return int(v)
}

// past decodes what a run has left of a graph with that many variables.
func (r *reader) past(variables int) *past {
	p := &past{}
	p.facts.Rows = r.number(math.MaxInt64)
	copy(p.facts.Digest[:], r.take(len(p.facts.Digest)))
	if n := r.length(); n != variables {
		r.bad = true
		return nil
	}
	p.sizes = make([]Size, variables)
	for i := range p.sizes {
		p.sizes[i] = Size{Rows: r.number(math.MaxUint32), Slack: r.number(math.MaxUint32)}
	}
	p.peak = r.number(math.MaxInt64)
	p.rest = r.take(r.length())
	return p
}

// parseDetail decodes what detail.bytes encodes. It returns nil if data is
// malformed.
func parseDetail(data []byte) *detail {
	r := &reader{rest: data}
	d := &detail{slab: r.number(device.MostSlab)}
	words := int64(0)
	for range r.length() {
		s := device.LaunchShape{Blocks: r.number(device.MostStates),
			Words: r.number(device.MostStates), Tiles: r.number(math.MaxUint32),
			Sharing: r.number(math.MaxUint32), Tile: r.number(math.MaxUint32)}
		words += s.Blocks * s.Words
		if r.bad || s.Sharing == 0 || s.Tile == 0 || words > device.MostStates {
			return nil
		}
		d.launches = append(d.launches, s)
	}
	d.numbers = r.numbers()
	if r.bad || len(r.rest) > 0 {
		return nil
	}
	return d
}

func (r *reader) numbers() *numbers {
	points := r.length()
	if r.bad || points == 0 {
		return nil
	}
	width := r.length()
	if r.bad = r.bad || width == 0 || int64(points)*int64(width) > mostNumbers; r.bad {
		return nil
	}
	made := &numbers{}
	var last point
	before := make([]int64, width)
	for range points {
		at := point{last.command + r.number(math.MaxInt32), r.number(math.MaxInt32)}
		if r.bad = r.bad || len(made.points) > 0 && !last.before(at); r.bad {
			return nil
		}
		row := make([]int64, width)
		for i := range row {
			row[i] = before[i] + r.signed()
			r.bad = r.bad || row[i] < 0
		}
		made.points, made.at = append(made.points, at), append(made.at, row)
		last, before = at, row
	}
	return made
}
