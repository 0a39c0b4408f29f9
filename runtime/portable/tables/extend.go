package tables

import (
	"slices"

	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// Extension is the tuples that a join makes of a batch of rows. A row has a
// key, a packed tuple that lacks one column, and a run of payload words. Each
// word is that column of one tuple. The tuples are not written to vectors, so
// a duplicate costs one look at the set.
type Extension struct {
	Keys []uint64 // with 0 in the column of the runs
	Runs *Runs
	// Words are the payload of the index. The packed tuple holds a word plus
	// Offset, modulo 2^64, at Shift.
	Words  []uint32
	Offset uint64
	Shift  uint8
	Bits   uint8 // of the column
	// Joins are the packed keys that found the runs, of JoinBits. Token is that
	// of the index, or nil if nothing is known of it.
	Joins    []uint64
	JoinBits int
	Token    *Token

	batches, tried, found int                    // of skipRepeats
	absent                [extensionPiece]uint32 // words that may make new tuples
}

// extensionPiece is how many tuples of a run are made at a time.
const extensionPiece = 1 << 12

// each calls f with the runs of n rows, in pieces, and their rows' keys.
func (e *Extension) each(r *work.Run, n int, f func(key uint64, words []uint32)) {
	made := 0
	for i, c := range e.Runs.Count[:n] {
		for words := e.Words[e.Runs.Start[i]:][:c]; len(words) > 0; {
			k := min(len(words), extensionPiece)
			f(e.Keys[i], words[:k])
			words = words[k:]
			if made += k; made >= extensionPiece {
				r.Stop.Check()
				made = 0
			}
		}
	}
}

// Extend adds the tuples that n rows make, as Insert does.
func (w *Writer) Extend(r *work.Run, e *Extension, n int) {
	e.skipRepeats(w.table, n)
	made := 0
	for _, c := range e.Runs.Count[:n] {
		made += int(c)
	}
	w.extended[e.Shift&63] += made
	if set := w.table.set; set != nil && set.mode == denseMode {
		w.tries += made
		e.each(r, n, func(key uint64, words []uint32) {
			w.fresh = set.dense.extend(e, key, words, r.Threads == 1, w.fresh[:0])
			w.add(w.fresh)
		})
		return
	}
	keys, offset, shift := w.made[:0], e.Offset, e.Shift&63
	e.each(r, n, func(key uint64, words []uint32) {
		if len(keys)+len(words) > extensionPiece {
			w.Insert(r, keys)
			keys = keys[:0]
		}
		at := len(keys)
		keys = slices.Grow(keys, extensionPiece-at)[:at+len(words)]
		made := keys[at:]
		for i, word := range words {
			made[i] = key + (offset+uint64(word))<<shift
		}
	})
	w.Insert(r, keys)
	w.made = keys
}
