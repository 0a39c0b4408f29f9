package store

import "slices"

// smallSort is the length up to which comparison sorting beats a radix pass.
const smallSort = 96

// radixSortBy sorts items by a 64-bit key, stably: least significant byte first,
// leaving out bytes that all keys share.
func radixSortBy[T any](items, scratch []T, key func(T) uint64) {
	var counts [8][256]uint32
	for _, it := range items {
		k := key(it)
		for b := range 8 {
			counts[b][byte(k>>(8*b))]++
		}
	}
	src, dst := items, scratch[:len(items)]
	for b := range 8 {
		count := &counts[b]
		if count[byte(key(src[0])>>(8*b))] == uint32(len(items)) {
			continue
		}
		var at uint32
		for i, c := range count {
			count[i], at = at, at+c
		}
		for _, it := range src {
			d := byte(key(it) >> (8 * b))
			dst[count[d]] = it
			count[d]++
		}
		src, dst = dst, src
	}
	if &src[0] != &items[0] {
		copy(items, src)
	}
}

// A pass over keys sorts by up to keyDigit bits, so that the counters stay in the
// first-level cache, and by fewKeyDigit where there are fewer than fewKeys, which would
// be fewer than the counters.
const (
	keyDigit    = 11
	fewKeyDigit = 8
	fewKeys     = 1 << 12
)

// sortKeys sorts keys by their low `bits` bits; the bits above are equal. The scratch
// memory is as long if there are more than smallSort of them.
func sortKeys(keys, scratch []uint64, bits int) {
	if len(keys) <= smallSort {
		slices.Sort(keys)
		return
	}
	src, dst := keys, scratch[:len(keys)]
	most := keyDigit
	if len(keys) < fewKeys {
		most = fewKeyDigit
	}
	passes := (bits + most - 1) / most
	for b := 0; b < bits; {
		// The digits share the bits evenly: counters that are not needed need not be summed.
		digit := (bits - b + passes - 1) / passes
		mask := uint64(1)<<digit - 1
		var room [1 << keyDigit]uint32
		count := room[:mask+1]
		for _, k := range src {
			count[k>>b&mask]++
		}
		if count[src[0]>>b&mask] != uint32(len(src)) {
			var at uint32
			for i, c := range count {
				count[i], at = at, at+c
			}
			for _, k := range src {
				d := k >> b & mask
				dst[count[d]] = k
				count[d]++
			}
			src, dst = dst, src
		}
		b += digit
		passes--
	}
	if &src[0] != &keys[0] {
		copy(keys, src)
	}
}
