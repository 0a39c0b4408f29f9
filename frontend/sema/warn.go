package sema

import (
	"cmp"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/frontend/vocabulary"
)

// warnUse reports what is legal but probably not meant.
func (c *checker) warnUse() {
	warned := map[*ast.Clause]bool{}
	for _, cl := range c.clauses {
		written := cmp.Or(cl.Node.PartOf, cl.Node)
		if cl.kind == ruleClause && !cl.Broken && !warned[written] {
			warned[written] = true
			c.warnSingle(written)
		}
	}
	if c.Levels[diag.Undeclared] > diag.LevelOff {
		for _, p := range c.order {
			if p.decl == nil && !p.entity && !p.Query && !p.Poisoned && !p.Hidden {
				d := c.Warnf(diag.Undeclared, p.Span, "%s is not declared", p.Name)
				d.Help("declare it: %s", c.inferredDeclaration(p))
			}
		}
	}
	for _, p := range c.order {
		if p.Rules+p.Loads+p.facts == 0 && p.uses > 0 && p.decl == nil && !p.entity &&
			!p.Given && !p.fileBound && !p.Poisoned && !p.Hidden {
			d := c.Warnf(diag.NoSource, p.Span, "%s has no rule and no fact", p.Name)
			d.Note("it stays empty unless facts are bound to it from outside")
			if of, ok := strings.CutSuffix(p.Name, ":prev"); ok && c.preds[of+":next"] != nil {
				d.Help("write %s:next[x] = y for the x before y", of)
				continue
			}
			if help, _ := vocabulary.OfForeign(p.Name, "x"); help != "" {
				d.Help("%s", help)
			}
			d.Help("declare it if they will be: %s", c.inferredDeclaration(p))
		}
	}
	if c.HasErrors() {
		return // a refused clause may have the use
	}
	anyRule := false
	for _, p := range c.order {
		anyRule = anyRule || p.Rules+p.Loads > 0
	}
	for _, p := range c.order {
		if p.uses > 0 || p.entity || p.Maker != nil || p.Query || p.Poisoned || p.Hidden ||
			p.File != nil || !anyRule {
			continue
		}
		switch {
		case p.Rules > 0 && p.Private():
			d := c.Warnf(diag.UnusedPredicate, p.Span, "%s is derived but never used", p.Name)
			d.Note("predicates whose names start with _ are helpers and not part of the result")
			d.Help("use it, or remove its rules")
		case p.Rules == 0 && p.facts > 0 && !p.loadSpan.IsValid():
			d := c.Warnf(diag.UnusedPredicate, p.Span, "the facts of %s are never used", p.Name)
			d.Help("use %s in a rule, or remove them", p.Name)
		}
	}
}

// inferredDeclaration is a declaration with the types that were inferred.
func (c *checker) inferredDeclaration(p *pred) string {
	var types []string
	for _, n := range p.Columns {
		t, ok := c.types.TypeOf(n)
		if !ok {
			return p.DeclarationExample()
		}
		types = append(types, t.String())
	}
	return p.Declaration(p.ArgNames, types)
}

// warnSingle reports the variables of a rule that occur once.
func (c *checker) warnSingle(node *ast.Clause) {
	// The body of an aggregate counts bindings, so that a name is as good as _
	// there, and an index of seq<<>> occurs in the head alone.
	if c.Levels[diag.SingleOccurrence] == diag.LevelOff || node.P2P != nil ||
		node.Update != "" {
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
	ast.Inspect(node.Left, visit)
	ast.Inspect(node.Right, visit)
	// The entity that a reference mode creates needs no other use.
	ast.Inspect(node.Left, func(n ast.Node) bool {
		if m, ok := n.(*ast.RefMode); ok {
			if v, ok := ast.Unparen(m.X).(*ast.Var); ok {
				count[v.Name]++
			}
		}
		return true
	})
	for _, name := range order {
		if count[name] == 1 && !strings.HasPrefix(normal.PlainName(name), "_") {
			d := c.Warnf(diag.SingleOccurrence, where[name], "variable %s occurs only once", name)
			if nulls[strings.ToLower(name)] {
				d.Note("there is no missing value: a function has a value for a key, or no tuple")
				d.Help("%s", nullHelp)
			}
			d.Help("write _ if any value will do, or _%s to keep the name", normal.PlainName(name))
			d.Replace(where[name], "_")
			d.Replace(where[name], "_"+normal.PlainName(name))
		}
	}
}
