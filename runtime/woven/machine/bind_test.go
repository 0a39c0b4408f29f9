package machine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// fakeVariable answers with its name, and counts what is done to it.
type fakeVariable struct {
	word              int64
	cleared, released int
}

func (v *fakeVariable) Word(p abi.Param) (int64, error) {
	if p.Kind == abi.Gauge {
		return 0, ErrParam(p)
	}
	return v.word, nil
}

func (v *fakeVariable) Clear() error {
	v.cleared++
	return nil
}

func (v *fakeVariable) Release() error {
	v.released++
	return nil
}

// TestBind binds parameters about variables and about none.
func TestBind(t *testing.T) {
	rel := &harmony.Relation{Name: "r"}
	v := &fakeVariable{word: 5}
	all := Variables{rel: v}
	b := &woven.Bound{Program: &woven.Program{Named: map[string]harmony.Managed{"r": rel}}}
	constant := func(p abi.Param) (int64, error) {
		if p.Kind == abi.Fault {
			return 9, nil
		}
		return 0, errors.New("no room")
	}
	list, err := all.Bind(b, &abi.Entry{Symbol: "f", Params: []abi.Param{
		{Kind: abi.SetTable, Var: "r"}, {Kind: abi.Fault}, {Kind: abi.Gauge, Var: "r"}}}, constant)
	if err != nil {
		t.Fatal(err)
	}
	v.word = 6 // a variable that grows has another address
	for i, want := range []int64{6, 9} {
		if got, err := list[i].Value(); got != want || err != nil {
			t.Errorf("parameter %d is %d, want %d: %v", i, got, want, err)
		}
	}
	if _, err := list[2].Value(); err == nil || !strings.Contains(err.Error(), "r has no parameter") {
		t.Errorf("a parameter that does not belong to its variable: %v", err)
	}
	for _, c := range []struct {
		param abi.Param
		want  string
	}{
		{abi.Param{Kind: abi.SetTable, Var: "s"}, "unknown variable s"},
		{abi.Param{Kind: abi.Dropped}, "no room"},
	} {
		_, err := all.Bind(b, &abi.Entry{Symbol: "f", Params: []abi.Param{c.param}}, constant)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.param, err)
		}
	}
}

// TestFree keeps the memory of variables that are filled again.
func TestFree(t *testing.T) {
	rel := &harmony.Relation{Name: "r"}
	v := &fakeVariable{}
	all := Variables{rel: v}
	if all.Free(rel, true) != nil || all.Free(rel, false) != nil || all.Clear(rel) != nil {
		t.Error("a variable cannot be freed")
	}
	if v.cleared != 2 || v.released != 1 {
		t.Errorf("cleared %d times and released %d times", v.cleared, v.released)
	}
}

// TestTargets counts the sinks of a kernel that fill the same variable.
func TestTargets(t *testing.T) {
	a, b, c := &harmony.Relation{Name: "a"}, &harmony.Relation{Name: "b"},
		&harmony.Relation{Name: "c"}
	g := &harmony.Groups{Name: "g"}
	k := &harmony.Kernel{Sinks: []harmony.Sink{&harmony.Insert{To: b}, &harmony.Group{To: g},
		&harmony.Store{To: a}, &harmony.Insert{To: b}}}
	relations := Targets(k, map[*harmony.Relation]string{a: "A", b: "B", c: "C"})
	if !slices.Equal(relations, []Target[string]{{"B", 2}, {"A", 1}}) {
		t.Errorf("relations %v", relations)
	}
	groups := Targets(k, map[*harmony.Groups]string{g: "G"})
	if !slices.Equal(groups, []Target[string]{{"G", 1}}) {
		t.Errorf("groups %v", groups)
	}
}

// TestKeyWord asks for the size of tables of each form.
func TestKeyWord(t *testing.T) {
	lay := layout.Pack([]interval.Interval{{Lo: 3, Hi: 9}, {Lo: -1, Hi: 2}})
	for form, size := range map[abi.Form]int64{abi.None: int64(lay.Size),
		abi.Direct: int64(lay.Size), abi.Hash: 127, abi.Wide: 127, abi.Ordered: 127} {
		for kind, want := range map[abi.Kind]int64{abi.GroupForm: int64(form), abi.GroupSize: size,
			abi.SetSize: size, abi.IndexSize: size, abi.SetTable: 4096,
			abi.GroupBase: lay.Fields[1].Base} {
			p := abi.Param{Kind: kind, Index: 1}
			if got, ok := KeyWord(p, form, lay, 4096, 127); got != want || !ok {
				t.Errorf("form %v: parameter %v is %d, want %d", form, kind, got, want)
			}
		}
	}
	if _, ok := KeyWord(abi.Param{Kind: abi.Dropped}, abi.Hash, lay, 0, 0); ok {
		t.Error("a table has no counter of dropped decimals")
	}
}

// TestVersions follows a relation through rounds.
func TestVersions(t *testing.T) {
	r := &Versions{Decl: &harmony.Relation{Name: "r", Kind: queryplan.Derived}, What: "r"}
	type rows struct{ oldUntil, deltaFrom, until int64 }
	for i, c := range []struct {
		count int64
		want  rows
	}{{3, rows{0, 0, 3}}, {7, rows{3, 3, 7}}, {7, rows{7, 7, 7}}} {
		r.Advance(c.count)
		_, old := r.Version(harmony.Old, c.count+5)
		from, until := r.Version(harmony.Delta, c.count+5)
		first, full := r.Version(harmony.Full, c.count+5)
		if got := (rows{old, from, until}); got != c.want || first != 0 || full != until {
			t.Errorf("round %d: %+v, want %+v; full is %d to %d", i, got, c.want, first, full)
		}
		want := woven.Size{Full: full, Delta: until - from}
		if got := r.Count(c.count); got != want {
			t.Errorf("round %d: %+v, want %+v", i, got, want)
		}
	}
	r.Forget()
	if _, full := r.Version(harmony.Full, 0); full != 0 || r.Old != 0 || r.Generation != 1 {
		t.Errorf("cleared: %+v", r)
	}
	loaded := &Versions{Decl: &harmony.Relation{Name: "e", Kind: queryplan.Input}, What: "e"}
	for _, v := range []harmony.Version{harmony.Full, harmony.Delta, harmony.Old} {
		if from, until := loaded.Version(v, 4); from != 0 || until != 4 {
			t.Errorf("facts have the rows %d to %d of version %v", from, until, v)
		}
	}
	if r.CheckRows(MaxRows) != nil {
		t.Error("a relation cannot have MaxRows rows")
	}
	if err := r.CheckRows(MaxRows + 1); err == nil || !strings.HasPrefix(err.Error(), "r has more") {
		t.Errorf("too many rows: %v", err)
	}
}

// TestView reads the keys of groups in each form.
func TestView(t *testing.T) {
	decl := &harmony.Groups{Name: "g", Keys: []harmony.Column{{Type: scalar.IntType},
		{Type: scalar.IntType}}, Accs: []harmony.Acc{{Fn: queryplan.Count}}}
	lay := layout.Pack([]interval.Interval{{Lo: 10, Hi: 13}, {Lo: -2, Hi: 1}})
	pack := func(a, b int64) uint64 {
		return uint64(a-10)<<lay.Fields[0].Shift | uint64(b+2)<<lay.Fields[1].Shift
	}
	at := make([]uint64, 3)
	for form, c := range map[abi.Form]Contents{
		abi.Hash:    {Keys: []uint64{0, pack(12, 1), 1}}, // the last one is the key 0
		abi.Ordered: {Keys: []uint64{0, pack(12, 1), pack(10, -2)}},
		abi.Wide:    {Tuples: [][]int64{{0, 12, 10}, {0, 1, -2}}},
	} {
		c.Occupied, c.Cells = at, [][]uint64{at}
		described := *lay
		described.Form = form
		g := NewGroups(decl, &described, "g")
		if len(g.Cells) != 1 || g.Cells[0].Words != 1 {
			t.Errorf("cells %v", g.Cells)
		}
		v := g.View(c)
		for slot, want := range map[int][2]int64{1: {12, 1}, 2: {10, -2}} {
			if got := [2]int64{v.Key(slot, 0), v.Key(slot, 1)}; got != want {
				t.Errorf("form %v: slot %d has the key %v, want %v", form, slot, got, want)
			}
		}
	}
	g := NewGroups(decl, lay, "g")
	g.Lay.Form = abi.Direct
	if slot := int(pack(11, 0)); g.View(Contents{}).Key(slot, 0) != 11 ||
		g.View(Contents{}).Key(slot, 1) != 0 {
		t.Errorf("slot %d is not that of 11 and 0", slot)
	}
}
