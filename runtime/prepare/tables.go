package prepare

import (
	"context"
	"slices"
	"sync"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// settler makes the dictionaries of a program.
type settler struct {
	*Data
	ctx     context.Context
	threads int
}

// settle makes the dictionary of a domain, after those whose strings it has
// functions of: no chain of tables comes back to where it starts.
func (s *settler) settle(d *domain.Domain) error {
	if s.dictionaries[d.ID] != nil {
		return nil
	}
	var dicts []*store.Dict
	add := func(c *store.Column) {
		if c != nil && c.Dict != nil && !slices.Contains(dicts, c.Dict) {
			dicts = append(dicts, c.Dict)
		}
	}
	for _, in := range d.Inputs {
		add(s.columns[in.Rel][in.Col])
	}
	for _, t := range d.FromTables {
		if err := s.settle(s.domains.All()[s.domains.Tables()[t].In]); err != nil {
			return err
		}
		if err := s.evaluate(t); err != nil {
			return err
		}
		add(s.Tables[t].Column)
	}
	s.dictionaries[d.ID] = NewDictionary(dicts, d.Consts, d.Grows)
	return nil
}

// evaluate finds the results of a table, which the dictionary keeps for other programs.
func (s *settler) evaluate(i int) error {
	t := s.domains.Tables()[i]
	dict := s.Dict(t.In)
	table, err := dict.Derived(nameOf(t), func() (any, error) { return s.compute(t, dict) })
	if err == nil {
		s.Tables[i] = table.(Table)
	}
	return err
}

// nameOf tells the functions of one dictionary apart.
func nameOf(t abi.Table) string {
	name := t.Func + " " + t.Result.String()
	for i, arg := range t.Args {
		if i == t.String {
			name += " _"
		} else {
			name += " " + arg.Type.String() + " " + scalar.Literal(arg)
		}
	}
	return name
}

// compute evaluates a function for each entry of a dictionary. Strings get a
// dictionary of their own. Every result fits: there is no function of a string whose
// decimals may not.
func (s *settler) compute(t abi.Table, dict *store.Dict) (table Table, err error) {
	n := dict.Len()
	var words []int64
	var texts []string
	if t.Result.Kind == scalar.String {
		texts = make([]string, n)
	} else {
		words = make([]int64, n)
	}
	present := make([]byte, n)
	if err := s.each(n, func(from, to int) {
		f := StringFunc(scalar.Lookup(t.Func), t.Result, t.Args, t.String)
		for code := from; code < to; code++ {
			v, ok := f(dict.String(uint32(code)))
			switch {
			case !ok:
				continue
			case texts != nil:
				texts[code] = v.Str()
			default:
				words[code] = int64(v.Bits())
			}
			present[code] = 1
		}
	}); err != nil {
		return table, err
	}
	if slices.Contains(present, 0) {
		table.Present = present
		fill(words, present)
		fill(texts, present)
	}
	if texts != nil {
		table.Column = store.StringColumn(texts)
	} else {
		table.Column = store.ColumnOf(t.Result, words, nil)
	}
	return table, nil
}

// fill puts one of the results where there is none, so that the column is not
// wider for it.
func fill[T any](results []T, present []byte) {
	some := slices.Index(present, 1)
	if some < 0 {
		return
	}
	for i := range results {
		if present[i] == 0 {
			results[i] = results[some]
		}
	}
}

// tableEntries is how many entries a thread takes at a time.
const tableEntries = 1 << 12

// each calls f for parts of n entries on all threads.
func (s *settler) each(n int, f func(from, to int)) error {
	var wg sync.WaitGroup
	parts := make(chan int)
	for range min(max(s.threads, 1), (n+tableEntries-1)/tableEntries) {
		wg.Go(func() {
			for from := range parts {
				if s.ctx.Err() == nil {
					f(from, min(from+tableEntries, n))
				}
			}
		})
	}
	for from := 0; from < n; from += tableEntries {
		parts <- from
	}
	close(parts)
	wg.Wait()
	return context.Cause(s.ctx)
}

// StringFunc returns a function of the string at one place among the arguments,
// the others being constants. It is safe for concurrent use.
func StringFunc(f *scalar.Func, result scalar.Type, args []scalar.Value, place int) func(s string) (scalar.Value, bool) {
	if (f.Name == "string:like" || f.Name == "string:notlike") && place == 0 {
		if like, err := scalar.CompileLike(args[1].Str()); err == nil {
			return func(s string) (scalar.Value, bool) {
				return scalar.OfBool(like.Match(s) == (f.Name == "string:like")), true
			}
		}
	}
	return func(s string) (scalar.Value, bool) {
		all := slices.Clone(args)
		all[place] = scalar.OfString(s)
		return f.Eval(result, all)
	}
}
