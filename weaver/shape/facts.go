package shape

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/weaver/partition"
)

// Facts answers questions about one function's parameters. The code cache
// records each question, so nothing is asked that code does not depend on.
type Facts struct {
	Symbol  string
	Role    abi.Role
	options *Options
	general bool            // for all facts but ordered groups, see Options.General
	multi   map[string]bool // the names of indexes with several rows for a key
}

// knowsFacts reports whether anything is known of the facts.
func (f *Facts) knowsFacts() bool { return f.options.Fix != nil && !f.general }

// Fixed returns the constant that a parameter is.
func (f *Facts) Fixed(kind abi.Kind, name string, index int) (int64, bool) {
	if f.general && f.options.Fix != nil && kind == abi.GroupForm {
		// Only code that is made for the form Ordered can read or fill it.
		p := abi.Param{Kind: kind, Var: name, Index: index}
		form, known := f.options.Fix(f.Symbol, p)
		return form, known && abi.Form(form) == abi.Ordered
	}
	if !f.knowsFacts() || !canFix(kind) ||
		f.options.Target.GPU && f.Role != abi.Kernel && !shapesBuild(kind) ||
		f.options.Share && f.differs(kind, name) {
		return 0, false
	}
	return f.options.Fix(f.Symbol, abi.Param{Kind: kind, Var: name, Index: index})
}

// differs reports whether a parameter is one that differs between functions of
// one form and makes little difference to their code: the base of a column or
// of a key is an addition, which is the same for all threads. Indexes with one
// row for a key keep theirs: their keys may be narrow.
func (f *Facts) differs(kind abi.Kind, name string) bool {
	switch kind {
	case abi.ColumnBase, abi.SetBase:
		return true
	case abi.IndexBase, abi.IndexSize:
		return f.multi[name]
	}
	return false
}

// canFix reports whether a caller may know a parameter when code is made.
func canFix(k abi.Kind) bool {
	switch k {
	case abi.RowsFrom, abi.RowsUntil, abi.LiteralWord, abi.LiteralHigh,
		abi.PlaceLow, abi.PlaceHigh, abi.HostContext:
		return false
	}
	return !k.IsAddress()
}

// shapesBuild reports whether an index build is compiled for a known parameter.
// The builds of indexes do little but wait for memory, and differ in nothing
// else. On a GPU, where each function is compiled by itself, many of them are
// the same code.
func shapesBuild(k abi.Kind) bool {
	switch k {
	case abi.ColumnWidth, abi.ColumnStep, abi.IndexForm:
		return true
	}
	return false
}

// Range returns the bounds of a register's words, if they are known.
func (f *Facts) Range(r *harmony.Reg) (interval.Interval, bool) {
	if f.options.Range == nil || f.general {
		return interval.Interval{}, false
	}
	lo, hi, ok := f.options.Range(r)
	return interval.Interval{Lo: lo, Hi: hi}, ok
}

// IsHost reports whether a function has no native form and is no table.
func (f *Facts) IsHost(m *harmony.Map) bool { return partition.NeedsHost(m, f.options.Domains) }

// KeyKinds are the parameters that say how a variable's keys are packed.
type KeyKinds struct {
	Form, Size, Shift, Base, Bits abi.Kind
	// of form Wide
	Slots, Mask, Columns abi.Kind
}

// The parameters of indexes, sets and groups.
var (
	IndexKey = KeyKinds{
		abi.IndexForm, abi.IndexSize, abi.IndexShift, abi.IndexBase, abi.IndexBits,
		abi.IndexWideSlots, abi.IndexWideMask, abi.IndexWideColumns,
	}
	SetKey = KeyKinds{
		abi.SetForm, abi.SetSize, abi.SetShift, abi.SetBase, abi.SetBits,
		abi.SetTable, abi.SetSize, abi.SetColumns,
	}
	GroupKey = KeyKinds{
		abi.GroupForm, abi.GroupSize, abi.GroupShift, abi.GroupBase, abi.GroupBits,
		abi.GroupTable, abi.GroupSize, abi.GroupColumns,
	}
)

// Form returns the form of a variable, if it is known.
func (f *Facts) Form(k KeyKinds, name string) (abi.Form, bool) {
	form, known := f.Fixed(k.Form, name, 0)
	return abi.Form(form), known
}

// MayBeWide reports whether keys of a number of columns may be of form Wide.
// Keys of one column never are: they are a word.
func (f *Facts) MayBeWide(k KeyKinds, name string, columns int) bool {
	form, known := f.Form(k, name)
	return columns > 1 && (!known || form == abi.Wide)
}

// numbers returns how many bits packed keys of form Direct have, if that is
// known.
func (f *Facts) numbers(k KeyKinds, name string, columns int) (int, bool) {
	if form, known := f.Form(k, name); !known || form != abi.Direct {
		return 0, false
	}
	return f.packedBits(k, name, columns)
}

// packedBits returns how many bits packed keys have, if that is known.
func (f *Facts) packedBits(k KeyKinds, name string, columns int) (int, bool) {
	most := 0
	for c := range columns {
		shift, known := f.Fixed(k.Shift, name, c)
		bits, also := f.Fixed(k.Bits, name, c)
		if !known || !also {
			return 0, false
		}
		most = max(most, int(shift+bits))
	}
	return most, true
}

// IsOrdered reports whether groups are known to be of form Ordered.
func (f *Facts) IsOrdered(g *harmony.Groups) bool {
	form, known := f.Form(GroupKey, g.Name)
	return known && form == abi.Ordered
}

// SharesList reports whether groups are known to be one list for all that fill
// it. Groups of form Ordered always are on a GPU.
func (f *Facts) SharesList(g *harmony.Groups) bool {
	shared, known := f.Fixed(abi.GroupShared, g.Name, 0)
	return f.IsOrdered(g) && (f.options.Target.GPU || known && shared != 0)
}

// findsRuns reports whether the kernel adds to groups that are one list.
func (f *Function) findsRuns() bool {
	return slices.ContainsFunc(f.Kernel.Sinks, func(s harmony.Sink) bool {
		g, ok := s.(*harmony.Group)
		return ok && f.SharesList(g.To)
	})
}
