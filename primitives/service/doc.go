// Package service is the kernels that a GPU runtime needs beside woven ones:
// states of launches, fills, running sums, tables made larger, rows put in
// order, pages of Parquet files decoded.
//
// In: nothing. Out: PTX and machine code, embedded, and how each kernel is
// launched. The package imports nothing of redfox, and no driver: a [Launch] is
// names and words, which the runtime hands to its own. `make primitives`
// compiles both from src, which is written against the headers of ../src.
//
// # Launches
//
// A kernel is launched with the blocks, threads and dynamic shared memory that
// its [Launch] says, which the runtime has allowed it before if it is more than
// 48 KB, and its parameters as 64-bit words. Addresses are of the device's
// memory, aligned to 8 bytes; 16 are no faster. A launch over nothing has a
// block that finds nothing to do, so that callers need no special case.
// Launches of a stream follow each other, and none waits for the host.
//
// Tables are those of ../src: set64.h and rowset.h. What a kernel writes into
// is zeroed before, where it says so; what it does not say to be zeroed may
// hold anything.
//
// # Rates
//
// One H200, which copies 4.3 TB/s, read and written:
//
//	fill        4.7 TB/s
//	scan        2.5 TB/s of words read and written; 13 µs for a million, 6 for a thousand
//	rehash      37 G keys/s to twice as many slots of 2 GB, 25 G/s of 16 MB
//	move        1.8 TB/s with cells of a word, 1.5 with those of 3
//	rowset      14 G rows/s to a third of 2 GB, 11 G/s to two thirds of 1 GB
//	pairs       180 G pairs/s a pass, 41 G/s in all four; 570 G keys/s are counted
//	words       180 G words/s a pass, as pairs; 290 G words/s are counted
//	numbers     1,160 G rows/s, of 4 bytes each
//
// A launch that has little to do takes 5 µs. The kernels that make keys, select
// and move rows were not measured, nor were those that decode pages.
//
// # Pages
//
// UnpackPages decompresses pages, and DecodePages makes entries of a column of
// what they then hold. What comes from a file is checked before it is used as a
// length, a distance or a place: memory outside of a page is neither read, but
// for the aligned words of 4 bytes at its ends, nor written, and each step
// takes bytes of the page. If the status is 0, the entries are those of the
// file. If it is not, the host has to decode the column. It reads more: levels
// other than 1, numbers of more than 5 bytes, and S2's repeated distances.
//
// A warp decompresses a page, so that thousands of pages must be under way to
// fill a card. A block decodes 32,768 rows of a page at most.
//
// Not done: a scan's blocks wait for each other's sums with nothing else under
// way; words of a next tile, loaded ahead, would bring it nearer to the rate of
// a copy.
package service
