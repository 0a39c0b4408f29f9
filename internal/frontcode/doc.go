// Package frontcode packs sorted strings, a block of them at a time.
//
// In: strings in byte order. Out: blocks of Strings strings, of which the last
// has fewer, a table of symbols that they share, and the strings again. It
// imports internal/bitpack, internal/fsst and internal/parallel.
//
// A block has, one behind the other:
//
//	bits      a byte: the number of bits of a prefix's length
//	bits      a byte: the number of bits of a suffix's length
//	prefixes  how many bytes each string shares with the one before it in the
//	          block, packed in whole words (internal/bitpack)
//	suffixes  how many bytes follow those, packed likewise
//	codes     of all suffixes as one text (internal/fsst)
package frontcode
