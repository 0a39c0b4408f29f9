package layout

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/interval"
)

// Key is the layout of the keys of a set, an index or groups.
type Key struct {
	Fields []interval.Field
	Size   uint64 // packed keys are below it; 0: it would be 2^64
	Form   abi.Form
	// Open reports that the run chooses between Direct and Hash by the number
	// of rows, starting with Form. Code serves both.
	Open bool
	// Parted says that the run may keep the keys of some values of column Part
	// apart, in a table of its own whose packed keys count from the least of
	// these values. The column is the highest field, so that such keys are
	// dense, and code reads its base and the table's form from parameters.
	Parted bool
	Part   int
	// Busy says that the keys are those of a busy index.
	Busy bool
	// ByRow says that keys are the numbers of rows from 0 on: packed keys are
	// below the number of rows, not Size. The form is None.
	ByRow bool
	// Crowded reports that each possible group gets hundreds of rows of facts.
	Crowded bool
}

// BitmapBytes returns the size of a bit set over the keys, or 0 if it is too
// large.
func (k *Key) BitmapBytes() int {
	if k.Size == 0 || k.Size > 8*maxBitmap {
		return 0
	}
	return int((k.Size + 63) / 64 * 8)
}

const (
	// maxBitmap is the largest bit set considered, in bytes.
	maxBitmap = 1 << 33
	// smallDirect is the number of keys up to which tables are directly
	// addressed however few rows there are.
	smallDirect = 1 << 12
	// maxDirect is the number of keys beyond which they never are.
	maxDirect = 1 << 32
	// busyBytes is the size of a bit set for a row of a busy index up to which
	// it is preferred to a hash table. Multijoins probe with keys that begin
	// with the same values many times, whose bits lie in few cache lines.
	busyBytes = 256
)

// Pack lays out keys of columns with the given bounds; the form of keys that do
// not fit a word is Wide, else Hash.
func Pack(bounds []interval.Interval) *Key {
	l := interval.NewLayout(bounds)
	if l.Words > 1 {
		return &Key{Fields: make([]interval.Field, len(bounds)), Form: abi.Wide}
	}
	k := &Key{Fields: l.Fields, Form: abi.Hash, Size: 1}
	// The first field with bits is the highest: the greatest key has its bound
	// and all lower bits set.
	for i, f := range l.Fields {
		if f.Bits > 0 {
			k.Size = (uint64(bounds[i].Hi) - uint64(bounds[i].Lo) + 1) << f.Shift
			break
		}
	}
	return k
}

// byRow are keys that are the numbers of rows.
func byRow() *Key {
	k := Pack([]interval.Interval{{Lo: 0, Hi: harmony.MaxRows - 1}})
	k.Form, k.ByRow = abi.None, true
	return k
}

// packParted is Pack with a column as the highest field.
func packParted(bounds []interval.Interval, part int) *Key {
	order := make([]int, 0, len(bounds))
	order = append(order, part)
	for i := range bounds {
		if i != part {
			order = append(order, i)
		}
	}
	permuted := make([]interval.Interval, len(bounds))
	for to, from := range order {
		permuted[to] = bounds[from]
	}
	k := Pack(permuted)
	fields := k.Fields
	k.Fields = make([]interval.Field, len(bounds))
	for to, from := range order {
		k.Fields[from] = fields[to]
	}
	k.Parted, k.Part = true, part
	return k
}

// choose fixes the form of an index, or leaves it open. The rows of a loaded
// relation are known.
func (k *Key) choose(kind harmony.IndexKind, rows int, loaded bool) {
	switch {
	case k.Size == 0 || k.Size > maxDirect:
	case k.Size <= smallDirect:
		k.Form = abi.Direct
	case loaded:
		k.Form = k.FormFor(kind, rows)
	default:
		k.Open = true
	}
}

// eightKeys is what a directly addressed table takes for 8 keys, in bytes.
func eightKeys(kind harmony.IndexKind) uint64 {
	switch kind {
	case harmony.Exists:
		return 1
	case harmony.Multi:
		return 64
	}
	return 32
}

// tableBytes returns the size of a directly addressed table of an index, about.
func (k *Key) tableBytes(kind harmony.IndexKind) uint64 { return (k.Size/8 + 1) * eightKeys(kind) }

// FormFor returns the form of an index over that many rows: a directly
// addressed table unless it would be larger than a hash table, or than what a
// busy index may take.
func (k *Key) FormFor(kind harmony.IndexKind, rows int) abi.Form {
	hash := uint64(32) // bytes of a table, half full, for a row
	switch {
	case k.Busy:
		hash = busyBytes
	case kind == harmony.Exists:
		hash = 16
	}
	if k.Size > 0 && k.Size <= maxDirect &&
		k.Size/8*eightKeys(kind) <= max(uint64(rows)*hash, 8*smallDirect) {
		return abi.Direct
	}
	return abi.Hash
}

func (k *Key) fix(p abi.Param) (int64, bool) {
	if k == nil {
		return 0, false
	}
	switch p.Kind {
	case abi.SetForm, abi.IndexForm, abi.GroupForm:
		return int64(k.Form), !k.Open && (!k.Parted || k.Form == abi.Wide)
	case abi.GroupSize:
		return int64(k.Size), k.Form == abi.Direct && !k.Open
	case abi.IndexSize:
		return int64(k.Size), (k.Form == abi.Direct || k.Form == abi.None) && !k.Open && !k.ByRow
	}
	word, ok := k.Word(p)
	if p.Kind == abi.SetBase || p.Kind == abi.IndexBase || p.Kind == abi.GroupBase {
		ok = !k.Parted || k.Part != p.Index || k.Form == abi.Wide
	}
	return word, ok
}

// Word returns the word of a parameter about the packing of a column of the
// key; ok reports whether it is one.
func (k *Key) Word(p abi.Param) (word int64, ok bool) {
	switch p.Kind {
	case abi.SetShift, abi.IndexShift, abi.GroupShift:
		return int64(k.Fields[p.Index].Shift), true
	case abi.SetBase, abi.IndexBase, abi.GroupBase:
		return k.Fields[p.Index].Base, true
	case abi.SetBits, abi.IndexBits, abi.GroupBits:
		return int64(k.Fields[p.Index].Bits), true
	case abi.GroupCrowded:
		return truth(k.Crowded), true
	}
	return 0, false
}
