package tables

import (
	"fmt"

	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// Groups of form Ordered are a list, which tiles append to in any order, behind
// a hash table of the groups that are not all of one tile: at most two for each
// tile.

// noKey marks a free slot of the hash table.
const noKey = ^uint64(0)

// ExpectTiles sets the number of tiles that will fill the groups. Call it
// before MakeRoom.
func (g *Groups) ExpectTiles(tiles int64) {
	if g.slots == 0 {
		g.borders = min(2*tiles, g.keys())
	}
}

// growList enlarges the list, which had room for had groups, to need groups, or
// to want groups if memory allows. The hash table keeps its first size.
func (g *Groups) growList(had, need, want int64) error {
	first := g.slots == 0
	if first {
		g.mask = uint64(machine.SlotsFor(g.borders) - 1)
	}
	borders, room := int64(g.mask+1), g.Room()
	if borders+need > machine.MaxRows {
		return fmt.Errorf("%s has more than 4 billion groups, which is not supported", g.What)
	}
	if !first {
		g.run.Enlarged++
		want = max(want, min(growth(g.slots*g.slotBytes())*room, g.keys()))
	}
	want = min(want, machine.MaxRows-borders)
	used, slots := borders+had, affordable(borders+need, borders+want,
		g.run.Memory.Room()/g.slotBytes())
	if first {
		used = 0
	}
	if err := g.run.Grow(&g.table, g.What, 8*used, 8*slots); err != nil {
		return err
	}
	for i, c := range g.Cells {
		if err := g.run.Grow(&g.data[i], g.What, 8*int64(c.Words)*used,
			8*int64(c.Words)*slots); err != nil {
			return err
		}
	}
	g.slots = slots
	if !first {
		return nil
	}
	return g.clearBorders()
}

// clearBorders empties the hash table.
func (g *Groups) clearBorders() error {
	empty := noKey
	if err := g.run.Fill(g.table, 0, int64(g.mask+1), int64(empty)); err != nil {
		return err
	}
	for i, c := range g.Cells {
		if err := g.run.Fill(g.data[i], 0, int64(g.mask+1)*int64(c.Words), c.Initial); err != nil {
			return err
		}
	}
	return nil
}
