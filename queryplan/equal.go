package queryplan

import (
	"hash/fnv"
	"slices"

	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// Equal reports whether two operator trees are the same: the same operators
// over the same variables (by pointer) with the same names. Its cost is linear.
func Equal(a, b Node) bool {
	if a == b {
		return true
	}
	if !sameOperator(a, b) {
		return false
	}
	return slices.EqualFunc(a.Inputs(), b.Inputs(), Equal)
}

// sameOperator compares two operators without their inputs.
func sameOperator(a, b Node) bool {
	switch a := a.(type) {
	case *Scan:
		b, ok := b.(*Scan)
		return ok && a.Var == b.Var && a.Version == b.Version && slices.Equal(a.Names, b.Names) &&
			a.Position == b.Position
	case *Values:
		b, ok := b.(*Values)
		return ok && slices.Equal(a.Cols, b.Cols) && slices.EqualFunc(a.Rows, b.Rows, slices.Equal)
	case *Filter:
		b, ok := b.(*Filter)
		return ok && EqualExpr(a.Cond, b.Cond)
	case *Map:
		b, ok := b.(*Map)
		return ok && slices.EqualFunc(a.Exprs, b.Exprs, func(x, y NamedExpr) bool {
			return x.Name == y.Name && EqualExpr(x.Expr, y.Expr)
		})
	case *Project:
		b, ok := b.(*Project)
		return ok && slices.Equal(a.Cols, b.Cols)
	case *Dedup:
		_, ok := b.(*Dedup)
		return ok
	case *Join:
		b, ok := b.(*Join)
		return ok && a.Kind == b.Kind && a.Unique == b.Unique
	case *Aggregate:
		b, ok := b.(*Aggregate)
		return ok && slices.Equal(a.By, b.By) && slices.Equal(a.Aggs, b.Aggs)
	case *Union:
		_, ok := b.(*Union)
		return ok
	case *MultiJoin:
		b, ok := b.(*MultiJoin)
		return ok && slices.Equal(a.Order, b.Order) && a.Uneven == b.Uneven
	case *Seq:
		b, ok := b.(*Seq)
		return ok && slices.Equal(a.Group, b.Group) && slices.Equal(a.Order, b.Order) &&
			a.Index == b.Index
	case *TopK:
		b, ok := b.(*TopK)
		return ok && slices.Equal(a.Group, b.Group) && slices.Equal(a.By, b.By) &&
			a.Limit == b.Limit
	}
	return false
}

// EqualExpr reports whether two expressions are the same.
func EqualExpr(a, b Expr) bool {
	switch a := a.(type) {
	case *ColRef:
		b, ok := b.(*ColRef)
		return ok && a.Col == b.Col
	case *Const:
		b, ok := b.(*Const)
		return ok && a.Value == b.Value
	case *Call:
		b, ok := b.(*Call)
		return ok && a.Func == b.Func && a.Result == b.Result &&
			slices.EqualFunc(a.Args, b.Args, EqualExpr)
	}
	return false
}

// EqualPlan reports whether two plans are the same but for spans: their
// variables and blocks correspond by position.
func EqualPlan(a, b *Plan) bool {
	if len(a.Vars) != len(b.Vars) || len(a.Blocks) != len(b.Blocks) {
		return false
	}
	vars, blocks := map[*Var]*Var{}, map[*Block]*Block{}
	for i, v := range a.Vars {
		vars[v] = b.Vars[i]
		if !equalVar(v, b.Vars[i]) {
			return false
		}
	}
	for i, blk := range a.Blocks {
		blocks[blk] = b.Blocks[i]
	}
	for i, x := range a.Blocks {
		y := b.Blocks[i]
		same := x.Name == y.Name &&
			cfg.EqualTerms(x.Term, y.Term, blocks, func(v, w *Var) bool { return vars[v] == w }) &&
			slices.EqualFunc(x.Cmds, y.Cmds, func(c, d Command) bool {
				return equalCommand(c, d, vars)
			})
		if !same {
			return false
		}
	}
	return true
}

func equalVar(v, w *Var) bool {
	return v.Name == w.Name && v.Kind == w.Kind && slices.Equal(v.Cols, w.Cols) &&
		v.Keys == w.Keys &&
		v.Unique == w.Unique && v.Checked == w.Checked && v.Source == w.Source &&
		slices.Equal(v.Stored, w.Stored) &&
		v.Output == w.Output && slices.Equal(v.OrderBy, w.OrderBy) &&
		(!v.Output || v.Limit == w.Limit)
}

func equalCommand(a, b Command, vars map[*Var]*Var) bool {
	if vars[CommandVar(a)] != CommandVar(b) || CommandString(a) != CommandString(b) {
		return false
	}
	m, n := CommandNode(a), CommandNode(b)
	return m == nil || Equal(RebindVars(m, vars), n)
}

// Fingerprint returns a hash of a tree's text: trees of one plan that are Equal
// have the same. Use Equal to confirm.
func Fingerprint(n Node) uint64 {
	h := fnv.New64a()
	h.Write([]byte(NodeString(n)))
	return h.Sum64()
}
