package abi

import (
	"fmt"
	"slices"
)

// String returns the role as texts write it: "kernel", "build_insert".
func (r Role) String() string { return nameOf(roleNames[:], int(r)) }

// String returns the form as texts write it: "none", "direct", "hash" or
// "wide".
func (f Form) String() string { return nameOf(formNames[:], int(f)) }

// String returns the kind as texts write it: "rows_from", "column_data".
func (k Kind) String() string { return nameOf(kindNames[:], int(k)) }

func nameOf(names []string, at int) string {
	if at < 0 || at >= len(names) {
		return fmt.Sprintf("unknown_%d", at)
	}
	return names[at]
}

// find returns the value of a name of names.
func find[T ~uint8](names []string, name string) (T, bool) {
	at := slices.Index(names, name)
	return T(max(at, 0)), at >= 0
}

var roleNames = [...]string{
	Kernel:      "kernel",
	BuildInsert: "build_insert",
	BuildCount:  "build_count",
	BuildFill:   "build_fill",
	Loop:        "loop",
}

var formNames = [...]string{None: "none", Direct: "direct", Hash: "hash", Wide: "wide",
	Ordered: "ordered", Numbered: "numbered"}

var kindNames = [...]string{
	RowsFrom:  "rows_from",
	RowsUntil: "rows_until",

	ColumnData:  "column_data",
	ColumnBase:  "column_base",
	ColumnStep:  "column_step",
	ColumnWidth: "column_width",

	ValuesData:  "values_data",
	ValuesBase:  "values_base",
	ValuesStep:  "values_step",
	ValuesWidth: "values_width",

	TableData:    "table_data",
	TableBase:    "table_base",
	TableStep:    "table_step",
	TableWidth:   "table_width",
	TablePresent: "table_present",

	LiteralWord: "literal_word",
	LiteralHigh: "literal_high",
	PlaceLow:    "place_low",
	PlaceHigh:   "place_high",

	Gauge: "gauge",

	SetForm:    "set_form",
	SetTable:   "set_table",
	SetSize:    "set_size",
	SetShift:   "set_shift",
	SetBase:    "set_base",
	SetBits:    "set_bits",
	SetColumns: "set_columns",
	SetShared:  "set_shared",
	SetSeen:    "set_seen",

	IndexForm:        "index_form",
	IndexTable:       "index_table",
	IndexSize:        "index_size",
	IndexShift:       "index_shift",
	IndexBase:        "index_base",
	IndexBits:        "index_bits",
	IndexBegins:      "index_begins",
	IndexRows:        "index_rows",
	IndexSpaced:      "index_spaced",
	IndexTaken:       "index_taken",
	IndexBitRows:     "index_bit_rows",
	IndexWideSlots:   "index_wide_slots",
	IndexWideMask:    "index_wide_mask",
	IndexWideColumns: "index_wide_columns",
	IndexWideGauge:   "index_wide_gauge",

	GroupForm:     "group_form",
	GroupTable:    "group_table",
	GroupSize:     "group_size",
	GroupShift:    "group_shift",
	GroupBase:     "group_base",
	GroupBits:     "group_bits",
	GroupColumns:  "group_columns",
	GroupCells:    "group_cells",
	GroupOccupied: "group_occupied",
	GroupShared:   "group_shared",
	GroupCrowded:  "group_crowded",

	Dropped: "dropped",
	Fault:   "fault",

	HostCall:    "host_call",
	HostContext: "host_context",

	Board: "board",
}

// numbered says of which kinds the Index means something, so that texts show it
// also where it is 0.
func (k Kind) numbered() bool {
	switch k {
	case ColumnData, ColumnBase, ColumnStep, ColumnWidth, ValuesData, ValuesBase, ValuesStep,
		ValuesWidth,
		TableData, TableBase, TableStep, TableWidth, TablePresent, LiteralWord, LiteralHigh,
		PlaceLow, PlaceHigh,
		SetShift, SetBase, SetBits, SetSeen, IndexBitRows, IndexShift, IndexBase, IndexBits,
		GroupShift, GroupBase, GroupBits, GroupCells:
		return true
	}
	return false
}
