package emit

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// checkFacts finds facts of one functional predicate that give one key two
// values.
func (c *emission) checkFacts() {
	type key struct {
		pred *core.Pred
		keys string
	}
	first := map[key]*core.Rule{}
	for _, r := range c.facts {
		p := r.Head.Pred
		if p.KeepsOne() {
			continue
		}
		k := key{p, tupleText(r.Head.Args[:p.Keys])}
		other := first[k]
		if other == nil {
			first[k] = r
			continue
		}
		a, b := tupleText(other.Head.Args[p.Keys:]), tupleText(r.Head.Args[p.Keys:])
		if a == b {
			continue
		}
		d := c.Errorf(diag.ConflictingFacts, r.Head.Span, "%s[%s] has two values, %s and %s",
			p.Name,
			k.keys, a, b)
		d.Label(other.Head.Span, "the other value is here")
		d.Note("%s is a function: one key has one value", p.Name)
		d.Help("remove one of the facts, or make %s a relation: %s(%s)", p.Name, p.Name,
			tupleText(r.Head.Args))
	}
}

func tupleText(args []core.Term) string {
	out := make([]string, len(args))
	for i, a := range args {
		if k, ok := a.(core.Const); ok {
			out[i] = scalar.Literal(k.Value)
		} else {
			out[i] = fmt.Sprint(a)
		}
	}
	return strings.Join(out, ", ")
}
