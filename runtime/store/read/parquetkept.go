package read

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/hugepage"
	"github.com/redfoxdb/redfox/internal/parquet"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Values of a dictionary are converted to words once. If the dictionary of a
// column chunk is small, its rows stay codes of the dictionary until the column
// is joined.

// maxKept bounds the rows of one chunk that stay codes. rowsAWord is the least
// number of rows for each word of the dictionary, because each chunk has a copy
// of it.
const (
	maxKept   = 1 << 18
	rowsAWord = 8
)

// keptPlaces are codes of a dictionary of at most 2^16 words. At most one of
// the lists is not empty. A chunk takes over a list that is more than half
// full, so that a code is written once.
type keptPlaces struct {
	small []uint8
	large []uint16
	used  []bool // by code
}

func (k *keptPlaces) len() int { return len(k.small) + len(k.large) }

// clear empties the lists, and keeps their memory.
func (k *keptPlaces) clear() { k.small, k.large = k.small[:0], k.large[:0] }

// fewWords reports whether rows stay codes of the dictionary.
func (r *columnReader) fewWords(width int) bool {
	return r.dict.refused == nil && width <= 16 &&
		len(r.dict.words) <= min(r.rows, maxKept)/rowsAWord
}

// keep reads codes of rows that all have a value, and keeps them. flushKept
// detects codes that the dictionary does not have.
func (r *columnReader) keep(v *parquet.Values, rows int) error {
	r.flushWords()
	small := v.Numbers.Width() <= 8
	k := &r.room.kept
	if k.len()+rows > maxKept || small && len(k.large) > 0 || !small && len(k.small) > 0 {
		if err := r.flushKept(); err != nil {
			return err
		}
	}
	room := min(r.rows-r.part.rows, maxKept)
	if small {
		return readKept(r, v, &k.small, rows, room)
	}
	return readKept(r, v, &k.large, rows, room)
}

// readKept appends the codes of rows, or of the marked ones among them, to a
// list that has spare capacity.
func readKept[T uint8 | uint16](
	r *columnReader, v *parquet.Values, list *[]T, rows, room int,
) error {
	from := len(*list)
	if cap(*list) < from+rows {
		*list = append(hugepage.Advise(make([]T, 0, from+max(rows, room))), *list...)
	}
	*list = (*list)[:from+rows]
	if r.marks == nil {
		return parquet.ReadNumbers(&v.Numbers, (*list)[from:])
	}
	kept := r.markedRows(rows)
	err := parquet.ReadNumbersAt(&v.Numbers, (*list)[from:], kept)
	*list = (*list)[:from+len(kept)]
	return err
}

// flushKept makes a chunk of the kept codes, which are those of the last rows.
// If the dictionary has words that none of these rows has, or refused texts,
// the codes are converted to words.
func (r *columnReader) flushKept() error {
	k := &r.room.kept
	if len(k.small) > 0 {
		return flushPlaces(r, &k.small, 1<<8)
	}
	if len(k.large) > 0 {
		return flushPlaces(r, &k.large, 1<<16)
	}
	return nil
}

// flushPlaces is flushKept for a list of codes, which must be below most.
func flushPlaces[T uint8 | uint16](r *columnReader, list *[]T, most int) error {
	k, kept := &r.room.kept, *list
	*list = kept[:0]
	if cap(k.used) < most {
		k.used = make([]bool, most)
	}
	used, words := k.used[:most], r.dict.words
	clear(used)
	for _, p := range kept {
		used[p] = true
	}
	whole := len(words) <= most
	for p, u := range used {
		if p >= len(words) {
			if u {
				return r.beyondDictionary()
			}
			continue
		}
		if u && words[p] == noCode && r.dict.texts != nil {
			u = r.internWord(p)
		}
		whole = whole && u
	}
	if whole {
		if cap(kept) < 2*len(kept) {
			*list = nil // it belongs to the chunk now
		} else {
			kept = slices.Clone(kept)
		}
		c := store.NewPlaced(r.field.typ.Kind, kept, words)
		r.last = words[kept[len(kept)-1]]
		r.part.chunks = append(r.part.chunks, c)
		return nil
	}
	row := r.part.rows - len(kept)
	for len(kept) > 0 {
		n := min(len(kept), int(r.batch))
		places := r.room.places[:n]
		for i, p := range kept[:n] {
			places[i] = uint32(p)
		}
		dst := r.room.words[:n] // no words are waiting
		if err := r.look(dst, places, row); err != nil {
			return err
		}
		r.last = dst[n-1]
		r.part.chunks = append(r.part.chunks, store.Narrow(r.field.typ.Kind, dst, 1))
		kept, row = kept[n:], row+n
	}
	return nil
}
