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
	at := 0
	for i := 0; i < len(codes) && at+Slack <= len(dst); i++ {
		code := codes[i]
		if code == escape {
			if i++; i == len(codes) {
				break
			}
			dst[at] = codes[i]
			at++
			continue
		}
		binary.LittleEndian.PutUint64(dst[at:], t.bytes[code])
		at += int(t.lengths[code])
	}
	return at
}
