package sema

import (
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
)

// checkOrders reports orders over entities that constructors made. Such
// entities have no order, so the results would depend on the evaluation.
func (c *checker) checkOrders() {
	for _, cl := range c.clauses {
		for _, u := range cl.Units {
			if u.Seq != nil {
				c.checkOrder(orders(cl.Node), u.Seq.Span, u.Seq.Order)
			}
			for _, a := range u.Aggs {
				c.checkOrder(a.Fn.String(), a.Span, a.By)
			}
		}
	}
}

// checkOrder reports the first of some keys that has no order.
func (c *checker) checkOrder(what string, at source.Span, keys []normal.OrderKey) {
	for _, k := range keys {
		t, ok := c.types.TypeOf(k.Var.Node)
		if !ok {
			continue
		}
		f := c.types.Family(t)
		if f == nil || f.ByValue() {
			continue
		}
		if k.Tie {
			d := c.Errorf(diag.WrongArgumentTypes, at,
				"bindings with equal keys have no order, because %s is %s", k.Var.Shown(), t)
			d.Note("%s is made by constructors, so its entities have no order", t)
			d.Help("add to order(...) what determines %s, such as the keys of a constructor that "+
				"the body has", k.Var.Shown())
			return
		}
		d := c.Errorf(diag.WrongArgumentTypes, at, "%s needs an order, which %s does not have",
			what, t)
		d.Note("%s is made by constructors; an entity with a refmode has the order of its values", t)
		d.Help("order the values that belong to the entities")
		return
	}
}

// orders names what a clause orders by, in the words of the program.
func orders(node *ast.Clause) string {
	if node.PartOf != nil {
		node = node.PartOf
	}
	if node.P2P == nil {
		return "lang:ordered"
	}
	return node.P2P.Name + "<<>>"
}
