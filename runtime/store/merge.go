package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"
)

// MergeDicts returns a sorted dictionary of the strings of all dictionaries and
// the extra ones, and for each dictionary the new code of each of its codes. A
// remap is nil where codes stay as they are; when all do, merged is the first
// dictionary itself.
func MergeDicts(dicts []*Dict, extra []string) (merged *Dict, remaps [][]uint32) {
	if len(dicts) > 0 && sameDicts(dicts, extra) {
		return dicts[0], make([][]uint32, len(dicts))
	}
	sources := make([]dictSource, 0, len(dicts)+1)
	for _, d := range dicts {
		sources = append(sources, d)
	}
	if len(extra) > 0 {
		sources = append(sources, stringList(extra))
	}
	// Without a deadline there is no error.
	merged, remaps, _ = mergeSources(context.Background(), sources)
	return merged, remaps[:len(dicts)]
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
		if d.Len() != first.Len() || d.Sorted() != d.Len() || string(d.sorted.data) != string(first.sorted.data) ||
			!slices.Equal(d.sorted.ends, first.sorted.ends) || !slices.Equal(d.sorted.wide, first.sorted.wide) {
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
func (d *Dict) at(i int) string   { return d.String(uint32(i)) }
func (d *Dict) sortedPrefix() int { return d.Sorted() }

type stringList []string

func (l stringList) len() int          { return len(l) }
func (l stringList) at(i int) string   { return l[i] }
func (l stringList) sortedPrefix() int { return 0 }

// mergeSources sorts each source and merges them. Its error is the context's
// cause.
func mergeSources(ctx context.Context, sources []dictSource) (*Dict, [][]uint32, error) {
	orders := make([][]uint32, len(sources))
	remaps := make([][]uint32, len(sources))
	size, count := 0, 0
	for i, s := range sources {
		orders[i] = sortStrings(ctx, s)
		if err := context.Cause(ctx); err != nil {
			return nil, nil, err
		}
		remaps[i] = make([]uint32, s.len())
		for j := range s.len() {
			size += len(s.at(j))
		}
		count += s.len()
	}
	d := &Dict{}
	if len(sources) > 1 {
		// An upper bound would hold memory for strings that sources share.
		size, count = size/2, count/2
	}
	d.sorted.grow(count, size)
	heads := make([]int, len(sources))
	for n := 0; ; n++ {
		if n%blockRows == 0 && ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		least := -1
		var s string
		for i, src := range sources {
			if heads[i] == len(orders[i]) {
				continue
			}
			if t := src.at(int(orders[i][heads[i]])); least < 0 || t < s {
				least, s = i, t
			}
		}
		if least < 0 {
			break
		}
		code := uint32(d.sorted.len())
		if code == 0 || d.sorted.at(int(code-1)) != s {
			d.sorted.add(s)
		} else {
			code--
		}
		remaps[least][orders[least][heads[least]]] = code
		heads[least]++
	}
	for i, r := range remaps {
		if isIdentity(r) {
			remaps[i] = nil
		}
	}
	return d, remaps, nil
}

func isIdentity(codes []uint32) bool {
	for i, c := range codes {
		if int(c) != i {
			return false
		}
	}
	return true
}

// sortStrings returns the numbers of a source's strings in byte order; in any
// order once the context is done.
func sortStrings(ctx context.Context, s dictSource) []uint32 {
	n := s.len()
	if s.sortedPrefix() == n {
		order := make([]uint32, n)
		for i := range order {
			order[i] = uint32(i)
		}
		return order
	}
	items := make([]prefixed, n)
	for i := range items {
		items[i].index = uint32(i)
	}
	sortPrefixed(ctx, s, items, make([]prefixed, n), 0)
	order := make([]uint32, n)
	for i, it := range items {
		order[i] = it.index
	}
	return order
}

// prefixed is a string's number with eight of its bytes.
type prefixed struct {
	prefix uint64
	index  uint32
}

// sortPrefixed sorts items whose first depth bytes are equal: by the next eight
// bytes, then each run of equal ones further in.
func sortPrefixed(ctx context.Context, s dictSource, items, scratch []prefixed, depth int) {
	if ctx.Err() != nil {
		return
	}
	if len(items) < 64 {
		slices.SortFunc(items, func(a, b prefixed) int {
			return strings.Compare(s.at(int(a.index))[depth:], s.at(int(b.index))[depth:])
		})
		return
	}
	// Shorter strings are padded with zero bytes. A string that ends here sorts
	// before its continuations: `ended` ones come first in a run of equals.
	for i := range items {
		items[i].prefix = prefixAt(s.at(int(items[i].index)), depth)
	}
	radixSortBy(items, scratch, func(p prefixed) uint64 { return p.prefix })
	for from := 0; from < len(items); {
		to := from + 1
		for to < len(items) && items[to].prefix == items[from].prefix {
			to++
		}
		if run := items[from:to]; len(run) > 1 {
			ended := 0
			for i, it := range run {
				if len(s.at(int(it.index))) <= depth+8 {
					run[i], run[ended] = run[ended], it
					ended++
				}
			}
			slices.SortFunc(run[:ended], func(a, b prefixed) int {
				return cmp.Or(cmp.Compare(len(s.at(int(a.index))), len(s.at(int(b.index)))), cmp.Compare(a.index, b.index))
			})
			sortPrefixed(ctx, s, run[ended:], scratch[from+ended:to], depth+8)
		}
		from = to
	}
}

func prefixAt(s string, depth int) uint64 {
	if depth+8 <= len(s) {
		return binary.BigEndian.Uint64([]byte(s[depth : depth+8]))
	}
	var b [8]byte
	if depth < len(s) {
		copy(b[:], s[depth:])
	}
	return binary.BigEndian.Uint64(b[:])
}
