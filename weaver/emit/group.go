package emit

import (
	"math"
	"slices"

	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// group adds the live rows to groups: it finds a slot for each, and then goes
// through the accumulators one after the other. Sums for few groups are added
// up together.
func (w *kernel) group(s *harmony.Group) error {
	g, how := s.To, w.howTo(s)
	if how.How == shape.InRuns {
		return w.groupRuns(s, how)
	}
	if w.Target.GPU {
		return w.groupOnGPU(s, how)
	}
	slots := w.groupSlots(s)
	size := w.fewSlots(g)
	bounded := w.summands(s, how, slots, size)
	var sums []*summand
	for i := range g.Accs {
		if bounded[i] != nil {
			sums = append(sums, bounded[i])
		}
	}
	many := func() {
		if !w.Shape.IsOrdered(g) {
			w.Call("rf_tile_cells_mark", w.Param(abi.GroupOccupied, g.Name, 0), slots.Ptr,
				w.liveFlags().Ptr, w.items)
		}
		for _, sum := range sums {
			sum.add()
		}
	}
	w.liveFlags()
	w.addFew(g, sums, slots, size, many)
	for i, a := range g.Accs {
		if bounded[i] != nil {
			continue
		}
		acc := &accumulator{kernel: w, groups: g, index: i, acc: a, slots: slots,
			live: w.liveFlags(), size: size}
		if a.Fn == queryplan.Count {
			acc.add(nil)
			continue
		}
		d := w.Module.Options.Domains.Sink(s, len(s.Key)+i)
		words := w.operandArrays(s.Vals[i], d).Words
		if extreme := shape.IsExtreme(a); extreme && d != nil && d.Grows {
			if err := acc.extremeOfStrings(words, d); err != nil {
				return err
			}
			continue
		} else if extreme {
			words = acc.ordered(words)
		}
		acc.add(words)
	}
	return nil
}

// howTo returns how a sink groups rows.
func (w *kernel) howTo(s *harmony.Group) *shape.Group {
	return w.Shape.Groups[slices.IndexFunc(w.Shape.Groups, func(g *shape.Group) bool {
		return g.Sink == s
	})]
}

// groupKey packs the keys of the live rows' groups.
func (w *kernel) groupKey(s *harmony.Group) (*keys, *ir.Array) {
	g := s.To
	k := w.keysOf(shape.GroupKey, g.Name, s.Key, func(i int) *domain.Domain {
		return w.Module.Options.Domains.Sink(s, i)
	})
	// The bounds are those of all keys that come, so that nothing is dropped by
	// them.
	key, live := w.Array(types.I64), w.liveCopy()
	k.byForm(func() {
		isNew := w.liveCopy()
		w.Call("rf_tile_wide_insert", key.Ptr, isNew.Ptr, k.tuples(), i32(w.Target.Items),
			i32(len(k.words)),
			w.Param(abi.GroupTable, g.Name, 0), w.Param(abi.GroupSize, g.Name, 0),
			w.Param(abi.GroupColumns, g.Name, 0),
			w.Param(abi.Gauge, g.Name, 0), i64(math.MaxInt64), i32(w.Target.Threads), w.items)
	}, func() { k.pack(key, live) })
	return k, key
}

// groupSlots returns the slots of the live rows' groups.
func (w *kernel) groupSlots(s *harmony.Group) *ir.Array {
	g := s.To
	k, key := w.groupKey(s)
	if w.Shape.IsOrdered(g) {
		return w.orderedSlots(g, key)
	}
	form, known := w.Fixed(abi.GroupForm, g.Name, 0)
	if len(s.Key) == 0 || known && abi.Form(form) != abi.Hash && abi.Form(form) != abi.Direct {
		return key
	}
	slots := w.Array(types.I64)
	w.Call("rf_tile_group_slots", slots.Ptr, w.liveFlags().Ptr, key.Ptr, k.tableForm(),
		w.Param(abi.GroupTable, g.Name, 0),
		w.Param(abi.GroupSize, g.Name, 0), w.Param(abi.Gauge, g.Name, 0), null,
		w.Param32(abi.GroupShared, g.Name, 0), w.items)
	return slots
}

// fewSlots returns the number of slots if the form determines it, else 0.
func (w *kernel) fewSlots(g *harmony.Groups) value.Value {
	if len(g.Keys) == 0 {
		return i64(1)
	}
	size := func() value.Value { return w.Param(abi.GroupSize, g.Name, 0) }
	if form, known := w.Fixed(abi.GroupForm, g.Name, 0); known {
		if abi.Form(form) == abi.Direct {
			return size()
		}
		return i64(0)
	}
	direct := w.Cur.NewICmp(enum.IPredEQ, w.Param(abi.GroupForm, g.Name, 0), i64(int64(abi.Direct)))
	return w.Cur.NewSelect(direct, size(), i64(0))
}

// accumulator is one accumulator of the groups that a tile is added to.
type accumulator struct {
	*kernel
	groups *harmony.Groups
	index  int
	acc    harmony.Acc
	slots  *ir.Array
	live   *ir.Array   // flags of the rows to add
	size   value.Value // how many slots there are, 0 if many
	// marks is set if a GPU's rows find out from the accumulator's cells
	// whether to mark their slots.
	marks bool
}

// occupied is where the accumulator marks slots, null if it does not.
func (a *accumulator) occupied() value.Value {
	if a.marks {
		return a.Param(abi.GroupOccupied, a.groups.Name, 0)
	}
	return null
}

// canMark reports whether cells that are 0 before a group's first row are added
// to one by one.
func (a *accumulator) canMark() bool {
	return !a.shares() &&
		(a.acc.Fn == queryplan.Count || a.acc.Fn.IsTotal() && a.acc.In.Kind != scalar.Float)
}

// owner returns the accumulator whose cells this one reads.
func (a *accumulator) owner() *accumulator {
	o := *a
	o.index = a.groups.Owner(a.index)
	o.acc = a.groups.Accs[o.index]
	return &o
}

// shares reports whether the accumulator has no cells of its own, so that
// another one adds what comes.
func (a *accumulator) shares() bool { return a.acc.Shares > 0 }

// stride returns the words of a slot.
func (a *accumulator) stride() int { return abi.CellOf(a.acc.Fn, a.acc.In).Words }

// cells returns the address of a word of slot 0.
func (a *accumulator) cells(word int) value.Value {
	p := a.Param(abi.GroupCells, a.groups.Name, a.index)
	if word == 0 {
		return p
	}
	return a.At(types.I64, p, i64(int64(word)))
}

func (a *accumulator) shared() value.Value { return a.Param32(abi.GroupShared, a.groups.Name, 0) }

// count counts the live rows in a word of their slots.
func (a *accumulator) count(word int) {
	a.Call("rf_tile_cells_count", a.cells(word), i32(a.stride()), a.slots.Ptr, a.live.Ptr, a.size,
		a.shared(), a.occupied(), a.items)
}

// add adds the live rows: their words, of extremes ordered, of counts none.
func (a *accumulator) add(words *ir.Array) {
	if a.shares() {
		return
	}
	name := "rf_tile_cells_min"
	switch a.acc.Fn {
	case queryplan.Count:
		a.count(0)
		return
	case queryplan.Max:
		name = "rf_tile_cells_max"
	case queryplan.Min:
	default:
		a.addWords(words)
		return
	}
	a.Call(name, a.cells(0), a.slots.Ptr, words.Ptr, a.live.Ptr, a.shared(), a.items)
}

// addWords adds words to sums.
func (a *accumulator) addWords(words *ir.Array) {
	live, stride := a.live.Ptr, i32(a.stride())
	if a.acc.In.Kind == scalar.Float {
		a.Call("rf_tile_cells_float", a.cells(0), stride, a.slots.Ptr, words.Ptr, live, a.shared(),
			a.items)
	} else {
		a.Call("rf_tile_cells_add", a.cells(0), stride, a.slots.Ptr, words.Ptr, live, a.unsigned(),
			a.size, a.shared(), a.occupied(), a.items)
	}
	if a.acc.Fn == queryplan.Avg {
		a.marks = false
		a.count(a.stride() - 1)
	}
}

// ordered maps words to those that order as their values do.
func (a *accumulator) ordered(words *ir.Array) *ir.Array {
	if kind := a.acc.In.Kind; kind != scalar.Uint && kind != scalar.Float {
		return words
	}
	out := a.Array(types.I64)
	a.eachItem(func(i value.Value) { a.Set(out, i, a.orderedWord(a.Get(words, i))) })
	return out
}

// orderedWord is scalar.Ordered, which is its own inverse.
func (a *accumulator) orderedWord(word value.Value) value.Value {
	switch a.acc.In.Kind {
	case scalar.Uint:
		return a.Cur.NewXor(word, i64(math.MinInt64))
	case scalar.Float:
		sign := a.Cur.NewAShr(word, i64(63))
		return a.Cur.NewXor(word, a.Cur.NewLShr(sign, i64(1)))
	}
	return word
}

// noStrings is the error of strings that the program computes, which GPUs
// cannot compare.
func (a *accumulator) noStrings() error {
	return &UnsupportedError{What: a.acc.Fn.String() +
		" of strings that the program computes has no form for GPUs", Span: a.groups.Span}
}

// extremeOfStrings is the least or greatest of strings whose codes are in no
// order: the host compares them one by one.
func (a *accumulator) extremeOfStrings(words *ir.Array, d *domain.Domain) error {
	if a.Target.GPU {
		return a.noStrings()
	}
	h := abi.Host{
		Func: a.acc.Fn.String(), Args: []scalar.Type{a.acc.In, a.acc.In}, Result: a.acc.In,
		Domains: []int{d.ID, d.ID}, Domain: d.ID,
	}
	have, best := a.Alloca(types.I64, 1), a.Alloca(types.I64, 1)
	one, present := a.Alloca(types.I8, 1), a.Alloca(types.I8, 1)
	live := a.live
	a.Loop(a.tile.count, func(i value.Value) {
		a.When(a.Flag(live, i), func() {
			cell := a.At(types.I64, a.cells(0), a.Get(a.slots, i))
			word := a.Get(words, i)
			before := a.Load(types.I64, cell)
			none := a.Cur.NewICmp(enum.IPredEQ, before, i64(abi.CellOf(a.acc.Fn, a.acc.In).Initial))
			a.Choose(none, func() { a.Store(word, cell) }, func() {
				a.Store(i8(1), one)
				a.Store(before, have)
				a.callHost(h, i64(1),
					[]value.Value{one, best, present, have, null, null,
						a.At(types.I64, words.Ptr, i), null, null})
				a.Store(a.Load(types.I64, best), cell)
			})
		})
	})
	return nil
}
