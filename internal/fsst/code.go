package fsst

import "encoding/binary"

// Encode appends the codes of a text. The table was made by Train.
func (t *Table) Encode(dst, text []byte) []byte {
	for at := 0; at < len(text); {
		code, length := t.next(wordAt(text, at), len(text)-at)
		if code == none {
			dst = append(dst, escape, text[at])
		} else {
			dst = append(dst, byte(code))
		}
		at += length
	}
	return dst
}

// Slack is how many bytes Decode needs behind a text.
const Slack = longest

// Decode writes the text of codes to dst, and returns how many bytes it has. It
// ends where dst has less than Slack bytes left, or behind the codes. It writes
// up to Slack bytes behind the text.
func (t *Table) Decode(dst, codes []byte) int {
	at, i := 0, 0
	for {
		for ; i+4 <= len(codes) && at+4*longest <= len(dst); i += 4 {
			four := binary.LittleEndian.Uint32(codes[i:])
			if other := ^four; (other-0x01010101)&four&0x80808080 != 0 {
				break // one of the four is an escape
			}
			a, b, c, d := byte(four), byte(four>>8), byte(four>>16), byte(four>>24)
			to := dst[at : at+4*longest : at+4*longest]
			binary.LittleEndian.PutUint64(to, t.bytes[a])
			n := uint(t.lengths[a])
			binary.LittleEndian.PutUint64(to[n:], t.bytes[b])
			n += uint(t.lengths[b])
			binary.LittleEndian.PutUint64(to[n:], t.bytes[c])
			n += uint(t.lengths[c])
			binary.LittleEndian.PutUint64(to[n:], t.bytes[d])
			at += int(n + uint(t.lengths[d]))
		}
		if i == len(codes) || at+Slack > len(dst) {
			return at
		}
		code := codes[i]
		i++
		switch {
		case code != escape:
			binary.LittleEndian.PutUint64(dst[at:], t.bytes[code])
			at += int(t.lengths[code])
		case i == len(codes):
			return at
		default:
			dst[at] = codes[i]
			i++
			at++
		}
	}
}
