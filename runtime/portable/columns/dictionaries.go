package columns

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/bounds"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/prepare"
	"github.com/redfoxdb/redfox/runtime/store"
)

// dictionaries are those of a plan's String columns, constants and computed
// strings. Strings that can meet have one dictionary, so that equal strings
// have equal codes. All other columns have none.
type dictionaries struct {
	Vars map[*queryplan.Var][]*prepare.Dictionary
	// Exprs has the dictionaries of strings that Maps compute, and values those
	// of the columns of constant bags. What a plan has at several places has
	// one dictionary at all of them.
	Exprs  map[queryplan.Expr]*prepare.Dictionary
	Values map[*queryplan.Values][]*prepare.Dictionary
}

// findDictionaries brings together what can meet in a plan and makes the
// dictionaries.
func findDictionaries(mem prepare.Memory, p *queryplan.Plan,
	stored map[*queryplan.Var][]*store.Column) (*dictionaries, error) {
	f := &stringFinder{vars: map[*queryplan.Var][]*bounds.Place{},
		exprs: map[queryplan.Expr]*bounds.Place{}, values: map[*queryplan.Values][]*bounds.Place{}}
	for _, v := range p.Vars {
		cols := make([]*bounds.Place, len(v.Cols))
		for i, c := range v.Cols {
			if c.Type.Kind != scalar.String {
				continue
			}
			cols[i] = f.places.New()
			if loaded := stored[v]; loaded != nil && loaded[i] != nil && loaded[i].Dict != nil {
				f.loaded = append(f.loaded, loadedStrings{cols[i], loaded[i].Dict})
			}
		}
		f.vars[v] = cols
	}
	for _, c := range p.Commands() {
		n := queryplan.CommandNode(c)
		if n == nil {
			continue
		}
		cols := follow(f, n)
		if v := queryplan.CommandVar(c); v != nil {
			for i, c := range n.Columns() {
				f.either(f.vars[v][i], cols[c.Name])
			}
		}
	}
	return f.finish(mem)
}

// stringFinder is the analysis of which strings can meet. It knows the place of
// a column in the sets of strings, nil for one of another type.
type stringFinder struct {
	places bounds.Strings
	vars   map[*queryplan.Var][]*bounds.Place
	exprs  map[queryplan.Expr]*bounds.Place
	values map[*queryplan.Values][]*bounds.Place
	loaded []loadedStrings
	texts  []constantString
	grown  []*bounds.Place // of strings that are computed at run time
}

type loadedStrings struct {
	at   *bounds.Place
	dict *store.Dict
}

type constantString struct {
	at   *bounds.Place
	text string
}

func (f *stringFinder) stored(v *queryplan.Var, i int) *bounds.Place { return f.vars[v][i] }

func (f *stringFinder) constants(n *queryplan.Values, i int) *bounds.Place {
	if f.values[n] == nil {
		f.values[n] = make([]*bounds.Place, len(n.Cols))
	}
	if n.Cols[i].Type.Kind != scalar.String || f.values[n][i] != nil {
		return f.values[n][i]
	}
	at := f.places.New()
	for _, row := range n.Rows {
		f.texts = append(f.texts, constantString{at, row[i].Str()})
	}
	f.values[n][i] = at
	return at
}

func (f *stringFinder) computed(e queryplan.Expr, cols map[string]*bounds.Place) *bounds.Place {
	f.filtered(e, cols)
	if e.Type().Kind != scalar.String {
		return nil
	}
	if c, ok := e.(*queryplan.ColRef); ok {
		return cols[c.Col.Name]
	}
	if at := f.exprs[e]; at != nil {
		return at
	}
	at := f.places.New()
	f.exprs[e] = at
	if k, ok := e.(*queryplan.Const); ok {
		f.texts = append(f.texts, constantString{at, k.Value.Str()})
	} else {
		f.grown = append(f.grown, at)
	}
	return at
}

func (f *stringFinder) aggregated(a *queryplan.Agg, in *bounds.Place) *bounds.Place {
	if a.Out.Type.Kind != scalar.String {
		return nil
	}
	return in
}

func (f *stringFinder) numbers() *bounds.Place { return nil }

func (f *stringFinder) positions() *bounds.Place { return nil }

// filtered brings together the columns that an expression compares, so that it
// can compare their codes.
func (f *stringFinder) filtered(cond queryplan.Expr, cols map[string]*bounds.Place) {
	queryplan.WalkExpr(cond, func(e queryplan.Expr) {
		call, ok := e.(*queryplan.Call)
		if !ok || !bounds.Compares(call.Func) {
			return
		}
		a, ok := call.Args[0].(*queryplan.ColRef)
		b, ok2 := call.Args[1].(*queryplan.ColRef)
		if ok && ok2 {
			f.either(cols[a.Col.Name], cols[b.Col.Name])
		}
	})
}

func (f *stringFinder) joined(_ queryplan.JoinKind, a, b *bounds.Place) *bounds.Place {
	return f.either(a, b)
}

func (f *stringFinder) either(a, b *bounds.Place) *bounds.Place {
	if a != nil && b != nil {
		a.Meet(b)
	}
	return a
}

// finish makes the dictionary of each set of strings.
func (f *stringFinder) finish(mem prepare.Memory) (*dictionaries, error) {
	type strings struct {
		dicts []*store.Dict // each once
		texts []string
		grows bool
	}
	sets := map[*bounds.Place]*strings{}
	for _, at := range f.places.Sets() {
		sets[at] = &strings{}
	}
	for _, l := range f.loaded {
		if s := sets[l.at.Set()]; !slices.Contains(s.dicts, l.dict) {
			s.dicts = append(s.dicts, l.dict)
		}
	}
	for _, c := range f.texts {
		s := sets[c.at.Set()]
		s.texts = append(s.texts, c.text)
	}
	for _, at := range f.grown {
		sets[at.Set()].grows = true
	}
	made := map[*bounds.Place]*prepare.Dictionary{}
	for _, at := range f.places.Sets() {
		s := sets[at]
		d, err := prepare.NewAccounted(mem, s.dicts, s.texts, s.grows)
		if err != nil {
			return nil, err
		}
		made[at] = d
	}
	exprs := map[queryplan.Expr]*prepare.Dictionary{}
	for e, at := range f.exprs {
		exprs[e] = made[at.Set()]
	}
	vars, values := listed(made, f.vars), listed(made, f.values)
	return &dictionaries{Vars: vars, Values: values, Exprs: exprs}, nil
}

// listed replaces places by the dictionaries of their sets.
func listed[K comparable](made map[*bounds.Place]*prepare.Dictionary,
	places map[K][]*bounds.Place) map[K][]*prepare.Dictionary {
	out := map[K][]*prepare.Dictionary{}
	for k, cols := range places {
		out[k] = make([]*prepare.Dictionary, len(cols))
		for i, at := range cols {
			if at != nil {
				out[k][i] = made[at.Set()]
			}
		}
	}
	return out
}
