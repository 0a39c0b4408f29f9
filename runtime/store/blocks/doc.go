// Package blocks packs the entries of a column, a block of rows at a time.
//
// In: unsigned entries of 1, 2, 4 or 8 bytes. Out: for each block a header and
// bytes, in the smallest of a few forms; and the way back. Each block can be
// unpacked by itself. The header has the least and the greatest entry, so that
// a reader can skip blocks. The package knows neither columns nor files:
// runtime/store/rfdb writes blocks to a file. It imports internal/bitpack only.
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
// Their low bits are stored with the other numbers. After these come the row
// numbers of the exceptions, in PositionBits bits each, and their high bits, in
// MoreBits bits each. The exceptions of decimal are whole entries, and zeros
// stand in their places. Each part is padded to whole words. All arithmetic is
// modulo the type.
package blocks
