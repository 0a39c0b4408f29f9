package abi

// A function of role Loop is launched with one block. Its state is a record of
// words, which primitives/src/loop.h declares: a head, operations, and
// relations. Operations have the addresses of the relations, and of lists of
// such addresses.

// The words of a record's head.
const (
	LoopOperations = iota // the address of the first
	LoopAt                // that of the operation at hand
	LoopRunning           // that of the operation whose kernel runs, or 0
	LoopRelations         // the address of the first
	LoopCount             // of relations
	LoopMost              // rounds
	LoopRows              // of a kernel's source, at most
	LoopGrowth            // of a relation by one kernel, about
	LoopEnd               // the address of a gauge, which gets rounds << 8 | why
	LoopRounds            // that are complete
	LoopHead              // words in all
)

// The words of an operation.
const (
	OpKind     = iota // LoopRun and so on
	OpRelation        // that is read, merged or cleared
	OpVersion         // LoopDelta and so on
	OpKernel          // its number among the kernels of the loop
	OpWords           // the address of its parameters
	OpFrom            // the address of that of RowsFrom
	OpUntil           // the address of that of RowsUntil
	OpState           // the address of its state
	OpStateWords
	OpTile   // rows of a tile
	OpList   // the address of those of the relations that it fills or looks at
	OpLength // of the list
	OpCalls  // so far
	OpSource // rows of sources so far
	OpKept   // tuples that were new so far
	_
	OpSize
)

// The words of a relation.
const (
	LoopGauge = iota // its address
	LoopFull         // rows that are merged
	LoopOld          // rows that were a round before
	LoopLimit        // of the gauge, for the host
	_                // rows when the kernel that runs began
	LoopIsBag
	LoopOldGauge // the address of the gauge that gets the old rows at the end
	_
	LoopRelation // words in all
)

// The kinds of operation.
const (
	LoopRun    = iota // runs a kernel
	LoopMerge         // ends a round of a relation
	LoopClear         // empties a bag
	LoopBranch        // ends a round, or the loop
)

// The versions that a kernel reads.
const (
	LoopDelta  = iota // what is new
	LoopBefore        // what was there a round before
	LoopMerged        // all that is merged
	LoopEach          // all rows of a bag
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
