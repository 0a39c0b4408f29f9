package service

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// unsnap decompresses a text with Snappy's elements, as its format description
// has them, to size bytes. It returns nil if that cannot be done.
func unsnap(in []byte, size int) []byte {
	n, used := binary.Uvarint(in)
	if used <= 0 || used > 5 || n != uint64(size) {
		return nil
	}
	out := make([]byte, 0, size)
	for in = in[used:]; len(in) > 0; {
		tag := int(in[0])
		kind, length, distance, header := tag&3, tag>>2+1, 0, 1
		number := func(bytes int) int {
			if len(in) < header+bytes {
				return -1
			}
			var b [8]byte
			copy(b[:], in[header:header+bytes])
			header += bytes
			return int(binary.LittleEndian.Uint64(b[:]))
		}
		switch {
		case kind == 0 && length > 60:
			length = number(length-60) + 1
		case kind == 1:
			length, distance = 4+tag>>2&7, tag>>5<<8+number(1)
		case kind == 2:
			distance = number(2)
		case kind == 3:
			distance = number(4)
		}
		if header > len(in) || length < 1 || len(out)+length > size {
			return nil
		}
		if in = in[header:]; kind == 0 {
			if length > len(in) {
				return nil
			}
			out, in = append(out, in[:length]...), in[length:]
			continue
		}
		if distance < 1 || distance > len(out) {
			return nil
		}
		for range length {
			out = append(out, out[len(out)-distance])
		}
	}
	if len(out) != size {
		return nil
	}
	return out
}

// elements is a text of random elements of all kinds, and what it is
// decompressed to: about size bytes, of which a share is literals.
func elements(r *rand.Rand, size int, literals float64) (text, out []byte) {
	var body []byte
	for len(out) < size {
		if len(out) == 0 || r.Float64() < literals {
			length := 1 + r.IntN(1<<r.IntN(10))
			kind, tag := r.IntN(5), length-1
			if length > 60 || kind > 0 {
				kind = max(kind, (bits.Len(uint(length-1))+7)/8, 1)
				tag = 59 + kind
			}
			body = append(body, byte(tag<<2))
			for i := range kind {
				body = append(body, byte((length-1)>>(8*i)))
			}
			for range length {
				b := byte(r.Uint32())
				body, out = append(body, b), append(out, b)
			}
			continue
		}
		distance := 1 + r.IntN(min(len(out), 1<<r.IntN(18)))
		length := 1 + r.IntN(64)
		switch kind := 1 + r.IntN(3); {
		case kind == 1 && distance < 2048:
			length = 4 + r.IntN(8)
			body = append(body, byte(1|(length-4)<<2|distance>>8<<5), byte(distance))
		case kind < 3 && distance < 1<<16:
			body = append(body, byte(2|(length-1)<<2), byte(distance), byte(distance>>8))
		default:
			body = binary.LittleEndian.AppendUint32(append(body, byte(3|(length-1)<<2)),
				uint32(distance))
		}
		for range length {
			out = append(out, out[len(out)-distance])
		}
	}
	return append(binary.AppendUvarint(nil, uint64(len(out))), body...), out
}

// hybridOf returns places of width bits as random runs of both kinds.
func hybridOf(r *rand.Rand, places []uint32, width int) (out []byte) {
	for len(places) > 0 {
		if r.IntN(8) == 0 { // of nothing
			out = append(out, byte(r.IntN(2)))
			if out[len(out)-1] == 0 {
				out = append(out, make([]byte, (width+7)/8)...)
			}
		}
		run := 1
		for run < len(places) && places[run] == places[0] {
			run++
		}
		if run >= 1+r.IntN(8) {
			out = binary.AppendUvarint(out, uint64(run)<<1)
			for i := range (width + 7) / 8 {
				out = append(out, byte(places[0]>>(8*i)))
			}
			places = places[run:]
			continue
		}
		groups := 1 + r.IntN(1<<r.IntN(8))
		if most := (len(places) + 7) / 8; groups > most {
			groups = most + r.IntN(3)
		} else if r.IntN(3) == 0 {
			groups = min(63, most)
		}
		out = binary.AppendUvarint(out, uint64(groups)<<1|1)
		packed := make([]byte, groups*width)
		n := min(8*groups, len(places))
		for i, p := range places[:n] {
			for b := range width {
				if p>>b&1 != 0 {
					packed[(i*width+b)/8] |= 1 << ((i*width + b) % 8)
				}
			}
		}
		out, places = append(out, packed...), places[n:]
	}
	return out
}

// unhybrid decodes n places of width bits. It returns nil if that cannot be
// done.
func unhybrid(in []byte, width, n int) []uint32 {
	out := make([]uint32, 0, n)
	if width == 0 {
		return out[:n]
	}
	for len(out) < n {
		header, used := binary.Uvarint(in)
		if used <= 0 || used > 5 {
			return nil
		}
		in = in[used:]
		if header&1 == 0 {
			size := (width + 7) / 8
			if len(in) < size {
				return nil
			}
			var b [4]byte
			copy(b[:], in[:size])
			value := binary.LittleEndian.Uint32(b[:])
			if uint64(value)>>width != 0 {
				return nil
			}
			for range min(header>>1, uint64(n-len(out))) {
				out = append(out, value)
			}
			in = in[size:]
			continue
		}
		bytes := min(header>>1*uint64(width), uint64(len(in)))
		for i := range min(bytes*8/uint64(width), uint64(n-len(out))) {
			value := uint32(0)
			for b := range uint64(width) {
				bit := i*uint64(width) + b
				value |= uint32(in[bit/8]>>(bit%8)&1) << b
			}
			out = append(out, value)
		}
		in = in[bytes:]
	}
	return out
}

// splitOf puts values of some bytes into BYTE_STREAM_SPLIT.
func splitOf(plain []byte, size int) []byte {
	out, n := make([]byte, len(plain)), len(plain)/size
	for i, b := range plain {
		out[i%size*n+i/size] = b
	}
	return out
}

func zigzag(n int64) uint64 { return uint64(n)<<1 ^ uint64(n>>63) }

// deltasOf puts values into DELTA_BINARY_PACKED, in blocks of a random shape.
func deltasOf(r *rand.Rand, values []int64) []byte {
	return deltasIn(r, values, 1+r.IntN(1<<r.IntN(7)), 8*(1+r.IntN(1<<r.IntN(6))))
}

// deltasIn is deltasOf with blocks of some parts of a size. Parts may have more
// bits than they need, unless r is nil.
func deltasIn(r *rand.Rand, values []int64, parts, size int) []byte {
	out := binary.AppendUvarint(nil, uint64(parts*size))
	out = binary.AppendUvarint(out, uint64(parts))
	out = binary.AppendUvarint(out, uint64(len(values)))
	if len(values) == 0 {
		return binary.AppendUvarint(out, r.Uint64())
	}
	out = binary.AppendUvarint(out, zigzag(values[0]))
	var deltas []int64
	for i := range values[1:] {
		deltas = append(deltas, values[i+1]-values[i])
	}
	for len(deltas) > 0 {
		block := deltas[:min(len(deltas), parts*size)]
		deltas = deltas[len(block):]
		low := slices.Min(block)
		if r != nil && r.IntN(8) == 0 {
			low = int64(r.Uint64()) // differences from it wrap
		}
		out = binary.AppendUvarint(out, zigzag(low))
		at := len(out)
		out = append(out, make([]byte, parts)...)
		for part := 0; part < parts; part++ {
			if part*size >= len(block) {
				if r != nil {
					out[at+part] = byte(r.Uint32()) // nobody looks at it
				}
				continue
			}
			of := block[part*size : min(len(block), (part+1)*size)]
			width := 0
			for _, d := range of {
				width = max(width, bits.Len64(uint64(d)-uint64(low)))
			}
			if r != nil {
				width = min(64, width+r.IntN(3)/2)
			}
			out[at+part] = byte(width)
			packed := make([]byte, size/8*width)
			for i, d := range of {
				for b := range width {
					at := i*width + b
					packed[at/8] |= byte((uint64(d)-uint64(low))>>b&1) << (at % 8)
				}
			}
			out = append(out, packed...)
		}
	}
	return out
}

// undeltas decodes n values in DELTA_BINARY_PACKED. It returns false if that
// cannot be done.
func undeltas(in []byte, n int) (out []uint64, ok bool) {
	ok = true
	number := func() uint64 {
		v, used := binary.Uvarint(in)
		if ok = ok && used > 0; !ok {
			return 0
		}
		in = in[used:]
		return v
	}
	signed := func() uint64 { v := number(); return v>>1 ^ -(v & 1) }
	block, parts, count := number(), number(), number()
	value := signed()
	if !ok || parts == 0 || parts > block || block > 1<<24 || block%(8*parts) != 0 ||
		count != uint64(n) {
		return nil, false
	}
	out = append(out, value)
	for size := int(block / parts); len(out) < n; {
		low := signed()
		if !ok || uint64(len(in)) < parts {
			return nil, false
		}
		widths := in[:parts]
		in = in[parts:]
		for _, w := range widths {
			if len(out) == n {
				break
			}
			bytes := size / 8 * int(w)
			if w > 64 || bytes > len(in) {
				return nil, false
			}
			for i := 0; i < size && len(out) < n; i++ {
				d := uint64(0)
				for b := range int(w) {
					at := i*int(w) + b
					d |= uint64(in[at/8]>>(at%8)&1) << b
				}
				value += low + d
				out = append(out, value)
			}
			in = in[bytes:]
		}
	}
	return out, true
}
