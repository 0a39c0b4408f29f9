package queryplan

import (
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

const transformPlan = `
var edge(x: int, y: int) input "edge"
var tc(x: int, z: int) derived output
block b0:
  insert tc
    union
      project x, z
        join y
          filter lt(x, 10)
            scan edge(x, y)
          semi join z
            scan edge(y, z)
            anti join
              values (z: int)
                (1)
              dedup
                topk 1 order [q]
                  seq q order [n]
                    aggregate [] n: int = count()
                      map one = 1
                        scan edge(_, _)
      project x, z
        multijoin x, z, y
          scan edge(x, y)
          scan edge(y, z)
          scan edge(x, z)
  merge tc
  halt
`

func parseTest(t *testing.T, text string) *Plan {
	t.Helper()
	p, err := Parse("test.plan", text)
	if err == nil {
		err = Verify(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRewriteEveryOperator rebuilds every operator over new scans: the text is
// the same, no operator with inputs is, and nothing of the old tree changes.
func TestRewriteEveryOperator(t *testing.T) {
	p := parseTest(t, transformPlan)
	n := p.Blocks[0].Cmds[0].(*Insert).Node
	before := NodeString(n)
	old := map[Node]bool{}
	Walk(n, func(n Node) { old[n] = true })
	got := Rewrite(n, func(n Node) Node {
		switch n := n.(type) {
		case *Scan:
			return &Scan{n.Var, n.Version, n.Names, n.Position}
		case *Values:
			return &Values{n.Cols, n.Rows}
		}
		return n
	})
	Walk(got, func(n Node) {
		if old[n] {
			t.Errorf("%s is shared", NodeHead(n))
		}
	})
	if !Equal(n, got) || Fingerprint(n) != Fingerprint(got) || NodeString(n) != before {
		t.Errorf("got\n%s\nfrom\n%s", NodeString(got), before)
	}
	if same := Rewrite(n, func(n Node) Node { return n }); same != n {
		t.Error("a rewrite that changes nothing makes a new tree")
	}
}

// TestEqualSeesEveryField changes one thing of a plan's text after the other.
func TestEqualSeesEveryField(t *testing.T) {
	n := func(text string) Node { return parseTest(t, text).Blocks[0].Cmds[0].(*Insert).Node }
	for _, change := range [][2]string{
		{"lt(x, 10)", "lt(x, 11)"}, {"lt(x, 10)", "le(x, 10)"}, {"lt(x, 10)", "lt(y, 10)"},
		{"(1)", "(2)"}, {"topk 1", "topk 2"}, {"order [q]", "order [q desc]"},
		{"count()", "max(one)"}, {"semi join z\n", "join\n"}, {"semi join z", "unique semi join z"},
		{"one = 1", "one = 2"}, {"scan edge(_, _)", "scan edge(_, k)"}, {"semi", "anti"},
		{"multijoin x, z, y", "multijoin x, y, z"},
	} {
		changed := strings.Replace(transformPlan, change[0], change[1], 1)
		if changed == transformPlan {
			t.Fatalf("%q is not in the plan", change[0])
		}
		a, b := parseTest(t, transformPlan), parseTest(t, changed)
		if EqualPlan(a, b) {
			t.Errorf("%q and %q are taken as equal", change[0], change[1])
		}
		if Fingerprint(n(transformPlan)) == Fingerprint(n(changed)) {
			t.Errorf("%q and %q have one fingerprint", change[0], change[1])
		}
	}
}

func TestSubstitute(t *testing.T) {
	p := parseTest(t, `
var e(x: int, y: int) input "e"
block b:
  check ""
    filter and(lt(add(x, y), 3), not(eq(y, x)))
      scan e(x, y)
  halt
`)
	cond := p.Blocks[0].Cmds[0].(*Check).Node.(*Filter).Cond
	before := ExprString(cond)
	got := Substitute(cond, map[string]Expr{
		"x": &ColRef{Column{"y", scalar.IntType}},
		"y": &Const{scalar.OfInt(scalar.IntType, 7)},
	})
	// Both are replaced at once, not one after the other.
	if want := "and(lt(add(y, 7), 3), not(eq(7, y)))"; ExprString(got) != want ||
		ExprString(cond) != before {
		t.Errorf("got %s, want %s", ExprString(got), want)
	}
	if cols := ExprColumns(cond); !slices.Equal(cols, []string{"x", "y"}) {
		t.Errorf("columns %v", cols)
	}
	if parts := Conjuncts(cond); len(parts) != 2 || !EqualExpr(And(parts), cond) {
		t.Errorf("conjuncts %v", parts)
	}
}

// TestEval evaluates conditions of a filter over x = 4, y = 0, d = the largest
// decimal of two digits.
func TestEval(t *testing.T) {
	lookup := func(name string) scalar.Value {
		switch name {
		case "x":
			return scalar.OfInt(scalar.IntType, 4)
		case "y":
			return scalar.OfInt(scalar.IntType, 0)
		}
		return scalar.OfDecimal(2, 1<<63-1)
	}
	for text, want := range map[string]string{
		"add(x, mul(x, 2))":                        "12",
		"div(x, y)":                                "none",
		"add(1, div(x, y))":                        "none",
		"lt(div(x, y), 1)":                         "none",
		"not(lt(div(x, y), 1))":                    "none",
		"holds(lt(div(x, y), 1))":                  "false",
		"holds(lt(x, 5))":                          "true",
		"holds(lt(x, 3))":                          "false",
		"or(true, gt(div(x, y), 1))":               "none",
		"or(true, holds(gt(div(x, y), 1)))":        "true",
		"sub(mul(d, 100.00), mul(d, 99.00))":       "92233720368547758.0700",
		"gt(mul(d, d), mul(d, sub(d, 1.00)))":      "true",
		"convert:string(x)":                        `"4"`,
		"convert:int(\"many\")":                    "none",
		"eq(convert:decimal[18,2](x), 4.00)":       "true",
		"string:length(string:upper(\"\\u00e9\"))": "1",
	} {
		ps := newParser("test", text)
		ps.Tokens = ps.Lines()[0].Tokens
		e := ps.expr([]Column{{"x", scalar.IntType}, {"y", scalar.IntType},
			{"d", scalar.DecimalOf(2)}})
		got := "none"
		v, ok := Eval(e, lookup)
		if ok {
			got = scalar.Literal(v)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
		if !ok && !MayFail(e) {
			t.Errorf("%s has no value, but is said to have always one", text)
		}
	}
}

func TestNames(t *testing.T) {
	n := NewNames("x", "x$1")
	var got []string
	for _, base := range []string{"x", "y", "x", "y", "x$1"} {
		got = append(got, n.Fresh(base))
	}
	if want := []string{"x$2", "y", "x$3", "y$1", "x$1$1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	p := parseTest(t, transformPlan)
	names := ColumnNames(p.Blocks[0].Cmds[0].(*Insert).Node)
	for _, taken := range []string{"x", "y", "z", "q", "n", "one"} {
		if got := names.Fresh(taken); got != taken+"$1" {
			t.Errorf("%s is not taken", taken)
		}
	}
}

// TestCloneSharesNothing changes every part of a clone.
func TestCloneSharesNothing(t *testing.T) {
	p := parseTest(t, transformPlan)
	before := p.String()
	c := Clone(p)
	for _, v := range c.Vars {
		v.Name, v.Cols[0].Name = v.Name+"2", "changed"
	}
	for _, b := range c.Blocks {
		b.Name, b.Cmds = "other", nil
		b.Term = &Jump{To: b}
	}
	if p.String() != before {
		t.Errorf("the original has changed:\n%s", p)
	}
}
