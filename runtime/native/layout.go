package native

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
)

// keyLayout is how the keys of a set, an index or groups are packed and kept.
type keyLayout struct {
	fields []interval.Field
	size   uint64 // packed keys are below it; 0: it would be 2^64
	form   abi.Form
	// open says that the run chooses between Direct and Hash by the number of rows,
	// form being the one to begin with, so that code has to serve both.
	open bool
}

// bitmapBytes returns the size of a bit set over the keys, 0 if it is too large
// to consider.
func (l *keyLayout) bitmapBytes() int {
	if l.size == 0 || l.size > 8*maxBitmap {
		return 0
	}
	return int((l.size + 63) / 64 * 8)
}

const (
	// maxBitmap is the largest bit set considered, in bytes.
	maxBitmap = 1 << 33
	// smallDirect is the number of keys up to which tables are directly addressed
	// however few rows there are.
	smallDirect = 1 << 12
	// maxDirect is the number of keys beyond which they never are.
	maxDirect = 1 << 32
)

// pack lays out keys of columns with the given bounds; the form of keys that do
// not fit a word is Wide, else Hash.
func pack(bounds []interval.Interval) *keyLayout {
	l := interval.NewLayout(bounds)
	if l.Words > 1 {
		return &keyLayout{fields: make([]interval.Field, len(bounds)), form: abi.Wide}
	}
	k := &keyLayout{fields: l.Fields, form: abi.Hash, size: 1}
	// The first field with bits is the highest: the greatest key has its bound and
	// all lower bits set.
	for i, f := range l.Fields {
		if f.Bits > 0 {
			k.size = (uint64(bounds[i].Hi) - uint64(bounds[i].Lo) + 1) << f.Shift
			break
		}
	}
	return k
}

// layouts are the choices that code depends on: how columns are stored and how
// keys are kept. Only what the facts' bounds, their numbers of rows and the memory
// bound say decides them.
type layouts struct {
	columns map[*harmony.Relation][]columnLayout
	sets    map[*harmony.Relation]*keyLayout
	indexes map[*harmony.Index]*keyLayout
	groups  map[*harmony.Groups]*keyLayout
}

// bounds tells what a layout is made from.
type bounds struct {
	column   func(v harmony.Managed, col int) interval.Interval
	rows     func(r *harmony.Relation) (n int, ok bool) // of a loaded relation
	loaded   func(r *harmony.Relation, col int) columnLayout
	needsSet func(r *harmony.Relation) bool
	sizes    sizes
}

// newLayouts chooses the layouts of a program.
func newLayouts(p *harmony.Program, b bounds) *layouts {
	l := &layouts{
		columns: map[*harmony.Relation][]columnLayout{},
		sets:    map[*harmony.Relation]*keyLayout{},
		indexes: map[*harmony.Index]*keyLayout{},
		groups:  map[*harmony.Groups]*keyLayout{},
	}
	for _, r := range p.Relations {
		l.relation(r, b)
	}
	for _, x := range p.Indexes {
		key := make([]interval.Interval, len(x.Key))
		for i, c := range x.Key {
			key[i] = b.column(x.Of, c)
		}
		k := pack(key)
		if k.form == abi.Hash {
			n, loaded := b.rows(x.Of)
			k.choose(x.Kind, n, loaded)
		}
		l.indexes[x] = k
	}
	for _, g := range p.Groups {
		key := make([]interval.Interval, len(g.Keys))
		for i := range g.Keys {
			key[i] = b.column(g, i)
		}
		k := pack(key)
		switch {
		case len(g.Keys) == 0:
			k.form = abi.None
		case k.form == abi.Hash && k.size > 0 && k.size <= uint64(b.sizes.groups):
			k.form = abi.Direct
		}
		l.groups[g] = k
	}
	return l
}

func (l *layouts) relation(r *harmony.Relation, b bounds) {
	cols := make([]columnLayout, len(r.Cols))
	l.columns[r] = cols
	if r.Kind == queryplan.Input || r.Kind == queryplan.Table {
		for i := range cols {
			cols[i] = b.loaded(r, i)
		}
		return
	}
	ranges := make([]interval.Interval, len(cols))
	for i := range cols {
		ranges[i] = b.column(r, i)
		cols[i] = columnOf(ranges[i])
	}
	if r.Kind != queryplan.Derived {
		return
	}
	if !b.needsSet(r) {
		l.sets[r] = &keyLayout{fields: make([]interval.Field, len(cols)), form: abi.None}
		return
	}
	k := pack(ranges)
	l.sets[r] = k
	switch bytes := k.bitmapBytes(); {
	case k.form == abi.Wide:
		for i := range cols {
			cols[i] = columnLayout{0, 1, 8}
		}
	case bytes > 0 && bytes <= b.sizes.bitmap:
		k.form = abi.Direct
	case bytes > 0:
		k.open = true
	}
}

// columnOf returns the narrowest layout of words within bounds.
func columnOf(r interval.Interval) columnLayout {
	switch bits := r.Bits(); {
	case r.Empty():
		return columnLayout{0, 1, 0}
	case bits == 0:
		return columnLayout{r.Lo, 1, 0}
	case bits <= 8:
		return columnLayout{r.Lo, 1, 1}
	case bits <= 16:
		return columnLayout{r.Lo, 1, 2}
	case bits <= 32:
		return columnLayout{r.Lo, 1, 4}
	}
	return columnLayout{0, 1, 8}
}

// choose fixes the form of an index, or leaves it open. The rows of a loaded
// relation are known.
func (k *keyLayout) choose(kind harmony.IndexKind, rows int, loaded bool) {
	switch {
	case k.size == 0 || k.size > maxDirect:
	case k.size <= smallDirect:
		k.form = abi.Direct
	case loaded:
		k.form = k.formFor(kind, rows)
	default:
		k.open = true
	}
}

// formFor returns the form for so many rows: a directly addressed table unless it
// would be larger than a hash table.
func (k *keyLayout) formFor(kind harmony.IndexKind, rows int) abi.Form {
	// Bytes of a direct table for 8 keys, and of a hash table, half full, for a row.
	direct, hash := uint64(32), uint64(32)
	switch kind {
	case harmony.Exists:
		direct, hash = 1, 16
	case harmony.Multi:
		direct = 64
	}
	if k.size > 0 && k.size <= maxDirect && k.size/8*direct <= max(uint64(rows)*hash, 8*smallDirect) {
		return abi.Direct
	}
	return abi.Hash
}
