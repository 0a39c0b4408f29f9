package prepare

import (
	"context"
	"slices"
	"sync"

	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// settler makes the dictionaries of a program.
type settler struct {
	*Data
	ctx     context.Context
	threads int
	memory  Memory
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
	if len(dicts) == 1 && !d.Grows {
		s.dictionaries[d.ID] = extended(dicts[0], d.Consts)
	} else {
		made, err := NewAccounted(s.memory, dicts, d.Consts, d.Grows)
		if err != nil {
			return err
		}
		s.dictionaries[d.ID] = made
	}
	return nil
}

// evaluate finds the results of a table, which the dictionary keeps for other
// programs.
func (s *settler) evaluate(i int) (err error) {
	t := s.domains.Tables()[i]
	f := Function{scalar.Lookup(t.Func), t.Result, t.Args, t.String}
	s.Tables[i], err = f.Table(s.ctx, s.Dict(t.In), s.threads, s.memory)
	return err
}

// Function is a function of the string at one place among the arguments, the
// others being constants.
type Function struct {
	Func   *scalar.Func
	Result scalar.Type
	Args   []scalar.Value
	Place  int
}

// String tells the functions of one dictionary apart.
func (f *Function) String() string {
	name := f.Func.Name + " " + f.Result.String()
	for i, arg := range f.Args {
		if i == f.Place {
			name += " _"
		} else {
			name += " " + arg.Type.String() + " " + scalar.Literal(arg)
		}
	}
	return name
}

// Table evaluates the function for each entry of a dictionary, which keeps the
// results, on so many threads, in memory that is accounted for unless it is
// nil. The error is the memory's, or the cause of ctx if that is done.
func (f *Function) Table(ctx context.Context, dict *store.Dict, threads int,
	memory Memory) (Table, error) {
	table, err := dict.Derived(f.String(), func() (any, error) {
		if like, negated := f.like(); like != nil {
			return likeTable(ctx, dict, like, negated, threads)
		}
		return f.table(ctx, dict, threads, &tally{memory: memory})
	})
	if err != nil {
		return Table{}, err
	}
	return table.(Table), nil
}

// Kept returns what Table made of the dictionary before, if that is still
// there.
func (f *Function) Kept(dict *store.Dict) (table Table, ok bool) {
	kept, ok := dict.Kept(f.String())
	if ok {
		table = kept.(Table)
	}
	return table, ok
}

// table calls the function for each entry. Strings get a dictionary of their
// own. Every result fits: there is no function of a string whose decimals may
// not.
func (f *Function) table(ctx context.Context, dict *store.Dict, threads int,
	held *tally) (table Table, err error) {
	n := dict.Len()
	if err := held.take(resultBytes * int64(n)); err != nil {
		return table, err
	}
	defer func() { held.leave(table.bytes()) }()
	var words []int64
	var texts []string
	if f.Result.Kind == scalar.String {
		texts = make([]string, n)
	} else {
		words = make([]int64, n)
	}
	present := make([]byte, n)
	call := f.Call()
	if err := each(ctx, threads, 0, n, func(from, to int) {
		if held.err() != nil {
			return
		}
		size := 0
		for code := from; code < to; code++ {
			v, ok := call(dict.String(uint32(code)))
			switch {
			case !ok:
				continue
			case texts != nil:
				texts[code] = v.Str()
				size += len(texts[code])
			default:
				words[code] = int64(v.Bits())
			}
			present[code] = 1
		}
		_ = held.take(textCopies * int64(size)) // the error is kept
	}); err != nil {
		return table, err
	}
	if err := held.err(); err != nil {
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
		table.Column = store.ColumnOf(f.Result, words, nil)
	}
	return table, nil
}

// A result takes resultBytes while a table is made, and the text of one that is
// a string is there textCopies times, since the dictionary of results is made
// of them.
const (
	resultBytes = 32
	textCopies  = 3
)

// bytes returns the memory of the results.
func (t *Table) bytes() int64 {
	n := int64(len(t.Present))
	if t.Column != nil {
		n += t.Column.Bytes()
		if t.Column.Dict != nil {
			n += t.Column.Dict.Bytes()
		}
	}
	return n
}

// tally is what the making of a table has reserved. It is safe for concurrent
// use.
type tally struct {
	memory Memory // nil: not accounted for
	mu     sync.Mutex
	held   int64
	failed error
}

// take reserves memory. Once it has failed it goes on to fail.
func (t *tally) take(bytes int64) error {
	if t.memory == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed == nil {
		if t.failed = t.memory.Reserve(computedStrings, bytes); t.failed == nil {
			t.held += bytes
		}
	}
	return t.failed
}

// err returns why memory was refused.
func (t *tally) err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

// leave gives back all but the given bytes.
func (t *tally) leave(bytes int64) {
	if t.memory != nil {
		t.memory.Release(t.held - bytes)
		t.held = bytes
	}
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

// each calls f for parts of the entries from and up to to, on all threads.
func each(ctx context.Context, threads, from, to int, f func(from, to int)) error {
	var wg sync.WaitGroup
	parts := make(chan int)
	for range min(max(threads, 1), (to-from+tableEntries-1)/tableEntries) {
		wg.Go(func() {
			for from := range parts {
				if ctx.Err() == nil {
					f(from, min(from+tableEntries, to))
				}
			}
		})
	}
	for ; from < to; from += tableEntries {
		parts <- from
	}
	close(parts)
	wg.Wait()
	return context.Cause(ctx)
}

// Call returns the function as one of Go, which is safe for concurrent use.
func (f *Function) Call() func(s string) (scalar.Value, bool) {
	if like, negated := f.like(); like != nil {
		return func(s string) (scalar.Value, bool) {
			return scalar.OfBool(like.Match(s) != negated), true
		}
	}
	if f.Func.Name == "string:substring" && f.Place == 0 {
		start, length := f.Args[1].Int(), f.Args[2].Int()
		return func(s string) (scalar.Value, bool) {
			return scalar.OfString(scalar.Substring(s, start, length)), true
		}
	}
	return func(s string) (scalar.Value, bool) {
		all := slices.Clone(f.Args)
		all[f.Place] = scalar.OfString(s)
		return f.Func.Eval(f.Result, all)
	}
}
