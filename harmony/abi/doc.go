// Package abi is the calling convention of woven kernels: which functions a
// module of code has, which words each takes and what they mean. Code
// generation writes it, the runtimes obey it, and a compiled program stores it.
//
// In: nothing. Out: the types Module, Entry and Param, with a text form that is
// read back and a verifier. `redfox inspect --abi` prints what a compiled
// program has. Of redfox it imports scalar, queryplan and queryplan/irtext.
//
// # Functions
//
// Every parameter is a 64-bit word; Param says what it stands for, and no word
// depends on the facts otherwise. On a CPU a function is
//
//	int64_t symbol(const int64_t *params, int64_t *state)
//
// where params holds the words in the order of Entry.Params and state is the
// calling worker's. On a GPU it is a kernel with one 64-bit parameter a word
// and then a pointer to the states of all blocks, block b's being StateWords
// words at b * StateWords, b the linear number of the block. Its blocks have
// Threads threads and Scratch bytes of shared memory, of which the launch asks
// for Dynamic.
//
// # Tiles and states
//
// Rows from RowsFrom to RowsUntil are cut into tiles of Threads * Items; the
// last one may be partial. On a GPU the first tile begins at RowsFrom rounded
// down to a multiple of 4, so that four rows of a thread are one access, and up
// to three rows behind the last one are read and not used, which have to be
// there; what lies before RowsFrom is not looked at. Entry.Tiles counts them. A
// state says which a worker (a block, on a GPU) works on; Entry.Start writes
// it:
//
//	word 0       the next tile
//	word 1       the tile at which to stop
//	word 2       the step from tile to tile
//	word 3 + k   the first output of the k-th expansion in the tile, from 0, a
//	             multiple of the tile's rows
//	last but one the first output of the first expansion in a new tile
//	last         the step from output to output of the first expansion, a multiple of
//	             the tile's rows; 0 stands for the tile's rows
//
// If the entry donates work (Entry.Donates), one word an expansion follows the
// first outputs: the complement of the output at which the expansion ends for
// this block, or 0 if it has no other end than its last output. Such a function
// writes words 1 and last but one, too.
//
// Expansions are the probes of multi indexes, in order; without any the state
// ends with word 2. Workers that have the same tiles, other first outputs and
// the step of all of them together share the outputs of each tile: they make
// few rows with many matches work for many. Of an entry without expansions
// block b is member b modulo Entry.Sharing of those that have the same tiles,
// and works for its share of the groups. Before a function does anything with a
// tile, or with a round of the innermost expansion, it looks at the gauge of
// every sink that has one: two words, a cursor and a limit. If one cursor
// exceeds its limit, it leaves its position in the state and returns, 1 on a
// CPU. The runtime makes room, moves the limit, and calls again with the same
// state: nothing is done twice. When a worker is through, its word 0 is not
// below word 1 and it returns 0. A limit leaves room for one tile of rows for
// every worker that may run and every sink of the entry that fills the
// variable, so that what has been begun always fits; a limit of the least int64
// stops all workers soon.
//
// A block may hold back up to Entry.Queued rows of its tiles and finish them
// with rows of a later tile, in any order. It returns when all of them are
// finished, so a limit leaves room for Entry.Burst rows: those of a tile and
// those held back.
//
// A GPU's block keeps what it has added to groups for itself and adds it to the
// cells when it leaves. The groups themselves it enters at once.
//
// # Variables
//
// Relations are columns as package store has them: word = base + step * offset,
// offsets of 0, 1, 2, 4 or 8 bytes; step is 1 where a kernel writes. The
// columns of a relation whose set is wide are of 8 bytes with base 0 and step
// 1. A tuple is appended at the row that its gauge's cursor had; rows of
// derived relations never move.
//
// Tuples that serve as keys are packed into one word where the columns' bounds
// allow it: column i contributes (word - base) << shift, of bits bits. Where
// they do not, a row set (primitives/src/rowset.h) over columns of 8 bytes
// numbers the tuples: that is the form Wide, and the number is the packed key
// of form Direct. A key of one column is never wide. Words about row sets may
// be 0 for other forms.
//
//	a set of tuples       None     all tuples are new
//	                      Direct   a bit set over packed keys below Size
//	                      Hash     rf_set64 of packed keys, Size its mask
//	                      Wide     the row set alone, over the relation's columns
//	                      Numbered a CPU's bit set over packed keys below Size whose
//	                               lowest column's values have numbers
//	                               (primitives/src/tables.h, namespace numbered)
//	a unique index        None     key k is that of row k, below Size
//	                      Direct   rf_direct: 32 bits a key below Size, row + 1
//	                      Hash     rf_map64 of packed keys, Size its mask
//	                      Wide     the row set, then Direct
//	a multi index         Direct   the rows of key k are Rows[Begins[k]] to
//	                               Rows[Begins[k+1]-1]; Rows 0 stands for all rows
//	                               in order
//	                      Hash     the set rf_set64 of packed keys; slot s of Table,
//	                               then as Direct with k = s
//	                      Wide     the row set, then Direct
//	an exists index       None     all keys below Size are there
//	                      Direct   a bit set
//	                      Hash     rf_set64
//	                      Wide     the row set alone
//	groups                None     no key: slot 0
//	                      Direct   the packed key is the slot, below Size
//	                      Hash     rf_slot_insert's slot, Size its mask
//	                      Wide     the row set's number is the slot
//	                      Ordered  rows come in the order of their keys; slot s of
//	                               Table has the packed key of a group.
//	                               GroupOccupied is not set. The form is known when
//	                               code is generated.
//
// A list of form Ordered that one worker of a CPU fills has its groups in their
// order from slot 0 on. One that threads share begins with a hash table of Size
// + 1 slots, all ones where there is no group, for those that are not all of
// one tile: two for each tile. The gauge counts the groups behind it, whose
// cells are not cleared.
//
// Begins are 64-bit words, Rows 32-bit row numbers. A multi index that rows are
// added to (IndexSpaced), by loops of a GPU or by the host of a CPU's code, has
// an extent in place of each word of Begins (primitives/src/extents.h). The
// groups of a CPU have tables per worker, so that the words about them differ
// from worker to worker; GroupShared says whether several threads write one
// table. So does SetShared of a CPU's set, which one worker writes without
// atomics; a GPU's threads always share it. GroupCrowded, which is asked when
// code is made and no parameter of it, says whether hundreds of rows of facts
// come for each group that there can be.
//
// A CPU's kernel with IndexBitRows joins by its last index in one of two forms,
// as long as a run of it takes: if the word is 0, by Begins and Rows, and else
// by the bits there and at SetSeen, which primitives/src/bitrows.h describes.
// The word of its state for the last expansion counts words of bits then.
//
// A worker may also have a relation of its own in place of the program's:
// columns, gauge and set, of some of the tuples, as the loops that package
// decompose finds allow. SetBase then tells from where the keys of its set
// count.
//
// # Accumulators
//
// CellOf says how many words of its cells an accumulator has for each slot,
// those of slot s from s times that number, and what the runtime clears them
// to. GroupOccupied is a word for each slot, not 0 for a group that has had a
// row.
package abi
