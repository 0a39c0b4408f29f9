package expr

import (
	"sync"
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/work"
	"github.com/redfoxdb/redfox/runtime/prepare"
	"github.com/redfoxdb/redfox/runtime/store"
)

// stringTable is a function of one string that all workers of an expression
// share. Results for all entries of a dictionary at once cost much less an
// entry than one by one, and are worth it as soon as a good part of the entries
// are asked for. What earlier runs made of the dictionary is there from the
// start.
type stringTable struct {
	f     *prepare.Function
	dict  *store.Dict
	out   *prepare.Dictionary // of string results
	asked atomic.Int64
	first sync.Once // looks for what earlier runs made
	all   sync.Once
	made  atomic.Pointer[stringResults]
}

// stringResults are the results for all entries of a dictionary.
type stringResults struct {
	*prepare.Table
	// codes are 1 + the codes that the strings of the table have in the
	// dictionary of the expression, 0 until one is asked for; nil for other
	// results.
	codes []atomic.Int64
}

// tableShare is n where one of n entries of a dictionary is evaluated by itself
// before all are evaluated at once.
const tableShare = 16

// newStringTable returns the table of a call that is a function of one string
// of a dictionary, nil if there can be none.
func newStringTable(call *queryplan.Call, in, out *prepare.Dictionary) *stringTable {
	f := stringFunction(call)
	if f == nil || in == nil || in.Grows {
		return nil
	}
	return &stringTable{f: f, dict: in.Dict, out: out}
}

// results returns the table, nil as long as too few entries were asked for.
func (t *stringTable) results(r *work.Run) *stringResults {
	t.first.Do(func() {
		if table, ok := t.f.Kept(t.dict); ok {
			t.keep(r, table)
		}
	})
	few := int64(t.dict.Len() / tableShare / t.dict.ReadTogether())
	if made := t.made.Load(); made != nil || t.asked.Load() <= few {
		return made
	}
	t.all.Do(func() {
		table, err := t.f.Table(r.Stop.Ctx, t.dict, r.Threads, r.Mem)
		if err != nil {
			work.Abort(err)
		}
		t.keep(r, table)
	})
	return t.made.Load()
}

func (t *stringTable) keep(r *work.Run, table prepare.Table) {
	made := &stringResults{Table: &table}
	if t.f.Result.Kind == scalar.String {
		r.Mem.MustReserve("the dictionary of computed strings", 8*int64(table.Column.Dict.Len()))
		made.codes = make([]atomic.Int64, table.Column.Dict.Len())
	}
	t.made.Store(made)
}

// look evaluates the function for rows by the codes of their strings.
func (t *stringTable) look(m *Machine, from *stringResults, out, codes []int64) {
	c := from.Column
	switch c.Width {
	case 0:
		for i := range out {
			out[i] = c.Base
		}
	case 1:
		lookUp(out, codes, c.U8, c.Base, c.Step)
	case 2:
		lookUp(out, codes, c.U16, c.Base, c.Step)
	case 4:
		lookUp(out, codes, c.U32, c.Base, c.Step)
	default:
		lookUp(out, codes, c.U64, c.Base, c.Step)
	}
	if from.Present != nil {
		for i, code := range codes {
			if from.Present[code] == 0 {
				m.flag(i, noValue)
			}
		}
	}
	if from.codes == nil {
		return
	}
	for i, code := range out {
		known := from.codes[code].Load()
		if known == 0 {
			known = 1 + int64(t.out.Dict.Intern(c.Dict.String(uint32(code))))
			from.codes[code].Store(known)
		}
		out[i] = known - 1
	}
}

func lookUp[T uint8 | uint16 | uint32 | uint64](out, codes []int64, src []T, base, step int64) {
	for i, code := range codes[:len(out)] {
		out[i] = base + step*int64(src[code])
	}
}
