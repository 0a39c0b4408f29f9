package abi

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Module is what code generation makes of a program for one target.
type Module struct {
	Target  string // "cpu", or "gpu:sm_90" with the architecture of the code
	Entries []*Entry
	// Tables are the functions of dictionary entries that kernels look up.
	Tables []Table
}

// Symbols returns those of the entries.
func (m *Module) Symbols() []string {
	out := make([]string, len(m.Entries))
	for i, e := range m.Entries {
		out[i] = e.Symbol
	}
	return out
}

// Role says what an entry does for its command.
type Role uint8

// The roles.
const (
	Kernel      Role = iota // runs a kernel
	BuildInsert             // enters the rows of an index that is unique or exists
	BuildCount              // counts the rows of each key of a multi index, into Begins
	BuildFill               // enters them into Rows, after Begins is summed up
	Loop                    // runs rounds of a block that branches back to itself, see loop.go
)

// Chunk is how many consecutive rows a thread of a GPU reads at once. Its tiles
// begin with a row that is a multiple of it, and a thread has whole chunks of
// rows: the primitives read, count and write by chunks whatever the number of
// rows (primitives/src/tile.h).
const Chunk = 4

// Entry is one function.
type Entry struct {
	Symbol string
	Role   Role
	// Of is the name of the kernel, of the index being built, or of the block.
	Of     string
	Params []Param
	// Threads and Items give the tile's shape: 1 thread on a CPU, and on a GPU
	// a multiple of Chunk rows a thread. Scratch is the bytes of shared memory
	// that a block has.
	Threads, Items, Scratch int
	// Dynamic are those of Scratch that a launch has to ask for; the others are
	// static.
	Dynamic int
	// Queued is how many rows of tiles that are over a worker may hold back, to
	// do the rest of the work for them later.
	Queued int
	// Expansions is how many words of a state tell a position within a tile.
	Expansions int
	// Sharing is how many blocks of a GPU work on the same tiles, each for some
	// of the groups that the entry fills; 0 or 1: a block works for all.
	Sharing int
	// Loop bounds the record of an entry of role Loop; others have zeros.
	Loop     LoopSizes
	Literals []Literal
	Hosts    []Host
}

// StateWords is the length of a worker's state.
func (e *Entry) StateWords() int {
	switch {
	case e.Expansions == 0:
		return 3
	case e.Donates():
		return 5 + 2*e.Expansions
	}
	return 5 + e.Expansions
}

// Donates reports whether blocks that are through take over work of others.
func (e *Entry) Donates() bool {
	return slices.ContainsFunc(e.Params, func(p Param) bool { return p.Kind == Board })
}

// BoardBytes is the size of a board, and BoardParts its word that counts the
// parts of work that blocks have given away.
const (
	BoardBytes = 128 * (1 + 256)
	BoardParts = 2
)

// Burst is how many rows a worker may pass on to each sink between two looks at
// the gauges, if it has no expansions.
func (e *Entry) Burst() int64 { return int64(e.Threads*e.Items + e.Queued) }

// FirstRow returns the row that the tiles of rows from from on begin with: on a
// GPU a multiple of Chunk.
func (e *Entry) FirstRow(from int64) int64 {
	if e.Threads == 1 {
		return from
	}
	return from &^ (Chunk - 1)
}

// Tiles returns the number of tiles of rows from to until.
func (e *Entry) Tiles(from, until int64) int64 {
	if until <= from {
		return 0
	}
	tile := int64(e.Threads * e.Items)
	return (until - e.FirstRow(from) + tile - 1) / tile
}

// Start fills the states of workers, one after the other, for the rows from to
// until. Of an entry with expansions, every sharing of them work on the same
// tiles, of others every Entry.Sharing; those that are left over when workers
// is no multiple have nothing to do.
func (e *Entry) Start(states []int64, workers int, from, until int64, sharing int) {
	if e.Expansions == 0 {
		sharing = max(1, e.Sharing)
	}
	words, tiles, teams := e.StateWords(), e.Tiles(from, until), int64(workers/sharing)
	clear(states[:workers*words])
	for w := range int64(workers) {
		s := states[w*int64(words):][:words]
		team, member := w/int64(sharing), w%int64(sharing)
		s[0], s[1], s[2] = team, tiles, teams
		if team >= teams {
			s[0] = tiles
		}
		if e.Expansions > 0 {
			tile := int64(e.Threads * e.Items)
			s[3], s[words-2], s[words-1] = member*tile, member*tile, int64(sharing)*tile
		}
	}
}

// Literal is a constant of the program. It is a parameter, so that another
// constant is no other code.
type Literal struct {
	Value scalar.Value
	// Domain is the string domain whose codes it stands among, see package
	// harmony/domain; meaningless for other types.
	Domain int
}

// Host is a function that has no native form: a kernel calls back for a tile of
// rows. Only CPUs have it; for GPUs package weaver/partition takes such
// functions out.
//
//	void (*host)(int64_t context, int64_t number, int64_t items, void **frame)
//
// The host is HostCall's word, context HostContext's, number the place in
// Entry.Hosts. The frame has the live flags (bytes), the result's words, its
// presence (bytes), and for each argument its words, its high words (null if it
// has none) and its presence (null if it always has a value). Rows that are not
// live need no result.
type Host struct {
	Func    string
	Args    []scalar.Type
	Result  scalar.Type
	Domains []int // of each string argument, in order
	Domain  int   // of a string result
}

// Table is a function of one string, all its other arguments constant,
// evaluated once for each entry of a dictionary: a column, and a byte for each
// entry that says whether it has a value.
type Table struct {
	Func   string
	Args   []scalar.Value // with the zero Value at the place of the string
	String int            // that place
	Result scalar.Type
	In     int // the domain of the string
	Out    int // the domain of a string result
}

// Form is how the keys of a set, an index or groups are kept.
type Form int64

// The forms; the package's documentation says what each is.
const (
	None Form = iota
	Direct
	Hash
	Wide
	Ordered
	Numbered
)

// LineBits is LINE_BITS of form Numbered in primitives/src/tables.h: the bits
// of 1<<LineBits numbers lie beside each other.
const LineBits = 9

// Param is the meaning of a word. Var is the name of a managed variable, Index
// a column, an accumulator or a number within the entry or module, as Kind
// says.
type Param struct {
	Kind  Kind
	Var   string
	Index int
}

// Kind is the kind of a parameter.
type Kind uint8

// IsAddress reports whether a parameter is an address.
func (k Kind) IsAddress() bool {
	switch k {
	case ColumnData, ValuesData, TableData, Gauge, SetTable, SetColumns,
		SetSeen, IndexTable, IndexBegins, IndexRows, IndexTaken, IndexBitRows, IndexWideSlots,
		IndexWideColumns, IndexWideGauge, GroupTable, GroupColumns, GroupCells, GroupOccupied,
		Dropped, Fault, HostCall, Board:
		return true
	}
	return false
}

// PackedWidth is added to the number of bits of a column's packed offsets: the
// sum is the column's width.
const PackedWidth = 64

// PackedBits returns the number of bits of packed offsets of a width, of 1 to
// 63, or 0 if the width is one of bytes.
func PackedBits(width int64) int64 { return max(width-PackedWidth, 0) }

// The kinds of parameter. All pointers are to the target's memory.
const (
	RowsFrom  Kind = iota // the first row of the source
	RowsUntil             // the row after the last one; of groups, slots

	ColumnData  // of relation Var's column Index
	ColumnBase  //
	ColumnStep  //
	ColumnWidth // 0, 1, 2, 4 or 8 bytes, or PackedWidth plus bits

	ValuesData // of column Index of the kernel's constant rows
	ValuesBase
	ValuesStep
	ValuesWidth

	TableData // of table Index
	TableBase
	TableStep
	TableWidth
	TablePresent // bytes; 0 if all entries have a value

	LiteralWord // of literal Index; of a string, its code or -1
	LiteralHigh // the upper 64 bits of a decimal
	PlaceLow    // the codes of a sorted domain below which strings are less
	PlaceHigh   // the code from which they are greater than the literal

	Gauge // cursor and limit of Var: rows of a relation, groups of a Groups

	// The set of derived relation Var, and the key Index of it.
	SetForm
	SetTable
	SetSize // bits of Direct, the mask of Hash and Wide
	SetShift
	SetBase
	SetBits
	SetColumns // pointers to the relation's columns, for Wide
	SetShared  // of a CPU: whether several workers write it
	// SetSeen, of a CPU, is where a join by IndexBitRows notes which words it
	// has found for key Index of tuples (primitives/src/bitrows.h).
	SetSeen

	// The index Var, and key column Index of it.
	IndexForm
	IndexTable
	IndexSize
	IndexShift
	IndexBase
	IndexBits
	IndexBegins
	IndexRows
	// IndexSpaced is 1 if rows are added to the index while a loop probes it:
	// IndexBegins are extents then (primitives/src/extents.h), and IndexTaken,
	// of a GPU, is the gauge of the places of IndexRows that they take.
	IndexSpaced
	IndexTaken
	// IndexBitRows, of a CPU, are the words of the relation's column Index as
	// bits (primitives/src/bitrows.h); 0 if the kernel joins by IndexRows.
	IndexBitRows
	IndexWideSlots // the row set of form Wide
	IndexWideMask
	IndexWideColumns
	IndexWideGauge

	// The groups Var, key column Index of them, accumulator Index.
	GroupForm
	GroupTable // keys of Hash, row set of Wide
	GroupSize
	GroupShift
	GroupBase
	GroupBits
	GroupColumns // pointers to key columns of 8 bytes, for Wide
	GroupCells   // of accumulator Index
	GroupOccupied
	GroupShared
	GroupCrowded

	Dropped // a counter of decimals that did not fit
	// a word: 0, or 1 + the accumulator << 48 | slot, of a result that does not
	// fit its type
	Fault

	HostCall
	HostContext

	// Board is where the blocks of a launch donate work
	// (primitives/src/donate.h): memory of BoardBytes, zeroed before the first
	// launch; 0 if the function runs in one block.
	Board
)
