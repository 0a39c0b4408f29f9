package machine

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// Groups describes a group-by table, wherever its slots lie.
type Groups struct {
	Decl  *harmony.Groups
	Lay   *layout.Key
	What  string     // the user's name of it, for messages
	Cells []abi.Cell // of each accumulator
}

// NewGroups describes a group-by table.
func NewGroups(decl *harmony.Groups, lay *layout.Key, what string) Groups {
	g := Groups{Decl: decl, Lay: lay, What: what}
	for _, a := range decl.Accs {
		g.Cells = append(g.Cells, layout.Cell(a))
	}
	return g
}

// Contents are the slots of a group-by table in the host's memory.
type Contents struct {
	Occupied []uint64   // a word for each slot, not 0 for a group
	Cells    [][]uint64 // of each accumulator
	Keys     []uint64   // of form Hash and Ordered, packed
	Tuples   [][]int64  // of form Wide, the columns of keys
}

// View presents the contents of a table.
func (g *Groups) View(c Contents) *woven.Groups {
	v := &woven.Groups{Decl: g.Decl, Occupied: c.Occupied, Cells: c.Cells}
	v.Key = func(slot, col int) int64 {
		packed := uint64(slot)
		switch g.Lay.Form {
		case abi.Wide:
			return c.Tuples[col][slot]
		case abi.Ordered:
			packed = c.Keys[slot]
		case abi.Hash:
			// The last slot is that of the key 0, and holds a mark.
			if packed = c.Keys[slot]; slot == len(c.Keys)-1 {
				packed = 0
			}
		}
		f := g.Lay.Fields[col]
		return int64(packed>>(f.Shift&63)&f.Mask()) + f.Base
	}
	return v
}
