package oracle

import (
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// shown returns the tuples of a predicate with its entities as terms.
func (m *machine) shown(pred *core.Pred) []Tuple {
	tuples := m.relations[pred].tuples
	if !pred.HasNumbers() {
		return tuples
	}
	var out []Tuple
	for _, t := range tuples {
		t = slices.Clone(t)
		for i, a := range pred.Args {
			if a.Family != nil {
				t[i] = scalar.OfString(m.entity(a.Family, t[i], true))
			}
		}
		out = append(out, t)
	}
	return out
}

// entity returns the value of a refmode, or a term of the constructor and its
// keys. outer is set if the entity is no part of another one.
func (m *machine) entity(f *core.Family, v scalar.Value, outer bool) string {
	for _, maker := range f.Makers {
		for _, t := range m.relations[maker].tuples {
			if t[maker.Keys] != v {
				continue
			}
			keys := make([]string, maker.Keys)
			for i, a := range maker.Args[:maker.Keys] {
				switch {
				case a.Family != nil:
					keys[i] = m.entity(a.Family, t[i], false)
				case outer && maker.Makes.Refmode:
					keys[i] = scalar.Format(t[i])
					if a.Type == scalar.StringType && looksLikeTerm(f, keys[i]) {
						keys[i] = scalar.KeyLiteral(t[i])
					}
				default:
					keys[i] = scalar.KeyLiteral(t[i])
				}
			}
			if maker.Makes.Refmode {
				return keys[0]
			}
			return maker.Makes.Name + "[" + strings.Join(keys, ", ") + "]"
		}
	}
	return "an unknown entity of " + f.Name
}
