package native

import (
	"math/bits"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// groups is a group-by table. Each worker fills a table of its own. After a
// kernel, the first table holds all groups; in form Ordered, each table keeps
// some.
type groups struct {
	machine.Groups
	mem *account.Memory
	// strings holds the dictionary of each accumulator that compares strings
	// with unordered codes, or nil.
	strings []*store.Dict
	workers []*groupTable
	// current is the table that a kernel over the groups reads.
	current *groupTable
}

func newGroups(m *account.Memory, decl *harmony.Groups, lay *layout.Key, what string,
	workers int) *groups {
	g := &groups{Groups: machine.NewGroups(decl, lay, what), mem: m,
		strings: make([]*store.Dict, len(decl.Accs))}
	for range workers {
		t := &groupTable{groups: g, data: make([]account.Region, len(g.Cells))}
		for _, r := range append([]*account.Region{&t.keys.Region, &t.wide.Region, &t.occupied},
			t.accumulators()...) {
			r.Memory = m
		}
		if lay.Form == abi.Wide {
			for _, c := range decl.Keys {
				t.tuples = append(t.tuples,
					&column{Column: layout.Words, typ: c.Type, Region: account.Region{Memory: m}})
			}
		}
		g.workers = append(g.workers, t)
	}
	g.current = g.all()
	return g
}

// all returns the table with all groups. The form is not Ordered.
func (g *groups) all() *groupTable { return g.workers[0] }

// tables returns the tables that hold the groups.
func (g *groups) tables() []*groupTable {
	if g.Lay.Form == abi.Ordered {
		return g.workers
	}
	return g.workers[:1]
}

// Clear empties the tables. They keep their memory if they are small.
func (g *groups) Clear() error {
	for _, t := range g.workers {
		t.clear()
	}
	return nil
}

// Release frees the tables.
func (g *groups) Release() error {
	for _, t := range g.workers {
		t.free()
	}
	return nil
}

// gather merges the groups of all workers.
func (g *groups) gather() error {
	if g.Lay.Form == abi.Ordered {
		g.settle()
		return nil
	}
	for _, t := range g.workers[1:] {
		if t.slots == 0 {
			continue
		}
		if err := g.all().merge(t); err != nil {
			return err
		}
		t.clear()
	}
	return nil
}

// groupTable holds the groups that one worker has seen. A slot has a key,
// accumulators and a mark.
type groupTable struct {
	*groups
	gauge    gauge
	keys     keyTable
	wide     rowTable
	tuples   []*column
	data     []account.Region // the cells of each accumulator
	occupied account.Region
	slots    int // slots with cells; 0 before the first use

	pointers []int64
}

func (t *groupTable) accumulators() []*account.Region {
	out := make([]*account.Region, len(t.data))
	for i := range t.data {
		out[i] = &t.data[i]
	}
	return out
}

// makeRoom makes room for slack more groups.
func (t *groupTable) makeRoom(slack int) error {
	need := int(t.gauge.cursor) + slack
	switch t.Lay.Form {
	case abi.None, abi.Direct:
		t.gauge.setLimit(unlimited)
		if t.slots > 0 {
			return nil
		}
		return t.addSlots(int(t.Lay.Size))
	case abi.Hash:
		if err := t.growKeys(need); err != nil {
			return err
		}
		t.gauge.setLimit(int64(roomOf(&t.keys.Region, t.keys.mask) - slack))
		return nil
	case abi.Ordered:
		if err := t.growList(need); err != nil {
			return err
		}
		t.gauge.setLimit(int64(t.slots - slack))
		return nil
	}
	if err := t.growTuples(need); err != nil {
		return err
	}
	t.gauge.setLimit(int64(min(t.slots, roomOf(&t.wide.Region, t.wide.mask)) - slack))
	return nil
}

func (t *groupTable) growKeys(need int) error {
	if t.slots > 0 && need <= roomOf(&t.keys.Region, t.keys.mask) {
		return nil
	}
	slots := slotsFor(need)
	if t.slots == 0 {
		if err := t.keys.make(t.mem, t.What, slots); err != nil {
			return err
		}
		return t.addSlots(t.keys.slotCount())
	}
	// The slots move: accumulators and marks get new memory.
	old, occupied := t.data, account.Region{Memory: t.mem}
	occupied.Move(&t.occupied)
	t.data, t.slots = make([]account.Region, len(old)), 0
	for _, r := range t.accumulators() {
		r.Memory = t.mem
	}
	slots = max(slots, 2*int(t.keys.mask+1))
	if err := t.addSlots(slots + 1); err != nil {
		return err
	}
	from, to := account.Words(&occupied), account.Words(&t.occupied)
	err := t.keys.resize(t.What, slots, func(a, b int) {
		to[b] = from[a]
		for i, c := range t.Cells {
			copy(account.Words(&t.data[i])[c.Words*b:],
				account.Words(&old[i])[c.Words*a:][:c.Words])
		}
	})
	occupied.Free()
	for i := range old {
		old[i].Free()
	}
	return err
}

func (t *groupTable) growTuples(need int) error {
	if need > t.slots {
		slots := max(need, 2*t.slots)
		for _, c := range t.tuples {
			if err := c.Grow(t.What, 8*slots); err != nil {
				return err
			}
		}
		if err := t.addSlots(slots); err != nil {
			return err
		}
	}
	if need <= roomOf(&t.wide.Region, t.wide.mask) {
		return nil
	}
	return t.wide.build(t.mem, t.What, slotsFor(need+need/2), t.tupleColumns(), int(t.gauge.cursor))
}

func (t *groupTable) tupleColumns() [][]int64 {
	out := make([][]int64, len(t.tuples))
	for i, c := range t.tuples {
		out[i] = wordsOf(&c.Region)
	}
	return out
}

// addSlots enlarges the table to slots slots. New slots are empty.
func (t *groupTable) addSlots(slots int) error {
	for i, c := range t.Cells {
		r := &t.data[i]
		had := t.slots * c.Words
		if err := r.Grow(t.What, 8*slots*c.Words); err != nil {
			return err
		}
		if c.Initial != 0 {
			for k := range account.Words(r)[had : slots*c.Words] {
				account.Words(r)[had+k] = uint64(c.Initial)
			}
		}
	}
	if t.Lay.Form != abi.Ordered {
		if err := t.occupied.Grow(t.What, 8*slots); err != nil {
			return err
		}
	}
	t.slots = slots
	return nil
}

// smallGroups is the number of slots up to which an empty table keeps its
// memory.
const smallGroups = 1 << 12

func (t *groupTable) clear() {
	if t.slots > smallGroups {
		t.free()
		return
	}
	t.gauge.cursor = 0
	slots := t.slots
	t.keys.Zero(t.keys.Bytes)
	t.wide.Zero(t.wide.Bytes)
	t.occupied.Zero(t.occupied.Bytes)
	for i, c := range t.Cells {
		w := wordsOf(&t.data[i])[:slots*c.Words]
		for k := range w {
			w[k] = c.Initial
		}
	}
}

func (t *groupTable) free() {
	t.gauge.cursor, t.slots = 0, 0
	t.keys.Free()
	t.wide.Free()
	t.occupied.Free()
	for i := range t.data {
		t.data[i].Free()
	}
	for _, c := range t.tuples {
		c.Free()
	}
}

// merge adds the groups of another worker.
func (t *groupTable) merge(from *groupTable) error {
	if err := t.makeRoom(int(from.gauge.cursor)); err != nil {
		return err
	}
	add := func(b, a int) {
		account.Words(&t.occupied)[b] = 1
		for i, c := range t.Cells {
			t.combine(i, account.Words(&t.data[i])[c.Words*b:][:c.Words],
				account.Words(&from.data[i])[c.Words*a:][:c.Words])
		}
	}
	switch t.Lay.Form {
	case abi.Hash:
		slots := account.Words(&t.keys.Region)
		from.keys.each(func(slot int, key uint64) {
			at := t.keys.slot(slots, key)
			if slots[at] == 0 {
				slots[at] = max(key, 1)
				t.gauge.cursor++
			}
			add(at, slot)
		})
	case abi.Wide:
		slots, into, cols := account.Words(&t.wide.Region), t.tupleColumns(), from.tupleColumns()
		for a := range int(from.gauge.cursor) {
			row, slot, hash := t.wide.find(slots, into, cols, a)
			if row < 0 {
				row = int(t.gauge.cursor)
				t.gauge.cursor++
				slots[slot] = hash>>rowBits<<rowBits | uint64(row+firstRow)
				for c := range into {
					into[c][row] = cols[c][a]
				}
			}
			add(row, a)
		}
	default:
		for slot, occupied := range account.Words(&from.occupied)[:from.slots] {
			if occupied != 0 {
				add(slot, slot)
			}
		}
	}
	return nil
}

// combine adds a cell of accumulator i to another cell.
func (g *groups) combine(i int, into, from []uint64) {
	a := &g.Decl.Accs[i]
	if d := g.strings[i]; d != nil {
		none := uint64(g.Cells[i].Initial)
		if from[0] != none &&
			(into[0] == none ||
				d.Compare(uint32(from[0]), uint32(into[0])) < 0 == (a.Fn == queryplan.Min)) {
			into[0] = from[0]
		}
		return
	}
	switch a.Fn {
	case queryplan.Min:
		into[0] = uint64(min(int64(into[0]), int64(from[0])))
		return
	case queryplan.Max:
		into[0] = uint64(max(int64(into[0]), int64(from[0])))
		return
	case queryplan.Count:
		into[0] += from[0]
		return
	}
	if a.Fn == queryplan.Avg {
		last := len(into) - 1
		into[last] += from[last]
		into, from = into[:last], from[:last]
	}
	if len(into) == 2 {
		var carry uint64
		into[0], carry = bits.Add64(into[0], from[0], 0)
		into[1], _ = bits.Add64(into[1], from[1], carry)
		return
	}
	for i, w := range from {
		into[i] += w
	}
}

// table returns the address and the mask of the table, for code.
func (t *groupTable) table() (address int64, mask uint64) {
	switch t.Lay.Form {
	case abi.Wide:
		return t.wide.Address(), t.wide.mask
	case abi.Ordered:
		return t.keys.Address(), t.Lay.Size
	}
	return t.keys.Address(), t.keys.mask
}

// numbers returns the number of slots that a kernel over the groups reads.
func (t *groupTable) numbers() int {
	if t.Lay.Form == abi.Wide || t.Lay.Form == abi.Ordered {
		return int(t.gauge.cursor)
	}
	return t.slots
}

func (t *groupTable) columnPointers() int64 {
	t.pointers = t.pointers[:0]
	for _, c := range t.tuples {
		t.pointers = append(t.pointers, c.Address())
	}
	return addressOf(t.pointers)
}
