package native

import (
	"github.com/redfoxdb/redfox/runtime/layout"
	"math/bits"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/store"
)

// groups is the contents of a group-by table: a table for each worker, of which
// the first has all groups once a kernel has run.
type groups struct {
	decl  *harmony.Groups
	lay   *layout.Key
	what  string
	mem   *memory
	cells []abi.Cell
	// strings has the dictionary of each accumulator that compares strings whose
	// codes are in no order, else nil.
	strings []*store.Dict
	workers []*groupTable
}

func newGroups(m *memory, decl *harmony.Groups, lay *layout.Key, what string, workers int) *groups {
	g := &groups{decl: decl, lay: lay, what: what, mem: m, strings: make([]*store.Dict, len(decl.Accs))}
	for _, a := range decl.Accs {
		g.cells = append(g.cells, abi.CellOf(a.Fn, a.In))
	}
	for range workers {
		t := &groupTable{groups: g, cells: make([]region, len(g.cells))}
		for _, r := range append([]*region{&t.keys.region, &t.wide.region, &t.occupied}, t.accumulators()...) {
			r.mem = m
		}
		if lay.Form == abi.Wide {
			for _, c := range decl.Keys {
				t.tuples = append(t.tuples, &column{Column: layout.Words, typ: c.Type, region: region{mem: m}})
			}
		}
		g.workers = append(g.workers, t)
	}
	return g
}

// all returns the table with all groups.
func (g *groups) all() *groupTable { return g.workers[0] }

// clear empties the tables. They keep their memory if they are small.
func (g *groups) clear() {
	for _, t := range g.workers {
		t.clear()
	}
}

func (g *groups) free() {
	for _, t := range g.workers {
		t.free()
	}
}

// gather brings the groups of all workers together.
func (g *groups) gather() error {
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

// groupTable is the groups that a worker has seen: slots of keys, of accumulators
// and of marks.
type groupTable struct {
	*groups
	gauge    gauge
	keys     keyTable
	wide     rowTable
	tuples   []*column
	cells    []region
	occupied region
	slots    int // that have cells; 0 before the first use

	pointers []int64
}

func (t *groupTable) accumulators() []*region {
	out := make([]*region, len(t.cells))
	for i := range t.cells {
		out[i] = &t.cells[i]
	}
	return out
}

// makeRoom makes room for so many groups more.
func (t *groupTable) makeRoom(slack int) error {
	need := int(t.gauge.cursor) + slack
	switch t.lay.Form {
	case abi.None, abi.Direct:
		t.gauge.limit = unlimited
		if t.slots > 0 {
			return nil
		}
		return t.addSlots(int(t.lay.Size))
	case abi.Hash:
		if err := t.growKeys(need); err != nil {
			return err
		}
		t.gauge.limit = int64(roomOf(&t.keys.region, t.keys.mask) - slack)
		return nil
	}
	if err := t.growTuples(need); err != nil {
		return err
	}
	t.gauge.limit = int64(min(t.slots, roomOf(&t.wide.region, t.wide.mask)) - slack)
	return nil
}

func (t *groupTable) growKeys(need int) error {
	if t.slots > 0 && need <= roomOf(&t.keys.region, t.keys.mask) {
		return nil
	}
	slots := slotsFor(need)
	if t.slots == 0 {
		if err := t.keys.make(t.mem, t.what, slots); err != nil {
			return err
		}
		return t.addSlots(t.keys.slotCount())
	}
	// The slots move: accumulators and marks get new memory.
	oldCells, occupied := t.cells, region{mem: t.mem}
	occupied.move(&t.occupied)
	t.cells, t.slots = make([]region, len(oldCells)), 0
	for _, r := range t.accumulators() {
		r.mem = t.mem
	}
	slots = max(slots, 2*int(t.keys.mask+1))
	if err := t.addSlots(slots + 1); err != nil {
		return err
	}
	from, to := words(&occupied), words(&t.occupied)
	err := t.keys.resize(t.what, slots, func(a, b int) {
		to[b] = from[a]
		for i, c := range t.groups.cells {
			copy(words(&t.cells[i])[c.Words*b:], words(&oldCells[i])[c.Words*a:][:c.Words])
		}
	})
	occupied.free()
	for i := range oldCells {
		oldCells[i].free()
	}
	return err
}

func (t *groupTable) growTuples(need int) error {
	if need > t.slots {
		slots := max(need, 2*t.slots)
		for _, c := range t.tuples {
			if err := c.grow(t.what, 8*slots); err != nil {
				return err
			}
		}
		if err := t.addSlots(slots); err != nil {
			return err
		}
	}
	if need <= roomOf(&t.wide.region, t.wide.mask) {
		return nil
	}
	return t.wide.build(t.mem, t.what, slotsFor(need+need/2), t.tupleColumns(), int(t.gauge.cursor))
}

func (t *groupTable) tupleColumns() [][]int64 {
	out := make([][]int64, len(t.tuples))
	for i, c := range t.tuples {
		out[i] = wordsOf(&c.region)
	}
	return out
}

// addSlots gives the table so many slots, the new ones without a row.
func (t *groupTable) addSlots(slots int) error {
	for i, c := range t.groups.cells {
		r := &t.cells[i]
		had := t.slots * c.Words
		if err := r.grow(t.what, 8*slots*c.Words); err != nil {
			return err
		}
		if c.Initial != 0 {
			for k := range words(r)[had : slots*c.Words] {
				words(r)[had+k] = uint64(c.Initial)
			}
		}
	}
	if err := t.occupied.grow(t.what, 8*slots); err != nil {
		return err
	}
	t.slots = slots
	return nil
}

// smallGroups is the number of slots up to which an empty table keeps its memory.
const smallGroups = 1 << 12

func (t *groupTable) clear() {
	if t.slots > smallGroups {
		t.free()
		return
	}
	t.gauge.cursor = 0
	slots := t.slots
	t.keys.zero(t.keys.bytes)
	t.wide.zero(t.wide.bytes)
	t.occupied.zero(t.occupied.bytes)
	for i, c := range t.groups.cells {
		w := wordsOf(&t.cells[i])[:slots*c.Words]
		for k := range w {
			w[k] = c.Initial
		}
	}
}

func (t *groupTable) free() {
	t.gauge.cursor, t.slots = 0, 0
	t.keys.free()
	t.wide.free()
	t.occupied.free()
	for i := range t.cells {
		t.cells[i].free()
	}
	for _, c := range t.tuples {
		c.free()
	}
}

// merge adds the groups of another worker.
func (t *groupTable) merge(from *groupTable) error {
	if err := t.makeRoom(int(from.gauge.cursor)); err != nil {
		return err
	}
	add := func(b, a int) {
		words(&t.occupied)[b] = 1
		for i, c := range t.groups.cells {
			t.combine(i, words(&t.cells[i])[c.Words*b:][:c.Words], words(&from.cells[i])[c.Words*a:][:c.Words])
		}
	}
	switch t.lay.Form {
	case abi.Hash:
		slots := words(&t.keys.region)
		from.keys.each(func(slot int, key uint64) {
			at := t.keys.slot(slots, key)
			if slots[at] == 0 {
				slots[at] = max(key, 1)
				t.gauge.cursor++
			}
			add(at, slot)
		})
	case abi.Wide:
		slots, into, cols := words(&t.wide.region), t.tupleColumns(), from.tupleColumns()
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
		for slot, occupied := range words(&from.occupied)[:from.slots] {
			if occupied != 0 {
				add(slot, slot)
			}
		}
	}
	return nil
}

// combine adds a cell of accumulator i to another.
func (g *groups) combine(i int, into, from []uint64) {
	a := &g.decl.Accs[i]
	if d := g.strings[i]; d != nil {
		none := uint64(g.cells[i].Initial)
		if from[0] != none && (into[0] == none || d.Compare(uint32(from[0]), uint32(into[0])) < 0 == (a.Fn == queryplan.Min)) {
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

// The words that code gets of the table.

func (t *groupTable) tableAddress() int64 {
	if t.lay.Form == abi.Wide {
		return t.wide.address()
	}
	return t.keys.address()
}

func (t *groupTable) size() int64 {
	switch t.lay.Form {
	case abi.Hash:
		return int64(t.keys.mask)
	case abi.Wide:
		return int64(t.wide.mask)
	}
	return int64(t.lay.Size)
}

// numbers returns how many slots a kernel over the groups looks at.
func (t *groupTable) numbers() int {
	if t.lay.Form == abi.Wide {
		return int(t.gauge.cursor)
	}
	return t.slots
}

func (t *groupTable) columnPointers() int64 {
	t.pointers = t.pointers[:0]
	for _, c := range t.tuples {
		t.pointers = append(t.pointers, c.address())
	}
	return addressOf(t.pointers)
}
