package prepare

import (
	"context"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// like returns the pattern of a call of string:like or of string:notlike, which
// is negated; nil of other functions.
func (f *Function) like() (pattern *scalar.Like, negated bool) {
	negated = f.Func.Name == "string:notlike"
	if f.Place != 0 || f.Func.Name != "string:like" && !negated {
		return nil, false
	}
	pattern, err := scalar.CompileLike(f.Args[1].Str())
	if err != nil {
		return nil, false
	}
	return pattern, negated
}

// likeTable finds the entries of a dictionary that match a pattern. Those with
// its prefix are neighbours; among them a text that matches must have in it is
// searched for, and only where it is found the pattern is tried.
func likeTable(ctx context.Context, dict *store.Dict, like *scalar.Like, negated bool,
	threads int) (Table, error) {
	matches := make([]uint8, dict.Len())
	match, other := uint8(1), uint8(0)
	if negated {
		match, other = other, match
		for i := range matches {
			matches[i] = other
		}
	}
	try := func(code int, s string) {
		if like.Match(s) {
			matches[code] = match
		}
	}
	sorted := dict.Sorted()
	for code := sorted; code < len(matches); code++ {
		try(code, dict.String(uint32(code)))
	}
	from, to, inner := 0, sorted, like.Literals()
	if p := like.Prefix(); p != "" {
		from, to = dict.WithPrefix(p)
		inner = inner[1:]
	}
	part := func(from, to int) { dict.Each(from, to, try) }
	switch {
	case like.Open():
		part = func(from, to int) {
			for code := from; code < to; code++ {
				matches[code] = match
			}
		}
	case len(inner) > 0:
		finder := dict.Finder(inner...)
		part = func(from, to int) { finder.Find(from, to, try) }
	}
	err := each(ctx, threads, from, to, part)
	return Table{Column: store.BooleanColumn(matches)}, err
}
