package rewrite

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// TestDemandGrows compares recursions with sets that grow, or that are found
// ahead, over graphs of few edges, in which values are asked for long after
// tuples of others were found.
func TestDemandGrows(t *testing.T) {
	grown, ahead := 0, 0
	const programs = 150
	for seed := *firstSeed; seed < *firstSeed+programs; seed++ {
		rng := rand.New(rand.NewPCG(seed, 22))
		before := builtPlan(t, seed, growingRecursion(rng, true))
		prog := &program{Plan: queryplan.Clone(before)}
		if err := runPass(restrictToDemand, prog); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, before)
		}
		if bad := queryplan.Verify(prog.Plan); bad != nil {
			t.Fatalf("seed %d: %v\n%s\nbecame\n%s", seed, bad, before, prog.Plan)
		}
		if strings.Contains(prog.String(), "scan delta p$asked") {
			grown++
		}
		if strings.Contains(prog.String(), "p$passed") {
			ahead++
		}
		for range 3 {
			facts := map[string]planref.Rows{}
			for _, name := range []string{"e", "f"} {
				for range 14 {
					facts[name] = append(facts[name],
						[]scalar.Value{smallInt(rng, 12), smallInt(rng, 12)})
				}
			}
			for range 6 {
				facts["r"] = append(facts["r"], []scalar.Value{smallInt(rng, 12)})
			}
			if why, _ := disagreementOver(facts, before, prog.Plan); why != "" {
				t.Fatalf("seed %d: %s\n%s\nbecame\n%s", seed, why, before, prog.Plan)
			}
		}
	}
	if grown < programs/4 || ahead < programs/4 {
		t.Errorf("sets grow in %d of %d programs, and are found ahead in %d", grown, programs, ahead)
	}
}

func smallInt(rng *rand.Rand, n int64) scalar.Value {
	return scalar.OfInt(scalar.IntType, rng.Int64N(n))
}

// recursionInDemand draws one of three kinds of recursions.
func recursionInDemand(rng *rand.Rand) string {
	switch rng.IntN(6) {
	case 0, 1:
		return carryingRecursion(rng)
	case 2, 3:
		return growingRecursion(rng, rng.IntN(3) > 0)
	}
	return boundRecursion(rng)
}

// growingRecursion draws a recursion of up to three predicates, some of whose
// rules have several recursive atoms, and queries that ask for tuples of some
// values. If first is set, all atoms are asked for values of first columns.
func growingRecursion(rng *rand.Rand, first bool) string {
	some := oneOf(rng)
	var b strings.Builder
	b.WriteString("e(x, y) -> int(x), int(y). f(x, y) -> int(x), int(y). r(x) -> int(x).\n" +
		"s(x) <- r(x), x != 3.\n")
	preds := []string{"p", "q", "o"}[:1+rng.IntN(3)]
	for i, p := range preds {
		next := preds[(i+1)%len(preds)]
		one := func() string { return preds[rng.IntN(len(preds))] }
		if i == 0 || rng.IntN(2) == 0 {
			fmt.Fprintf(&b, "%s(x, y) <- %s.\n", p, some("e(x, y)", "f(x, z), e(z, y)", "e(x, y), r(y)"))
		}
		for range 1 + rng.IntN(2) {
			body := some(
				one()+"(x, z), "+next+"(z, y)",
				one()+"(x, z), "+next+"(z, y), "+one()+"(y, _)",
				"e(x, u), "+next+"(u, z), "+one()+"(z, y)",
				one()+"(x, u), f(u, z), "+next+"(z, y)",
				"f(x, u), "+next+"(u, v), e(v, z), "+one()+"(z, y)",
				next+"(x, y), "+one()+"(y, x)",
				next+"(x, z), "+one()+"(x, y), f(z, y)",
				one()+"(z, y), "+next+"(x, z)",
				"f(x, z), "+next+"(z, y)",
				next+"(x, z), "+one()+"(z, z), f(z, y)",
				one()+"(y, z), "+next+"(x, z)")
			if first {
				body = some(one()+"(x, z), "+next+"(z, y)", "f(x, z), "+next+"(z, y)",
					"e(x, u), f(u, z), "+next+"(z, y)", next+"(x, z), f(z, u), "+one()+"(u, y)",
					"f(x, u), "+next+"(u, z), "+one()+"(z, y)")
			}
			body += some("", "", "", ", x != 2", ", y < 3", ", !f(x, y)", ", r(x)", ", x <= y", ", !r(y)")
			fmt.Fprintf(&b, "%s(x, y) <- %s.\n", p, body)
		}
	}
	for range 1 + rng.IntN(2) {
		p := preds[rng.IntN(len(preds))]
		if first {
			fmt.Fprintf(&b, "_(y) <- %s(%d, y).\n", p, rng.IntN(4))
			continue
		}
		b.WriteString(some("_(y) <- "+p+"(1, y)", "_(x) <- "+p+"(x, 2)",
			"_(x, y) <- "+p+"(x, y), x = 0", "_(x, y) <- r(x), "+p+"(x, y)",
			"_(x, y) <- s(x), "+p+"(x, y)", "_(x, y) <- e(x, y), !"+p+"(x, y)",
			"_[x] = n <- agg<<n = count()>> s(x), "+p+"(x, _)", "_() <- "+p+"(1, 3)",
			"_(y) <- "+p+"(2, z), "+p+"(z, y)", "_(y) <- "+p+"(3, y), !"+p+"(y, 1)") + ".\n")
	}
	return b.String()
}

// boundRecursion draws a recursion of one or two predicates, most of them
// linear, and queries that ask it for some tuples, at times for all.
func boundRecursion(rng *rand.Rand) string {
	some := oneOf(rng)
	var b strings.Builder
	b.WriteString("e(x, y) -> int(x), int(y). f(x, y) -> int(x), int(y). r(x) -> int(x).\n")
	if rng.IntN(4) == 0 {
		b.WriteString("r(1). s(x) <- r(x), x != 2. s(3).\n")
	} else {
		b.WriteString("s(x) <- r(x).\n") // it stands behind the recursion
	}
	preds := []string{"p"}
	if rng.IntN(3) == 0 {
		preds = append(preds, "q")
	}
	wide := rng.IntN(4) == 0 // a column more, which rules pass on
	atom := func(p, x, y string) string {
		if wide {
			return fmt.Sprintf("%s(%s, w, %s)", p, x, y)
		}
		return fmt.Sprintf("%s(%s, %s)", p, x, y)
	}
	label := func() string {
		if wide {
			return some(", r(w)", ", w = 1", ", f(w, y)")
		}
		return ""
	}
	for _, p := range preds {
		fmt.Fprintf(&b, "%s <- %s(x, y)%s.\n", atom(p, "x", "y"), some("e", "f"), label())
		if rng.IntN(3) == 0 {
			fmt.Fprintf(&b, "%s <- r(x), f(x, y)%s.\n", atom(p, "x", "y"), label())
		}
		for range 1 + rng.IntN(2) {
			from := preds[rng.IntN(len(preds))]
			head, body := atom(p, "x", "y"), ""
			switch rng.IntN(9) {
			case 0, 1:
				body = atom(from, "x", "z") + ", " + some("e", "f") + "(z, y)"
			case 2, 3:
				body = some("e", "f") + "(x, z), " + atom(from, "z", "y")
			case 4:
				body = "e(x, z), " + atom(from, "z", "u") + ", f(u, y)"
			case 5:
				body = some("e(x, z), f(z, u), ", "e(x, u), f(x, z), ", "e(x, x), f(x, u), ") +
					atom(from, "u", "y")
			case 6:
				body = some(atom(from, "y", "x"), atom(from, "x", "y")+", e(x, x)",
					"e(z, x), "+atom(from, "z", "z")+", f(z, y)")
			case 7:
				body = "z = int:mod[x + 1, 4], e(x, x), " + atom(from, "z", "y")
			case 8:
				body = atom(from, "x", "z") + ", " + atom(from, "z", "y")
			}
			if rng.IntN(4) == 0 && len(preds) == 1 {
				fmt.Fprintf(&b, "%s <- %s, %s.\n", head, atom(p, "x", "z"), atom(p, "z", "y"))
				break
			}
			body += some("", "", "", ", x != 2", ", y < 3", ", !f(x, y)", ", r(x)", ", r(y)", ", x <= y")
			fmt.Fprintf(&b, "%s <- %s.\n", head, body)
		}
	}
	p := preds[rng.IntN(len(preds))]
	for range 1 + rng.IntN(2) {
		b.WriteString(some(
			"_(y) <- "+atom(p, "1", "y")+".",
			"_(x) <- "+atom(p, "x", "2")+".",
			"_(x, y) <- "+atom(p, "x", "y")+", x = 0.",
			"_(x, y) <- r(x), "+atom(p, "x", "y")+".",
			"_(x, y) <- s(x), "+atom(p, "x", "y")+".",
			"_(y) <- f(x, 1), x > 0, "+atom(p, "x", "y")+".",
			"_(x, y) <- e(x, y), "+atom(p, "x", "y")+".",
			"_(x, y) <- e(x, y), !"+strings.Replace(atom(p, "x", "y"), "w", "_", 1)+".",
			"_(x) <- r(x), !"+strings.Replace(atom(p, "x", "1"), "w", "_", 1)+".",
			"_[x] = n <- agg<<n = count()>> s(x), "+atom(p, "x", "y")+".",
			"_(y) <- "+atom(p, "1", "y")+", !"+strings.Replace(atom(p, "y", "2"), "w", "_", 1)+".",
			"_(x) <- "+atom(p, "x", "x")+", r(x).",
			"_(x) <- "+atom(p, "1", "x")+" ; "+atom(p, "x", "2")+".",
			"_(y) <- "+atom(p, "1", "z")+", "+atom(p, "z", "y")+".",
			"_(x, y) <- "+atom(p, "x", "y")+".",
		) + "\n")
	}
	return b.String()
}

// similarRules draws rules of one predicate, plain or recursive, from few
// atoms, so that some have all that others have.
func similarRules(rng *rand.Rand) string {
	some := oneOf(rng)
	var b strings.Builder
	b.WriteString("e(x, y) -> int(x), int(y). f(x, y) -> int(x), int(y). r(x) -> int(x).\n" +
		"e(1, 2).\n")
	recursive := rng.IntN(3) == 0
	if recursive {
		b.WriteString("_p(x, y) <- e(x, y).\n")
	}
	for range 2 + rng.IntN(4) {
		atoms := []string{some("e(x, y)", "e(x, z), f(z, y)", "e(x, z), e(z, y)", "f(y, x), e(x, y)")}
		if recursive && rng.IntN(2) == 0 {
			atoms = []string{some("_p(x, z), e(z, y)", "_p(x, z), _p(z, y)", "e(x, z), _p(z, y)")}
		}
		for range rng.IntN(3) {
			atoms = append(atoms, some("r(x)", "r(y)", "e(x, _)", "e(x, w)", "x > 2", "y != x", "x > 2",
				"f(w, w)", "!r(y)", "e(x, 1)", "y = 3", "f(y, _)"))
		}
		head := some("_p(x, y)", "_p(x, y)", "_p(x, y)", "_p(x, x)", "_p(y, y)")
		fmt.Fprintf(&b, "%s <- %s.\n", head, strings.Join(atoms, ", "))
	}
	b.WriteString("_(x, y) <- _p(x, y).\n")
	return b.String()
}

// carryingRecursion draws a recursion that carries its first column along, most
// of the time: by rules of several atoms, or to best and first values.
func carryingRecursion(rng *rand.Rand) string {
	some := oneOf(rng)
	var b strings.Builder
	b.WriteString("e(x, y) -> int(x), int(y). f(x, y) -> int(x), int(y). r(x) -> int(x).\n" +
		"s(x) <- r(x).\n")
	keep := some("", "recursiveMin", "recursiveMax", "recursiveAny")
	atom := func(x, y, d string) string {
		if keep == "" {
			return fmt.Sprintf("_p(%s, %s)", x, y)
		}
		return fmt.Sprintf("_p[%s, %s] = %s", x, y, d)
	}
	if keep != "" {
		fmt.Fprintf(&b, "lang:%s(`_p).\n", keep)
	}
	fmt.Fprintf(&b, "%s <- %s(x, y)%s.\n", atom("x", "y", "y"), some("e", "f"),
		some("", ", r(x)"))
	helped := rng.IntN(3) == 0
	if helped {
		fmt.Fprintf(&b, "_q(x, y) <- %s%s.\n", atom("x", "z", "_"), some(", e(z, y)", ", f(x, y)",
			", r(z), f(z, y)"))
	}
	for range 1 + rng.IntN(2) {
		first := atom("x", "z", "d")
		if helped && rng.IntN(2) == 0 {
			first = "_q(x, z), " + atom("x", "z", "d")
		}
		second := some("", ", "+atom("x", "y", "_"), ", "+atom("x", "u", "_")+", f(z, u)",
			", !f(x, z)", ", "+atom("z", "x", "_"))
		value := "d"
		switch keep {
		case "recursiveMin":
			value = some("d", "d + 1", "int:max[d, y]")
		case "recursiveMax":
			value = some("d", "int:min[d + 1, 9]", "int:max[d, y]")
		case "recursiveAny":
			value = some("d", "z", "2 - d")
		}
		fmt.Fprintf(&b, "%s <- %s, %s(z, y)%s.\n", atom("x", "y", value), first, some("e", "f"),
			second)
	}
	one, all := atom("1", "y", "_"), atom("x", "y", "_")
	b.WriteString(some("_(y) <- "+one, "_(x, y) <- "+all+", x = 2", "_(x, y) <- r(x), "+all,
		"_(x, y) <- s(x), "+all, "_[x] = n <- agg<<n = count()>> s(x), "+all,
		"_(x, y) <- e(x, y), !"+all) + ".\n")
	return b.String()
}
