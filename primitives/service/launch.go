package service

// Launch is a kernel with its grid and parameters.
type Launch struct {
	Kernel  string
	Blocks  uint32
	Threads uint32 // of a block
	Shared  int    // bytes of dynamic shared memory of a block
	Params  []int64
}

// maxBlocks bounds grids of kernels whose blocks share out what there is to do.
const maxBlocks = 1 << 20

// over launches a kernel over n rows, words or slots, whichever its tiles are
// of.
func over(k *Kernel, n int64, params ...int64) Launch {
	return Launch{k.Name, uint32(min(blocksFor(n, k.Tile), maxBlocks)), threads, k.Shared, params}
}

// blocksFor returns the number of tiles that n rows fill, at least 1.
func blocksFor(n int64, tile int) int64 { return max(1, (n+int64(tile)-1)/int64(tile)) }

// States initialises the states, of words words each, of a launch of blocks
// blocks over tiles. Each group of sharing blocks works on the same tiles, see
// abi.Entry.Start. States of more than 3 words belong to expansions, whose
// tiles have tile rows.
func States(states, blocks, words, tiles, sharing, tile int64) Launch {
	return over(&statesKernel, blocks*words, states, blocks, words, tiles, sharing, tile)
}

// StatesWords is the number of words in memory that describe a launch to
// States.
const StatesWords = 6

// StatesOf does what count launches of States do. Their parameters lie in
// memory one after the other.
func StatesOf(launches, count int64) Launch {
	return over(&statesOfKernel, count, launches, count)
}

// Fill sets n words from address to to value.
func Fill(to, n, value int64) Launch { return over(&fillKernel, n+1, to, n, value) }

// Scan replaces n words by their running sums, in place: by the sums of the
// words before each, or if it is inclusive, up to each. Words are at least 0
// and their sum is below 1<<62.
//
// Scratch has ScanScratch(n) bytes, all zero at the start, and is all zero
// again at the end. One that is large enough serves any number of scans that
// follow each other.
func Scan(counts, n int64, inclusive bool, scratch int64) Launch {
	kind := int64(0)
	if inclusive {
		kind = 1
	}
	// Each block takes one tile. An array that does not start at a multiple of
	// 16 bytes is a word longer, see skew in src/kernels.h.
	blocks := blocksFor(n+counts>>3&1, scanKernel.Tile)
	return Launch{scanKernel.Name, uint32(blocks), threads, 0, []int64{counts, n, kind, scratch}}
}

// ScanScratch returns the bytes of scratch for a scan of n words.
func ScanScratch(n int64) int64 { return 8 * (2 + blocksFor(n+1, scanKernel.Tile)) }

// Rehash enters the keys of a set (set64.h) of fromMask + 1 slots into a zeroed
// one of toMask + 1, at least as many, both with the word for key 0 behind
// them. If moved is not 0, it gets a word for each of the fromMask + 2 slots:
// the key's slot in the new set, or -1 for a free one.
func Rehash(from, fromMask, to, toMask, moved int64) Launch {
	return over(&rehashKernel, fromMask+1, from, fromMask, to, toMask, moved)
}

// Extents makes extents (extents.h), of two words each, of the rows of n
// numbers, which begin at begins[k] and end at begins[k+1] and get no room for
// more.
func Extents(begins, n, extents int64) Launch {
	return over(&extentsKernel, n, begins, n, extents)
}

// Move copies cells of words words each, below 1<<21, from their old slots to
// the new ones that Rehash found.
func Move(moved, slots, words, from, to int64) Launch {
	return over(&moveKernel, slots, moved, slots, words, from, to)
}

// RowSet enters rows 0 to rows - 1, no two of them equal, into a zeroed row set
// (rowset.h) of mask + 1 slots, more than rows. Columns is the address of the
// addresses of width columns of words.
func RowSet(slots, mask, columns, width, rows int64) Launch {
	return over(&rowSetKernel, rows, slots, mask, columns, width, rows)
}

// A sort of keys of 32 bits as unsigned numbers, with a payload of 32 bits
// each, is PairsCount and then PairsMove for each byte in which keys may
// differ, the lowest first. It is stable. Pairs whose payloads lie behind their
// keys, as Together, are sorted as words of 64 bits just as well, by the bytes
// of payloads behind those of keys.

// PairsCounts is the number of words of PairsCount's result.
const PairsCounts = 8 * 256

// PairsCount adds the number of keys with each value of each byte to counts,
// which are zero before.
func PairsCount(keys, n, counts int64) Launch {
	return over(&pairsCountKernel, min(n, 1<<24), keys, n, 0, counts)
}

// WordsCount is PairsCount for n keys of 64 bits.
func WordsCount(keys, n, counts int64) Launch {
	return over(&pairsCountKernel, min(2*n, 1<<24), keys, 2*n, 1, counts)
}

// Together, as the address of payloads, says that they lie behind their keys,
// in an array of pairs. Passes are fastest so.
const Together = 1

// PairsMove moves n keys, fewer than 1<<30, and payloads to other memory, in
// the order of the byte key >> shift. Payloads 0 stands for the numbers of
// rows; with payloadsOut 0 keys go alone, and payloads with keysOut 0. With a
// shift from 32 on, keys lie with their payloads, and the byte is one of these,
// payload >> (shift - 32). Scratch has PairsScratch(n) bytes, all zero at the
// start.
func PairsMove(keysOut, payloadsOut, keys, payloads, n, shift, counts, scratch int64) Launch {
	return Launch{
		pairsMoveKernel.Name, uint32(blocksFor(n, pairsMoveKernel.Tile)), threads,
		pairsMoveKernel.Shared,
		[]int64{keysOut, payloadsOut, keys, payloads, n, shift, counts, scratch},
	}
}

// PairsScratch returns the bytes of scratch for a pass over n keys.
func PairsScratch(n int64) int64 { return 8 + 4*256*blocksFor(n, pairsMoveKernel.Tile) }
