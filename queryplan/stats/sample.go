package stats

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Sample is rows drawn from a table, each as likely as any other. Through
// foreign keys it is a sample of joins too: the row of another table that a row
// refers to is found by the other's key (index-based join sampling: Leis,
// Radke, Gubichev, Kemper, Neumann, CIDR 2017). It is safe for concurrent use.
type Sample struct {
	Rows []int // their numbers
	Data Data  // of the table

	mu    sync.Mutex
	links []*link
	held  map[string]*evaluated // by the text of expressions
}

// Data gives estimates access to the contents of a table.
type Data interface {
	// Expect announces that Value will be called for rows of a column. They may
	// be cheaper to read together.
	Expect(column int, rows []int)
	// Value returns an entry of a column.
	Value(column, row int) scalar.Value
	// Find returns for each of the values which rows of a column whose entries
	// ascend have it.
	Find(column int, values []scalar.Value) []RowRange
}

// RowRange is the rows from From on and up to Until without that.
type RowRange struct{ From, Until int }

// link leads from the sample's rows to those of a table. The first link leads
// to the rows themselves.
type link struct {
	table *Table
	from  string // the column, as columnName names it, that refers to
	key   int    // a column of the table
	rows  []int  // by row of the sample
	found rowSet // where there is one
}

// expect announces that the values of a column of the table are looked at, for
// some rows of the sample.
func (l *link) expect(column int, some rowSet) {
	var rows []int
	for i, r := range l.rows {
		if some.has(i) {
			rows = append(rows, r)
		}
	}
	l.table.Sample.Data.Expect(column, rows)
}

// columnName names a column of the table that a link leads to.
func columnName(link, column int) string { return strconv.Itoa(link) + "." + strconv.Itoa(column) }

func parseColumn(name string) (link, column int) {
	l, c, _ := strings.Cut(name, ".")
	link, _ = strconv.Atoi(l)
	column, _ = strconv.Atoi(c)
	return link, column
}

// maxHeld bounds the expressions whose values over a sample are kept.
const maxHeld = 1 << 10

// fewRows is the number of a sample's rows below which shares are not taken
// from it alone.
const fewRows = 4

// fewValues is the number of a sample's rows below which the values in them do
// not tell how many there are.
const fewValues = 64

// evaluated is an expression over the rows of a sample.
type evaluated struct {
	has rowSet // where it has a value; of a condition, where it is true
	// ids are equal where values are, counting from 0, and each is the value of
	// an id; both nil of a condition.
	ids  []int32
	each []scalar.Value
	// quantities are what the values stand for, of numbers and of points in
	// time.
	quantities []float64
	number     map[scalar.Value]int32 // of each value, its id

	mu      sync.Mutex
	others  map[*evaluated][]int32   // what numbersOf has found
	repeats map[storedColumn][]int64 // what repeatsIn has counted
}

// rowSet is a set of a sample's rows.
type rowSet []uint64

func newRowSet(n int) rowSet { return make(rowSet, (n+63)/64) }

func (s rowSet) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s rowSet) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s rowSet) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

func (s rowSet) and(o rowSet) rowSet {
	out := slices.Clone(s)
	for i, w := range o {
		out[i] &= w
	}
	return out
}

// begin makes the link to the sample's own rows, those of t.
func (s *Sample) begin(t *Table) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.links != nil {
		return
	}
	own := &link{table: t, rows: s.Rows, found: newRowSet(len(s.Rows))}
	for i := range s.Rows {
		own.found.add(i)
	}
	s.links = []*link{own}
}

// link returns the link of that number.
func (s *Sample) link(at int) *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.links[at]
}

// follow returns the number of the link from a column to the rows of a table
// that have its value as key.
func (s *Sample) follow(from string, t *Table, key int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, l := range s.links {
		if l.table == t && l.from == from && l.key == key {
			return i
		}
	}
	place, col := parseColumn(from)
	source := s.links[place]
	l := &link{table: t, from: from, key: key, rows: make([]int, len(s.Rows)),
		found: newRowSet(len(s.Rows))}
	source.expect(col, source.found)
	var at []int
	var values []scalar.Value
	for i, r := range source.rows {
		if source.found.has(i) {
			at = append(at, i)
			values = append(values, source.table.Sample.Data.Value(col, r))
		}
	}
	for k, found := range t.Sample.Data.Find(key, values) {
		if found.From < found.Until {
			l.rows[at[k]] = found.From
			l.found.add(at[k])
		}
	}
	s.links = append(s.links, l)
	return len(s.links) - 1
}

// evaluate returns an expression over the sample's rows, computed on the first
// call.
func (s *Sample) evaluate(e queryplan.Expr) *evaluated {
	key := queryplan.ExprString(e)
	s.mu.Lock()
	defer s.mu.Unlock()
	if out, ok := s.held[key]; ok {
		return out
	}
	condition := e.Type().Kind == scalar.Boolean
	out := &evaluated{has: newRowSet(len(s.Rows))}
	if !condition {
		out.ids = make([]int32, len(s.Rows))
	}
	if e.Type().IsNumeric() || e.Type().Kind == scalar.Datetime {
		out.quantities = make([]float64, len(s.Rows))
	}
	type place struct {
		link   *link
		column int
	}
	places := map[string]place{}
	rows := s.links[0].found
	for _, name := range queryplan.ExprColumns(e) {
		at, column := parseColumn(name)
		places[name] = place{s.links[at], column}
		rows = rows.and(s.links[at].found)
	}
	for _, p := range places {
		p.link.expect(p.column, rows)
	}
	i := 0
	value := prepared(e, func(name string) func() scalar.Value {
		p := places[name]
		data := p.link.table.Sample.Data
		return func() scalar.Value { return data.Value(p.column, p.link.rows[i]) }
	})
	if !condition {
		out.number = map[scalar.Value]int32{}
	}
	for ; i < len(s.Rows); i++ {
		if !rows.has(i) {
			continue
		}
		v, ok := value()
		if !ok || condition && !v.Bool() {
			continue
		}
		out.has.add(i)
		if condition {
			continue
		}
		id, again := out.number[v]
		if !again {
			id = int32(len(out.each))
			out.number[v] = id
			out.each = append(out.each, v)
		}
		out.ids[i] = id
		if out.quantities != nil {
			out.quantities[i], _ = quantity(v)
		}
	}
	if s.held == nil || len(s.held) >= maxHeld {
		s.held = map[string]*evaluated{}
	}
	s.held[key] = out
	return out
}

// view is the part of a table's sample that is left in a result. Each of its
// rows represents equally many of the result's.
type view struct {
	table *Table
	// exprs has columns of the result as expressions over columns of links.
	exprs map[string]queryplan.Expr
	// links and conds are what the rows were reduced by: that there is a row at
	// the end of the link, and that the condition holds.
	links []int
	conds []queryplan.Expr
	rows  rowSet
	n     int // of rows
}

// viewOf returns the whole sample of a table as columns of a scan, nil without
// one.
func viewOf(t *Table, at []int, scan *queryplan.Scan) *view {
	if t.Sample == nil || len(t.Sample.Rows) == 0 {
		return nil
	}
	s := t.Sample
	s.begin(t)
	v := &view{table: t, exprs: map[string]queryplan.Expr{}, rows: s.link(0).found, n: len(s.Rows)}
	for i, name := range scan.Names {
		if name == "" {
			continue
		}
		if typ := scan.Var.Cols[i].Type; s.Data.Value(at[i], s.Rows[0]).Type == typ {
			v.exprs[name] = &queryplan.ColRef{Col: queryplan.Column{Name: columnName(0, at[i]),
				Type: typ}}
		}
	}
	return v
}

// whole reports whether the view's sample is the whole table.
func (v *view) whole() bool { return int64(len(v.table.Sample.Rows)) == v.table.Rows }

// expr returns an expression over columns of the result as one over the links',
// nil if it uses others or its values may differ from one evaluation to the
// next.
func (v *view) expr(e queryplan.Expr) queryplan.Expr {
	covered, volatile := 0, false
	queryplan.WalkExpr(e, func(e queryplan.Expr) {
		switch e := e.(type) {
		case *queryplan.ColRef:
			if covered++; v.exprs[e.Col.Name] == nil {
				covered = math.MinInt
			}
		case *queryplan.Call:
			volatile = volatile || e.Func.Volatile
		}
	})
	if covered <= 0 || volatile {
		return nil
	}
	return queryplan.Substitute(e, v.exprs)
}

// filter returns the rows that pass a condition, as expr returns it.
func (v *view) filter(cond queryplan.Expr) *view {
	out := *v
	out.conds = append(v.conds[:len(v.conds):len(v.conds)], cond)
	out.rows = v.rows.and(v.table.Sample.evaluate(cond).has)
	out.n = out.rows.count()
	return &out
}

// share returns the share of rows that remain, given the share that is expected
// without the sample. Few rows in the sample only bound the expected share.
func share(before, after *view, expected float64) float64 {
	n, k := float64(before.n), float64(after.n)
	switch {
	case before.n > 0 && (after.n >= fewRows || before.whole()):
		return max(k, 0.1) / n
	case before.n < fewRows:
		return expected
	}
	return min(max(expected, k/2/n), (k+fewRows-1)/n)
}

// joinViews joins the rows of two results on columns if one has the key of a
// table that the other refers to. It returns the views of the join and its
// share of the rows of the side that refers: many says that this is the left
// one, else it is the right one. Formula is the share that is expected without
// a look at the rows, for either side.
func joinViews(
	l, r *Estimate, on []string, formula func(many bool) float64,
) (views []*view, part float64, many, ok bool) {
	for _, left := range []bool{true, false} {
		from, to := l, r
		if !left {
			from, to = r, l
		}
		for i, f := range from.views {
			for k, t := range to.views {
				joined := f.refer(t, on)
				if joined == nil {
					continue
				}
				// rest is the effect of everything else on the side that is
				// referred to.
				all := float64(t.table.Rows) * float64(t.n) / float64(len(t.table.Sample.Rows))
				rest := to.Rows / max(all, 1e-3)
				if t.n < fewRows && len(t.table.Sample.Rows) < int(t.table.Rows) {
					rest = 1 // all is a guess
				}
				views = slices.Concat(from.views[:i:i], []*view{joined}, from.views[i+1:],
					to.views[:k],
					to.views[k+1:])
				return views, share(f, joined, formula(left)/max(rest, 1e-9)) * rest, left, true
			}
		}
	}
	return nil, 0, false, false
}

// refer returns the view in which each row is followed to the row of t to which
// one of the columns refers, with the others equal; nil if none of the columns
// is a key of t's table.
func (v *view) refer(t *view, on []string) *view {
	key := ""
	for _, name := range on {
		own, other := v.exprs[name], t.exprs[name]
		if own == nil || other == nil {
			return nil
		}
		_, isRef := own.(*queryplan.ColRef)
		if to, isKey := other.(*queryplan.ColRef); isRef && isKey && key == "" {
			if at, col := parseColumn(to.Col.Name); at == 0 && t.table.identifies(col) {
				key = name
			}
		}
	}
	if key == "" {
		return nil
	}
	s := v.table.Sample
	_, col := parseColumn(t.exprs[key].(*queryplan.ColRef).Col.Name)
	// Links of t as links of v: they go on from the row that is referred to.
	to := map[int]int{0: s.follow(v.exprs[key].(*queryplan.ColRef).Col.Name, t.table, col)}
	var moved func(name string) string
	follow := func(at int) int {
		if _, ok := to[at]; !ok {
			l := t.table.Sample.link(at)
			to[at] = s.follow(moved(l.from), l.table, l.key)
		}
		return to[at]
	}
	moved = func(name string) string {
		at, col := parseColumn(name)
		return columnName(follow(at), col)
	}
	move := func(e queryplan.Expr) queryplan.Expr {
		return queryplan.RewriteExpr(e, func(e queryplan.Expr) queryplan.Expr {
			if ref, ok := e.(*queryplan.ColRef); ok {
				return &queryplan.ColRef{Col: queryplan.Column{Name: moved(ref.Col.Name),
					Type: ref.Col.Type}}
			}
			return e
		})
	}
	out := &view{table: v.table, exprs: maps.Clone(v.exprs), links: slices.Clone(v.links),
		conds: slices.Clone(v.conds), rows: v.rows}
	for _, at := range append([]int{0}, t.links...) {
		out.links = append(out.links, follow(at))
		out.rows = out.rows.and(s.link(follow(at)).found)
	}
	restrict := func(cond queryplan.Expr) {
		out.conds = append(out.conds, cond)
		out.rows = out.rows.and(s.evaluate(cond).has)
	}
	for _, cond := range t.conds {
		restrict(move(cond))
	}
	for name, e := range t.exprs {
		if out.exprs[name] == nil {
			out.exprs[name] = move(e)
		}
	}
	for _, name := range on {
		if name != key {
			restrict(equal(v.exprs[name], move(t.exprs[name])))
		}
	}
	out.n = out.rows.count()
	return out
}

func equal(x, y queryplan.Expr) queryplan.Expr {
	return &queryplan.Call{Func: scalar.Lookup("eq"), Args: []queryplan.Expr{x, y},
		Result: scalar.BooleanType}
}

// sampledExpr describes the values of an expression over a result, of which at
// most most are distinct. ok is false if no view has its columns.
func (e *Estimate) sampledExpr(x queryplan.Expr, most float64) (c ColumnEstimate, ok bool) {
	for _, v := range e.views {
		over := v.expr(x)
		if over == nil || over.Type().Kind == scalar.Boolean {
			continue
		}
		of := v.table.Sample.evaluate(over)
		rows, n := v.rows, v.n
		if n < fewValues {
			// Too few are left to tell: the values are at most those of the
			// whole table.
			rows, n = of.has, of.has.count()
		}
		times := make([]int, len(of.each))
		for i, id := range of.ids {
			if rows.has(i) && of.has.has(i) {
				times[id]++
			}
		}
		seen, once := 0, 0
		for id, k := range times {
			if k == 0 {
				continue
			}
			if seen++; k == 1 {
				once++
			}
			if x, isNumber := number(of.each[id]); isNumber {
				if !c.HasRange {
					c.Min, c.Max, c.HasRange = x, x, true
				}
				c.Min, c.Max = min(c.Min, x), max(c.Max, x)
			}
		}
		if seen == 0 {
			continue
		}
		// Values seen once stand for those that were not seen, too (the
		// guaranteed-error estimator: Charikar, Chaudhuri, Motwani, Narasayya,
		// PODS 2000), and the ends of the range are not seen then.
		scale := math.Sqrt(max(1, e.Rows/float64(n)))
		c.Distinct = min(max(1, most), float64(seen-once)+scale*float64(once))
		c.HasRange = c.HasRange && once == 0
		return c, true
	}
	return c, false
}

// mappedViews returns the views with computed columns added where all columns
// that one is computed from are in one view.
func mappedViews(views []*view, exprs []queryplan.NamedExpr) []*view {
	out := make([]*view, len(views))
	for i, v := range views {
		with := *v
		with.exprs = maps.Clone(v.exprs)
		for _, x := range exprs {
			delete(with.exprs, x.Name)
			if over := v.expr(x.Expr); over != nil {
				with.exprs[x.Name] = over
			}
		}
		out[i] = &with
	}
	return out
}

// projectedViews returns the views with columns chosen and renamed.
func projectedViews(views []*view, cols []queryplan.Rename) []*view {
	out := make([]*view, len(views))
	for i, v := range views {
		with := *v
		with.exprs = map[string]queryplan.Expr{}
		for _, c := range cols {
			if e := v.exprs[c.From]; e != nil {
				with.exprs[c.To] = e
			}
		}
		out[i] = &with
	}
	return out
}

// viewsOf returns the views with the columns of a result only.
func viewsOf(views []*view, e *Estimate) []*view {
	out := make([]*view, len(views))
	for i, v := range views {
		with := *v
		with.exprs = maps.Clone(v.exprs)
		maps.DeleteFunc(with.exprs, func(name string, _ queryplan.Expr) bool {
			_, ok := e.Cols[name]
			return !ok
		})
		out[i] = &with
	}
	return out
}

// prepared makes a function of an expression that computes it as queryplan.Eval
// does, many times; column returns what reads a column.
func prepared(
	e queryplan.Expr, column func(name string) func() scalar.Value,
) func() (scalar.Value, bool) {
	switch e := e.(type) {
	case *queryplan.ColRef:
		read := column(e.Col.Name)
		return func() (scalar.Value, bool) { return read(), true }
	case *queryplan.Call:
		if like := preparedLike(e); like != nil {
			text := prepared(e.Args[0], column)
			return func() (scalar.Value, bool) {
				v, ok := text()
				return scalar.OfBool(ok && like(v.Str())), ok
			}
		}
		inputs := make([]func() (scalar.Value, bool), len(e.Args))
		for i, a := range e.Args {
			inputs[i] = prepared(a, column)
		}
		args := make([]scalar.Value, len(e.Args))
		return func() (scalar.Value, bool) {
			for i, input := range inputs {
				v, ok := input()
				if !ok {
					return scalar.OfBool(false), e.Func.Name == "holds"
				}
				args[i] = v
			}
			return e.Func.Eval(e.Result, args)
		}
	}
	return func() (scalar.Value, bool) {
		return queryplan.Eval(e, func(string) scalar.Value { return scalar.Value{} })
	}
}

// preparedLike compiles the pattern of a match with a constant one; nil if e is
// none.
func preparedLike(e *queryplan.Call) func(text string) bool {
	if e.Func.Name != "string:like" && e.Func.Name != "string:notlike" {
		return nil
	}
	c, ok := e.Args[1].(*queryplan.Const)
	if !ok {
		return nil
	}
	like, err := scalar.CompileLike(c.Value.Str())
	if err != nil {
		return nil
	}
	want := e.Func.Name == "string:like"
	return func(text string) bool { return like.Match(text) == want }
}
