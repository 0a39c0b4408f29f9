package provenance

import (
	"context"
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
)

// Reasons says why a goal holds, or why it does not.
type Reasons struct {
	Goal  string `json:"goal"`
	Holds bool   `json:"holds"`
	// Because has a node for each conjunct of a goal that holds.
	Because []*Node `json:"because,omitempty"`
	// Missing is how far a goal comes that does not hold. It is nil for one
	// that no facts could make hold.
	Missing *Tried `json:"missing,omitempty"`
}

// Node is a tuple with what it is derived from, or a condition that holds.
type Node struct {
	Tuple     string `json:"tuple,omitempty"`
	Condition string `json:"condition,omitempty"`
	// Rule derives the tuple; nil for a fact from outside of the program. Fact
	// is set if the tuple is a fact.
	Rule *Rule `json:"rule,omitempty"`
	Fact bool  `json:"fact,omitempty"`
	// Bindings is how many bindings of its body an aggregation has. Because has
	// a few of them, with the one that a minimum or maximum takes first.
	Bindings int     `json:"bindings,omitempty"`
	Because  []*Node `json:"because,omitempty"`
	// Improved says that the rule first derived the tuple from values that have
	// improved since. What is below it shows the values as they are now, and
	// may name the tuple again.
	Improved bool `json:"improved,omitempty"`
	// Iterated says that the tuple is what the last round of an iteration has
	// left. Rule is then the directive.
	Iterated bool `json:"iterated,omitempty"`
	// Above says that Because stands at an earlier node of the same tuple, and
	// More that it is below the depth that was asked for.
	Above bool `json:"above,omitempty"`
	More  bool `json:"more,omitempty"`
}

// Rule is a clause of the program.
type Rule struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"` // on one line
}

// Missed is a conjunct that does not hold.
type Missed struct {
	Literal string `json:"literal"`
	// Facts is the number of facts of a predicate without rules.
	Facts *int `json:"facts,omitempty"`
	// Holds is the tuple that makes a negation fail, and First the one that an
	// atom's predicate has kept for the key, because it was derived first.
	Holds *Node `json:"holds,omitempty"`
	First *Node `json:"first,omitempty"`
	// Iterated is the directive of an atom's predicate that iterates: the tuple
	// is not there after the last round.
	Iterated *Rule `json:"iterated,omitempty"`
	// Rules says how far each rule comes that could make an atom hold. Above
	// and More are as in Node.
	Rules []*Tried `json:"rules,omitempty"`
	Above bool     `json:"above,omitempty"`
	More  bool     `json:"more,omitempty"`
}

// Tried is a rule that does not derive a tuple.
type Tried struct {
	Rule *Rule `json:"rule,omitempty"`
	// Held are conjuncts that hold together. No binding makes more of them
	// hold.
	Held []string `json:"held,omitempty"`
	// Fails is one that does not hold beside them. It is nil if the head of the
	// rule has other values.
	Fails *Missed `json:"fails,omitempty"`
	// Cut is set if not all bindings were looked at.
	Cut bool `json:"cut,omitempty"`
}

// Explain says why a goal, a rule of the program, holds or does not. The trees
// are at most depth levels deep; a depth of 0 is no bound.
func (x *Explainer) Explain(ctx context.Context, goal *core.Rule, text string,
	depth int) (*Reasons, error) {
	g := &grower{x: x, ctx: ctx, seen: map[*derivation]bool{}, tried: map[string]bool{}}
	out := &Reasons{Goal: text}
	d, err := x.goal(ctx, goal)
	if err != nil {
		return nil, err
	}
	if out.Holds = d != nil; out.Holds {
		out.Because, err = g.parts(d, depth)
		return out, err
	}
	a, err := x.attempt(ctx, goal, binding{})
	if err == nil {
		out.Missing, err = g.attempt(a, depth)
	}
	if out.Missing != nil {
		out.Missing.Rule = nil // it is the goal
	}
	return out, err
}

// grower makes trees of derivations and failures.
type grower struct {
	x     *Explainer
	ctx   context.Context
	seen  map[*derivation]bool
	tried map[string]bool
}

// below returns the depth that is left for what is below a node.
func below(depth int) int { return max(0, depth-1) }

// parts returns the nodes of what a tuple is derived from.
func (g *grower) parts(d *derivation, depth int) (out []*Node, err error) {
	parts, err := g.x.parts(g.ctx, d)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		n := &Node{Condition: part.condition}
		if part.tuple != nil {
			if n, err = g.tuple(part.tuple, depth); err != nil {
				return nil, err
			}
		}
		out = append(out, n)
	}
	return out, nil
}

func (g *grower) tuple(d *derivation, depth int) (n *Node, err error) {
	n = &Node{Tuple: d.atom, Bindings: d.bindings, Fact: d.rule == nil,
		Improved: d.improved}
	if d.iterated != nil {
		n.Rule, n.Iterated, n.Fact = directiveOf(d.iterated), true, false
		return n, nil
	}
	if d.rule == nil {
		return n, nil
	}
	n.Rule = ruleOf(d.rule)
	n.Fact = len(d.rule.Body) == 0
	n.Above = g.seen[d] && !n.Fact
	n.More = depth == 1 && !n.Above && !n.Fact
	g.seen[d] = g.seen[d] || !n.More
	if n.Above || n.More || n.Fact {
		return n, nil
	}
	n.Because, err = g.parts(d, below(depth))
	return n, err
}

func ruleOf(r *core.Rule) *Rule { return clauseAt(r.Span) }

func directiveOf(i *core.Iteration) *Rule { return clauseAt(i.Span) }

func clauseAt(s source.Span) *Rule {
	at := s.Position()
	return &Rule{at.File, at.Line, strings.Join(strings.Fields(s.Text()), " ")}
}

// attempt returns how far a rule comes.
func (g *grower) attempt(a attempt, depth int) (t *Tried, err error) {
	t = &Tried{Rule: ruleOf(a.rule), Held: a.held, Cut: a.cut}
	if a.fails != nil {
		t.Fails, err = g.failure(a.fails, depth)
	}
	return t, err
}

// failure says why a literal does not hold.
func (g *grower) failure(f *failure, depth int) (m *Missed, err error) {
	m = &Missed{Literal: f.text}
	if f.holds != nil {
		m.Holds, err = g.tuple(f.holds, depth)
	}
	if f.first != nil {
		m.First, err = g.tuple(f.first, depth)
		return m, err
	}
	if err != nil || f.atom == nil {
		return m, err
	}
	if i := f.atom.Pred.Iterates; i != nil {
		m.Iterated = directiveOf(i)
		return m, nil
	}
	var rules []*core.Rule
	for _, r := range g.x.rules[f.atom.Pred] {
		if len(r.Body) > 0 { // another one is a fact
			rules = append(rules, r)
		}
	}
	if len(rules) == 0 {
		m.Facts = &g.x.tables[f.atom.Pred].rows
		return m, nil
	}
	key := fmt.Sprintf("%p %s", f.atom.Pred, f.text)
	m.Above = g.tried[key]
	m.More = depth == 1 && !m.Above
	if m.Above || m.More {
		return m, nil
	}
	g.tried[key] = true
	for _, r := range rules {
		a := attempt{rule: r}
		if b, ok := g.x.unify(r, f.atom, f.values); ok {
			if a, err = g.x.attempt(g.ctx, r, b); err != nil {
				return m, err
			}
		}
		t, err := g.attempt(a, below(depth))
		if err != nil {
			return m, err
		}
		m.Rules = append(m.Rules, t)
	}
	return m, nil
}
