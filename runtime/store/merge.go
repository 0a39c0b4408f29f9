package store

import (
	"context"
	"slices"

	"github.com/redfoxdb/redfox/internal/parallel"
)

// MergeDicts returns a sorted dictionary of the strings of all dictionaries and
// the extra ones, and for each dictionary the new code of each of its codes. A
// remap is nil if the codes stay the same. If all do, merged is the first
// dictionary itself.
func MergeDicts(dicts []*Dict, extra []string) (merged *Dict, remaps [][]uint32) {
	// Without a deadline and a ledger there is no error.
	m, _ := mergeDicts(dicts, extra, nil, "")
	return m.Dict, m.Remaps
}

// mergeDicts is MergeDicts with memory from a ledger.
func mergeDicts(dicts []*Dict, extra []string, ledger *Ledger, what string) (*Merged, error) {
	if len(dicts) > 0 && sameDicts(dicts, extra) {
		return &Merged{Dict: dicts[0], Remaps: make([][]uint32, len(dicts))}, nil
	}
	sources := make([]dictSource, 0, len(dicts)+1)
	for _, d := range dicts {
		sources = append(sources, d)
	}
	if len(extra) > 0 {
		sources = append(sources, givenStrings(extra))
	}
	m, err := mergeSources(context.Background(), parallel.Threads(0), sources, ledger, what)
	if err == nil {
		m.Remaps = m.Remaps[:len(dicts)]
	}
	return m, err
}

func sameDicts(dicts []*Dict, extra []string) bool {
	first := dicts[0]
	if first.Len() != first.Sorted() {
		return false
	}
	for _, d := range dicts[1:] {
		if d == first {
			continue
		}
		if d.Len() != first.Len() || d.Sorted() != d.Len() {
			return false
		}
		a, b := d.arena(), first.arena()
		if string(a.data) != string(b.data) || !slices.Equal(a.ends, b.ends) ||
			!slices.Equal(a.wide, b.wide) {
			return false
		}
	}
	for _, s := range extra {
		if _, ok := first.Lookup(s); !ok {
			return false
		}
	}
	return true
}

// dictSource is a numbered list of strings to merge.
type dictSource interface {
	len() int
	at(i int) string
	sortedPrefix() int // how many leading strings are strictly ascending
}

func (d *Dict) len() int          { return d.Len() }
func (d *Dict) sortedPrefix() int { return d.Sorted() }

// at is String for callers that do not keep the string longer than the
// dictionary.
func (d *Dict) at(i int) string {
	if d.packed == nil && i < d.sorted.len() {
		return d.sorted.at(i)
	}
	return d.String(uint32(i))
}

type givenStrings []string

func (l givenStrings) len() int          { return len(l) }
func (l givenStrings) at(i int) string   { return l[i] }
func (l givenStrings) sortedPrefix() int { return 0 }

// Merged is the dictionary of the strings of several sources.
type Merged struct {
	Dict *Dict
	// Remaps has, for each source, the code of each of its strings. It is nil
	// if each code equals the number in the source. Release frees the remaps.
	Remaps [][]uint32

	ledger   *Ledger
	reserved int64  // bytes reserved for the remaps
	space    *space // of the remaps
}

// Release frees the remaps. They must not be used afterwards.
func (m *Merged) Release() {
	m.ledger.Give(m.reserved)
	m.Remaps, m.space, m.reserved = nil, nil, 0
}

// MergeInterners returns the dictionary of the strings of all interners. It
// clears the list, so that interners can be freed once their strings are
// copied.
func MergeInterners(
	ctx context.Context, threads int, list []*Interner, ledger *Ledger, what string,
) (*Merged, error) {
	sources := make([]dictSource, len(list))
	for i, t := range list {
		sources[i] = t
	}
	clear(list)
	return mergeSources(ctx, threads, sources, ledger, what)
}

// mergeSources returns the dictionary of the strings of all sources. The error
// is the context's cause, or the ledger's, which reserves memory. Sources are
// removed from the slice once their strings are copied, so that a long list is
// in memory twice for a short time only.
//
// The strings after the sorted prefixes are sorted as one list. If the prefixes
// are empty, as when files are read, the list without repeated strings is the
// dictionary. Otherwise the list is merged with the prefixes.
//
// The dictionary and the remaps stay reserved, unless they lie in pages of a
// file.
func mergeSources(
	ctx context.Context, threads int, sources []dictSource, ledger *Ledger, what string,
) (*Merged, error) {
	var strings, held, text, prefixes int64
	for _, s := range sources {
		switch s := s.(type) {
		case *Interner:
			strings, held, text = strings+int64(s.n), held+s.bytes(), text+s.textBytes()
		case *Dict:
			prefixes += s.Bytes()
		}
	}
	sorting := text + sortBytes*strings
	in := ledger.newSpace(sorting + prefixes) // for everything but the sorters
	if in != nil {
		sorting = 0
		threads = int(max(1, min(int64(threads), ledger.bound/plenty/sorterBytes)))
	}
	sorters := min(int64(threads)*sorterBytes, text+sortedBytes*strings)
	if err := ledger.Take(what, sorting+sorters); err != nil {
		return nil, err
	}
	sorted, err := sortStrings(ctx, threads, sources, in)
	if err != nil {
		return nil, err
	}
	kept := int64(0) // sorted
	if in == nil {
		kept = text + refBytes*strings
	}
	ledger.Give(sorting + sorters - kept)
	m := &Merged{Dict: &Dict{}, ledger: ledger}
	codes, inOrder := int64(0), 0
	for _, s := range sources {
		codes += codeBytes * int64(s.len())
	}
	if m.space = ledger.newSpace(codes); m.space == nil {
		if err := ledger.Take(what, codes); err != nil {
			return nil, err
		}
		m.reserved = codes
	}
	m.Remaps = make([][]uint32, len(sources))
	for i, s := range sources {
		if m.Remaps[i], err = newIn[uint32](m.space, s.len()); err != nil {
			return nil, err
		}
		inOrder += s.sortedPrefix()
	}
	var texts *space
	if in != nil {
		texts = &space{pages: in.pages, owners: map[any]bool{}}
		m.Dict.OnDisk = true
	}
	if inOrder == 0 {
		clear(sources) // sorted has copies of the strings
		ledger.Give(held)
		if err := ledger.takeUnless(texts, what, sorted.bytes()); err != nil {
			return nil, err
		}
		m.Dict.sorted, err = sorted.distinct(threads, m.Remaps, texts)
		ledger.Give(kept)
	} else {
		if err := ledger.takeUnless(texts, what, prefixes); err != nil {
			return nil, err
		}
		m.Dict.sorted, err = sorted.mergedWithPrefixes(ctx, m.Remaps, texts)
	}
	if err != nil {
		return nil, err
	}
	parallel.Do(threads, len(m.Remaps), func(i int) {
		if isIdentity(m.Remaps[i]) {
			m.Remaps[i] = nil
		}
	})
	return m, nil
}

// The bytes that a merge needs for each string: its code (codeBytes); its
// reference, bucket, length and share of the sample while the strings are
// sorted (sortBytes); and afterwards its reference (refBytes).
const (
	codeBytes = 4
	sortBytes = 16
	refBytes  = 12
)

func isIdentity(codes []uint32) bool {
	for i, c := range codes {
		if int(c) != i {
			return false
		}
	}
	return true
}

// mergedWithPrefixes merges the list with the sorted prefixes of the sources
// into an arena in the space, and sets the new code of each string.
func (l *stringList) mergedWithPrefixes(
	ctx context.Context, remaps [][]uint32, in *space,
) (stringArena, error) {
	size, count := 0, 0
	for _, s := range l.sources {
		for j := range s.len() {
			size += len(s.at(j))
		}
		count += s.len()
	}
	var out stringArena
	if in == nil && len(l.sources) > 1 {
		// These sizes are upper bounds if sources share strings. Half of them
		// wastes less memory.
		size, count = size/2, count/2
	}
	if err := out.growIn(in, count, size); err != nil {
		return out, err
	}
	heads := l.heads()
	for n := 0; len(heads) > 0; n++ {
		if n%BlockRows == 0 && ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		h := &heads[0]
		code := uint32(out.len())
		if code == 0 || out.at(int(code-1)) != h.text {
			out.add(h.text)
		} else {
			code--
		}
		remaps[h.ref.source()][h.ref.index()] = code
		if !l.advance(h) {
			heads[0] = heads[len(heads)-1]
			heads = heads[:len(heads)-1]
		}
		siftDown(heads, 0)
	}
	return out, nil
}

// head is the next string of a source's sorted prefix, or of the list.
type head struct {
	text   string
	ref    stringRef
	source int // len(sources) for the list
	next   int
}

// heads returns the first strings of the prefixes and of the list, as a heap.
func (l *stringList) heads() []head {
	var heads []head
	for i := range len(l.sources) + 1 {
		if h := (head{source: i}); l.advance(&h) {
			heads = append(heads, h)
		}
	}
	for i := len(heads)/2 - 1; i >= 0; i-- {
		siftDown(heads, i)
	}
	return heads
}

// advance moves a head to the next string, and reports whether there is one.
func (l *stringList) advance(h *head) bool {
	switch {
	case h.source < len(l.sources) && h.next < l.sources[h.source].sortedPrefix():
		h.ref = refTo(h.source, h.next)
	case h.source == len(l.sources) && h.next < len(l.refs):
		h.ref = l.refs[h.next]
	default:
		return false
	}
	h.text = l.at(h.ref)
	h.next++
	return true
}

// siftDown restores the heap below place i.
func siftDown(heads []head, i int) {
	for {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(heads) && heads[child].text < heads[least].text {
				least = child
			}
		}
		if least == i {
			return
		}
		heads[i], heads[least] = heads[least], heads[i]
		i = least
	}
}
