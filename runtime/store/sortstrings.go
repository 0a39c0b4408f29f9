package store

import (
	"cmp"
	"context"
	"encoding/binary"
	goruntime "runtime"
	"slices"
	"sort"
	"strings"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/hugepage"
	"github.com/redfoxdb/redfox/internal/parallel"
)

// stringRef identifies a string of a source: the number of the source is in the
// upper half, that of the string in the lower one. The top bit is set if the
// string before it in order is equal.
type stringRef uint64

const repeatsLast stringRef = 1 << 63

func refTo(source, index int) stringRef { return stringRef(source)<<32 | stringRef(index) }

func (r stringRef) source() int { return int(r &^ repeatsLast >> 32) }
func (r stringRef) index() int  { return int(uint32(r)) }

// stringList is the strings of several sources in byte order.
type stringList struct {
	space   *space // of refs and texts
	sources []dictSource
	refs    []stringRef
	starts  []int // of the buckets in refs, and the end of the last one
	texts   []bucketText
}

// bucketText is the distinct strings of a bucket, concatenated in order.
type bucketText struct {
	data    []byte
	lengths []uint32
}

func (l *stringList) at(r stringRef) string { return l.sources[r.source()].at(r.index()) }

const (
	// bucketStrings and bucketBytes are about the size of a bucket at most: a
	// copy of it and the memory that sorts it fit a core's second-level cache.
	bucketStrings = 1 << 14
	bucketBytes   = 1 << 20
	maxBuckets    = 1 << 13
	// bucketSamples is the least number of sampled strings for each bucket.
	// With this many, few buckets are twice as large as the mean.
	bucketSamples = 16
	// sorterBytes is the memory of a thread that sorts buckets, and sortedBytes
	// the part of it for each string.
	sorterBytes = 2 << 20
	sortedBytes = 48
	// spanStrings is the least number of strings that a thread takes at a time.
	spanStrings = 1 << 13
)

// sortStrings sorts the strings that come after the sorted prefixes of the
// sources, by sample sort (Frazer and McKellar, "Samplesort", 1970): a sample
// divides them into buckets, which threads sort independently. The result lies
// in the space. The error is the context's cause, or the file system's.
func sortStrings(
	ctx context.Context, threads int, sources []dictSource, in *space,
) (*stringList, error) {
	l := &stringList{sources: sources, space: in}
	spans, n := l.spans(threads)
	splitters := newSplitters(l.splitters(n))
	buckets := len(splitters.prefixes) + 1
	places := make([][]uint16, len(spans)) // the bucket of each string of each span
	// next[i][b] is first the number of strings of span i in bucket b, and
	// later the position of the next one.
	next := make([][]int, len(spans))
	errs := make([]error, len(spans))
	parallel.Do(threads, len(spans), func(i int) {
		x := spans[i]
		next[i] = make([]int, buckets)
		if buckets == 1 {
			next[i][0] = x.to - x.from
			return
		}
		s := sources[x.source]
		if places[i], errs[i] = newIn[uint16](in, x.to-x.from); errs[i] != nil {
			return
		}
		for j := range places[i] {
			if j%BlockRows == 0 && ctx.Err() != nil {
				return
			}
			b := splitters.bucket(s.at(x.from + j))
			places[i][j] = uint16(b)
			next[i][b]++
		}
	})
	if err := cmp.Or(context.Cause(ctx), cmp.Or(errs...)); err != nil {
		return nil, err // counts may be too small
	}
	l.starts = bucketStarts(next, buckets)
	var err error
	if l.refs, err = newIn[stringRef](in, n); err != nil {
		return nil, err
	}
	parallel.Do(threads, len(spans), func(i int) {
		x := spans[i]
		for j := range x.to - x.from {
			b := 0
			if buckets > 1 {
				b = int(places[i][j])
			}
			l.refs[next[i][b]] = refTo(x.source, x.from+j)
			next[i][b]++
		}
		places[i] = nil
	})
	l.texts = make([]bucketText, buckets)
	sorters, errs := make([]bucketSorter, threads), make([]error, buckets)
	parallel.By(threads, buckets, func(t, b int) {
		if ctx.Err() == nil {
			l.texts[b], errs[b] = sorters[t].sort(ctx, l, l.refs[l.starts[b]:l.starts[b+1]])
		}
	})
	return l, cmp.Or(context.Cause(ctx), cmp.Or(errs...))
}

// span is a range of strings of one source.
type span struct{ source, from, to int }

// spans divides the strings that come after the sorted prefixes into spans; n
// is their total number.
func (l *stringList) spans(threads int) (spans []span, n int) {
	for _, s := range l.sources {
		n += s.len() - s.sortedPrefix()
	}
	length := max(spanStrings, n/(4*threads))
	for i, s := range l.sources {
		for from := s.sortedPrefix(); from < s.len(); from += length {
			spans = append(spans, span{i, from, min(from+length, s.len())})
		}
	}
	return spans, n
}

// splitters returns the strings that divide the buckets, ascending: the first
// string of each bucket but the lowest one.
func (l *stringList) splitters(n int) []string {
	wanted := min(n, maxBuckets*bucketSamples*bucketSamples) / bucketSamples
	sample := make([]string, 0, wanted)
	at := 0 // the position of a source's first string among all
	size := 0
	for _, s := range l.sources {
		first, length := s.sortedPrefix(), s.len()-s.sortedPrefix()
		for len(sample) < wanted {
			place := len(sample)*(n/wanted) - at
			if place >= length {
				break
			}
			text := s.at(first + place)
			sample = append(sample, text)
			size += len(text)
		}
		at += length
	}
	buckets := min(maxBuckets, len(sample)/bucketSamples,
		max(n/bucketStrings,
			int(float64(n)/float64(max(1, len(sample)))*float64(size)/bucketBytes)))
	if buckets < 2 {
		return nil
	}
	slices.Sort(sample)
	out := make([]string, 0, buckets)
	for b := 1; b < buckets; b++ {
		out = append(out, sample[b*len(sample)/buckets])
	}
	return slices.Compact(out)
}

// splitters find the bucket of a string.
type splitters struct {
	prefixes []uint64 // the first eight bytes of each
	texts    stringArena
}

func newSplitters(sorted []string) *splitters {
	s := &splitters{}
	for _, text := range sorted {
		s.prefixes = append(s.prefixes, prefixAt(text, 0))
		s.texts.add(text)
	}
	return s
}

// bucket returns the bucket of a string: the number of splitters that do not
// come after it.
func (s *splitters) bucket(text string) int {
	prefix := prefixAt(text, 0)
	from := sort.Search(len(s.prefixes), func(i int) bool { return s.prefixes[i] >= prefix })
	if from < len(s.prefixes) && s.prefixes[from] == prefix {
		// Splitters with the same prefix are compared in full.
		alike := sort.Search(len(s.prefixes)-from,
			func(i int) bool { return s.prefixes[from+i] > prefix })
		return from + sort.Search(alike, func(i int) bool { return s.texts.at(from+i) > text })
	}
	return from
}

// bucketSorter is the memory that a thread reuses for each bucket that it
// sorts.
type bucketSorter struct {
	data           []byte // of all strings of the bucket
	ends           []int  // the end of each string in data
	refs           []stringRef
	items, scratch []prefixed
}

// prefixed is a string of a bucket by its index, with eight of its bytes.
type prefixed struct {
	prefix uint64
	place  int
}

func (x *bucketSorter) at(place int) string {
	from := 0
	if place > 0 {
		from = x.ends[place-1]
	}
	return unsafe.String(unsafe.SliceData(x.data[from:]), x.ends[place]-from)
}

// sort sorts references of a list by their strings, and marks those whose
// string equals the one before. It copies the strings first, so that each is
// looked up once.
func (x *bucketSorter) sort(
	ctx context.Context, l *stringList, refs []stringRef,
) (out bucketText, err error) {
	x.data, x.ends = x.data[:0], x.ends[:0]
	n := len(refs)
	x.items = hugepage.Advise(slices.Grow(x.items[:0], n)[:n])
	x.scratch = hugepage.Advise(slices.Grow(x.scratch[:0], n)[:n])
	for i, r := range refs {
		x.data = append(x.data, l.at(r)...)
		x.ends = append(x.ends, len(x.data))
		x.items[i].place = i
	}
	x.sortPrefixed(ctx, x.items, x.scratch, 0)
	x.refs = append(x.refs[:0], refs...)
	if out.data, err = newIn[byte](l.space, len(x.data)); err != nil {
		return out, err
	}
	if out.lengths, err = newIn[uint32](l.space, len(refs)); err != nil {
		return out, err
	}
	out.data, out.lengths = out.data[:0], out.lengths[:0]
	last := ""
	for i, it := range x.items {
		s := x.at(it.place)
		refs[i] = x.refs[it.place]
		if i > 0 && s == last {
			refs[i] |= repeatsLast
			continue
		}
		last = s
		out.data = append(out.data, s...)
		out.lengths = append(out.lengths, uint32(len(s)))
	}
	return out, nil
}

// sortPrefixed sorts items whose first depth bytes are equal: by the next eight
// bytes, then each run of equal ones further in. Equal strings are ordered by
// their indexes. Once the context is done, the order is arbitrary.
func (x *bucketSorter) sortPrefixed(ctx context.Context, items, scratch []prefixed, depth int) {
	if ctx.Err() != nil {
		return
	}
	if len(items) < 64 {
		slices.SortFunc(items, func(a, b prefixed) int {
			return cmp.Or(strings.Compare(x.at(a.place)[depth:], x.at(b.place)[depth:]),
				cmp.Compare(a.place, b.place))
		})
		return
	}
	// Shorter strings are padded with zero bytes. A string that ends here sorts
	// before its continuations, so `ended` ones come first in a run of equal
	// prefixes.
	for i := range items {
		items[i].prefix = prefixAt(x.at(items[i].place), depth)
	}
	sortByPrefix(items, scratch)
	for from := 0; from < len(items); {
		to := from + 1
		for to < len(items) && items[to].prefix == items[from].prefix {
			to++
		}
		if run := items[from:to]; len(run) > 1 {
			ended := 0
			for i, it := range run {
				if len(x.at(it.place)) <= depth+8 {
					run[i], run[ended] = run[ended], it
					ended++
				}
			}
			slices.SortFunc(run[:ended], func(a, b prefixed) int {
				return cmp.Or(cmp.Compare(len(x.at(a.place)), len(x.at(b.place))),
					cmp.Compare(a.place, b.place))
			})
			x.sortPrefixed(ctx, run[ended:], scratch[from+ended:to], depth+8)
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

// bytes returns the memory of the distinct strings.
func (l *stringList) bytes() (n int64) {
	for _, text := range l.texts {
		n += int64(len(text.data)) + endBytes*int64(len(text.lengths))
	}
	return n
}

// distinct returns the distinct strings in order, in an arena in the space, and
// sets the code of each string of a source. The list cannot be used afterwards.
func (l *stringList) distinct(
	threads int, places [][]uint32, in *space,
) (out stringArena, err error) {
	buckets := len(l.texts)
	first, start := make([]int, buckets), make([]int, buckets) // string, byte of each bucket
	count, size := 0, 0
	for b, text := range l.texts {
		first[b], start[b] = count, size
		count += len(text.lengths)
		size += len(text.data)
	}
	if err := out.growIn(in, count, size); err != nil {
		return out, err
	}
	out.data, out.ends, out.wide = out.data[:size], out.ends[:cap(out.ends)],
		out.wide[:cap(out.wide)]
	parallel.Do(threads, buckets, func(b int) {
		copy(out.data[start[b]:], l.texts[b].data)
		code, end := first[b], start[b]
		for i, n := range l.texts[b].lengths {
			end += int(n)
			if out.wide != nil {
				out.wide[code+i] = uint64(end)
			} else {
				out.ends[code+i] = uint32(end)
			}
		}
		l.texts[b] = bucketText{}
		code--
		for _, r := range l.refs[l.starts[b]:l.starts[b+1]] {
			if r&repeatsLast == 0 {
				code++
			}
			places[r.source()][r.index()] = uint32(code)
		}
	})
	goruntime.KeepAlive(l)
	return out, nil
}

// sortByPrefix is a stable radix sort of items by their prefixes, the least
// significant byte first. It skips bytes that all prefixes share.
func sortByPrefix(items, scratch []prefixed) {
	var counts [8][256]uint32
	for _, it := range items {
		k := it.prefix
		for b := range 8 {
			counts[b][byte(k>>(8*b))]++
		}
	}
	src, dst := items, scratch[:len(items)]
	for b := range 8 {
		count := &counts[b]
		if count[byte(src[0].prefix>>(8*b))] == uint32(len(items)) {
			continue
		}
		var at uint32
		for i, c := range count {
			count[i], at = at, at+c
		}
		for _, it := range src {
			d := byte(it.prefix >> (8 * b))
			dst[count[d]] = it
			count[d]++
		}
		src, dst = dst, src
	}
	if &src[0] != &items[0] {
		copy(items, src)
	}
}
