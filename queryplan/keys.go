package queryplan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// Keys returns minimal sets of columns on which no two tuples of n's bag agree,
// as far as they can be proved, shortest first. The empty set means that there
// is at most one tuple, and nil that tuples may repeat. Not every key is
// listed: use IsKey to test a set of columns.
//
// The proof follows functional dependencies through the operators (Darwen,
// 1988; Paulley, 2000): keys of variables, equalities and constants in filters,
// computed columns, joins on keys, groups of aggregates.
func Keys(n Node) [][]string { return infer(n).keys }

// IsKey reports whether no two tuples of n are proved to agree on cols.
func IsKey(n Node, cols []string) bool {
	s := setOf(cols)
	return groupsWithin(n, s) || infer(n).isKey(s)
}

// Determines reports whether it is proved that tuples of n that agree on the
// columns from agree on the columns to.
func Determines(n Node, from, to []string) bool {
	s := setOf(from)
	return groupsWithin(n, s) || infer(n).closure(s).hasAll(to)
}

// IsSet reports whether it is proved that no tuple of n is repeated.
func IsSet(n Node) bool {
	_, ok := grouped(n)
	return ok || len(infer(n).keys) > 0
}

// groupsWithin reports whether a result has at most one tuple for each group of
// some of the columns.
func groupsWithin(n Node, cols *columnSet) bool {
	by, ok := grouped(n)
	return ok && cols.hasAll(by)
}

// grouped returns the columns that are a key because they are grouping columns.
// It does not look at the input of the aggregate, which may be a large tree.
func grouped(n Node) (by []string, ok bool) {
	switch n := n.(type) {
	case *Aggregate:
		return n.By, true
	case *Filter:
		return grouped(n.Input)
	case *Project:
		if by, ok = grouped(n.Input); !ok {
			return nil, false
		}
		names := make([]string, len(by))
		for i, name := range by {
			at := slices.IndexFunc(n.Cols, func(c Rename) bool { return c.From == name })
			if at < 0 {
				return nil, false
			}
			names[i] = n.Cols[at].To
		}
		return names, true
	}
	return nil, false
}

// MatchesOnce reports whether it is proved that a left tuple of the join
// matches at most one right tuple, which is what Unique says.
func (n *Join) MatchesOnce() bool { return IsKey(n.Right, n.On()) }

// KeepsKey reports whether it is proved, without a look at the data, that what
// the plan inserts into v agrees with v.Keys, so that no CheckKey is needed.
func KeepsKey(p *Plan, v *Var) bool {
	if v.Keys == len(v.Cols) {
		return true
	}
	var nodes []Node
	var block *Block
	for b, c := range p.Commands() {
		if ins, ok := c.(*Insert); ok && ins.Var == v {
			// Tuples of two rounds of a loop may disagree, and what two
			// blocks read may differ.
			if block != nil && block != b || cfg.OnCycle(b, (*Block).Successors) {
				return false
			}
			nodes, block = append(nodes, ins.Node), b
		}
	}
	return (len(nodes) < 2 || readsSettled(block, v)) && AgreeOnKey(nodes, v.Keys)
}

// readsSettled reports whether nothing that the inserts into v read is merged
// between the first and the last of them.
func readsSettled(b *Block, v *Var) bool {
	inserts := func(c Command) bool {
		ins, ok := c.(*Insert)
		return ok && ins.Var == v
	}
	first := slices.IndexFunc(b.Cmds, inserts)
	read := map[*Var]bool{}
	last := first
	for i, c := range b.Cmds {
		if inserts(c) {
			last = i
			for _, s := range Scans(c.(*Insert).Node) {
				read[s.Var] = true
			}
		}
	}
	return !slices.ContainsFunc(b.Cmds[first:last], func(c Command) bool {
		_, merges := c.(*Merge)
		_, assigns := c.(*Assign)
		return (merges || assigns) && read[CommandVar(c)]
	})
}

// The limits keep inference linear in practice. Properties beyond them are
// forgotten, which is safe.
const (
	maxKeys   = 8    // of one operator
	maxFDs    = 256  // of one operator
	maxValues = 4096 // rows of a constant that are looked at
)

// dependency holds if tuples that agree on from agree on to.
type dependency struct{ from, to []string }

// properties are the proved properties of the result of an operator. Keys are
// keys of the bag. Dependencies hold between columns, and tuples may still
// repeat.
type properties struct {
	cols []string
	keys [][]string
	fds  []dependency
}

// columnSet is a set of columns: a list, with an index beside it when it is
// long.
type columnSet struct {
	list  []string
	index map[string]bool
	room  [8]string // of list, at first
}

// maxListed is how many columns a set has without an index.
const maxListed = 24

func setOf(cols []string) *columnSet {
	s := &columnSet{}
	for _, c := range cols {
		s.add(c)
	}
	return s
}

// without returns a set of all columns of a list but one.
func without(cols []string, at int) *columnSet {
	s := setOf(cols[:at])
	for _, c := range cols[at+1:] {
		s.add(c)
	}
	return s
}

func (s *columnSet) has(col string) bool {
	if s.index != nil {
		return s.index[col]
	}
	return slices.Contains(s.list, col)
}

// add reports whether the column was not there.
func (s *columnSet) add(col string) bool {
	if s.has(col) {
		return false
	}
	if s.list == nil {
		s.list = s.room[:0]
	}
	s.list = append(s.list, col)
	switch {
	case s.index != nil:
		s.index[col] = true
	case len(s.list) > maxListed:
		s.index = make(map[string]bool, 2*len(s.list))
		for _, c := range s.list {
			s.index[c] = true
		}
	}
	return true
}

func (s *columnSet) hasAll(cols []string) bool {
	for _, c := range cols {
		if !s.has(c) {
			return false
		}
	}
	return true
}

// closure extends s by all columns that it determines.
func (p *properties) closure(s *columnSet) *columnSet {
	for changed := true; changed; {
		changed = false
		for _, d := range p.fds {
			if !s.hasAll(d.from) {
				continue
			}
			for _, c := range d.to {
				if s.add(c) {
					changed = true
				}
			}
		}
	}
	return s
}

func (p *properties) isKey(s *columnSet) bool {
	if len(p.keys) == 0 {
		return false
	}
	s = p.closure(s)
	return slices.ContainsFunc(p.keys, s.hasAll)
}

// depend records that from determines to, both among the operator's columns.
func (p *properties) depend(from []string, to ...string) {
	if len(p.fds) == maxFDs {
		return
	}
	others := make([]string, 0, len(to))
	for _, c := range to {
		if !slices.Contains(from, c) {
			others = append(others, c)
		}
	}
	if len(others) > 0 {
		p.fds = append(p.fds, dependency{from, others})
	}
}

// addKey records a key of the bag and what it determines.
func (p *properties) addKey(key []string) {
	p.depend(key, p.cols...)
	p.keys = append(p.keys, key)
}

// minimise drops columns from keys that the others determine, and then keys
// that contain another.
func (p *properties) minimise() {
	if len(p.keys) == 0 {
		return
	}
	for i, key := range p.keys {
		key = slices.Clone(key)
		for at := len(key) - 1; at >= 0; at-- {
			if p.closure(without(key, at)).has(key[at]) {
				key = slices.Delete(key, at, at+1)
			}
		}
		slices.Sort(key)
		p.keys[i] = key
	}
	slices.SortFunc(p.keys, func(a, b []string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), slices.Compare(a, b))
	})
	var kept [][]string
	for _, key := range p.keys {
		s := setOf(key)
		if len(kept) < maxKeys && !slices.ContainsFunc(kept, s.hasAll) {
			kept = append(kept, key)
		}
	}
	p.keys = kept
}

func infer(n Node) *properties {
	p := &properties{}
	switch n := n.(type) {
	case *Scan:
		for _, name := range n.Names {
			if name != "" {
				p.cols = append(p.cols, name)
			}
		}
		if n.Position != "" {
			p.cols = append(p.cols, n.Position)
		}
		p.scan(n)
	case *Values:
		p.cols = NamesOf(n.Cols)
		p.values(n)
	case *Filter:
		p = infer(n.Input)
		for _, c := range Conjuncts(n.Cond) {
			p.filter(c)
		}
	case *Map:
		p = infer(n.Input)
		for _, e := range n.Exprs {
			p.cols = append(p.cols, e.Name)
		}
		for _, e := range n.Exprs {
			p.compute(e)
		}
	case *Project:
		for _, c := range n.Cols {
			p.cols = append(p.cols, c.To)
		}
		p.project(infer(n.Input), n.Cols)
	case *Dedup:
		return inferDedup(n)
	case *Join:
		p = inferJoin(n)
	case *Aggregate:
		p.cols = append(p.cols, n.By...)
		for _, a := range n.Aggs {
			p.cols = append(p.cols, a.Out.Name)
		}
		p.fds = restrict(infer(n.Input).fds, n.By)
		p.addKey(n.By)
	case *Union:
		p.cols = NamesOf(n.Columns())
		if len(n.Nodes) == 1 {
			p = infer(n.Nodes[0])
		}
	case *MultiJoin:
		p.cols = NamesOf(n.Columns())
		p.multiJoin(n)
	case *Seq:
		p = infer(n.Input)
		p.cols = append(p.cols, n.Index)
		p.addKey(append(slices.Clone(n.Group), n.Index))
	case *TopK:
		p = infer(n.Input)
		if n.Limit <= 1 {
			p.addKey(n.Group)
		}
	}
	p.minimise()
	return p
}

// inferDedup proves the properties of a set once. The caller may change the
// copy.
func inferDedup(n *Dedup) *properties {
	p := n.proved.Load()
	if p == nil {
		p = infer(n.Input)
		p.keys = append(p.keys, p.cols)
		p.minimise()
		n.proved.Store(p)
	}
	return &properties{cols: slices.Clone(p.cols), keys: slices.Clone(p.keys),
		fds: slices.Clone(p.fds)}
}

func (p *properties) scan(n *Scan) {
	v := n.Var
	if !slices.Contains(n.Names[:v.Keys], "") &&
		(v.Kind == Input || v.Kind == Table || v.Unique || v.Checked || n.Version == Last) {
		p.addKey(slices.Clone(n.Names[:v.Keys]))
	}
	if v.Kind == Derived && !slices.Contains(n.Names, "") {
		p.addKey(slices.Clone(n.Names))
	}
	if n.Position != "" {
		p.addKey([]string{n.Position})
	}
}

func (p *properties) values(n *Values) {
	if len(n.Rows) <= 1 {
		p.addKey(nil)
		return
	}
	if len(n.Rows) > maxValues {
		return
	}
	for i, c := range p.cols {
		if isDistinct(n.Rows, []int{i}) {
			p.addKey([]string{c})
		}
		if !slices.ContainsFunc(n.Rows, func(r []scalar.Value) bool {
			return r[i] != n.Rows[0][i]
		}) {
			p.depend(nil, c)
		}
	}
	for i := 1; i < len(p.cols) && len(p.keys) == 0; i++ {
		prefix := make([]int, i+1)
		for j := range prefix {
			prefix[j] = j
		}
		if isDistinct(n.Rows, prefix) {
			p.addKey(slices.Clone(p.cols[:i+1]))
		}
	}
}

// isDistinct reports whether no two rows agree on the given columns.
func isDistinct(rows [][]scalar.Value, cols []int) bool {
	seen := make(map[string]bool, len(rows))
	var b strings.Builder
	for _, r := range rows {
		b.Reset()
		for _, c := range cols {
			b.WriteString(scalar.Literal(r[c]))
			b.WriteByte(' ')
		}
		if seen[b.String()] {
			return false
		}
		seen[b.String()] = true
	}
	return true
}

// filter records the consequences of a condition that holds of every tuple.
func (p *properties) filter(cond Expr) {
	eq, ok := cond.(*Call)
	if !ok || eq.Func.Name != "eq" {
		return
	}
	x, isX := eq.Args[0].(*ColRef)
	y, isY := eq.Args[1].(*ColRef)
	switch {
	case isX && isY:
		p.depend([]string{x.Col.Name}, y.Col.Name)
		p.depend([]string{y.Col.Name}, x.Col.Name)
	case isX:
		p.determined(x.Col.Name, eq.Args[1])
	case isY:
		p.determined(y.Col.Name, eq.Args[0])
	}
}

// determined records that a column equals the value of an expression.
func (p *properties) determined(col string, e Expr) {
	if IsVolatile(e) {
		return
	}
	from := ExprColumns(e)
	p.depend(from, col)
	if len(from) == 1 && isInjective(e) {
		p.depend([]string{col}, from[0])
	}
}

func (p *properties) compute(e NamedExpr) { p.determined(e.Name, e.Expr) }

// isInjective reports whether an expression over one column gives different
// values for different ones.
func isInjective(e Expr) bool {
	c, ok := e.(*Call)
	if !ok {
		_, isCol := e.(*ColRef)
		return isCol
	}
	exact := c.Result.Kind == scalar.Int || c.Result.Kind == scalar.Uint ||
		c.Result.Kind == scalar.Decimal
	switch c.Func.Name {
	case "neg":
		return isInjective(c.Args[0])
	case "add", "sub":
		// Integers wrap, which keeps them apart; floats round.
		_, left := c.Args[0].(*Const)
		_, right := c.Args[1].(*Const)
		return exact && (left && isInjective(c.Args[1]) || right && isInjective(c.Args[0]))
	case "convert":
		return exact && scalar.CanWiden(c.Args[0].Type(), c.Result) && isInjective(c.Args[0])
	}
	return false
}

func (p *properties) project(in *properties, cols []Rename) {
	to := map[string]string{} // input column to its first name here
	var kept []string
	for _, c := range cols {
		if _, again := to[c.From]; !again {
			to[c.From] = c.To
			kept = append(kept, c.From)
		}
	}
	rename := func(names []string) []string {
		return list.Map(names, func(n string) string { return to[n] })
	}
	keptSet := setOf(kept)
	for _, key := range in.keys {
		if keptSet.hasAll(key) {
			p.keys = append(p.keys, rename(key))
		}
	}
	if len(p.keys) == 0 && in.isKey(setOf(kept)) {
		p.keys = append(p.keys, rename(kept))
	}
	for _, d := range restrict(in.fds, kept) {
		p.depend(rename(d.from), rename(d.to)...)
	}
	for _, c := range cols {
		if first := to[c.From]; first != c.To {
			p.depend([]string{first}, c.To)
			p.depend([]string{c.To}, first)
		}
	}
}

// restrict returns the dependencies among the kept columns, also those through
// dropped ones: a dropped column that determines others is replaced by the
// columns that determine it.
func restrict(fds []dependency, kept []string) []dependency {
	keep := setOf(kept)
	var dropped columnSet
	for _, d := range fds {
		for _, list := range [][]string{d.from, d.to} {
			for _, c := range list {
				if !keep.has(c) {
					dropped.add(c)
				}
			}
		}
	}
	for _, z := range dropped.list {
		var next, uses []dependency
		var by [][]string // what determines z
		for _, d := range fds {
			if slices.Contains(d.from, z) {
				uses = append(uses, d)
				continue
			}
			if at := slices.Index(d.to, z); at >= 0 {
				by = append(by, d.from)
				d.to = slices.Delete(slices.Clone(d.to), at, at+1)
			}
			if len(d.to) > 0 {
				next = append(next, d)
			}
		}
		for _, u := range uses {
			for _, from := range by {
				if len(next) < maxFDs {
					next = append(next, replaceColumn(u, z, from))
				}
			}
		}
		fds = next
	}
	return slices.DeleteFunc(slices.Clone(fds), func(d dependency) bool { return len(d.to) == 0 })
}

// replaceColumn returns d with z in its left side replaced by the columns from.
func replaceColumn(d dependency, z string, from []string) dependency {
	var left []string
	for _, c := range slices.Concat(d.from, from) {
		if c != z && !slices.Contains(left, c) {
			left = append(left, c)
		}
	}
	to := slices.DeleteFunc(slices.Clone(d.to), func(c string) bool {
		return slices.Contains(left, c)
	})
	return dependency{left, to}
}

func inferJoin(n *Join) *properties {
	left, right := infer(n.Left), infer(n.Right)
	if n.Kind == Inner {
		return joined(left, right)
	}
	if n.Kind == Semi {
		// Dependencies between the columns of a match hold here, too.
		on := slices.DeleteFunc(slices.Clone(left.cols), func(c string) bool {
			return !slices.Contains(right.cols, c)
		})
		for _, d := range restrict(right.fds, on) {
			left.depend(d.from, d.to...)
		}
	}
	return left
}

// joined returns the properties of an inner join: the dependencies of both
// sides, and a key of each together as a key.
func joined(left, right *properties) *properties {
	p := &properties{cols: slices.Clip(left.cols), fds: slices.Concat(left.fds, right.fds)}
	for _, c := range right.cols {
		if !slices.Contains(left.cols, c) {
			p.cols = append(p.cols, c)
		}
	}
	if len(p.fds) > maxFDs {
		p.fds = p.fds[:maxFDs]
	}
	for _, l := range left.keys {
		for _, r := range right.keys {
			key := slices.Clone(l)
			for _, c := range r {
				if !slices.Contains(key, c) {
					key = append(key, c)
				}
			}
			p.keys = append(p.keys, key)
		}
	}
	return p
}
