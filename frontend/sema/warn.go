package sema

import (
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// warnUse reports what is legal but probably not meant.
func (c *checker) warnUse() {
	for _, cl := range c.clauses {
		if cl.kind == ruleClause && !cl.bad {
			c.warnSingle(cl)
		}
	}
	if c.levels[diag.Undeclared] > levelOff {
		for _, p := range c.order {
			if p.decl == nil && !p.query && !p.poisoned {
				d := c.warnf(diag.Undeclared, p.span, "%s is not declared", p.name)
				help(d, "declare it: %s", c.inferredDeclaration(p))
			}
		}
	}
	anyRule := false
	for _, p := range c.order {
		anyRule = anyRule || p.rules > 0
	}
	for _, p := range c.order {
		if p.uses > 0 || p.query || p.poisoned || p.file != nil || !anyRule {
			continue
		}
		switch {
		case p.rules > 0 && p.name[0] == '_':
			d := c.warnf(diag.UnusedPredicate, p.span, "%s is derived but never used", p.name)
			note(d, "predicates whose names start with _ are helpers and not part of the result")
			help(d, "use it, or remove its rules")
		case p.rules == 0 && p.facts > 0:
			d := c.warnf(diag.UnusedPredicate, p.span, "the facts of %s are never used", p.name)
			help(d, "use %s in a rule, or remove them", p.name)
		}
	}
}

// inferredDeclaration is a declaration with the types that were inferred.
func (c *checker) inferredDeclaration(p *pred) string {
	var types []string
	for i, n := range p.columns {
		t, _ := c.types.typeOf(n)
		types = append(types, t.String()+"("+p.argNames[i]+")")
	}
	return written(p.name, p.argNames, p.keys) + " -> " + strings.Join(types, ", ") + "."
}

// warnSingle reports the variables of a rule that occur once.
func (c *checker) warnSingle(cl *clause) {
	// The body of an aggregate counts bindings, so that a name is as good as _
	// there, and an index of seq<<>> occurs in the head alone.
	if c.levels[diag.SingleOccurrence] == levelOff || cl.node.P2P != nil || cl.node.Update != "" {
		return
	}
	count := map[string]int{}
	where := map[string]source.Span{}
	var order []string
	visit := func(n ast.Node) bool {
		if v, ok := n.(*ast.Var); ok {
			if count[v.Name]++; count[v.Name] == 1 {
				where[v.Name] = v.Span
				order = append(order, v.Name)
			}
		}
		return true
	}
	inspect(cl.node.Left, visit)
	inspect(cl.node.Right, visit)
	for _, name := range order {
		if count[name] == 1 && !strings.HasPrefix(name, "_") {
			d := c.warnf(diag.SingleOccurrence, where[name], "variable %s occurs only once", name)
			help(d, "write _ if any value will do, or _%s to keep the name", name)
		}
	}
}

// warnGrowth warns of recursive rules that put computed values into their head
// with no comparison to bound them: they may derive for ever.
func (c *checker) warnGrowth(s *core.Stratum) {
	members := map[*core.Pred]bool{}
	for _, p := range s.Preds {
		members[p] = true
	}
	for _, r := range s.Rules {
		v, let := growing(r, members)
		if v == nil {
			continue
		}
		d := c.warnf(diag.UnboundedRecursion, let.Span, "this recursion may never end")
		label(d, r.Head.Span, "each round can derive a new value here")
		note(d, "%s is computed from values of the same recursion, and no comparison bounds it", let.Span.Text())
		help(d, "add a bound to the body, for example %s < 100", boundName(v, let))
	}
}

func boundName(v *core.Var, let *core.Let) string {
	if strings.HasPrefix(v.Name, "$") {
		return let.Span.Text()
	}
	return v.Name
}

// growing returns a head variable that is computed from variables of recursive
// atoms and that no comparison mentions.
func growing(r *core.Rule, members map[*core.Pred]bool) (*core.Var, *core.Let) {
	from := map[*core.Var]bool{} // has its value from the recursion
	lets := map[*core.Var]*core.Let{}
	inputs := map[*core.Var][]*core.Var{}
	bounded := map[*core.Var]bool{}
	for _, l := range r.Body {
		switch l := l.(type) {
		case *core.Atom:
			for _, t := range l.Args {
				if v, ok := t.(*core.Var); ok && members[l.Pred] {
					from[v] = true
				}
			}
		case *core.Test:
			for _, v := range exprVars(l.Expr) {
				bounded[v] = true
			}
		}
	}
	for _, l := range r.Body {
		let, ok := l.(*core.Let)
		if !ok {
			continue
		}
		vars := exprVars(let.Expr)
		inputs[let.Var] = vars
		call, computed := let.Expr.(*core.Call)
		grows := computed && grows(call)
		for _, v := range vars {
			if !from[v] {
				continue
			}
			from[let.Var] = true
			if grows || lets[v] != nil {
				lets[let.Var] = let
			}
		}
	}
	var mark func(v *core.Var) bool
	mark = func(v *core.Var) bool {
		if bounded[v] {
			return true
		}
		for _, in := range inputs[v] {
			if mark(in) {
				return true
			}
		}
		return false
	}
	// A test of a variable that is computed from the head's bounds it as well.
	for v, ins := range inputs {
		if bounded[v] {
			for _, in := range ins {
				bounded[in] = true
			}
		}
	}
	for _, t := range r.Head.Args {
		if v, ok := t.(*core.Var); ok && lets[v] != nil && !mark(v) {
			return v, lets[v]
		}
	}
	return nil, nil
}

// growers are the functions that can give ever new values.
var growers = map[string]bool{"add": true, "sub": true, "mul": true, "div": true, "string:add": true, "datetime:add": true}

func grows(k *core.Call) bool {
	if growers[k.Func.Name] {
		return true
	}
	for _, a := range k.Args {
		if inner, ok := a.(*core.Call); ok && grows(inner) {
			return true
		}
	}
	return false
}

func exprVars(e core.Expr) []*core.Var {
	switch e := e.(type) {
	case core.VarExpr:
		return []*core.Var{e.Var}
	case *core.Call:
		var out []*core.Var
		for _, a := range e.Args {
			out = append(out, exprVars(a)...)
		}
		return out
	}
	return nil
}
