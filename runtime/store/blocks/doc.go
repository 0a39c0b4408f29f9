// Package blocks packs the entries of a column, a block of rows at a time.
//
// In: unsigned entries of 1, 2, 4 or 8 bytes. Out: for each block a header and
// its bytes, in the smallest of a few forms, and the entries again. A block is
// unpacked without the others. The header has the least and the greatest entry,
// so that a reader can pass over blocks. The package knows neither columns nor
// files: runtime/store/rfdb puts blocks into one. It imports internal/bitpack
// only.
//
// The forms are:
//
//	constant    all entries are First
//	packed      entries less First, in Bits bits
//	delta       entries less the one before and less Step, in Bits bits; the one
//	            before the first entry is First
//	dictionary  Count different entries, ascending, less First in MoreBits bits;
//	            then the number of each entry among them in Bits bits
//	runs        Count entries less First in MoreBits bits; then how often each is
//	            repeated, less one, in Bits bits
//	decimal     entries are words of floats: integers less First in Bits bits,
//	            which are to be divided by 10^Step
//
// Packed and delta have Count exceptions: numbers with more than Bits bits.
// Only their low bits are with the others. The numbers of their rows, in
// PositionBits bits, and their high bits, in MoreBits bits, are behind those.
// The exceptions of decimal are whole entries, and zeros stand in their places.
// Each part fills whole words. All arithmetic is modulo the type.
package blocks
