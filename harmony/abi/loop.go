package abi

// A function of role Loop is launched with some blocks, which all run at a
// time. Its state is a record of words, which primitives/src/loop.h declares: a
// head, the program, operations that run kernels, and relations.

// LoopSizes are the most operations, kernels and relations of a loop's record.
type LoopSizes struct{ Operations, Kernels, Relations int }

// Work is what a block keeps in memory of its own, in words.
func (s LoopSizes) Work() int {
	return 25 + 256 + s.Operations + 6*s.Kernels + 7*s.Relations
}

// Holds reports whether no size of the other is larger.
func (s LoopSizes) Holds(other LoopSizes) bool {
	return other.Operations <= s.Operations && other.Kernels <= s.Kernels &&
		other.Relations <= s.Relations
}

// The words of that memory which tell a block the kernel that it is to run.
const (
	WorkKernel = 1 + iota // its number
	WorkWords             // the address of its parameters
	WorkState             // the address of its state
)

// The words of a record's head.
const (
	LoopOperations = iota // the address of the first
	LoopProgram           // the address of a word for each operation, see LoopStep
	LoopLength            // of the program
	LoopRelations         // the address of the first
	LoopCount             // of relations
	LoopBlocks
	LoopAt     // the number of the operation at hand
	LoopMost   // rounds
	LoopRows   // of a kernel's source, at most
	LoopGrowth // of a relation by the kernels of a segment, about
	LoopEnd    // the address of a gauge, which gets rounds << 8 | why
	LoopRounds // that are complete
	LoopCounts // whether OpKept is wanted
	_          // blocks that have begun
	_          // blocks that have come to meetings
	_          // what the last meeting has decided
	LoopHead   // words in all
)

// LoopStep returns the word of an operation in the program: its kind, the
// version that it reads, the number of its relation, how many operations there
// are from it to the end of its stretch, and the number of its kernel.
// Operations that do not depend on each other and follow each other are a
// stretch: kernels that do not read what the others fill, builds of indexes, or
// merges and clears of different relations. The relation of a build is the
// index.
func LoopStep(kind, version, relation, stretch, kernel int64) int64 {
	return kind | version<<8 | relation<<16 | stretch<<32 | kernel<<48
}

// The words of an operation. Those that run no kernel have zeros.
const (
	OpKernel = iota // its number among the kernels of the loop
	OpWords         // the address of its parameters
	OpCount         // of the parameters
	OpFrom          // the number of that of RowsFrom
	OpUntil         // the number of that of RowsUntil
	OpState         // the address of its state
	OpStateWords
	OpTile   // rows of a tile
	OpList   // the address of the numbers of the relations that it is the first to fill
	OpLength // of the list
	_        // the first row of its source, in this round
	_        // the row after the last one
	OpCalls  // so far
	OpSource // rows of sources so far
	OpKept   // tuples that were new so far
	_
	OpSize
)

// The words of a relation, or of an index that is spaced (IndexSpaced): its
// gauge is IndexTaken, and LoopOld the rows that it has.
const (
	LoopGauge = iota // its address
	LoopFull         // rows that are merged
	LoopOld          // rows that were a round before
	LoopLimit        // of the gauge, for the host
	_                // rows when the segment began
	LoopIsBag
	LoopOldGauge // the address of the gauge that gets the old rows at the end
	LoopFilled   // by a kernel of the loop
	LoopLooked   // its delta keeps the loop going
	LoopOf       // of an index, the number of its relation; -1 of a relation
	LoopRelation // words in all
)

// The kinds of operation.
const (
	LoopRun    = iota // runs a kernel
	LoopMerge         // ends a round of a relation
	LoopClear         // empties a bag
	LoopBranch        // ends a round, or the loop
	LoopBuild         // adds rows to an index that is spaced
)

// The versions that a kernel reads.
const (
	LoopDelta       = iota // what is new
	LoopBefore             // what was there a round before
	LoopMerged             // all that is merged
	LoopEach               // all rows of a bag
	LoopIndexMerged        // those of LoopMerged that the index at hand does not have
	LoopIndexBefore        // those of LoopBefore
)

// Why a loop ends.
const (
	LoopFixed     = 1 + iota // a round has added nothing
	LoopLong                 // it has had its rounds
	LoopLarge                // a delta has more rows than it should
	LoopWide                 // within a round, another source has
	LoopFullTable            // a kernel has stopped, and is to run again
	LoopCancelled
)
