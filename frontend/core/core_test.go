package core_test

import (
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// fixture is a small valid program whose parts the tests damage.
type fixture struct {
	program       *core.Program
	edge, far     *core.Pred
	x, y, z, n    *core.Var
	copy, growing *core.Rule
	check         *core.Check
}

func newFixture() *fixture {
	f := &fixture{}
	arg := func(name string) core.Arg { return core.Arg{Name: name, Type: scalar.IntType} }
	f.edge = &core.Pred{Name: "edge", Args: []core.Arg{arg("x"), arg("y")}, Keys: 2, Limit: -1}
	f.far = &core.Pred{Name: "far", Args: []core.Arg{arg("x"), arg("n")}, Keys: 1, Limit: 3,
		Derived: true,
		OrderBy: []core.OrderKey{{Arg: 1, Desc: true}, {Arg: 0}}}
	v := func(name string) *core.Var { return &core.Var{Name: name, Type: scalar.IntType} }
	f.x, f.y, f.z, f.n = v("x"), v("y"), v("z"), v("n")
	one := core.Const{Value: scalar.OfInt(scalar.IntType, 1)}
	f.copy = &core.Rule{
		Head: core.Atom{Pred: f.far, Args: []core.Term{f.x, f.y}},
		Body: []core.Literal{
			&core.Atom{Pred: f.edge, Args: []core.Term{f.x, f.y}},
			&core.Not{Body: []core.Literal{&core.Atom{Pred: f.edge, Args: []core.Term{f.y, one}}}},
		},
	}
	u, w := v("u"), v("w")
	f.growing = &core.Rule{
		Head: core.Atom{Pred: f.far, Args: []core.Term{u, f.n}},
		Body: []core.Literal{
			&core.Atom{Pred: f.far, Args: []core.Term{u, w}},
			&core.Let{Var: f.n, Expr: call("add", scalar.IntType, core.VarExpr{Var: w}, one)},
			&core.Test{Expr: call("lt", scalar.BooleanType, core.VarExpr{Var: f.n}, one)},
		},
	}
	f.check = &core.Check{Vars: []*core.Var{f.z}, Body: []core.Literal{
		&core.Atom{Pred: f.far,
			Args: []core.Term{f.z, core.Const{Value: scalar.OfInt(scalar.IntType, 2)}}},
	}}
	f.program = &core.Program{
		Preds: []*core.Pred{f.edge, f.far},
		Strata: []*core.Stratum{{Preds: []*core.Pred{f.far}, Rules: []*core.Rule{f.copy, f.growing},
			Recursive: true}},
		Checks: []*core.Check{f.check},
	}
	return f
}

func call(name string, result scalar.Type, args ...core.Expr) *core.Call {
	return &core.Call{Func: scalar.Lookup(name), Args: args, Result: result}
}

func TestString(t *testing.T) {
	const want = `pred edge(x: int, y: int)
pred far[x: int] = n: int derived order by n desc, x limit 3

stratum 1 recursive far
    far[x] = y <- edge(x, y), !edge(y, 1).
    far[u] = n <- far[u] = w, n: int = w + 1, n < 1.

checks
    violated(z) <- far[z] = 2.
`
	if got := newFixture().program.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestExprString(t *testing.T) {
	x := core.VarExpr{Var: &core.Var{Name: "x", Type: scalar.IntType}}
	bin := func(name string, a, b core.Expr) core.Expr { return call(name, scalar.IntType, a, b) }
	test := func(name string, a, b core.Expr) core.Expr {
		return call(name, scalar.BooleanType, a, b)
	}
	for want, e := range map[string]core.Expr{
		"x - (x - x)":             bin("sub", x, bin("sub", x, x)),
		"x - x - x":               bin("sub", bin("sub", x, x), x),
		"(x + x) * x / (x * x)":   bin("div", bin("mul", bin("add", x, x), x), bin("mul", x, x)),
		"x + x < x * x":           test("lt", bin("add", x, x), bin("mul", x, x)),
		"(x < x) = (x > x)":       test("eq", test("lt", x, x), test("gt", x, x)),
		"convert:decimal[x] != x": test("ne", call("convert", scalar.DecimalType, x), x),
	} {
		if got := core.ExprString(e); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestVerify damages a valid program in one way at a time.
func TestVerify(t *testing.T) {
	if err := core.Verify(newFixture().program); err != nil {
		t.Fatalf("the undamaged program: %v", err)
	}
	str := core.Const{Value: scalar.OfString("a")}
	for _, test := range []struct {
		name   string
		want   string
		damage func(f *fixture)
	}{
		{"untyped argument", "untyped", func(f *fixture) { f.edge.Args[1].Type = scalar.Type{} }},
		{"argument names repeat", "not unique", func(f *fixture) { f.edge.Args[1].Name = "x" }},
		{"more keys than arguments", "3 keys", func(f *fixture) { f.edge.Keys = 3 }},
		{"wrong number of arguments", "2 arguments", func(f *fixture) {
			f.copy.Head.Args = f.copy.Head.Args[:1]
		}},
		{"constant of another type", "is string", func(f *fixture) { f.copy.Head.Args[0] = str }},
		{"variable of another type", "is string", func(f *fixture) {
			f.y.Type = scalar.StringType
		}},
		{"missing argument", "argument 1", func(f *fixture) { f.copy.Head.Args[0] = nil }},
		{"unknown predicate", "not a predicate", func(f *fixture) {
			f.program.Preds = f.program.Preds[1:]
		}},
		{"unbound head variable", "head variable z", func(f *fixture) {
			f.copy.Head.Args[0] = f.z
		}},
		{"unbound in an expression", "z has no value", func(f *fixture) {
			f.growing.Body[1].(*core.Let).Expr = core.VarExpr{Var: f.z}
		}},
		{"test ahead of its variable", "n has no value", func(f *fixture) {
			b := f.growing.Body
			b[1], b[2] = b[2], b[1]
		}},
		{"bound twice", "bound twice", func(f *fixture) {
			f.growing.Body = append(f.growing.Body, f.growing.Body[1])
		}},
		{"expression of another type", "its expression", func(f *fixture) {
			f.growing.Body[1].(*core.Let).Expr = str
		}},
		{"test that is no boolean", "test of type", func(f *fixture) {
			f.growing.Body[2].(*core.Test).Expr = str
		}},
		{"empty negation", "empty negation", func(f *fixture) {
			f.copy.Body[1].(*core.Not).Body = nil
		}},
		{"call with too few arguments", "malformed", func(f *fixture) {
			k := f.growing.Body[1].(*core.Let).Expr.(*core.Call)
			k.Args = k.Args[:1]
		}},
		{"call of arguments that it does not take", "argument 2 is int[32]", func(f *fixture) {
			call := f.growing.Body[1].(*core.Let).Expr.(*core.Call)
			call.Args[1] = core.Const{Value: scalar.OfInt(scalar.IntOf(32), 1)}
		}},
		{"call without an overload", "has no form for int and string", func(f *fixture) {
			f.growing.Body[1].(*core.Let).Expr.(*core.Call).Args[1] = str
		}},
		{"call of another result", "the result is int, not decimal", func(f *fixture) {
			f.n.Type, f.growing.Body[1].(*core.Let).Expr.(*core.Call).Result = scalar.DecimalType,
				scalar.DecimalType
		}},
		{"conversion that there is not", "no such conversion", func(f *fixture) {
			date := core.Const{Value: scalar.OfDatetime(0)}
			f.growing.Body[1].(*core.Let).Expr = call("convert", scalar.IntType, date)
		}},
		{"two predicates of one name", "two predicates", func(f *fixture) { f.edge.Name = "far" }},
		{"predicate in two strata", "in two strata", func(f *fixture) {
			f.program.Strata = append(f.program.Strata, &core.Stratum{Preds: []*core.Pred{f.far}})
		}},
		{"order by an argument that is not there", "argument 3 of 2", func(f *fixture) {
			f.far.OrderBy[0].Arg = 2
		}},
		{"count of another type", "is string, which no count gives", func(f *fixture) {
			out := &core.Var{Name: "c", Type: scalar.StringType}
			f.copy.Agg = []core.AggSpec{{Out: out, Fn: core.Count}}
		}},
		{"total of a string", "is int, which no total gives", func(f *fixture) {
			out, in := &core.Var{Name: "c", Type: scalar.IntType}, &core.Var{Name: "s",
				Type: scalar.StringType}
			f.copy.Body = append(f.copy.Body, &core.Let{Var: in, Expr: str})
			f.copy.Agg = []core.AggSpec{{Out: out, Fn: core.Total, In: in}}
		}},
		{"negation of an incomplete predicate", "before it is complete", func(f *fixture) {
			f.copy.Body[1].(*core.Not).Body[0].(*core.Atom).Pred = f.far
		}},
		{"aggregate of an incomplete predicate", "before it is complete", func(f *fixture) {
			f.growing.Agg = []core.AggSpec{{Out: f.z, Fn: core.Count}}
		}},
		{"count with an input", "number of inputs", func(f *fixture) {
			f.copy.Agg = []core.AggSpec{{Out: f.z, Fn: core.Count, In: f.y}}
		}},
		{"aggregate of an unbound variable", "n has no value", func(f *fixture) {
			f.copy.Agg = []core.AggSpec{{Out: f.z, Fn: core.Total, In: f.n}}
		}},
		{"aggregate and sequence", "both", func(f *fixture) {
			f.copy.Agg = []core.AggSpec{{Out: f.z, Fn: core.Count}}
			f.copy.Seq = &core.Seq{Index: f.n}
		}},
		{"two variables of one name", "two variables", func(f *fixture) { f.y.Name = "x" }},
		{"rule in the wrong stratum", "another stratum", func(f *fixture) {
			f.copy.Head.Pred = f.edge
		}},
		{"later stratum used", "before it is complete", func(f *fixture) {
			first := &core.Pred{Name: "first", Args: f.edge.Args, Keys: 2, Derived: true}
			f.program.Preds = append(f.program.Preds, first)
			v := &core.Var{Name: "v", Type: scalar.IntType}
			rule := &core.Rule{
				Head: core.Atom{Pred: first, Args: []core.Term{v, v}},
				Body: []core.Literal{&core.Atom{Pred: f.far, Args: []core.Term{v, v}}},
			}
			s := &core.Stratum{Preds: []*core.Pred{first}, Rules: []*core.Rule{rule}}
			f.program.Strata = append([]*core.Stratum{s}, f.program.Strata...)
		}},
		{"check that shows an unbound variable", "y has no value", func(f *fixture) {
			f.check.Vars[0] = f.y
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture()
			test.damage(f)
			err := core.Verify(f.program)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}
