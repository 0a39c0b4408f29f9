package store

import (
	"encoding/binary"
	"hash/maphash"
	"unsafe"
)

// Span returns a word that identifies a part of a text by its start and length.
func Span(start, length int) int64 { return int64(start)<<32 | int64(length) }

// TextOf returns the part of data that a span identifies.
func TextOf(data []byte, span int64) []byte {
	start, length := int(span>>32), int(uint32(span))
	return data[start : start+length]
}

// batchTexts is how many texts CodesOfTexts looks up at a time.
const batchTexts = 128

// CodesOfTexts replaces words, which are spans of data, by the numbers of their
// strings, as CodeOfText returns them. For a string that CodeOfText refuses, it
// calls refuse, while the word is still the span, and stores the result. If
// refuse is nil, all strings are known to be valid.
//
// The table and the strings of a long dictionary do not fit the processor's
// cache. A batch is therefore looked up in steps, each of which does one read
// for every text, so that many cache misses overlap.
func (t *Interner) CodesOfTexts(data []byte, words []int64, refuse func(i int) int64) {
	var b textBatch
	for i, w := range words {
		if start, length := int(w>>32), int(uint32(w)); length < 8 {
			word := shortWord(data, start, length)
			if slot := t.recentSlot(word); slot.word == word {
				words[i] = int64(slot.code)
				continue
			}
		}
		b.places[b.n], b.texts[b.n] = i, w
		if b.n++; b.n == batchTexts {
			t.resolve(&b, data, words, refuse)
		}
	}
	t.resolve(&b, data, words, refuse)
}

// shortWord returns the word of the short string at start in data.
func shortWord(data []byte, start, length int) uint64 {
	word := uint64(length+1) << 56
	if rest := data[start:]; len(rest) >= 8 {
		return word | binary.LittleEndian.Uint64(rest)&(1<<(8*length)-1)
	}
	for j, c := range data[start : start+length] {
		word |= uint64(c) << (8 * j)
	}
	return word
}

// admission returns the test that new strings must pass to be added.
func admission(refuse func(i int) int64) func(string) bool {
	if refuse == nil {
		return isKnownText
	}
	return IsText
}

func isKnownText(string) bool { return true }

// textBatch is texts that are looked up together.
type textBatch struct {
	n      int
	places [batchTexts]int   // indexes in words
	texts  [batchTexts]int64 // spans
	hashes [batchTexts]uint64
	codes  [batchTexts]uint32 // where each text probably is
}

// resolve looks up the texts of a batch, and empties it.
func (t *Interner) resolve(b *textBatch, data []byte, words []int64, refuse func(i int) int64) {
	text := func(i int) string {
		text := TextOf(data, b.texts[i])
		return unsafe.String(unsafe.SliceData(text), len(text))
	}
	n := b.n
	if t.unseen < n {
		for i := range n {
			b.hashes[i] = maphash.String(hashSeed, text(i))
		}
		t.touch(b)
	}
	admit := admission(refuse)
	for i := range n {
		code, ok := t.findAny(text(i), b.hashes[i], admit)
		if !ok {
			words[b.places[i]] = refuse(b.places[i])
			continue
		}
		words[b.places[i]] = int64(code)
		if start, length := int(b.texts[i]>>32), int(uint32(b.texts[i])); length < 8 {
			word := shortWord(data, start, length)
			*t.recentSlot(word) = shortString{word, code}
		}
	}
	b.n = 0
}

// touch reads the slots, the ends and the text of a batch's strings to bring
// them into the processor's cache.
func (t *Interner) touch(b *textBatch) {
	if len(t.table) == 0 {
		return
	}
	mask := uint32(len(t.table) - 1)
	for i, h := range b.hashes[:b.n] {
		b.codes[i] = t.table[uint32(h)&mask].code
	}
	var places [batchTexts]uint32
	for i, code := range b.codes[:b.n] {
		if code > 0 {
			if ends := t.parts[(code-1)/partStrings].ends; len(ends) > 0 {
				places[i] = ends[(code-1)%partStrings]
			}
		}
	}
	for i, code := range b.codes[:b.n] {
		length := uint32(b.texts[i])
		if code > 0 && 0 < length && length <= places[i] {
			text := t.parts[(code-1)/partStrings].data
			t.touched += text[places[i]-1] + text[places[i]-length]
		}
	}
}
