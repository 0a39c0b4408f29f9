package emit

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// An expression that certainly has no value makes its conjunction false. If no
// alternative of the formula around it can hold, this is an error, because the
// author cannot mean it. If another alternative can hold, the program runs
// without the one that fails, and a warning names it. Clauses are emitted one
// alternative at a time, so the decision waits until all have been seen.

// failure is an expression of one conjunction that certainly has no value.
type failure struct {
	d *diag.Diagnostic // the error, if nothing else can hold
	// item is the alternative of a disjunction that stays a test, or invalid.
	item source.Span
}

// fate is the outcome of one alternative of a formula.
type fate struct {
	picks    []source.Span // the items of disjunctions that make up the alternative
	outer    []source.Span // of a negation: the picks of the conjunction around it
	failures []failure     // why it is without value; empty if it can hold or is false
	dead     source.Span   // the test that is certainly false, or invalid
}

func (f *fate) holds() bool { return len(f.failures) == 0 && !f.dead.IsValid() }

// fatesKey identifies a formula whose alternatives are emitted one by one.
type fatesKey struct {
	kind formulaKind
	span source.Span
}

type formulaKind uint8

const (
	ruleBody formulaKind = iota
	constraintLeft
	negated
	testedDisjunction
)

// settled records the fate of an alternative of a formula.
func (c *emission) settled(key fatesKey, f fate) {
	if c.fates[key] == nil {
		c.fateOrder = append(c.fateOrder, key)
	}
	c.fates[key] = append(c.fates[key], f)
}

// reportFates reports the alternatives that can never hold, once all are known.
func (c *emission) reportFates() {
	for _, key := range c.fateOrder {
		all := c.fates[key]
		possible := slices.ContainsFunc(all, func(f fate) bool { return f.holds() })
		failing := slices.ContainsFunc(all, func(f fate) bool { return len(f.failures) > 0 })
		for _, f := range all {
			switch {
			case f.holds():
			case !possible && failing:
				for _, x := range f.failures {
					c.Add(x.d)
				}
			case possible:
				c.warnAlternative(key, f, all)
			case key.kind == ruleBody:
				d := c.Warnf(diag.NeverFires, key.span, "this rule can never derive anything")
				d.Label(f.dead, "this is always false")
				d.Help("remove the rule, or mend the condition")
			}
		}
	}
}

// warnAlternative warns of an alternative that can never hold, beside one that
// can.
func (c *emission) warnAlternative(key fatesKey, f fate, all []fate) {
	if len(f.failures) == 0 && key.kind != ruleBody {
		return // a condition may be false by its constants there
	}
	var d *diag.Diagnostic
	switch named := decisive(f.picks, all); {
	case len(named) > 0:
		d = c.Warnf(diag.NeverFires, named[0], "this alternative can never hold")
		for _, with := range named[1:] {
			d.Label(with, "together with this one")
		}
	default:
		d = c.Warnf(diag.NeverFires, key.span,
			"what is negated here cannot hold in one alternative")
		for _, at := range f.outer {
			d.Label(at, "in this alternative")
		}
	}
	if f.dead.IsValid() {
		d.Label(f.dead, "this is always false")
		d.Help("remove the alternative, or mend the condition")
		return
	}
	for _, x := range f.failures {
		d.Label(x.d.Span, "%s", x.d.Message)
		d.Labels = append(d.Labels, x.d.Labels...)
	}
	if key.kind == negated && len(f.picks) == 0 {
		d.Note("the program runs: an expression without value makes its condition false, " +
			"so the negation holds there")
		d.Help("mend the expression, or write that alternative as a rule of its own without it")
		return
	}
	d.Note("the program runs: an expression without value makes its alternative false")
	d.Help("remove the alternative, or mend the expression")
}

// decisive returns the first item of a disjunction that no alternative which
// holds has, or all items of the alternative.
func decisive(picks []source.Span, all []fate) []source.Span {
	for _, p := range picks {
		possible := func(f fate) bool { return f.holds() && slices.Contains(f.picks, p) }
		if !slices.ContainsFunc(all, possible) {
			return []source.Span{p}
		}
	}
	return picks
}
