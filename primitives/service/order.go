package service

// Rows in an order. A row's key is a string of bits: the numbers of columns,
// which order as the ordering wants it, one after the other. A sort by it takes
// OrderKeys, PairsCount and the passes of PairsMove for each 32 bits of it, the
// lowest first; the first rows of many are found by Select and SelectUpTo, and
// put in order by Rank. The kernels are those of Sorting. Rows are 32-bit
// numbers, and 0 for their address stands for all rows in their order.

var (
	orderKeysKernel = Kernel{
		Name: "rf_order_keys", Params: []string{"keys", "size", "rows", "fields", "count", "n"},
		Does: "makes keys of rows' columns",
		Tile: orderTile,
		Cost: "the columns read, at random where there are row numbers; size bytes written a row",
	}
	orderSelectKernel = Kernel{
		Name: "rf_order_select", Params: []string{"keys", "n", "shift", "state"},
		Does: "finds a digit of the key at a place of the order",
		Tile: threads * 8,
		Cost: "8 bytes read and at most one atomic in shared memory a key; up to 2048 atomics a block",
	}
	orderUpToKernel = Kernel{
		Name: "rf_order_upto", Params: []string{"rows", "most", "keys", "n", "state", "count"},
		Does: "collects the rows up to a key",
		Tile: orderTile,
		Cost: "8 bytes read a key; an atomic a warp that has such rows",
	}
	orderRankKernel = Kernel{
		Name: "rf_order_rank", Params: []string{"to", "rows", "keys", "levels", "n", "limit"},
		Does: "puts few rows in order",
		Tile: threads,
		Cost: "n * n comparisons, from the first-level cache",
	}
	orderHeadsKernel = Kernel{
		Name: "rf_order_heads", Params: []string{"heads", "rows", "fields", "count", "n"},
		Does: "finds the rows in an order that differ from the one before",
		Tile: orderTile,
		Cost: "2 random reads a row and column; 8 bytes written a row",
	}
	orderStartsKernel = Kernel{
		Name: "rf_order_starts", Params: []string{"starts", "groups", "n"},
		Does: "notes where groups begin",
		Tile: orderTile,
		Cost: "8 bytes read a row, 8 written a group",
	}
	orderPlacesKernel = Kernel{
		Name: "rf_order_places", Params: []string{"groups", "starts", "n"},
		Does: "replaces the numbers of groups by the places within them",
		Tile: orderTile,
		Cost: "16 bytes read and 8 written a row",
	}
	orderBelowKernel = Kernel{
		Name: "rf_order_below", Params: []string{"words", "limit", "n"},
		Does: "replaces words by whether they are below a limit",
		Tile: orderTile,
		Cost: "8 bytes read and 8 written a word",
	}
	orderKeepKernel = Kernel{
		Name: "rf_order_keep", Params: []string{"to", "rows", "sums", "n"},
		Does: "moves the rows together that are kept",
		Tile: orderTile,
		Cost: "12 bytes read a row, 4 written of each that is kept",
	}
	orderMoveKernel = Kernel{
		Name: "rf_order_move", Params: []string{"columns", "count", "rows", "n", "first"},
		Does: "copies rows of columns in an order",
		Tile: orderTile,
		Cost: "a random read and a write a row and column",
	}
	orderUnpackKernel = Kernel{
		Name:   "rf_order_unpack",
		Params: []string{"columns", "count", "low", "high", "low_bits", "n", "first"},
		Does:   "makes columns of the keys of rows",
		Tile:   orderTile,
		Cost:   "4 or 8 bytes read a row, and a write a row and column",
	}
	orderNumbersKernel = Kernel{
		Name: "rf_order_numbers", Params: []string{"to", "base", "width", "n", "first"},
		Does: "numbers rows",
		Tile: orderTile,
		Cost: "a write a row",
	}
)

const orderTile = threads * 4

// How words of an OrderField order.
const (
	OrderSigned   = iota // as they are
	OrderUnsigned        // as unsigned numbers
	OrderFloat           // as floats
)

// OrderField is bits of the numbers of a column: number >> Drop, of Bits bits,
// at least 1, stands from bit At of the key on. The column is in terms of
// abi.Param. Its words, mapped as Kind says, are at most a distance of 2^64 - 1
// from First, the first in the order, which is the greatest if the order
// Descends; the distance is the number.
type OrderField struct {
	Data, Base, Step, Width int64
	Kind, First             int64
	Descends                bool
	Drop, Bits, At          int64
}

// OrderFieldWords is the length of a field in memory.
const OrderFieldWords = 10

// AppendOrderFields appends what OrderKeys and Heads want to find at the
// address fields.
func AppendOrderFields(words []int64, fields []OrderField) []int64 {
	for _, f := range fields {
		words = append(words, f.Data, f.Base, f.Step, f.Width, f.Kind, f.First, flag(f.Descends),
			f.Drop, f.Bits, f.At)
	}
	return words
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// OrderKeys makes the keys of n rows, of size bytes each, 4 or 8, of count
// fields.
func OrderKeys(keys, size, rows, fields, count, n int64) Launch {
	return over(&orderKeysKernel, n, keys, size, rows, fields, count, n)
}

// SelectBits is how many bits of a key a Select looks at.
const SelectBits = 11

// SelectState is the number of words of Select's state. All are 0 at first but
// the one at SelectPlace, which is the place in the order, from 1 to n.
const (
	SelectState = 4 + 1<<SelectBits
	SelectPlace = 1
)

// Select finds the SelectBits bits from shift on of the key of 8 bytes at a
// place in the order of n keys. It is launched for the highest bits that keys
// have first, then for those below them, down to shift 0.
func Select(keys, n, shift, state int64) Launch {
	l := over(&orderSelectKernel, n, keys, n, shift, state)
	l.Blocks = min(l.Blocks, selectBlocks)
	return l
}

// selectBlocks bounds the blocks of a Select, each of which adds all its
// counters to those of all.
const selectBlocks = 1 << 10

// SelectUpTo appends the numbers of rows with keys up to the one that was
// selected to rows, in any order and no more than most, and adds how many there
// are to the word at count.
func SelectUpTo(rows, most, keys, n, state, count int64) Launch {
	return over(&orderUpToKernel, n, rows, most, keys, n, state, count)
}

// Rank puts the first limit of n rows in order. Their keys are levels arrays of
// n words of 8 bytes that follow each other, the one with the highest bits
// first.
func Rank(to, rows, keys, levels, n, limit int64) Launch {
	return over(&orderRankKernel, n, to, rows, keys, levels, n, limit)
}

// Heads sets a word for each of n rows: to 1 for the first row and for a row
// that differs from the row before in one of count fields, to 0 otherwise. It
// uses only the columns of the fields.
func Heads(heads, rows, fields, count, n int64) Launch {
	return over(&orderHeadsKernel, n, heads, rows, fields, count, n)
}

// Starts stores where in n rows each group begins, given the inclusive sums of
// Heads.
func Starts(starts, groups, n int64) Launch {
	return over(&orderStartsKernel, n, starts, groups, n)
}

// Places replaces the inclusive sums of Heads by the place of each of n rows
// within its group, from 0.
func Places(groups, starts, n int64) Launch {
	return over(&orderPlacesKernel, n, groups, starts, n)
}

// Below replaces n words by 1 if they are below limit as unsigned numbers, and
// by 0 else.
func Below(words, limit, n int64) Launch { return over(&orderBelowKernel, n, words, limit, n) }

// Keep moves the rows that are kept together. Sums are n + 1 words: how many
// rows before each one are kept, and how many in all.
func Keep(to, rows, sums, n int64) Launch { return over(&orderKeepKernel, n, to, rows, sums, n) }

// MovedColumn is a column in terms of abi.Param and where its words go, at
// offsets from ToBase of ToWidth bytes. The rows of one that is InOrder stand
// in the order already.
type MovedColumn struct {
	Data, Base, Step, Width int64
	To, ToBase, ToWidth     int64
	InOrder                 bool
}

// MovedColumnWords is the length of one in memory.
const MovedColumnWords = 8

// AppendMovedColumns appends what MoveRows wants to find at the address
// columns.
func AppendMovedColumns(words []int64, columns []MovedColumn) []int64 {
	for _, c := range columns {
		words = append(words, c.Data, c.Base, c.Step, c.Width, c.To, c.ToBase, c.ToWidth,
			flag(c.InOrder))
	}
	return words
}

// MoveRows copies n rows of count columns to the rows from first on of others.
func MoveRows(columns, count, rows, n, first int64) Launch {
	return over(&orderMoveKernel, n, columns, count, rows, n, first)
}

// UnpackedColumn is a column whose numbers, in terms of OrderField, are Bits
// bits of keys from bit At on, and where its words go, at offsets from ToBase
// of ToWidth bytes.
type UnpackedColumn struct {
	Kind, First         int64
	Descends            bool
	Bits, At            int64
	To, ToBase, ToWidth int64
}

// UnpackedColumnWords is the length of one in memory.
const UnpackedColumnWords = 8

// AppendUnpackedColumns appends what Unpack wants to find at the address
// columns.
func AppendUnpackedColumns(words []int64, columns []UnpackedColumn) []int64 {
	for _, c := range columns {
		words = append(words, c.Kind, c.First, flag(c.Descends), c.Bits, c.At, c.To, c.ToBase,
			c.ToWidth)
	}
	return words
}

// Unpack writes count columns of n keys to the rows from first on. Keys are the
// words of 32 bits at low and, above their lowBits lowest bits, those at high
// unless that is 0; with high Together, the words of 64 bits at low. None are
// read, and all are 0, if low is 0.
func Unpack(columns, count, low, high, lowBits, n, first int64) Launch {
	return over(&orderUnpackKernel, n, columns, count, low, high, lowBits, n, first)
}

// Numbers writes the numbers from 0 to n - 1 to the rows from first on of a
// column, at offsets from base of width bytes. It is aligned to 16 bytes.
func Numbers(to, base, width, n, first int64) Launch {
	return over(&orderNumbersKernel, n+first%4, to, base, width, n, first)
}
