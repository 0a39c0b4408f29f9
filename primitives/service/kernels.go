package service

// Kernel describes a kernel. Each has a function that makes a Launch of it and
// says what it does to the word.
type Kernel struct {
	Name   string   // of its entry in the PTX
	Params []string // 64-bit words, in order
	Does   string
	Tile   int    // rows, words or slots that a block takes at a time
	Cost   string // of which memory is nearly all
	Shared int    // bytes of shared memory of a block that a launch asks for
}

// threads is how many threads a block of each kernel has.
const threads = 256

var (
	statesKernel = Kernel{
		Name:   "rf_states",
		Params: []string{"states", "blocks", "words", "tiles", "sharing", "tile"},
		Does:   "sets up the states of a launch's blocks",
		Tile:   threads,
		Cost:   "one write of 8 bytes a word",
	}
	statesOfKernel = Kernel{
		Name: "rf_states_of", Params: []string{"launches", "count"},
		Does: "sets up the states of several launches",
		Tile: 1,
		Cost: "one write of 8 bytes a word",
	}
	fillKernel = Kernel{
		Name: "rf_fill", Params: []string{"to", "n", "value"},
		Does: "sets words to a value",
		Tile: threads * 8,
		Cost: "8 bytes a word, by writes of 16",
	}
	scanKernel = Kernel{
		Name: "rf_scan", Params: []string{"counts", "n", "inclusive", "scratch"},
		Does: "replaces words by their running sums",
		Tile: threads * 16,
		Cost: "one read and one write of 8 bytes a word, by accesses of 16; 3 writes and about 32 reads of 8 bytes a tile",
	}
	rehashKernel = Kernel{
		Name: "rf_rehash", Params: []string{"from", "from_mask", "to", "to_mask", "moved"},
		Does: "enters the keys of a set into a larger one",
		Tile: threads * 4,
		Cost: "8 bytes read and, if moved is wanted, 8 written a slot; about 1.5 atomics a key, those of neighbours near each other",
	}
	moveKernel = Kernel{
		Name: "rf_move", Params: []string{"moved", "slots", "words", "from", "to"},
		Does: "copies cells to where their slots went",
		Tile: 1024,
		Cost: "8 bytes read a word; 8 read and 8 written a word of a slot that is not free",
	}
	rowSetKernel = Kernel{
		Name: "rf_rowset", Params: []string{"slots", "mask", "columns", "width", "rows"},
		Does: "enters rows into an empty row set",
		Tile: threads * 4,
		Cost: "8 bytes read and 3 multiplications a word; about 1.5 random atomics a row",
	}
	extentsKernel = Kernel{
		Name: "rf_extents", Params: []string{"begins", "n", "extents"},
		Does: "makes extents of where the rows of an index begin",
		Tile: threads,
		Cost: "8 bytes read and 16 written a number",
	}
	pairsCountKernel = Kernel{
		Name: "rf_pairs_count", Params: []string{"keys", "n", "together", "counts"},
		Does: "counts the digits of keys of 32 bits for all passes of a sort",
		Tile: threads * 16,
		Cost: "4 bytes read and four atomics in shared memory a key",
	}
	pairsMoveKernel = Kernel{
		Name: "rf_pairs_move",
		Params: []string{"keys_out", "payloads_out", "keys", "payloads", "n", "shift", "counts",
			"scratch"},
		Does:   "moves keys of 32 bits and their payloads to their places by a digit",
		Tile:   threads * 32,
		Cost:   "8 bytes read and 8 written a pair; 3 KB read and written a tile",
		Shared: 8*threads*32 + 4*256*threads/32,
	}
)

// The kernels of each module, in the order of its PTX.
var (
	baseKernels = []*Kernel{
		&statesKernel, &statesOfKernel, &fillKernel, &scanKernel, &rehashKernel, &extentsKernel,
		&moveKernel, &rowSetKernel,
	}
	sortingKernels = []*Kernel{
		&pairsCountKernel, &pairsMoveKernel,
		&orderKeysKernel, &orderSelectKernel, &orderUpToKernel, &orderRankKernel, &orderHeadsKernel,
		&orderStartsKernel, &orderPlacesKernel, &orderBelowKernel, &orderKeepKernel,
		&orderMoveKernel, &orderUnpackKernel, &orderNumbersKernel,
	}
)
