package oracle

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// terms gives numbers to the entities that facts name by their terms, and adds
// the facts of their makers.
type terms struct {
	facts   Facts
	numbers map[string]scalar.Value // by family and term
}

// looksLikeTerm reports whether a text is not the plain value of a refmode.
func looksLikeTerm(f *core.Family, text string) bool {
	for _, m := range f.Makers {
		if strings.HasPrefix(text, m.Makes.Name+"[") || m.Makes.Refmode && text != "" &&
			text[0] == '"' {
			return true
		}
	}
	return false
}

// number returns the number of the entity that a field shows.
func (t *terms) number(f *core.Family, field string) (scalar.Value, error) {
	if looksLikeTerm(f, field) {
		if n, rest, ok := t.read(f, field); ok && rest == "" {
			return n, nil
		}
		return scalar.Value{}, fmt.Errorf("%s is no entity of %s", field, f.Name)
	}
	for _, m := range f.Makers {
		if v, err := scalar.ParseText(m.Args[0].Type, field); m.Makes.Refmode && err == nil {
			return t.enter(f, m, Tuple{v}), nil
		}
	}
	return scalar.Value{}, fmt.Errorf("%s is no entity of %s", field, f.Name)
}

// read reads the entity that a text starts with, and returns what is behind it.
// Constructors go before the refmode, any text of which may begin as theirs.
func (t *terms) read(f *core.Family, text string) (n scalar.Value, rest string, ok bool) {
	var refmode *core.Pred
	for _, m := range f.Makers {
		rest, called := strings.CutPrefix(text, m.Makes.Name+"[")
		if m.Makes.Refmode {
			refmode = m
		} else if called {
			keys, rest, ok := t.keys(m, rest)
			if !ok || !strings.HasPrefix(rest, "]") {
				return n, "", false
			}
			return t.enter(f, m, keys), rest[1:], true
		}
	}
	if refmode == nil {
		return n, "", false
	}
	keys, rest, ok := t.keys(refmode, text)
	if !ok {
		return n, "", false
	}
	return t.enter(f, refmode, keys), rest, true
}

// keys reads the keys of a maker.
func (t *terms) keys(m *core.Pred, text string) (keys Tuple, rest string, ok bool) {
	for i, a := range m.Args[:m.Keys] {
		if i > 0 {
			text = strings.TrimPrefix(text, ", ")
		}
		var k scalar.Value
		if a.Family != nil {
			if k, text, ok = t.read(a.Family, text); !ok {
				return nil, "", false
			}
		} else {
			v, n, err := scalar.ScanKey(a.Type, text)
			if err != nil {
				return nil, "", false
			}
			k, text = v, text[n:]
		}
		keys = append(keys, k)
	}
	return keys, text, true
}

func (t *terms) enter(f *core.Family, m *core.Pred, keys Tuple) scalar.Value {
	spelled := f.Name + " " + m.Name + keys.String()
	n, ok := t.numbers[spelled]
	if !ok {
		n = scalar.OfInt(scalar.IntType, int64(len(t.numbers)))
		t.numbers[spelled] = n
		name := m.Name + core.NamedSuffix
		t.facts[name] = append(t.facts[name], append(keys, n))
	}
	return n
}
