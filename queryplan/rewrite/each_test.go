package rewrite

import (
	"fmt"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/build"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

const (
	randomPlans = 48  // of random programs, for each pass
	shapedPlans = 192 // of a generator in shapes
	// leastChanged is the share of the plans that a pass must change. Fewer
	// mean that they lack the shapes that it matches.
	leastChanged = 0.125
)

// shape makes the text of a program or a plan, and a catalogue that makes a
// pass pay, or nil.
type shape func(rng *rand.Rand) (text string, cat *stats.Catalog)

// shapes makes the plans for passes that match little in random programs.
var shapes = map[string]shape{
	"MergeColumnGroups":  atomsOfOneRow,
	"LimitSequences":     anyData(boundedSequence),
	"LimitOutputs":       anyData(limitedOutput),
	"ProveKeys":          anyData(repeatedTuples),
	"GroupBeforeLookups": anyData(randomLookups),
	"LimitBeforeLookups": anyData(randomLookups),
	"RestrictAggregates": comparedOrAsked,
	"ScanOnceForGroups":  anyData(randomComparison),
	"SelectMultijoin":    cyclicJoin,

	"CompareWithExtremes":  anyData(otherOrAsked),
	"UnfoldJoins":          anyData(lookedUpJoin),
	"SplitRecursiveRules":  loopedRule,
	"AggregateBeforeJoins": anyData(repeatingJoin),
	"DropSubsumedRules":    anyData(similarRules),
	"RestrictToDemand":     anyData(recursionInDemand),
}

func anyData(text func(*rand.Rand) string) shape {
	return func(rng *rand.Rand) (string, *stats.Catalog) { return text(rng), nil }
}

// TestEachPass runs every pass by itself on plans with the shapes that it
// matches: on the plan as it was built, and wherever the pass stands in the
// sequence. The plans before and after must have the same results over random
// facts. A pass that changes too few plans fails the test, so that a new pass
// needs a generator of its own, or one of the programs of randprog.
func TestEachPass(t *testing.T) {
	short.Skip(t, "each pass by itself")
	for _, pass := range passes {
		t.Run(pass.Name, func(t *testing.T) {
			plans := uint64(randomPlans)
			if shapes[pass.Name] != nil {
				plans = shapedPlans
			}
			changed := 0
			for seed := *firstSeed; seed < *firstSeed+plans; seed++ {
				rng := rand.New(rand.NewPCG(seed, 21))
				p, cat := shapedPlan(t, pass.Name, seed, rng)
				thresholds := func(f func()) { f() }
				if seed%4 > 0 {
					thresholds = withoutThresholds
				}
				did := false
				thresholds(func() { did = checkPass(t, pass, seed, p, cat) })
				if did {
					changed++
				}
			}
			t.Logf("%d of %d plans with results changed", changed, plans)
			if float64(changed) < leastChanged*float64(plans) {
				t.Errorf("%s changed %d of %d plans with results: add plans that it is for to shapes",
					pass.Name, changed, plans)
			}
		})
	}
}

// shapedPlan returns a plan for a pass.
func shapedPlan(
	t *testing.T, pass string, seed uint64, rng *rand.Rand,
) (*queryplan.Plan, *stats.Catalog) {
	shape := shapes[pass]
	if shape == nil {
		p := randomPlan(t, seed, rng)
		return p, randomCatalog(rng, p)
	}
	text, cat := shape(rng)
	if strings.HasPrefix(text, "var ") {
		p, err := queryplan.Parse("test.plan", text)
		if err == nil {
			err = queryplan.Verify(p)
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		return p, cat
	}
	return builtPlan(t, seed, text), cat
}

// builtPlan returns the plan of a program as it is built.
func builtPlan(t *testing.T, seed uint64, text string) *queryplan.Plan {
	t.Helper()
	file := source.NewFile("test.logic", text)
	prog, found := frontend.Compile([]*source.File{file}, frontend.Options{})
	if prog == nil {
		t.Fatalf("seed %d: %s\n%s", seed, found[0].Message, text)
	}
	p, err := build.Build(prog)
	if err != nil {
		t.Fatal(err)
	}
	planref.HideNumbers(prog, p)
	for _, v := range p.Vars {
		v.Output = v.Output && strings.HasPrefix(v.Name, "_")
	}
	return p
}

// checkPass runs a pass on a plan, and on what the passes before it make of the
// plan. It reports whether the pass changed any.
func checkPass(t *testing.T, pass *Pass, seed uint64, p *queryplan.Plan, cat *stats.Catalog) bool {
	t.Helper()
	changed := checkRun(t, pass, seed, p, &program{Plan: queryplan.Clone(p), catalog: cat})
	prog := &program{Plan: queryplan.Clone(p), catalog: cat}
	for _, name := range sequence[:lastIndex(sequence, pass.Name)+1] {
		if name == pass.Name {
			changed = checkRun(t, pass, seed, p, prog) || changed
		} else if err := runPass(lookup(name), prog); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, p)
		}
	}
	return changed
}

// checkRun runs a pass once, compares the results of the plan before and after
// over facts for the plan of origin, and reports whether the plan changed and
// has results that could differ.
func checkRun(t *testing.T, pass *Pass, seed uint64, origin *queryplan.Plan, prog *program) bool {
	t.Helper()
	before := queryplan.Clone(prog.Plan)
	err := runPass(pass, prog)
	if err != nil {
		t.Fatalf("seed %d: %v\n%s\n%s", seed, err, before, err.Stack)
	}
	if bad := queryplan.Verify(prog.Plan); bad != nil {
		t.Fatalf("seed %d: %v\n%s\nbecame\n%s", seed, bad, before, prog.Plan)
	}
	if before.String() == prog.String() {
		return false
	}
	results := 0
	for i := range uint64(3) {
		facts := randomFacts(rand.New(rand.NewPCG(seed, i)), origin, prog.catalog)
		why, rows := disagreementOver(facts, before, prog.Plan)
		if why != "" {
			t.Fatalf("seed %d: %s\n%s\nbecame\n%s%s", seed, why, before, prog.Plan,
				describe(prog.catalog))
		}
		results += rows
	}
	return results > 0
}

// withoutThresholds runs f with passes that rewrite small plans, too.
func withoutThresholds(f func()) {
	left, saved, probes, gain := mostLeft, leastSaved, joins.LeastProbes, joins.LeastGain
	before, times, scanned := leastBefore, leastShare, leastScanned
	split, unfold, extremes, asked := splitGain, unfoldGain, extremesGain, leastAsked
	again := repeatedLinear
	defer func() {
		repeatedLinear = again
		splitGain, unfoldGain, extremesGain, leastAsked = split, unfold, extremes, asked
		mostLeft, leastSaved, joins.LeastProbes, joins.LeastGain = left, saved, probes, gain
		leastBefore, leastShare, leastScanned = before, times, scanned
	}()
	mostLeft, leastSaved, joins.LeastProbes, joins.LeastGain = 2, -1e12, 0, -1e12
	leastBefore, leastShare, leastScanned = 0, 0, 0
	splitGain, unfoldGain, extremesGain, leastAsked = 0, 0, 0, 0
	repeatedLinear = 0
	f()
}

// oneOf returns a function that draws one of its arguments.
func oneOf(rng *rand.Rand) func(of ...string) string {
	return func(of ...string) string { return of[rng.IntN(len(of))] }
}

// atomsOfOneRow joins columns of one table, and functions of two values, on few
// variables, so that one stands at several columns of a row and in several
// rows.
func atomsOfOneRow(rng *rand.Rand) (string, *stats.Catalog) {
	some := oneOf(rng)
	k := func() string { return some("k", "k", "k", "j", "x") }
	v := func() string { return some("k", "x", "x", "y", "y", "z") }
	bound := map[string]bool{}
	atom := func(pattern string, args ...any) string {
		for _, a := range args {
			bound[a.(string)] = true
		}
		return fmt.Sprintf(pattern, args...)
	}
	var atoms []string
	for range 2 + rng.IntN(4) {
		switch rng.IntN(6) {
		case 0:
			atoms = append(atoms, atom("t:w(%s, %s, %s)", k(), v(), v()))
		case 1:
			atoms = append(atoms, atom("g(%s, %s, %s)", k(), v(), v()))
		case 2:
			atoms = append(atoms, atom("g(%s, %s, _)", k(), v()))
		default:
			atoms = append(atoms, atom("t:"+some("a", "b", "c")+"[%s] = %s", k(), v()))
		}
	}
	vars := slices.Sorted(maps.Keys(bound))
	x, y := some(vars...), some(vars...)
	atoms = append(atoms, some("h("+x+")", "!h("+x+")", "!t:a["+x+"] = "+y, x+" <= "+y,
		"!g("+x+", "+y+", _)", "n = "+x+" + "+y+", n < 7"))
	table := func(name string, columns, keys int) *stats.Table {
		t := &stats.Table{Name: name, Rows: 30}
		for i := range columns {
			t.Columns = append(t.Columns,
				stats.Column{Name: fmt.Sprint("c", i), Max: 3, Distinct: 4})
			if i < keys {
				t.Key = append(t.Key, i)
			}
		}
		return t
	}
	relation := func(table string, cols ...int) *stats.Relation {
		return &stats.Relation{Table: table, Rows: 30, Cols: cols}
	}
	cat := &stats.Catalog{
		Tables: map[string]*stats.Table{
			"t": table("t", 4, 1), "g": table("g", 3, 1), "h": table("h", 1, 1),
		},
		Relations: map[string]*stats.Relation{
			"t:a": relation("t", 0, 1), "t:b": relation("t", 0, 2), "t:c": relation("t", 0, 3),
			"t:w": relation("t", 0, 3, 1), "g": relation("g", 0, 1, 2), "h": relation("h", 0),
		},
	}
	return `t:a[k] = a -> int(k), int(a).
t:b[k] = b -> int(k), int(b).
t:c[k] = c -> int(k), int(c).
t:w(k, c, a) -> int(k), int(c), int(a).
g(k; x, y) -> int(k), int(x), int(y).
h(x) -> int(x).
_(` + some(x, y, x+", "+y) + ") <- " + strings.Join(atoms, ", ") + ".\n", cat
}

// repeatingJoin aggregates over joins that repeat the tuples of a relation.
func repeatingJoin(rng *rand.Rand) string {
	some := oneOf(rng)
	body := some("e(x, y), g(y, z)", "e(x, y), e(y, z)", "e(x, y), g(y, z), g(z, w)",
		"e(x, y), g(y, z), h(z)", "e(x, y), g(y, _), g(y, z)", "e(x, y), g(y, z), x != z")
	group := some("z", "z", "y", "x", "")
	return `e(x, y) -> int(x), int(y).
g(x, y) -> int(x), int(y).
h(x) -> int(x).
_[` + group + `] = n <- agg<<n = ` + some("count()", "count()", "max(x)", "min(y)", "total(x)") +
		`>> ` + body + some("", "", ", x > 1", ", !h(y)") + `.
`
}

// boundedSequence numbers tuples, in groups or not, and asks for few of the
// numbers.
func boundedSequence(rng *rand.Rand) string {
	some := oneOf(rng)
	numbered := some("s(i, x, y)", "s(i, x, y)", "s(x, i, y)")
	bound := fmt.Sprintf("i %s %d", some("<", "<=", "<", "="), rng.IntN(5))
	more := some("", ", h(x)", ", i >= 1", ", x < 4", ", !h(y)")
	return `e(x, y) -> int(x), int(y).
h(x) -> int(x).
` + numbered + ` -> int(i), int(x), int(y).
` + numbered + ` <- seq<<>> e(x, y).
_(` + some("x, y", "i, x", "i", "y") + `) <- ` + numbered + ", " + bound + more + `.
`
}

// limitedOutput shows the first tuples of a relation in some order.
func limitedOutput(rng *rand.Rand) string {
	some := oneOf(rng)
	body := some("e(x, y)", "e(x, z), e(z, y)", "e(x, y), f[x] = y", "f[x] = y, e(_, y)",
		"e(x, z), y = z + 1")
	order := some("", "y", "y desc", "y desc, x")
	if order != "" {
		order = fmt.Sprintf("lang:output:orderBy[`_] = %q.\n", order)
	}
	return `e(x, y) -> int(x), int(y).
f[k] = v -> int(k), int(v).
_(x, y) <- ` + body + `.
` + fmt.Sprintf("lang:output:limit[`_] = %d.\n", 1+rng.IntN(5)) + order
}

// repeatedTuples checks the key of a function that keeps it or not, and removes
// repeated tuples where there are some, none, or where they do no harm.
func repeatedTuples(rng *rand.Rand) string {
	some := oneOf(rng)
	set := func(tree string) string {
		if rng.IntN(2) == 0 {
			return "dedup\n" + indented(tree)
		}
		return tree
	}
	join := func(kind, left, right string) string {
		return kind + "join x\n" + indented(left) + "\n" + indented(right)
	}
	few := "filter lt(y, 3)\n  scan a(x, y)"
	from := set(some("scan a(x, y)", "scan a(x, y)", few, "scan b(x, y)"))
	if rng.IntN(2) == 0 {
		keys := set(some("scan b(x, _)", "project x\n  scan a(x, _)"))
		from = join(some("semi ", "anti "), from, keys)
	}
	out := set(join("", "scan f(x, s)", set(some("scan b(x, _)", "scan a(x, _)"))))
	if rng.IntN(3) == 0 {
		out = "aggregate [x] s: int = " + some("max(s)", "count()", "total(s)") + "\n" +
			indented(out)
	}
	return `var a(x: int; y: int) input "a"
var b(x: int, y: int) input "b"
var f(x: int; s: int) derived checked
var out(x: int, s: int) derived output
block b0:
  insert f
    project x, s
      map s = add(y, 1)
` + indented(indented(indented(indented(from)))) + `
  merge f
  checkkey f
  insert out
` + indented(indented(out)) + `
  merge out
  halt
`
}

// loopedRule joins two or three tuples of a recursion in one rule, with columns
// of stored relations between them.
func loopedRule(rng *rand.Rand) (string, *stats.Catalog) {
	some := oneOf(rng)
	group := func() string { return some("p", "p", "q") }
	body := some("e(y, x), P(x, z), P(z, w)", "d(y, x), P(z, w), P(x, z)",
		"e(x, y), P(x, z), P(w, z)", "P(x, z), e(y, x), d(z, u), P(u, w)",
		"e(x, y), P(x, z), P(z, u), P(u, w)", "e(x, x), P(x, y), P(y, w)",
		"e(y, x), P(x, z), P(z, x), P(z, w)", "f(y, x, u), P(x, z), P(z, w), e(u, w)",
		"e(x, 2), P(x, y), P(y, w)", "e(x, y), P(x, x), P(y, w)")
	for strings.Contains(body, "P") {
		body = strings.Replace(body, "P", group(), 1)
	}
	body += some("", "", "", ", z != y", ", !d(y, w)", ", y <= w", ", d(w, _)")
	if strings.Contains(body, "z != y") && !strings.Contains(body, "z)") {
		body = strings.Replace(body, "z != y", "w != y", 1)
	}
	text := "e(x, y) -> int(x), int(y).\nd(x, y) -> int(x), int(y).\n" +
		"f(x, y, z) -> int(x), int(y), int(z).\n" +
		"p(x, y) <- d(x, y).\np(x, y) <- q(y, x), d(x, _).\n" +
		"q(x, y) <- f(x, y, _).\nq(x, y) <- p(x, y).\n" +
		group() + "(y, w) <- " + body + ".\n_(x, y) <- " + group() + "(x, y).\n"
	cat := &stats.Catalog{Relations: map[string]*stats.Relation{},
		Tables: map[string]*stats.Table{}}
	for name, columns := range map[string]int{"e": 2, "d": 2, "f": 3} {
		c := stats.Column{Name: "c", Min: 0, Max: 7, Distinct: 8}
		t := &stats.Table{Name: name, Rows: 60}
		r := &stats.Relation{Name: name, Table: name, Rows: 60}
		for i := range columns {
			t.Columns = append(t.Columns, c)
			r.Cols = append(r.Cols, i)
		}
		cat.Tables[name], cat.Relations[name] = t, r
	}
	return text, cat
}

// lookedUpJoin looks the tuples of a recursion and of stored relations up in a
// predicate that joins two or three, negated or not.
func lookedUpJoin(rng *rand.Rand) string {
	some := oneOf(rng)
	body := some("e(x, y), d(y, z)", "e(x, y), d(y, z), x != z", "e(x, y), d(z, y), e(y, u), u < 3",
		"e(x, y), d(y, z), !d(x, _)", "e(x, y), d(y, z), y > 2", "e(x, y), e(y, w), d(w, z)",
		"e(x, _), d(z, _)", "e(x, y), z = y + 1, d(x, z)")
	look := func() string {
		return some("v(y, z)", "v(z, y)", "v(x, z), z != y", "d(y, z), !v(x, z)", "e(y, z), !v(z, x)",
			"d(y, z), !v(y, _)", "e(y, z), !v(x, z), v(y, x)", "f[y] = z, !v(x, z)",
			"v(y, z), !v(z, x)", "d(y, z), v(_, z)", "d(y, z), v(z, 1)", "e(y, z), !v(2, z)")
	}
	text := "e(x, y) -> int(x), int(y).\nd(x, y) -> int(x), int(y).\nf[x] = y -> int(x), int(y).\n" +
		"v(x, z) <- " + body + ".\np(x, y) <- " + some("d(x, y)", "e(x, y)", "e(x, y), v(x, y)",
		"d(x, y), !v(y, x)") + ".\n"
	text += "p(x, z) <- p(x, y), " + look() + ".\n"
	if rng.IntN(3) == 0 {
		text += "_[] = n <- agg<<n = count()>> p(x, y), " + some("v(y, z)", "!v(x, y)") + ".\n"
	} else {
		text += "_(x, z) <- p(x, y), " + look() + ".\n"
	}
	return text
}

// otherValue asks whether there is another value, in the ways for which it is
// enough to know the extremes and in others.
func otherValue(rng *rand.Rand) string {
	some := oneOf(rng)
	pair := some("e(x, y), e(x, z)", "e(x, y), d(x, z)", "e(x, y), g(x, w, z)", "d(x, y), g(x, z, _)",
		"e(x, y), d(z, x)", "e(x, y), g(x, y, z)", "e(x, y), t(x, z)", "e(x, y), e(x, z), d(x, z)",
		"e(x, y), e(y, u), d(u, z)", "e(x, y), e(x, z), e(x, v), v != y")
	differ := some("y != z", "z != y", "z != y", "x != z", "y != z, z > 2", "y != z, x < 4",
		"y < z", "y != z, !d(x, y)", "y != z, !d(x, z)")
	head := some("_(x)", "_(x)", "_(x)", "_(x, y)", "_(x, z)", "_(y)")
	text := "e(x, y) -> int(x), int(y).\nd(x, y) -> int(x), int(y).\n" +
		"g(x, y, z) -> int(x), int(y), int(z).\n" +
		"t(x, y) <- e(x, y).\nt(x, z) <- t(x, y), d(y, z).\n"
	if rng.IntN(4) == 0 { // in a loop
		return text + "p(x) <- d(x, _).\np(y) <- p(x), " + pair + ", " + differ + ".\n_(x) <- p(x).\n"
	}
	return text + head + " <- " + pair + ", " + differ + ".\n"
}

// cyclicJoin joins relations in a cycle of three or four, of sizes that make
// paths many.
func cyclicJoin(rng *rand.Rand) (string, *stats.Catalog) {
	some := oneOf(rng)
	vars := []string{"x", "y", "z", "u"}[:3+rng.IntN(2)]
	var atoms []string
	for i, v := range vars {
		ends := []string{v, vars[(i+1)%len(vars)]}
		if rng.IntN(2) == 0 {
			ends[0], ends[1] = ends[1], ends[0]
		}
		atoms = append(atoms, fmt.Sprintf("%s(%s, %s)", some("e", "e", "d"), ends[0], ends[1]))
	}
	body := strings.Join(atoms, ", ")
	more := some("", ", x < 3000", ", y != z", ", !d(x, x)", ", e(x, w), w > 9")
	rule := "_(" + some("x", "x, y, z", "x, z", "y") + ") <- " + body + more
	if rng.IntN(3) == 0 {
		rule = "_[] = n <- agg<<n = " + some("count()", "max(x)", "total(y)") + ">> " + body
	}
	cat := &stats.Catalog{Relations: map[string]*stats.Relation{},
		Tables: map[string]*stats.Table{}}
	for _, name := range []string{"e", "d"} {
		c := stats.Column{Name: "c", Min: 1, Max: 5000, Distinct: 5000}
		rows := 100_000 + 10_000*rng.Int64N(5)
		cat.Tables[name] = &stats.Table{Name: name, Rows: rows, Columns: []stats.Column{c, c}}
		cat.Relations[name] = &stats.Relation{Name: name, Table: name, Rows: rows,
			Cols: []int{0, 1}}
	}
	return "e(x, y) -> int(x), int(y).\nd(x, y) -> int(x), int(y).\n" + rule + ".\n", cat
}
