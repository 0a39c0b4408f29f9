package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

// A recursion carries a value along if each variable of its loop has a column
// that every command copies from every tuple of the recursion that it reads.
// Tuples with a value in that column then come only from tuples with the same
// value, however many recursive atoms a rule has, and through groups, negations
// and best values of a round (a generalised pivot, as in queryplan/parts). It
// is enough to restrict the tuples that the recursion starts from to the values
// that are asked for.

// carried is a recursion whose loop may carry values along.
type carried struct {
	*recursion
	fills  []queryplan.Command // the loop's inserts and assignments to its temporaries
	locals []*queryplan.Var    // the loop's temporaries
	column map[*queryplan.Var]int
	steps  int
}

// mostCarried bounds the steps of the search for columns.
const mostCarried = 10_000

// carries returns the recursion if each of its variables has a column that the
// loop carries along and that is asked for. Otherwise it returns nil.
func (r *recursion) carries() *carried {
	k := &carried{recursion: r, column: map[*queryplan.Var]int{}, steps: mostCarried}
	if !k.readLoop() || !r.asked() || !k.choose(slices.Concat(r.vars, k.locals)) {
		return nil
	}
	return k
}

// readLoop is readCommands, except for the rules in the loop.
func (k *carried) readLoop() bool {
	for _, c := range k.loop.Cmds {
		if a, ok := c.(*queryplan.Assign); ok && !slices.Contains(k.locals, a.Var) {
			k.locals = append(k.locals, a.Var)
		}
	}
	for _, v := range k.vars {
		if v.Output || len(v.Cols) == 0 {
			return false
		}
	}
	for b, c := range k.Commands() {
		if n := queryplan.CommandNode(c); n != nil && slices.ContainsFunc(queryplan.Scans(n),
			func(s *queryplan.Scan) bool {
				return k.inLoop(s.Var) && (s.Position != "" || b != k.loop && !k.member(s.Var))
			}) {
			return false
		}
		v := queryplan.CommandVar(c)
		insert, isInsert := c.(*queryplan.Insert)
		_, merge := c.(*queryplan.Merge)
		_, assign := c.(*queryplan.Assign)
		switch {
		case v == nil || !k.inLoop(v):
			if b == k.loop || b == k.before && k.disturbs(c) {
				return false
			}
		case b == k.loop && (isInsert || assign):
			k.fills = append(k.fills, c)
		case b == k.before && isInsert && !k.reads(insert.Node):
			k.base = append(k.base, insert)
		case merge && (b == k.before || b == k.loop):
		default:
			return false
		}
	}
	return len(k.base) > 0 && len(k.fills) > 0
}

// inLoop reports whether the loop fills a variable.
func (k *carried) inLoop(v *queryplan.Var) bool {
	return k.member(v) || slices.Contains(k.locals, v)
}

// readsLoop reports whether a tree reads what the loop fills.
func (k *carried) readsLoop(n queryplan.Node) bool {
	return slices.ContainsFunc(queryplan.Scans(n), func(s *queryplan.Scan) bool {
		return k.inLoop(s.Var)
	})
}

// choose chooses a column of each variable such that all commands carry it
// along.
func (k *carried) choose(vars []*queryplan.Var) bool {
	if len(vars) == 0 {
		return true
	}
	v := vars[0]
	for col := range v.Cols {
		if k.steps--; k.steps < 0 {
			return false
		}
		if of, ok := k.columns[v]; ok && !slices.Contains(of, col) {
			continue
		}
		if first := k.vars[0]; v != first && v.Cols[col].Type != first.Cols[k.column[first]].Type {
			continue
		}
		k.column[v] = col
		if k.allCarry() && k.choose(vars[1:]) {
			return true
		}
		delete(k.column, v)
	}
	return false
}

// allCarry reports whether all commands carry along the columns that have been
// chosen so far.
func (k *carried) allCarry() bool {
	return !slices.ContainsFunc(k.fills, func(c queryplan.Command) bool {
		n := queryplan.CommandNode(c)
		col, ok := k.column[queryplan.CommandVar(c)]
		if !ok || slices.ContainsFunc(queryplan.Scans(n), func(s *queryplan.Scan) bool {
			_, chosen := k.column[s.Var]
			return k.inLoop(s.Var) && !chosen
		}) {
			return false // decided later
		}
		return !k.carry(n, n.Columns()[col].Name)
	})
}

// carry reports whether every tuple of a tree with some value in a column comes
// from tuples with that value of all variables of the loop that the tree reads,
// and of at least one.
func (k *carried) carry(n queryplan.Node, col string) bool {
	switch n := n.(type) {
	case *queryplan.Scan:
		at, ok := k.column[n.Var]
		return ok && n.Names[at] == col && (n.Version != queryplan.Last || at < n.Var.Keys)
	case *queryplan.Filter:
		return !queryplan.IsVolatile(n.Cond) && k.carry(n.Input, col)
	case *queryplan.Map:
		return !slices.ContainsFunc(n.Exprs, func(e queryplan.NamedExpr) bool {
			return e.Name == col || queryplan.IsVolatile(e.Expr)
		}) && k.carry(n.Input, col)
	case *queryplan.Project:
		at := slices.IndexFunc(n.Cols, func(c queryplan.Rename) bool { return c.To == col })
		return k.carry(n.Input, n.Cols[at].From)
	case *queryplan.Dedup:
		return k.carry(n.Input, col)
	case *queryplan.Aggregate:
		return slices.Contains(n.By, col) && k.carry(n.Input, col)
	case *queryplan.Union:
		return !slices.ContainsFunc(n.Nodes, func(x queryplan.Node) bool {
			return !k.carry(x, col)
		})
	case *queryplan.Join:
		return k.carryJoin(n, col)
	}
	return false
}

func (k *carried) carryJoin(n *queryplan.Join, col string) bool {
	has := func(x queryplan.Node) bool {
		return slices.Contains(queryplan.NamesOf(x.Columns()), col) && k.carry(x, col)
	}
	switch left, right := k.readsLoop(n.Left), k.readsLoop(n.Right); {
	case left && right:
		return slices.Contains(n.On(), col) && has(n.Left) && has(n.Right)
	case left:
		return has(n.Left)
	}
	return n.Kind == queryplan.Inner && has(n.Right)
}

// restrict restricts the tuples that the recursion starts from.
func (k *carried) restrict() {
	x := &restriction{recursion: k.recursion, names: queryplan.VarNames(k.Plan)}
	own := x.takeOwn()
	if len(k.seeds) == 1 && k.seeds[0].constant() {
		s := k.seeds[0]
		value := s.body.constant(s.ids[k.column[s.scan.Var]]).Value
		for i, c := range own {
			if in, ok := c.(*queryplan.Insert); ok {
				own[i] = queryplan.WithNode(c, trees.Filter(in.Node, []queryplan.Expr{
					trees.Equals(in.Node.Columns()[k.column[in.Var]], value)}))
			}
		}
		k.before.Cmds = append(k.before.Cmds, own...)
		return
	}
	first := k.vars[0]
	set := &queryplan.Var{Name: x.names.Fresh(first.Name + "$asked"), Kind: queryplan.Derived,
		Cols: []queryplan.Column{first.Cols[k.column[first]]}, Keys: 1, Limit: -1, Span: first.Span}
	x.order = []*queryplan.Var{set}
	x.seed(func(s *seed) (*queryplan.Var, queryplan.Node) {
		return set, s.values([]int{k.column[s.scan.Var]}, []string{set.Cols[0].Name})
	})
	for i, c := range own {
		in, ok := c.(*queryplan.Insert)
		if !ok {
			continue
		}
		names := trees.Columns(in.Node)
		scan := &queryplan.Scan{Var: set, Names: []string{names[k.column[in.Var]]}}
		own[i] = queryplan.WithNode(c, trees.Project(
			&queryplan.Join{Left: scan, Right: in.Node}, renamesOf(names, names)))
	}
	x.enter(own)
}

// takeOwn removes from the block before the loop the commands that the
// recursion starts from, and moves what the seeds read before them.
func (x *restriction) takeOwn() []queryplan.Command {
	member := func(c queryplan.Command) bool {
		v := queryplan.CommandVar(c)
		return v != nil && x.member(v)
	}
	own := list.Filter(x.before.Cmds, member)
	x.before.Cmds = slices.DeleteFunc(x.before.Cmds, member)
	for _, c := range x.after.Cmds {
		if x.moved[c] {
			x.before.Cmds = append(x.before.Cmds, c)
		}
	}
	x.after.Cmds = slices.DeleteFunc(x.after.Cmds, func(c queryplan.Command) bool {
		return x.moved[c]
	})
	return own
}
