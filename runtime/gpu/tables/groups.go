package tables

import (
	"context"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// Groups is a group-by table that all blocks share. A slot holds a key,
// accumulators and a mark.
type Groups struct {
	machine.Groups
	cursor // of Hash and Wide, and of the list of Ordered

	table    device.Buffer // keys of Hash and Ordered, row set of Wide
	mask     uint64        // the mask of the hash table, which precedes the list of Ordered
	borders  int64         // the most groups of Ordered in the hash table
	tuples   []*Column
	pointers device.Buffer
	data     []device.Buffer // the cells of each accumulator
	occupied device.Buffer
	slots    int64 // slots with cells; 0 before the first use
}

func newGroups(r *State, decl *harmony.Groups, lay *layout.Key, what string) *Groups {
	g := &Groups{Groups: machine.NewGroups(decl, lay, what), cursor: cursor{run: r,
		Gauge: r.Control.NewGauge(), Limit: device.Unlimited}}
	g.data = make([]device.Buffer, len(g.Cells))
	if lay.Form == abi.Wide {
		for _, c := range decl.Keys {
			g.tuples = append(g.tuples, &Column{Column: layout.Words, Typ: c.Type})
		}
	}
	g.earlier = r.earlierSize(decl, 2*g.slotBytes())
	return g
}

// keys returns an upper bound of the number of groups.
func (g *Groups) keys() int64 {
	if (g.Lay.Form == abi.Hash || g.Lay.Form == abi.Ordered) && g.Lay.Size > 0 &&
		g.Lay.Size < machine.MaxRows {
		return int64(g.Lay.Size)
	}
	return machine.MaxRows
}

// Room returns the capacity of the table, in groups.
func (g *Groups) Room() int64 {
	switch {
	case g.slots == 0:
		return 0
	case g.Lay.Form == abi.Hash:
		return machine.RoomOf(g.mask)
	case g.Lay.Form == abi.Wide:
		return min(g.slots, machine.RoomOf(g.mask))
	case g.Lay.Form == abi.Ordered:
		return g.slots - int64(g.mask+1)
	}
	return machine.MaxRows
}

// MakeRoom makes room for a launch that adds at most most groups. A table that
// has to grow gets room for expected groups. slack is the number of groups that
// blocks may have begun.
func (g *Groups) MakeRoom(ctx context.Context, slack, most, expected int64) error {
	switch g.Lay.Form {
	case abi.None, abi.Direct:
		if g.slots > 0 {
			return nil
		}
		return g.addSlots(int64(g.Lay.Size))
	}
	g.reached.Slack = max(g.reached.Slack, slack)
	if need := min(g.Most+slack, g.keys()); need > g.Room() {
		had, err := g.count(ctx)
		if err != nil {
			return err
		}
		need = min(had+slack, g.keys())
		want := min(max(need, expected+slack, g.earlier.Rows+g.earlier.Slack), g.keys())
		if need > g.Room() {
			if g.Lay.Form == abi.Ordered {
				err = g.growList(had, need, want)
			} else {
				err = g.grow(ctx, had, need, want)
			}
			if err != nil {
				return err
			}
		}
	}
	return g.setLimit(ctx, g.Room(), g.keys(), slack, most)
}

// slotBytes is the size of a slot.
func (g *Groups) slotBytes() int64 {
	n := int64(16 + 8*len(g.tuples))
	for _, c := range g.Cells {
		n += 8 * int64(c.Words)
	}
	return n
}

// grow enlarges the table, which had room for had groups, to need groups, or to
// want groups if memory allows.
func (g *Groups) grow(ctx context.Context, had, need, want int64) error {
	slots := machine.SlotsFor(want)
	if g.slots > 0 {
		g.run.Enlarged++
		slots = max(slots, growth(g.slots*g.slotBytes())*int64(g.mask+1))
		slots = min(slots, max(machine.SlotsFor(g.keys()), machine.SlotsFor(need)))
	}
	for slots > machine.SlotsFor(need) && slots*g.slotBytes() > g.run.Memory.Room()/2 {
		slots /= 2
	}
	if g.Lay.Form == abi.Wide {
		return g.growTuples(ctx, had, slots)
	}
	table, mask, data, occupied, old := g.table, g.mask, g.data, g.occupied, g.slots
	g.table, g.data, g.occupied, g.slots = device.Buffer{}, make([]device.Buffer,
		len(g.Cells)), device.Buffer{}, 0
	if err := g.run.Zeroed(&g.table, g.What, 8*(slots+1)); err != nil {
		return err
	}
	g.mask = uint64(slots - 1)
	if err := g.addSlots(slots + 1); err != nil {
		return err
	}
	if old == 0 {
		return nil
	}
	var moved device.Buffer
	if err := g.run.Alloc(&moved, g.What, 8*old); err != nil {
		return err
	}
	if err := g.run.Rehash(table, mask, g.table, g.mask, moved); err != nil {
		return err
	}
	if err := g.run.Move(moved, old, 1, occupied, g.occupied); err != nil {
		return err
	}
	for i, c := range g.Cells {
		if err := g.run.Move(moved, old, c.Words, data[i], g.data[i]); err != nil {
			return err
		}
	}
	for _, b := range append(data, table, occupied, moved) {
		if err := g.run.Drop(&b); err != nil {
			return err
		}
	}
	return nil
}

func (g *Groups) growTuples(ctx context.Context, had, slots int64) error {
	for _, c := range g.tuples {
		if err := g.run.Grow(&c.Data, g.What, 8*had, 8*slots); err != nil {
			return err
		}
	}
	if err := g.run.pointers(&g.pointers, g.What, g.tuples); err != nil {
		return err
	}
	if err := g.addSlots(slots); err != nil {
		return err
	}
	old := g.table
	g.table = device.Buffer{}
	if err := g.run.Zeroed(&g.table, g.What, 8*(slots+1)); err != nil {
		return err
	}
	g.mask = uint64(slots - 1)
	if had > 0 {
		if err := g.run.RowSet(g.table, g.mask, g.pointers, len(g.tuples), had); err != nil {
			return err
		}
	}
	return g.run.Drop(&old)
}

// addSlots enlarges the table to slots slots. New slots are empty.
func (g *Groups) addSlots(slots int64) error {
	for i, c := range g.Cells {
		size := 8 * int64(c.Words)
		if err := g.run.Grow(&g.data[i], g.What, g.slots*size, slots*size); err != nil {
			return err
		}
		if err := g.run.Fresh(g.data[i], g.slots*int64(c.Words), slots*int64(c.Words),
			c.Initial); err != nil {
			return err
		}
	}
	if err := g.run.Grow(&g.occupied, g.What, 8*g.slots, 8*slots); err != nil {
		return err
	}
	if err := g.run.Fresh(g.occupied, g.slots, slots, 0); err != nil {
		return err
	}
	g.slots = slots
	return nil
}

// Clear empties the table and keeps its memory.
func (g *Groups) Clear() error {
	if err := g.reset(g.run.Ctx); err != nil || g.slots == 0 {
		return err
	}
	if g.Lay.Form == abi.Ordered {
		return g.clearBorders()
	}
	if g.table.At != 0 {
		if err := g.run.Zero(g.table); err != nil {
			return err
		}
	}
	for i, c := range g.Cells {
		if err := g.run.Fill(g.data[i], 0, g.slots*int64(c.Words), c.Initial); err != nil {
			return err
		}
	}
	return g.run.Fill(g.occupied, 0, g.slots, 0)
}

func (g *Groups) reset(ctx context.Context) error {
	g.reach()
	if g.Most == 0 {
		return nil
	}
	g.Most, g.Dirty = 0, false
	return g.run.Control.Set(ctx, g.Gauge, 0)
}

// Release frees the memory of groups that will not be filled again.
func (g *Groups) Release() error {
	g.reach()
	g.Most, g.Dirty, g.slots = 0, false, 0
	all := []*device.Buffer{&g.table, &g.occupied, &g.pointers}
	for i := range g.data {
		all = append(all, &g.data[i])
	}
	for _, c := range g.tuples {
		all = append(all, &c.Data)
	}
	for _, b := range all {
		if err := g.run.Drop(b); err != nil {
			return err
		}
	}
	return nil
}

// Numbers returns the number of slots that a kernel over the groups reads.
func (g *Groups) Numbers(ctx context.Context) (int64, error) {
	switch {
	case g.Lay.Form == abi.Wide:
		return g.count(ctx)
	case g.Lay.Form == abi.Ordered && g.slots > 0:
		n, err := g.count(ctx)
		return int64(g.mask+1) + n, err
	}
	return g.slots, nil
}

// View copies the groups to the host.
func (g *Groups) View(ctx context.Context) (*woven.Groups, error) {
	n, err := g.Numbers(ctx)
	if err != nil {
		return nil, err
	}
	v := machine.Contents{Occupied: make([]uint64, n)}
	var copies []device.HostCopy
	copyTo := func(to []byte, from device.Buffer) {
		copies = append(copies, device.HostCopy{To: to, From: from})
	}
	if g.Lay.Form != abi.Ordered {
		copyTo(device.BytesOf(v.Occupied), g.occupied)
	}
	for i, c := range g.Cells {
		cells := make([]uint64, n*int64(c.Words))
		v.Cells = append(v.Cells, cells)
		copyTo(device.BytesOf(cells), g.data[i])
	}
	switch g.Lay.Form {
	case abi.Hash, abi.Ordered:
		v.Keys = make([]uint64, n)
		copyTo(device.BytesOf(v.Keys), g.table)
	case abi.Wide:
		for _, c := range g.tuples {
			words := make([]int64, n)
			v.Tuples = append(v.Tuples, words)
			copyTo(device.BytesOf(words), c.Data)
		}
	}
	if err := g.run.Copies(ctx, copies...); err != nil {
		return nil, err
	}
	if g.Lay.Form == abi.Ordered {
		for slot, key := range v.Keys {
			if key != noKey {
				v.Occupied[slot] = 1
			}
		}
	}
	return g.Groups.View(v), nil
}

// Word returns the value of a parameter about the groups.
func (g *Groups) Word(p abi.Param) (int64, error) {
	switch p.Kind {
	case abi.Gauge:
		return int64(g.run.Control.At(g.Gauge)), nil
	case abi.GroupColumns:
		return g.pointers.Word(), nil
	case abi.GroupCells:
		return g.data[p.Index].Word(), nil
	case abi.GroupOccupied:
		return g.occupied.Word(), nil
	case abi.GroupShared:
		return 1, nil
	}
	if word, ok := machine.KeyWord(p, g.Lay.Form, g.Lay, g.table.Word(), g.mask); ok {
		return word, nil
	}
	return 0, machine.ErrParam(p)
}
