package rewrite

import (
	"fmt"
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

var dropSubsumedRules = &Pass{
	Name: "DropSubsumedRules",
	Reason: "A rule whose tuples another rule of the same predicate derives anyway, because its " +
		"body has all that the body of the other one has, is not run.",
	Unless: "What they read may change in between, or the more general rule computes, aggregates " +
		"or negates.",
	Before: "insert p\n  scan a(x, y)\ninsert p\n  filter gt(y, 5)\n    join y\n      scan a(x, y)\n" +
		"      scan b(y)",
	After: "insert p\n  scan a(x, y)",
	Source: "containment of conjunctive queries: Chandra, Merlin, STOC 1977; subsumed rules: Ullman, " +
		"Principles of Database and Knowledge-Base Systems, volume 2, 1989, section 14.4",
	run: func(p *program) error {
		for _, b := range p.Blocks {
			dropSubsumed(b)
		}
		return nil
	},
}

// maxSubsumed bounds the rules of a predicate in a block that are compared in
// pairs.
const maxSubsumed = 32

// dropSubsumed removes the inserts of a block whose tuples another insert into
// the same variable adds.
func dropSubsumed(b *queryplan.Block) {
	byVar := map[*queryplan.Var][]int{}
	for i, c := range b.Cmds {
		if in, ok := c.(*queryplan.Insert); ok {
			byVar[in.Var] = append(byVar[in.Var], i)
		}
	}
	vain := map[queryplan.Command]bool{}
	for _, at := range byVar {
		if len(at) < 2 || len(at) > maxSubsumed {
			continue
		}
		bodies := make([]*ruleBody, len(at))
		for i, place := range at {
			bodies[i] = newRuleBody(b.Cmds[place].(*queryplan.Insert).Node)
		}
		for i, place := range at {
			for j, other := range at {
				if i != j && !vain[b.Cmds[other]] && !vain[b.Cmds[place]] &&
					sameContents(b, min(place, other), max(place, other)) &&
					bodies[j].contains(bodies[i]) {
					vain[b.Cmds[place]] = true
				}
			}
		}
	}
	b.Cmds = slices.DeleteFunc(b.Cmds, func(c queryplan.Command) bool { return vain[c] })
}

// sameContents reports whether two inserts of a block read the same contents.
func sameContents(b *queryplan.Block, first, then int) bool {
	read := map[*queryplan.Var]bool{}
	for _, at := range []int{first, then} {
		for _, s := range queryplan.Scans(queryplan.CommandNode(b.Cmds[at])) {
			read[s.Var] = true
		}
	}
	return !slices.ContainsFunc(b.Cmds[first:then], func(c queryplan.Command) bool {
		_, insert := c.(*queryplan.Insert)
		return !insert && read[queryplan.CommandVar(c)]
	})
}

// ruleBody is the tree of an insert as atoms.
type ruleBody struct {
	*conjuncts
	node  queryplan.Node
	head  []int
	atoms []*scanAtom // nil for an atom that is not a scan
}

// scanAtom is a scan with conditions on its columns, which are identified by
// their positions.
type scanAtom struct {
	scan  *queryplan.Scan
	conds []queryplan.Expr
	ids   []int // of the columns of the variable
}

func newRuleBody(n queryplan.Node) *ruleBody {
	c, head := conjunctsOf(n, func(queryplan.Node) bool { return false })
	body := &ruleBody{conjuncts: c, node: n, head: head}
	for i, id := range body.head {
		body.head[i] = body.find(id)
	}
	for _, a := range body.conjuncts.atoms {
		body.atoms = append(body.atoms, body.scanAtom(a))
	}
	return body
}

// scanAtom returns an atom as a scan with conditions, or nil.
func (body *ruleBody) scanAtom(a *conjunct) *scanAtom {
	var conds []queryplan.Expr
	vars, n := a.vars, a.node
	var scan *queryplan.Scan
	for scan == nil {
		switch m := n.(type) {
		case *queryplan.Filter:
			conds, n = append(conds, queryplan.Conjuncts(m.Cond)...), m.Input
		case *queryplan.Project:
			below, from := map[string]int{}, map[string]queryplan.Expr{}
			for _, r := range m.Cols {
				if id, ok := vars[r.To]; ok {
					if _, twice := below[r.From]; twice {
						return nil
					}
					below[r.From] = id
				}
				col, _ := queryplan.ColumnOf(m.Input, r.From)
				from[r.To] = &queryplan.ColRef{Col: col}
			}
			for i, cond := range conds {
				conds[i] = queryplan.Substitute(cond, from)
			}
			vars, n = below, m.Input
		case *queryplan.Scan:
			scan = m
		default:
			return nil
		}
	}
	if scan.Position != "" {
		return nil
	}
	out := &scanAtom{scan: scan}
	places := map[string]queryplan.Expr{}
	for i, name := range scan.Names {
		id, ok := vars[name]
		if !ok || name == "" {
			id = body.variable() // nothing else reads it
		}
		out.ids = append(out.ids, id)
		places[name] = &queryplan.ColRef{Col: queryplan.Column{Name: fmt.Sprint(i),
			Type: scan.Var.Cols[i].Type}}
	}
	for _, cond := range conds {
		out.conds = append(out.conds, queryplan.Substitute(cond, places))
	}
	for i, id := range out.ids {
		out.ids[i] = body.find(id)
	}
	return out
}

// contains reports whether a body is proved to yield all tuples of another one:
// a mapping of its variables to those of the other turns each of its atoms into
// one of the other's (a homomorphism; Chandra and Merlin, "Optimal
// Implementation of Conjunctive Queries", STOC 1977).
func (body *ruleBody) contains(other *ruleBody) bool {
	if trees.IsVolatile(body.node) || trees.IsVolatile(other.node) {
		return false
	}
	if queryplan.Equal(body.node, other.node) {
		return true
	}
	if body.loose || len(body.consts) > 0 || slices.Contains(body.atoms, nil) ||
		len(body.atoms) > maxMapped || len(other.atoms) > maxMapped {
		return false
	}
	to := map[int]int{}
	for i, id := range body.head {
		if had, ok := to[id]; ok && had != other.head[i] {
			return false
		}
		to[id] = other.head[i]
	}
	return body.maps(0, other, to)
}

// maxMapped bounds the atoms of bodies that are searched for a mapping.
const maxMapped = 8

// maps extends a mapping of variables over the atoms from one on.
func (body *ruleBody) maps(at int, other *ruleBody, to map[int]int) bool {
	if at == len(body.atoms) {
		return true
	}
	a := body.atoms[at]
	for _, b := range other.atoms {
		if b == nil || !a.covers(b) {
			continue
		}
		next := maps.Clone(to)
		fits := true
		for i, id := range a.ids {
			had, ok := next[id]
			fits = fits && (!ok || had == b.ids[i])
			next[id] = b.ids[i]
		}
		if fits && body.maps(at+1, other, next) {
			return true
		}
	}
	return false
}

// covers reports whether an atom has all tuples of another one.
func (a *scanAtom) covers(b *scanAtom) bool {
	return a.scan.Var == b.scan.Var && a.scan.Version == b.scan.Version &&
		!slices.ContainsFunc(a.conds, func(x queryplan.Expr) bool {
			return !slices.ContainsFunc(b.conds, func(y queryplan.Expr) bool {
				return queryplan.EqualExpr(x, y)
			})
		})
}
