package bitrows

// Join is the shape of a join whose matches may be taken as bits. One column of
// its tuples comes from the match, and the rest of them from the row.
type Join struct {
	Keys   uint64 // that the index can have
	Rests  uint64 // that tuples can have beside the column
	Values uint64 // that the column can have
}

const (
	// small is the size in bytes up to which bits are made whatever the size of
	// the relations.
	small = 32 << 20
	// wordsOfMatch is how many words of bits are looked at in the time that a
	// match takes which is a row.
	wordsOfMatch = 8
	// mostRows is the most keys, and the most rests, that have bits, and
	// mostValues the most values.
	mostRows   = 1 << 32
	mostValues = 1 << 20
	// headWords are the words before the bits.
	headWords = 8
)

// Width returns the number of words that the bits of all values take.
func (j Join) Width() int { return int((j.Values + 63) / 64) }

// RowsWords returns the number of words that Rows takes.
func (j Join) RowsWords() int { return headWords + int(j.Keys)*(j.Width()+1) }

// SeenWords returns the number of words that Seen takes.
func (j Join) SeenWords() int { return headWords + int(j.Rests)*j.Width() }

// Pays reports whether bits are less work than the rows of an index: it has
// many of them for a key.
func (j Join) Pays(rows int) bool {
	return j.Keys-1 < mostRows && j.Rests-1 < mostRows && j.Values-1 < mostValues &&
		uint64(rows) >= j.Keys/wordsOfMatch*uint64(j.Width())
}

// Fits reports whether the memory for bits is not more than that of the
// relations, or is small. Of the free memory, the bytes that are still missing
// may take a quarter.
func (j Join) Fits(relations, missing, free int64) bool {
	return 8*int64(j.RowsWords()+j.SeenWords()) <= max(small, relations) &&
		(missing == 0 || missing <= free/4)
}

// Rows are the rows of an index as bits. Each key has a word and as many more
// as the width: where its bits begin and end, in words, as the lower and the
// upper half, and the bits. The first word of all is the number of keys.
type Rows struct {
	Words []uint64
	Width int
}

// NewRows prepares words of zeros for the rows of an index.
func NewRows(words []uint64, j Join) Rows {
	words[0] = j.Keys
	return Rows{words, j.Width()}
}

// Clear removes all rows.
func (r Rows) Clear() { clear(r.Words[1:]) }

// Enter adds a row. Keys and bits that are out of bounds are in no tuple.
func (r Rows) Enter(key, bit uint64) {
	if key >= r.Words[0] || bit >= uint64(64*r.Width) {
		return
	}
	row := r.row(key)
	at := bit / 64
	row[1+at] |= 1 << (bit % 64)
	from, end := row[0]&(1<<32-1), row[0]>>32
	if end == 0 {
		from = at
	}
	row[0] = min(from, at) | max(end, at+1)<<32
}

func (r Rows) row(key uint64) []uint64 {
	return r.Words[headWords+int(key)*(r.Width+1):][:r.Width+1]
}

// Of returns the bits of a key and the number of the first word that they are
// in. A key without rows has no bits.
func (r Rows) Of(key uint64) (bits []uint64, from int) {
	if key >= r.Words[0] {
		return nil, 0
	}
	row := r.row(key)
	from, end := int(row[0]&(1<<32-1)), int(row[0]>>32)
	return row[1+from : 1+end], from
}

// Seen are the bits that have been found with each rest of a tuple. The first
// word of all is the number of rests.
type Seen struct {
	Words []uint64
	Width int
}

// NewSeen prepares words of zeros for what will be found.
func NewSeen(words []uint64, j Join) Seen {
	words[0] = j.Rests
	return Seen{words, j.Width()}
}

// Clear forgets everything.
func (s Seen) Clear() { clear(s.Words[1:]) }

// With returns the bits that were found with a rest.
func (s Seen) With(rest uint64) []uint64 {
	return s.Words[headWords+int(rest)*s.Width:][:s.Width]
}
