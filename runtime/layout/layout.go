package layout

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
)

// Column is how the words of a column are stored: word = Base + Step * offset,
// in offsets of Width bytes, which is 0, 1, 2, 4 or 8, or of Width -
// abi.PackedWidth bits.
type Column struct {
	Base, Step int64
	Width      int
}

// Word returns the word of a parameter about how a column is stored, of a
// relation, a table of a dictionary or constant rows; not ok if the parameter
// is about something else.
func (c Column) Word(p abi.Param) (word int64, ok bool) {
	switch p.Kind {
	case abi.ColumnBase, abi.TableBase, abi.ValuesBase:
		return c.Base, true
	case abi.ColumnStep, abi.TableStep, abi.ValuesStep:
		return c.Step, true
	case abi.ColumnWidth, abi.TableWidth, abi.ValuesWidth:
		return int64(c.Width), true
	}
	return 0, false
}

// PackedBits returns the number of bits of packed offsets, or 0 for offsets of
// bytes.
func (c Column) PackedBits() int { return int(abi.PackedBits(int64(c.Width))) }

// Bits returns the size of an offset.
func (c Column) Bits() int {
	if n := c.PackedBits(); n > 0 {
		return n
	}
	return 8 * c.Width
}

// Words is the layout of a column of whole words.
var Words = Column{0, 1, 8}

// ColumnOf returns the narrowest layout of words within bounds.
func ColumnOf(r interval.Interval) Column {
	switch bits := r.Bits(); {
	case r.Empty():
		return Column{0, 1, 0}
	case bits == 0:
		return Column{r.Lo, 1, 0}
	case bits <= 8:
		return Column{r.Lo, 1, 1}
	case bits <= 16:
		return Column{r.Lo, 1, 2}
	case bits <= 32:
		return Column{r.Lo, 1, 4}
	}
	return Words
}

// Policy is what an engine prefers.
type Policy struct {
	// Groups is the number of groups that have cells from the start if there
	// could be no more, and GroupBytes what they may take; 0: as much as there
	// is.
	Groups, GroupBytes int
	// RowsPerGroup is how many rows of facts, for each group that there could
	// be, make up for cells that all of them have from the start, beyond
	// Groups; 0: none do.
	RowsPerGroup int
	// Ordered says that keys which come in order need no table but a list.
	Ordered bool
	// Bitmap is the size in bytes of a bit set that is one from the start, and
	// Bitmaps that of all these; 0: as much as there is.
	Bitmap, Bitmaps int
	// Table is the size in bytes up to which an index is a directly addressed
	// table from the start, if a kernel looks into it for as many rows of facts
	// as it has entries: that makes up for clearing it, and most of what a
	// filter has left are few keys of many. Bits is the same of a bit set, for
	// as many rows as it has bytes.
	Table, Bits int
	// FixedSets says that a set keeps the form it begins with.
	FixedSets bool
	// Shared says that the threads of a run write the same groups and sets.
	Shared bool
	// Pack is the least size in bytes of a loaded column that is packed, if so
	// many tenths of its size are enough then; 0: none is packed.
	Pack       int64
	PackTenths int
	// Parts says that the run can keep the tuples of some values of a column
	// apart, as loops that package decompose finds ask for.
	Parts bool
}

// Cell returns the layout of an accumulator, which is empty if it shares the
// cells of another one.
func Cell(a harmony.Acc) abi.Cell {
	if a.Shares > 0 {
		return abi.Cell{}
	}
	return abi.CellOf(a.Fn, a.In)
}

// slotBytes is what a group takes in a table that has cells for all: the mark
// and the accumulators.
func slotBytes(g *harmony.Groups) int {
	slot := 8
	for _, a := range g.Accs {
		slot += 8 * Cell(a).Words
	}
	return slot
}

// groups returns how many groups of a table have cells from the start at most.
func (p Policy) groups(g *harmony.Groups) uint64 {
	if p.GroupBytes > 0 {
		return uint64(min(p.Groups, p.GroupBytes/slotBytes(g)))
	}
	return uint64(p.Groups)
}

// crowdedRows is how many rows of facts a group has that is crowded: some for
// each block of a GPU that has a table of its own.
const crowdedRows = 256

// mostDenseBytes is the largest slot of a table that has cells for more groups
// than Policy.Groups: those of groups without a row must not outweigh a hash
// table.
const mostDenseBytes = 64

// dense reports whether all groups of a table may have cells, given the rows
// that reach it.
func (p Policy) dense(g *harmony.Groups, size uint64, rows int) bool {
	return p.RowsPerGroup > 0 && slotBytes(g) <= mostDenseBytes &&
		size <= uint64(rows/p.RowsPerGroup)
}

// sumsFloats reports whether an accumulator has a sum of floats.
func sumsFloats(a harmony.Acc) bool { return Cell(a).Words >= abi.FloatSumWords }

// ordered reports whether groups with keys in order are kept as a list. Threads
// that share a list add to it in parts of a tile, and sums of floats are too
// large for that.
func (p Policy) ordered(g *harmony.Groups) bool {
	return p.Ordered && !(p.Shared && slices.ContainsFunc(g.Accs, sumsFloats))
}

// direct reports whether an index that a kernel probes for probing rows of
// facts is a directly addressed table from the start.
func (p Policy) direct(kind harmony.IndexKind, k *Key, probing int) bool {
	bytes := k.tableBytes(kind)
	if kind == harmony.Exists {
		return bytes <= uint64(probing) && bytes <= uint64(p.Bits)
	}
	return k.Size <= uint64(probing) && bytes <= uint64(p.Table)
}

// rowsOfFacts returns how many rows of facts, as they are or sorted, kernels
// read that fill each table of groups, all of them together, and how many the
// one reads that looks for most keys in each index.
func rowsOfFacts(p *harmony.Program,
	f Facts) (filling map[*harmony.Groups]int, probing map[*harmony.Index]int) {
	filling, probing = map[*harmony.Groups]int{}, map[*harmony.Index]int{}
	sorted := map[*harmony.Relation]*harmony.Relation{}
	for _, c := range p.Commands() {
		if k, ok := c.(*harmony.TopK); ok && len(k.Group) == 0 && k.Limit > harmony.MaxRows {
			sorted[k.To] = k.From
		}
	}
	for _, k := range p.Kernels() {
		from, ok := k.Source.(*harmony.Rows)
		if !ok {
			continue
		}
		rel := from.Rel
		if of := sorted[rel]; of != nil {
			rel = of
		}
		n, loaded := f.Rows(rel)
		if !loaded {
			continue
		}
		for _, s := range k.Sinks {
			if g, ok := s.(*harmony.Group); ok {
				filling[g.To] += n
			}
		}
		for _, s := range k.Stages {
			if probe, ok := s.(*harmony.Probe); ok {
				probing[probe.Index] = max(probing[probe.Index], n)
			}
		}
	}
	return filling, probing
}

// CPU is the policy of an engine whose threads have groups of their own.
var CPU = Policy{Groups: 1 << 14, RowsPerGroup: 4, Ordered: true, Bitmap: 4 << 20, Table: 4 << 20,
	Bits: 4 << 20, Parts: true}

// In returns the policy for a device with memory bytes of memory. A bit set of
// gigabytes, too, is faster than a hash table, and smaller if it gets many
// tuples: only clearing it takes time, and it never grows.
func (p Policy) In(memory int64) Policy {
	p.Bitmap = max(p.Bitmap, int(min(maxBitmap, memory/16)))
	p.Bitmaps = max(p.Bitmaps, int(memory/8))
	return p
}

// GPU is the policy of an engine whose blocks share all that they write, and of
// a device with little memory, see In. A bit set is faster than a hash table as
// long as it stays in the second-level cache. A small column stays in that
// cache whole, and is faster to read without unpacking it.
var GPU = Policy{Groups: 1 << 22, GroupBytes: 256 << 20, RowsPerGroup: 4, Ordered: true,
	Bitmap: 128 << 20, Bitmaps: 1 << 30, Table: 32 << 20, Bits: 128 << 20, FixedSets: true,
	Shared: true, Pack: 1 << 20, PackTenths: 8}

// Facts tells what layouts are chosen for.
type Facts struct {
	// Column bounds the words of a variable's column.
	Column func(v harmony.Managed, col int) interval.Interval
	// Distinct bounds the number of different values of a derived relation's
	// column.
	Distinct func(r *harmony.Relation, col int) int64
	// Rows returns the number of rows of a loaded relation.
	Rows func(r *harmony.Relation) (n int, loaded bool)
	// Loaded returns the layout of a loaded relation's column.
	Loaded func(r *harmony.Relation, col int) Column
	// Numbered reports whether the packed keys of an index's rows are the rows'
	// numbers.
	Numbered func(x *harmony.Index) bool
	// Ordered reports whether the keys of groups come in order to each worker.
	Ordered func(g *harmony.Groups) bool
	// Sorted reports whether they do because the run has sorted what fills the
	// groups.
	Sorted func(g *harmony.Groups) bool
	// NeedsSet reports whether a tuple may be inserted twice.
	NeedsSet func(r *harmony.Relation) bool
	// Carried returns the columns by which a loop over a relation is
	// decomposed.
	Carried func(r *harmony.Relation) []int
}

// Layouts are the choices that code depends on.
type Layouts struct {
	Columns map[*harmony.Relation][]Column
	Sets    map[*harmony.Relation]*Key // of derived relations
	Indexes map[*harmony.Index]*Key
	Groups  map[*harmony.Groups]*Key

	policy  Policy
	bitmaps int // bytes of the sets that are bit sets from the start
}

// New chooses the layouts of a program.
func New(p *harmony.Program, f Facts, policy Policy) *Layouts {
	l := &Layouts{
		Columns: map[*harmony.Relation][]Column{},
		Sets:    map[*harmony.Relation]*Key{},
		Indexes: map[*harmony.Index]*Key{},
		Groups:  map[*harmony.Groups]*Key{},
		policy:  policy,
	}
	for _, r := range p.Relations {
		l.relation(r, f)
	}
	filling, probing := rowsOfFacts(p, f)
	for _, x := range p.Indexes {
		if x.ByPosition() {
			l.Indexes[x] = byRow()
			continue
		}
		key := make([]interval.Interval, len(x.Key))
		for i, c := range x.Key {
			key[i] = f.Column(x.Of, c)
		}
		k := Pack(key)
		k.Busy = x.Busy
		switch {
		case k.Form == abi.Hash && x.Kind != harmony.Multi && f.Numbered(x):
			k.Form = abi.None
		case k.Form == abi.Hash && k.Size > 0 && policy.direct(x.Kind, k, probing[x]):
			k.Form = abi.Direct
		case k.Form == abi.Hash:
			n, loaded := f.Rows(x.Of)
			k.choose(x.Kind, n, loaded)
		}
		l.Indexes[x] = k
	}
	for _, g := range p.Groups {
		key := make([]interval.Interval, len(g.Keys))
		for i := range g.Keys {
			key[i] = f.Column(g, i)
		}
		k := Pack(key)
		switch {
		case len(g.Keys) == 0:
			k.Form = abi.None
		case k.Form != abi.Hash || k.Size == 0:
		case policy.ordered(g) && f.Sorted(g):
			k.Form = abi.Ordered
		case k.Size <= policy.groups(g):
			k.Form = abi.Direct
		case policy.ordered(g) && f.Ordered(g):
			k.Form = abi.Ordered
		case policy.dense(g, k.Size, filling[g]):
			k.Form = abi.Direct
		}
		k.Crowded = k.Size > 0 && uint64(filling[g])/crowdedRows >= k.Size
		l.Groups[g] = k
	}
	return l
}

func (l *Layouts) relation(r *harmony.Relation, f Facts) {
	cols := make([]Column, len(r.Cols))
	l.Columns[r] = cols
	if r.Kind == queryplan.Input || r.Kind == queryplan.Table {
		for i := range cols {
			cols[i] = f.Loaded(r, i)
		}
		return
	}
	ranges := make([]interval.Interval, len(cols))
	for i := range cols {
		ranges[i] = f.Column(r, i)
		cols[i] = ColumnOf(ranges[i])
	}
	if r.Kind != queryplan.Derived {
		return
	}
	if !f.NeedsSet(r) {
		// Code that does not know the form packs all the same. No word may be
		// out of bounds.
		l.Sets[r] = &Key{Fields: slices.Repeat([]interval.Field{{Bits: 64}}, len(cols)),
			Form: abi.None}
		return
	}
	var k *Key
	if part, ok := l.part(ranges, f.Carried(r)); ok {
		k = packParted(ranges, part)
	} else {
		k = Pack(ranges)
	}
	l.Sets[r] = k
	switch bytes := k.BitmapBytes(); {
	case k.Form == abi.Wide:
		for i := range cols {
			cols[i] = Words
		}
	case bytes > 0 && bytes <= l.policy.Bitmap && !sparse(r, k, f) &&
		(l.policy.Bitmaps == 0 || l.bitmaps+bytes <= l.policy.Bitmaps):
		k.Form = abi.Direct
		l.bitmaps += bytes
	case bytes > 0 && !l.policy.FixedSets:
		k.Open = true
	}
}

// A bit set of at least sparseBitmap bytes in which at most one of sparseBits
// bits can be set gives way to a hash table, which is smaller for the tuples
// that there mostly are: a small part of those that there could be.
const (
	sparseBitmap = 64 << 20
	sparseBits   = 32
)

// sparse reports whether few of the bits of a set can be set, by the numbers of
// values that its columns take from facts.
func sparse(r *harmony.Relation, k *Key, f Facts) bool {
	if f.Distinct == nil || k.BitmapBytes() < sparseBitmap {
		return false
	}
	left := float64(k.Size) / sparseBits
	for i, field := range k.Fields {
		left /= float64(max(min(f.Distinct(r, i), 1<<field.Bits), 1))
	}
	return left > 1
}

// part chooses the column of a decomposed relation whose values are dealt out:
// the one with most of them, as far as bounds tell.
func (l *Layouts) part(ranges []interval.Interval, carried []int) (part int, ok bool) {
	if !l.policy.Parts {
		return 0, false
	}
	most := 0
	for _, c := range carried {
		if bits := ranges[c].Bits(); bits > most {
			part, most = c, bits
		}
	}
	return part, most > 0
}

// Fix returns the word of a parameter that code can be made for: widths, bases,
// steps, shifts, bits and forms, as far as these do not depend on how many rows
// there will be. The variables are found by name.
func (l *Layouts) Fix(named map[string]harmony.Managed, p abi.Param) (int64, bool) {
	switch v := named[p.Var].(type) {
	case *harmony.Relation:
		switch p.Kind {
		case abi.ColumnBase, abi.ColumnStep, abi.ColumnWidth:
			return l.Columns[v][p.Index].Word(p)
		case abi.SetForm, abi.SetShift, abi.SetBase, abi.SetBits:
			return l.Sets[v].fix(p)
		}
	case *harmony.Index:
		return l.Indexes[v].fix(p)
	case *harmony.Groups:
		if p.Kind == abi.GroupShared {
			return truth(l.policy.Shared), true
		}
		return l.Groups[v].fix(p)
	}
	switch p.Kind {
	case abi.ValuesBase, abi.ValuesStep, abi.ValuesWidth:
		return Words.Word(p)
	}
	return 0, false
}

// truth is 1 for true and 0 for false.
func truth(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
