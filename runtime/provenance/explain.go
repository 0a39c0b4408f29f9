package provenance

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Explainer explains the tuples of one run. It is not safe for concurrent use.
type Explainer struct {
	tables  map[*core.Pred]*Table
	stratum map[*core.Pred]int
	// recursive has the numbers of recursive strata.
	recursive map[int]bool
	// improving has those of strata in which values improve.
	improving map[int]bool
	rules     map[*core.Pred][]*core.Rule
	known     map[place]*derivation
}

// place is a tuple of a predicate.
type place struct {
	pred *core.Pred
	row  int
}

// New returns an explainer of a program whose predicates have tables, by name.
// Predicates without one are those that no rule for the goal reads.
func New(p *core.Program, tables map[string]*Table) *Explainer {
	x := &Explainer{tables: map[*core.Pred]*Table{}, stratum: map[*core.Pred]int{},
		recursive: map[int]bool{}, improving: map[int]bool{}, rules: map[*core.Pred][]*core.Rule{},
		known: map[place]*derivation{}}
	for _, pred := range p.Preds {
		x.stratum[pred] = -1
		x.tables[pred] = tables[pred.Name]
	}
	for i, s := range p.Strata {
		x.recursive[i] = s.Recursive
		for _, pred := range s.Preds {
			x.stratum[pred] = i
			x.improving[i] = x.improving[i] || pred.Improves()
		}
		for _, r := range s.Rules {
			x.rules[r.Head.Pred] = append(x.rules[r.Head.Pred], r)
		}
	}
	return x
}

// derivation is a tuple, and how it comes about.
type derivation struct {
	atom string // as LogiQL, with entities as terms
	// rule derives it; nil for a fact from outside of the program. A rule
	// without a body is a fact in the program.
	rule *core.Rule
	// iterated is set if the tuple is what the last round of an iteration left.
	// The rounds before are gone.
	iterated *core.Iteration
	// bindings is how many bindings of the body an aggregation has, and 0 for
	// other rules. bodies has few of them.
	bindings int
	bodies   []body
	parts    []part
	// improved says that the rule first derived the tuple from values that have
	// improved since. What the bodies have is derived later, perhaps from the
	// tuple itself.
	improved bool
}

// body is a body of a rule that a binding makes true.
type body struct {
	literals []core.Literal
	values   binding
}

// part is a conjunct of a body: a tuple, or the text of a condition.
type part struct {
	tuple     *derivation
	condition string
}

// maxBodies bounds the bindings of an aggregation that a derivation has.
const maxBodies = 5

// UnexplainedError is a tuple for which no rule was found. It is a bug.
type UnexplainedError struct{ Atom string }

// Error names the tuple.
func (e *UnexplainedError) Error() string { return "no rule derives " + e.Atom }

// goal returns the derivation of a goal, for the first binding of its body, or
// nil if there is none. The goal is a rule of the program.
func (x *Explainer) goal(ctx context.Context, goal *core.Rule) (*derivation, error) {
	s := x.search(ctx, -1, 0)
	d := &derivation{rule: goal}
	b := binding{}
	s.solve(goal.Body, b, func() bool {
		d.bodies = append(d.bodies, body{goal.Body, maps.Clone(b)})
		return true
	})
	if s.err != nil || d.bodies == nil {
		return nil, s.err
	}
	return d, nil
}

func (x *Explainer) search(ctx context.Context, stratum int, round int64) *search {
	return &search{x: x, ctx: ctx, stratum: stratum, round: round, steps: maxSteps}
}

// derivation returns the derivation of a row, with the bodies of its rule.
func (x *Explainer) derivation(ctx context.Context, pred *core.Pred, row int) (*derivation, error) {
	at := place{pred, row}
	if d := x.known[at]; d != nil {
		return d, nil
	}
	d := &derivation{atom: x.atom(pred, row), iterated: pred.Iterates}
	if d.iterated != nil {
		x.known[at] = d
		return d, nil
	}
	stratum, round := -1, int64(0)
	if x.recursive[x.stratum[pred]] {
		stratum, round = x.stratum[pred], x.tables[pred].rounds.Of(int64(row))
	}
	err := x.explain(ctx, d, pred, row, stratum, round)
	if err == nil && d.rule == nil && x.improving[stratum] {
		err = x.explain(ctx, d, pred, row, -1, 0)
		d.improved = d.rule != nil
	}
	if err != nil {
		return nil, fmt.Errorf("explaining %s: %w", d.atom, err)
	}
	if d.rule == nil && pred.Derived {
		return nil, &UnexplainedError{d.atom}
	}
	x.known[at] = d
	return d, nil
}

// explain gives a derivation the first rule that derives the row, if one does:
// from tuples of earlier rounds of a stratum, or from all where it is -1.
func (x *Explainer) explain(ctx context.Context, d *derivation, pred *core.Pred, row, stratum int,
	round int64) error {
	for _, r := range x.rules[pred] {
		err := x.apply(x.search(ctx, stratum, round), d, r, row)
		if err != nil || d.rule != nil {
			return err
		}
	}
	return nil
}

// apply gives a derivation a rule, if the rule derives the row.
func (x *Explainer) apply(s *search, d *derivation, r *core.Rule, row int) error {
	b, ok := x.head(r, row)
	if !ok {
		return nil
	}
	s.solve(r.Body, b, func() bool {
		d.rule = r
		if len(r.Agg) == 0 {
			d.bodies = append(d.bodies, body{r.Body, maps.Clone(b)})
			return true
		}
		d.bindings++
		if witness(r, b, x.tables[r.Head.Pred], row) {
			d.bodies = slices.Insert(d.bodies, 0, body{r.Body, maps.Clone(b)})
		} else if len(d.bodies) < maxBodies {
			d.bodies = append(d.bodies, body{r.Body, maps.Clone(b)})
		}
		d.bodies = d.bodies[:min(maxBodies, len(d.bodies))]
		return false
	})
	return s.err
}

// head returns the binding that makes the head of a rule a row, but for the
// results of aggregations and the numbers of sequences and entities. It fails
// where none does.
func (x *Explainer) head(r *core.Rule, row int) (binding, bool) {
	t := x.tables[r.Head.Pred]
	b := binding{}
	for i, arg := range r.Head.Args {
		v := t.value(row, i)
		switch arg := arg.(type) {
		case core.Const:
			if arg.Value != v {
				return nil, false
			}
		case *core.Var:
			if r.Seq != nil && r.Seq.Index == arg || results(r, arg) {
				continue
			}
			if had, ok := b[arg]; ok && had != v {
				return nil, false
			}
			b[arg] = v
		}
	}
	return b, true
}

// results reports whether an aggregation of a rule yields a variable.
func results(r *core.Rule, v *core.Var) bool {
	return slices.ContainsFunc(r.Agg, func(a core.AggSpec) bool { return a.Out == v })
}

// witness reports whether a binding has the value that a minimum or maximum
// yields.
func witness(r *core.Rule, b binding, t *Table, row int) bool {
	for i, arg := range r.Head.Args {
		for _, a := range r.Agg {
			if arg == core.Term(a.Out) && (a.Fn == core.Min || a.Fn == core.Max) {
				return b[a.In] == t.value(row, i)
			}
		}
	}
	return false
}

// parts returns the conjuncts that make a tuple true, in the order of the
// rule's text. An aggregation has those of a few bindings, one after the other.
// A predicate that the compiler has made shows as what derives its tuple.
func (x *Explainer) parts(ctx context.Context, d *derivation) ([]part, error) {
	if d.parts != nil {
		return d.parts, nil
	}
	for _, b := range d.bodies {
		parts, err := x.partsOf(ctx, b)
		if err != nil {
			return nil, err
		}
		d.parts = append(d.parts, parts...)
	}
	return d.parts, nil
}

func (x *Explainer) partsOf(ctx context.Context, b body) (out []part, err error) {
	literals := slices.Clone(b.literals)
	slices.SortStableFunc(literals, func(l, m core.Literal) int {
		return cmp.Compare(spanOf(l).Start, spanOf(m).Start)
	})
	for _, l := range literals {
		a, ok := l.(*core.Atom)
		if !ok {
			if text := x.condition(l, b.values); text != "" {
				out = append(out, part{condition: text})
			}
			continue
		}
		if a.Pred.Hidden && a.Pred.KeysHold() {
			continue // it only numbers entities, which show as terms
		}
		d, err := x.derivation(ctx, a.Pred, x.row(a, b.values))
		if err != nil {
			return nil, err
		}
		if !a.Pred.Hidden {
			out = append(out, part{tuple: d})
			continue
		}
		inner, err := x.parts(ctx, d)
		if err != nil {
			return nil, err
		}
		out = append(out, inner...)
	}
	return out, nil
}

// row returns the row of an atom all of whose variables are bound.
func (x *Explainer) row(a *core.Atom, b binding) int {
	t, at := x.tables[a.Pred], -1
	var words []wanted
	for i, arg := range a.Args {
		v, _ := b.of(arg)
		words, _ = t.want(words, i, v)
	}
	t.each(words, t.rows, func(row int) bool {
		at = row
		return true
	})
	return at
}

// values returns the arguments of a row.
func (x *Explainer) values(pred *core.Pred, row int) []scalar.Value {
	out := make([]scalar.Value, len(pred.Args))
	for i := range out {
		out[i] = x.tables[pred].value(row, i)
	}
	return out
}
