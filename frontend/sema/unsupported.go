package sema

import (
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// refuse reports a feature of the language that is not built yet.
func (c *checker) refuse(span source.Span, feature, instead string) {
	d := c.Errorf(diag.NotSupportedYet, span, "%s: not supported yet", feature)
	if instead != "" {
		d.Help("%s", instead)
	}
}

// refuseForGood reports a feature that is outside what redfox is for.
func (c *checker) refuseForGood(span source.Span, feature, why string) {
	d := c.Errorf(diag.NotSupported, span, "%s: not supported", feature)
	d.Note("%s", why)
}

// refuseClause reports the features of a clause that are recognised but not
// built, each once, and whether there are any.
func (c *checker) refuseClause(cl *clause) bool {
	node := cl.Node
	seen := map[string]bool{}
	refuse := func(span source.Span, feature, instead string) {
		if !seen[feature] {
			c.refuse(span, feature, instead)
		}
		seen[feature] = true
	}
	if node.Arrow == ast.MetaRule || node.Arrow == ast.MetaConstraint {
		refuse(node.Left.Pos(), "generic rules",
			"of <-- and -->, only block(`name) { clauses(`{ ... }) } <-- . is known")
		return true
	}
	if node.P2P != nil && c.refuseP2P(node.P2P, node.Right) {
		return true
	}
	visit := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Block:
			refuse(n.Span, "hierarchical syntax", "write each atom out, with its keys")
			return false
		case *ast.PredRef:
			if len(n.Clauses) > 0 {
				refuse(n.Span, "quoted clauses", "write the clauses at the top level")
			}
		}
		return true
	}
	ast.Inspect(node.Left, visit)
	ast.Inspect(node.Right, visit)
	if node.P2P != nil {
		for _, s := range node.P2P.Specs {
			ast.Inspect(s.In, visit)
		}
	}
	return len(seen) > 0
}

// refuseP2P reports a predicate-to-predicate specifier other than agg and seq.
func (c *checker) refuseP2P(p *ast.P2P, body ast.Node) bool {
	switch p.Name {
	case "agg", "seq":
		return false
	case "list", "list_to_seq", "series":
		if body == nil {
			c.nothingToWorkOn(p)
			return true
		}
	}
	switch p.Name {
	case "list", "list_to_seq":
		c.refuse(p.Span, p.Name+"<<>> of this form",
			"write first[] = x, next[x] = y <- list<<>> p(x), or a[i] = x <- list_to_seq<<>> first[] = _, "+
				"next[_] = _")
	case "series":
		c.refuse(p.Span, "series<<>> of this form",
			"the functions are v = runtotal[i](x), rnd_uniform_int<lo, hi, seed>[i] and rnd_uniform_real")
	case "uid":
		c.refuse(p.Span, "uid<<>>", "number the tuples with seq<<>>")
	case "predict":
		c.refuseForGood(p.Span, "predict<<>>",
			"redfox evaluates rules; train and apply models outside")
	default:
		d := c.Errorf(diag.UnknownAggregation, p.Span, "there is no %s<<>>", p.Name)
		if s, ok := diag.Suggest(p.Name, []string{"agg", "seq"}); ok {
			d.Help("did you mean %s<<>>?", s)
		}
		d.Help("agg<<u = total(x)>> aggregates, seq<<>> numbers tuples in order")
	}
	return true
}
