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

// sortKeys sorts keys by their low `bits` bits; the bits above are equal.
func sortKeys(keys, scratch []uint64, bits int) {
	if len(keys) <= smallSort {
		slices.Sort(keys)
		return
	}
	src, dst := keys, scratch[:len(keys)]
	for b := 0; b < bits; b += 8 {
		var count [256]uint32
		for _, k := range src {
			count[byte(k>>b)]++
		}
		if count[byte(src[0]>>b)] == uint32(len(src)) {
			continue
		}
		var at uint32
		for i, c := range &count {
			count[i], at = at, at+c
		}
		for _, k := range src {
			d := byte(k >> b)
			dst[count[d]] = k
			count[d]++
		}
		src, dst = dst, src
	}
	if &src[0] != &keys[0] {
		copy(keys, src)
	}
}
