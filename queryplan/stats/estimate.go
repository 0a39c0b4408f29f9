package stats

import (
	"maps"
	"math"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Defaults for what a catalogue does not say.
const (
	// DefaultRows is the size of a relation of which nothing is known.
	DefaultRows = 10000
	// deltaShare is the share of a recursive relation that is new in one round.
	deltaShare = 0.01
	// growth is the factor by which a recursive relation exceeds what it starts
	// from.
	growth = 10
	// mostRows bounds estimates, so that products of two do not overflow.
	mostRows = 1e120
	// Selectivities of conditions on columns without a known range (Selinger et
	// al., SIGMOD 1979).
	equalShare = 0.1
	rangeShare = 1.0 / 3
	otherShare = 1.0 / 3
)

// Estimate is the expected result of an operator.
type Estimate struct {
	Rows float64
	Cols map[string]ColumnEstimate
	// views are rows of samples that represent the result: one view for each
	// stored table whose columns it has.
	views []*view
}

// ColumnEstimate is what is expected of one column.
type ColumnEstimate struct {
	// Distinct is the number of different values, at least 1 and at most Rows.
	Distinct float64
	// Min and Max are the ends of the range, if it is known, as numbers: the
	// unscaled number of a decimal, microseconds of a datetime.
	Min, Max float64
	HasRange bool
	// Top are values of a stored column that are more frequent than others.
	Top []Frequent
	// Moments are those of a column that an aggregate computes.
	Moments
	HasMoments bool
	// from has the relations in whose tuples the values occur. Columns with a
	// common one depend on each other.
	from []*origin
}

// Span returns how many values the range of a column of whole numbers has room
// for; not ok if it is not known.
func (c ColumnEstimate) Span() (float64, bool) { return c.Max - c.Min + 1, c.HasRange }

// Only returns the estimate restricted to some columns.
func (e *Estimate) Only(keep func(column string) bool) *Estimate {
	out := &Estimate{Rows: e.Rows, Cols: map[string]ColumnEstimate{}}
	for name, c := range e.Cols {
		if keep(name) {
			out.Cols[name] = c
		}
	}
	out.views = viewsOf(e.views, out)
	return out
}

// Estimator estimates results of operators over one plan. It is not safe for
// concurrent use.
type Estimator struct {
	catalog *Catalog
	vars    map[*queryplan.Var]*Estimate
	nodes   map[queryplan.Node]*Estimate
}

// NewEstimator returns an estimator for the plan's variables. The catalogue may
// be nil; then all stored relations are taken to have DefaultRows.
func NewEstimator(p *queryplan.Plan, cat *Catalog) *Estimator {
	e := &Estimator{catalog: cat, vars: map[*queryplan.Var]*Estimate{},
		nodes: map[queryplan.Node]*Estimate{}}
	for _, v := range p.Vars {
		if v.Kind == queryplan.Input || v.Kind == queryplan.Table {
			e.vars[v] = e.stored(v)
		}
	}
	e.derived(p)
	return e
}

// derived walks the commands in their order and adds the estimate of each to
// its variable. Rules that read a delta are skipped. Instead, the relation from
// which their loop starts grows by a factor, at least to the domains of its
// columns. A variable without other rules is estimated by those that read
// deltas.
func (e *Estimator) derived(p *queryplan.Plan) {
	recursive := map[*queryplan.Var]bool{}
	read := map[*queryplan.Var]bool{}
	rules := map[*queryplan.Var][]queryplan.Node{}
	for _, c := range p.Commands() {
		if v, n := queryplan.CommandVar(c), queryplan.CommandNode(c); n != nil {
			for _, s := range queryplan.Scans(n) {
				read[s.Var] = true
			}
			recursive[v] = recursive[v] || readsDelta(n)
			rules[v] = append(rules[v], n)
		}
	}
	raised := map[*queryplan.Var]bool{}
	started := map[*queryplan.Var]bool{}
	for _, b := range p.Blocks {
		if filled := filledByDeltas(b); filled != nil {
			var vars []*queryplan.Var
			for _, v := range filled {
				if read[v] && !raised[v] {
					raised[v], started[v] = true, e.vars[v] != nil
					vars = append(vars, v)
				}
			}
			e.raise(vars, rules)
		}
		for _, c := range b.Cmds {
			v, n := queryplan.CommandVar(c), queryplan.CommandNode(c)
			switch {
			case n == nil || !read[v] || readsDelta(n) && started[v]:
			case recursive[v] && !readsDelta(n):
				e.add(v, n, growth)
			default:
				e.add(v, n, 1)
			}
		}
	}
	// Estimates made on the way are about variables that have grown since.
	clear(e.nodes)
}

// filledByDeltas returns the variables that a block fills if one of its rules
// reads a delta: the block is a loop, or part of one.
func filledByDeltas(b *queryplan.Block) []*queryplan.Var {
	var out []*queryplan.Var
	seen := map[*queryplan.Var]bool{}
	loop := false
	for _, c := range b.Cmds {
		if v, n := queryplan.CommandVar(c), queryplan.CommandNode(c); n != nil {
			loop = loop || readsDelta(n)
			if !seen[v] {
				seen[v] = true
				out = append(out, v)
			}
		}
	}
	if !loop {
		return nil
	}
	return out
}

func readsDelta(n queryplan.Node) bool {
	if s, ok := n.(*queryplan.Scan); ok {
		return s.Version == queryplan.Delta || s.Version == queryplan.Old
	}
	return slices.ContainsFunc(n.Inputs(), readsDelta)
}

// add unites what a variable has with a bag, times a factor.
func (e *Estimator) add(v *queryplan.Var, n queryplan.Node, factor float64) {
	in := e.Of(n)
	old := e.vars[v]
	if old == nil || v.Kind == queryplan.Temp {
		old = &Estimate{}
	}
	rows := in.Rows * factor
	out := &Estimate{Rows: old.Rows + rows, Cols: map[string]ColumnEstimate{}}
	most := 1.0 // tuples that the columns' values allow
	for i, c := range n.Columns() {
		col := in.column(c.Name)
		if o, ok := old.Cols[v.Cols[i].Name]; ok {
			col = unite(o, col)
		}
		most *= col.Distinct
		out.Cols[v.Cols[i].Name] = col
	}
	if v.Kind != queryplan.Temp {
		out.Rows = min(out.Rows, max(1, most))
	}
	e.vars[v] = out
}

// unite returns the column of two bags put together.
func unite(a, b ColumnEstimate) ColumnEstimate {
	c := ColumnEstimate{Distinct: max(a.Distinct, b.Distinct)}
	if a.HasRange && b.HasRange {
		c.Min, c.Max, c.HasRange = min(a.Min, b.Min), max(a.Max, b.Max), true
		if (a.Max < b.Min || b.Max < a.Min) && a.Distinct+b.Distinct <= c.Max-c.Min+1 {
			c.Distinct = a.Distinct + b.Distinct
		}
	}
	return c
}

// stored looks an Input or Table variable up in the catalogue.
func (e *Estimator) stored(v *queryplan.Var) *Estimate {
	out := &Estimate{Rows: DefaultRows, Cols: map[string]ColumnEstimate{}}
	table, at := e.catalog.Stored(v)
	switch {
	case table != nil:
		out.Rows = float64(table.Rows)
	case e.catalog != nil:
		out.Rows = 0 // what a database does not have is empty
	}
	for i, c := range v.Cols {
		// Without statistics a key's columns take their share of the rows.
		col := ColumnEstimate{Distinct: max(1, math.Pow(out.Rows, 1/float64(max(1, v.Keys))))}
		if v.Keys == len(v.Cols) || i >= v.Keys {
			col.Distinct = max(1, out.Rows*equalShare)
		}
		if table != nil {
			s := table.Columns[at[i]]
			if s.Distinct > 0 {
				col.Distinct = float64(s.Distinct)
			}
			if table.Sample != nil {
				col.Top = frequent(s.Top, col.Distinct, float64(len(table.Sample.Rows)))
			}
			if c.Type.Kind != scalar.String && table.Rows > 0 {
				lo, hi := wordNumber(c.Type, s.Min), wordNumber(c.Type, s.Max)
				// Infinities and NaN tell nothing of the other values.
				if span := hi - lo; !math.IsNaN(span) && !math.IsInf(span, 0) {
					col.Min, col.Max, col.HasRange = lo, hi, true
				}
			}
		}
		out.Cols[c.Name] = col
	}
	return out
}

// wordNumber returns the number for which a stored word of the type stands.
func wordNumber(t scalar.Type, word int64) float64 {
	switch t.Kind {
	case scalar.Float:
		return math.Float64frombits(uint64(word))
	case scalar.Uint:
		return float64(uint64(word))
	}
	return float64(word)
}

// Stored returns the table that holds an Input or Table variable, and the
// table's column for each of the variable's; nil if nothing is known of it.
func (e *Estimator) Stored(v *queryplan.Var) (*Table, []int) { return e.catalog.Stored(v) }

// Assume sets the contents of a variable that the plan does not fill yet to the
// tuples of an operator.
func (e *Estimator) Assume(v *queryplan.Var, n queryplan.Node) { e.add(v, n, 1) }

// Grown returns an estimator in which variables have factor times as many
// tuples, as far as the values of their columns allow.
func (e *Estimator) Grown(vars map[*queryplan.Var]bool, factor float64) *Estimator {
	out := &Estimator{catalog: e.catalog, vars: maps.Clone(e.vars),
		nodes: map[queryplan.Node]*Estimate{}}
	for v := range vars {
		if was := e.vars[v]; was != nil && v.Kind == queryplan.Derived {
			most := 1.0
			for _, c := range v.Cols {
				most *= was.column(c.Name).Distinct
			}
			grown := *was
			grown.Rows = max(was.Rows, min(was.Rows*factor, most))
			out.vars[v] = &grown
		}
	}
	return out
}

// Expected returns the number of tuples that a variable is expected to have.
func (e *Estimator) Expected(v *queryplan.Var) float64 {
	if was := e.vars[v]; was != nil {
		return was.Rows
	}
	return DefaultRows
}

// Counted returns an estimator that knows sizes which a run has counted. Of
// stored relations the catalogue knows more.
func (e *Estimator) Counted(sizes map[*queryplan.Var]queryplan.Size) *Estimator {
	out := &Estimator{catalog: e.catalog, vars: maps.Clone(e.vars),
		nodes: map[queryplan.Node]*Estimate{}}
	for v, size := range sizes {
		if table, _ := e.catalog.Stored(v); table != nil {
			continue
		}
		was := e.vars[v]
		if was == nil {
			was = &Estimate{Rows: DefaultRows}
		}
		now := &Estimate{Rows: float64(size.Rows), Cols: map[string]ColumnEstimate{}}
		for i, c := range v.Cols {
			col := was.column(c.Name)
			if size.Distinct != nil {
				col.Distinct, col.Top = float64(size.Distinct[i]), nil
			}
			col.Distinct = max(1, min(col.Distinct, now.Rows))
			now.Cols[c.Name] = col
		}
		out.vars[v] = now
	}
	return out
}

// Rows estimates the number of tuples that an operator yields.
func (e *Estimator) Rows(n queryplan.Node) float64 { return e.Of(n).Rows }

// Of returns the estimate of the result of an operator. It is shared and must
// not be changed.
func (e *Estimator) Of(n queryplan.Node) *Estimate {
	if est, ok := e.nodes[n]; ok {
		return est
	}
	est := e.operator(n)
	est.Rows = min(max(0, est.Rows), mostRows)
	for name, c := range est.Cols {
		if c.Distinct > est.Rows || c.Distinct < 1 {
			c.Distinct = max(1, min(c.Distinct, est.Rows))
			est.Cols[name] = c
		}
	}
	est.comeFrom(n)
	e.nodes[n] = est
	return est
}

func (e *Estimate) column(name string) ColumnEstimate {
	if c, ok := e.Cols[name]; ok {
		return c
	}
	return ColumnEstimate{Distinct: max(1, e.Rows)}
}

// Distinct estimates the number of different combinations of the columns: the
// product of their distinct counts, at most the number of rows, also of a
// relation that all of them come from.
func (e *Estimate) Distinct(cols []string) float64 {
	d := 1.0
	for _, c := range cols {
		d *= e.column(c).Distinct
	}
	if len(cols) > 1 {
		for _, o := range e.column(cols[0]).from {
			if e.allFrom(cols, o) {
				d = min(d, o.rows)
			}
		}
	}
	return max(1, min(d, e.Rows))
}

// copyCols returns the columns with distinct counts for a share of the rows.
func (e *Estimate) copyCols(share float64) map[string]ColumnEstimate {
	out := make(map[string]ColumnEstimate, len(e.Cols))
	for name, c := range e.Cols {
		c.Distinct = sampled(c.Distinct, e.Rows, share)
		out[name] = c
	}
	return out
}

// sampled returns how many of d different values remain in a share of the rows
// if all values are equally frequent (Cardenas, CACM 1975).
func sampled(d, rows, share float64) float64 {
	if share >= 1 || d <= 0 || rows <= 0 {
		return d
	}
	return d * (1 - math.Pow(1-share, rows/d))
}

func (e *Estimator) operator(n queryplan.Node) *Estimate {
	switch n := n.(type) {
	case *queryplan.Scan:
		return e.scan(n)
	case *queryplan.Values:
		return valuesEstimate(n)
	case *queryplan.Filter:
		return filtered(e.Of(n.Input), queryplan.Conjuncts(n.Cond))
	case *queryplan.Map:
		in := e.Of(n.Input)
		out := &Estimate{Rows: in.Rows, Cols: in.copyCols(1), views: mappedViews(in.views, n.Exprs)}
		for _, x := range n.Exprs {
			out.Cols[x.Name] = exprEstimate(in, x.Expr)
		}
		return out
	case *queryplan.Project:
		in := e.Of(n.Input)
		out := &Estimate{Rows: in.Rows, Cols: map[string]ColumnEstimate{},
			views: projectedViews(in.views, n.Cols)}
		for _, c := range n.Cols {
			out.Cols[c.To] = in.column(c.From)
		}
		return out
	case *queryplan.Dedup:
		in := e.Of(n.Input)
		out := &Estimate{Rows: in.Distinct(queryplan.NamesOf(n.Columns())), Cols: in.copyCols(1)}
		out.even()
		return out
	case *queryplan.Join:
		return JoinEstimate(n.Kind, e.Of(n.Left), e.Of(n.Right), n.On(), n.Unique)
	case *queryplan.Aggregate:
		in := e.Of(n.Input)
		out := &Estimate{Rows: min(in.Rows, in.Distinct(n.By)), Cols: map[string]ColumnEstimate{}}
		for _, name := range n.By {
			out.Cols[name] = in.column(name)
		}
		for _, a := range n.Aggs {
			col, _ := queryplan.ColumnOf(n.Input, a.In)
			out.Cols[a.Out.Name] = in.aggregated(a, col, in.Rows/max(1, out.Rows))
		}
		out.even()
		return out
	case *queryplan.Union:
		out := &Estimate{Cols: map[string]ColumnEstimate{}}
		for i, x := range n.Nodes {
			in := e.Of(x)
			out.Rows += in.Rows
			for name, c := range in.Cols {
				if o, ok := out.Cols[name]; ok && i > 0 {
					c = unite(o, c)
				}
				out.Cols[name] = c
			}
		}
		return out
	case *queryplan.MultiJoin:
		return e.multiJoin(n)
	case *queryplan.Seq:
		in := e.Of(n.Input)
		out := &Estimate{Rows: in.Rows, Cols: in.copyCols(1)}
		longest := max(1, in.Rows/in.Distinct(n.Group))
		out.Cols[n.Index] = ColumnEstimate{Distinct: longest, Max: longest - 1, HasRange: true}
		return out
	case *queryplan.TopK:
		in := e.Of(n.Input)
		rows := min(in.Rows, float64(n.Limit)*in.Distinct(n.Group))
		return &Estimate{Rows: rows, Cols: in.copyCols(rows / max(1, in.Rows))}
	}
	return &Estimate{Rows: DefaultRows}
}

// even drops the frequent values: tuples with the same value have become one.
func (e *Estimate) even() {
	for name, c := range e.Cols {
		c.Top = nil
		e.Cols[name] = c
	}
}

func (e *Estimator) scan(n *queryplan.Scan) *Estimate {
	v := e.vars[n.Var]
	if v == nil {
		v = &Estimate{Rows: DefaultRows}
	}
	share := 1.0
	switch n.Version {
	case queryplan.Delta:
		share = deltaShare
	case queryplan.Old:
		share = 1 - deltaShare
	}
	out := &Estimate{Rows: v.Rows * share, Cols: map[string]ColumnEstimate{}}
	for i, name := range n.Names {
		if name != "" {
			c := v.column(n.Var.Cols[i].Name)
			c.Distinct = sampled(c.Distinct, v.Rows, share)
			out.Cols[name] = c
		}
	}
	if n.Position != "" {
		out.Cols[n.Position] = ColumnEstimate{Distinct: max(1, out.Rows), Max: v.Rows - 1,
			HasRange: v.Rows >= 1}
	}
	if table, at := e.catalog.Stored(n.Var); table != nil {
		if v := viewOf(table, at, n); v != nil {
			out.views = []*view{v}
		}
	}
	return out
}

func valuesEstimate(n *queryplan.Values) *Estimate {
	out := &Estimate{Rows: float64(len(n.Rows)), Cols: map[string]ColumnEstimate{}}
	for i, c := range n.Cols {
		seen := map[scalar.Value]bool{}
		var est ColumnEstimate
		for _, row := range n.Rows {
			seen[row[i]] = true
			if x, ok := number(row[i]); ok {
				if len(seen) == 1 {
					est.Min, est.Max, est.HasRange = x, x, true
				}
				est.Min, est.Max = min(est.Min, x), max(est.Max, x)
			}
		}
		est.Distinct = max(1, float64(len(seen)))
		out.Cols[c.Name] = est
	}
	return out
}

// exprEstimate guesses that a computed column has as many values as the columns
// it is computed from have combinations.
func exprEstimate(in *Estimate, x queryplan.Expr) ColumnEstimate {
	switch x := x.(type) {
	case *queryplan.ColRef:
		return in.column(x.Col.Name)
	case *queryplan.Const:
		out := ColumnEstimate{Distinct: 1}
		if v, ok := number(x.Value); ok {
			out.Min, out.Max, out.HasRange = v, v, true
		}
		return out
	}
	most := in.Distinct(queryplan.ExprColumns(x))
	if c, ok := in.sampledExpr(x, most); ok {
		return c
	}
	return ColumnEstimate{Distinct: most}
}

// JoinEstimate estimates a join of two results on the given columns. An inner
// join has |L| |R| / max(V(L), V(R)) tuples, where V counts the combinations of
// the join columns (Selinger et al., SIGMOD 1979; the combinations are at most
// the rows, so joins on whole keys come out right); no more than |L| if each
// left tuple matches once. The smaller set of combinations is taken to be
// contained in the other, as keys that refer to others are, within the range
// that both have. This holds for columns that come in tuples of one relation on
// either side; others agree by chance, one value in as many as there are. Where
// both sides have samples, these come first.
func JoinEstimate(kind queryplan.JoinKind, l, r *Estimate, on []string, unique bool) *Estimate {
	together, apart := dependent(l, r, on)
	return joinEstimate(kind, l, r, on, together, apart, unique)
}

// ContainedJoin estimates a join as JoinEstimate does, but as if the smaller
// set of combinations were contained in the other in any case.
func ContainedJoin(kind queryplan.JoinKind, l, r *Estimate, on []string, unique bool) *Estimate {
	return joinEstimate(kind, l, r, on, on, nil, unique)
}

// joinEstimate estimates a join of which some columns come together and the
// values of others agree by chance.
func joinEstimate(
	kind queryplan.JoinKind, l, r *Estimate, on, together, apart []string, unique bool,
) *Estimate {
	partL, partR := overlap(l, r, on)
	dl, dr := l.Distinct(together)*partL, r.Distinct(together)*partR
	matched := partL * min(1, dr/dl) // share of the left tuples that have a match
	if len(on) == 0 {
		matched = min(1, r.Rows)
	}
	inner := l.Rows * partL * r.Rows * partR / max(dl, dr, 1)
	for _, name := range apart {
		inner /= max(l.column(name).Distinct, r.column(name).Distinct)
	}
	if unique {
		inner = min(inner, l.Rows)
	}
	if len(apart) > 0 {
		matched = min(matched, inner/max(l.Rows, 1e-3))
	}
	views, part, many, ok := joinViews(l, r, on, func(many bool) float64 {
		if many {
			return inner / max(l.Rows, 1e-3)
		}
		return inner / max(r.Rows, 1e-3)
	})
	switch {
	case ok && many:
		inner = l.Rows * part
		matched = min(1, part)
	case ok:
		inner = r.Rows * part
	case !unique && len(on) > 0:
		inner = l.Rows * r.Rows * agreement(l, r, on, inner/max(l.Rows*r.Rows, 1e-3))
	}
	inner = min(inner, mostRows)
	out := &Estimate{views: l.views}
	switch kind {
	case queryplan.Semi:
		out.Rows = l.Rows * matched
		if ok && many {
			out.views = viewsOf(views, l)
		}
	case queryplan.Anti:
		if !ok || !many {
			// Were all matched, the program would not ask.
			matched = min(matched, 1-otherShare/2)
		}
		out.Rows = l.Rows * (1 - matched)
	default:
		out.Rows = inner
		out.views = views
		if !ok {
			out.views = slices.Concat(l.views, r.views)
		}
	}
	out.Cols = l.copyCols(out.Rows / max(1, l.Rows))
	if kind == queryplan.Semi {
		for _, name := range on {
			c := out.column(name)
			c.Distinct = min(c.Distinct, r.column(name).Distinct)
			c.from = bothFrom(c.from, r.column(name).from)
			out.Cols[name] = c
		}
	}
	if kind != queryplan.Inner {
		return out
	}
	for name, c := range r.Cols {
		c.Distinct = sampled(c.Distinct, r.Rows, out.Rows/max(1, r.Rows))
		if o, ok := out.Cols[name]; ok {
			o.from = bothFrom(o.from, c.from)
			o.Distinct = min(o.Distinct, c.Distinct)
			if o.HasRange && c.HasRange {
				o.Min, o.Max = max(o.Min, c.Min), min(o.Max, c.Max)
			}
			c = o
		}
		out.Cols[name] = c
	}
	if identify(l, on) && identify(r, on) {
		out.oneTuple(on)
	}
	return out
}

// leastOverlap stands in for the share of values in a range that statistics
// take for empty.
const leastOverlap = 1e-3

// overlap returns the shares of two results whose join columns lie in the
// common range.
func overlap(l, r *Estimate, on []string) (partL, partR float64) {
	partL, partR = 1, 1
	for _, name := range on {
		a, b := l.column(name), r.column(name)
		if !a.HasRange || !b.HasRange {
			continue
		}
		low, high := max(a.Min, b.Min), min(a.Max, b.Max)
		partL *= a.within(low, high)
		partR *= b.within(low, high)
	}
	return partL, partR
}

// within returns the share of a column's values in a part of its range. The
// part has at least one value even if they are spread evenly.
func (c ColumnEstimate) within(low, high float64) float64 {
	switch {
	case high < low:
		return leastOverlap
	case low <= c.Min && c.Max <= high:
		return 1
	}
	return min(1, max((high-low)/(c.Max-c.Min), 1/max(1, c.Distinct)))
}

// multiJoin estimates a join of several inputs as the chain of binary joins in
// their order: what comes out is the same, and so an optimiser that weighs the
// two sees only the tuples on the way.
func (e *Estimator) multiJoin(n *queryplan.MultiJoin) *Estimate {
	out := e.Of(n.Nodes[0])
	cols := queryplan.NamesOf(n.Nodes[0].Columns())
	for _, in := range n.Nodes[1:] {
		var on []string
		for _, c := range in.Columns() {
			if slices.Contains(cols, c.Name) {
				on = append(on, c.Name)
			} else {
				cols = append(cols, c.Name)
			}
		}
		out = JoinEstimate(queryplan.Inner, out, e.Of(in), on, false)
	}
	return out
}
