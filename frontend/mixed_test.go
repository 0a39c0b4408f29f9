package frontend_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
)

// TestIntegersCompareByValue makes random programs over columns of all integer
// types, declared or not, and the same programs over decimal[38,0], in which
// all integers have one type. There, the heads say which values fit. Both must
// have the same answers.
func TestIntegersCompareByValue(t *testing.T) {
	compared, refused := 0, 0
	dir := t.TempDir()
	for seed := range int64(300) {
		g := &integers{Rand: rand.New(rand.NewSource(seed))}
		mixed, exact := g.program()
		want, err := run(t, exact, dir)
		if errors.Is(err, oracle.ErrTooLarge) {
			continue
		}
		if err != nil {
			refused++
			continue
		}
		compared++
		if got, err := run(t, mixed, dir); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, mixed)
		} else if got != want {
			t.Fatalf("seed %d: got\n%s\nwant\n%s\n%s\n%s", seed, got, want, mixed, exact)
		}
	}
	if compared < 200 {
		t.Errorf("only %d programs compared, %d refused", compared, refused)
	}
}

// run returns the answers of a program without facts from outside.
func run(t *testing.T, text, dir string) (string, error) {
	t.Helper()
	program, found := compile(t, text)
	if program == nil {
		for _, d := range found {
			if d.Severity == diag.Error {
				t.Fatalf("%s at %s\n%s", d.Message, d.Span.Text(), text)
			}
		}
	}
	result, err := oracle.RunBounded(program, nil, 300_000)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range program.Preds {
		if p.Exported {
			fmt.Fprintf(&b, "%s:\n%s", p.Name, oracle.TSV(result.Tuples[p.Name]))
		}
	}
	fmt.Fprintf(&b, "%d violations\n", len(result.Violations))
	return b.String(), nil
}

// integers writes a program twice.
type integers struct {
	*rand.Rand
	mixed, exact strings.Builder
	preds        []integerPred
}

// integerPred is a predicate with the integer type of each column, "" where
// none is declared.
type integerPred struct {
	name  string
	types []string
}

// widths has the bits of the integer types, negative for those with a sign.
var widths = map[string]int{"int": -64, "int[8]": -8, "int[16]": -16, "int[32]": -32,
	"uint": 64, "uint[8]": 8, "uint[16]": 16, "uint[32]": 32}

var integerTypes = []string{"int", "int", "int[8]", "int[16]", "int[32]", "uint", "uint",
	"uint[8]", "uint[16]", "uint[32]"}

var integerValues = []string{"0", "1", "2", "3", "100", "127", "128", "255", "256", "-1", "-2",
	"-128", "-129", "32767", "65535", "2147483647", "2147483648", "4294967295",
	"9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615"}

// bounds returns the least and the greatest value of a type.
func bounds(typ string) (lo, hi *big.Int) {
	bits := widths[typ]
	if bits > 0 {
		return new(big.Int), power(bits)
	}
	hi = power(-bits - 1)
	return new(big.Int).Not(hi), hi
}

// power returns 2^n - 1.
func power(n int) *big.Int {
	x := new(big.Int).Lsh(big.NewInt(1), uint(n))
	return x.Sub(x, big.NewInt(1))
}

func fits(value, typ string) bool {
	v, _ := new(big.Int).SetString(value, 10)
	lo, hi := bounds(typ)
	return v.Cmp(lo) >= 0 && v.Cmp(hi) <= 0
}

// within says that a variable fits a type, in the terms of decimals.
func within(v, typ string) string {
	lo, hi := bounds(typ)
	return fmt.Sprintf("%s <= %s, %s <= %s", lo, v, v, hi)
}

func (g *integers) chance(percent int) bool { return g.Intn(100) < percent }

// both writes a line of both programs.
func (g *integers) both(format string, args ...any) {
	fmt.Fprintf(&g.mixed, format+"\n", args...)
	fmt.Fprintf(&g.exact, format+"\n", args...)
}

// program returns a program over integers of all types, and its twin.
func (g *integers) program() (mixed, exact string) {
	for i := range 3 {
		p := g.pred(fmt.Sprint("e", i), false)
		for range 6 {
			values := make([]string, len(p.types))
			for c, typ := range p.types {
				for values[c] == "" || !fits(values[c], typ) {
					if values[c] = integerValues[g.Intn(len(integerValues))]; g.chance(50) {
						values[c] = integerValues[g.Intn(4)]
					}
				}
			}
			g.both("%s(%s).", p.name, strings.Join(values, ", "))
		}
		g.preds = append(g.preds, p)
	}
	for i := range 5 {
		p := g.pred(fmt.Sprint("p", i), true)
		complete := g.preds
		for n := range 1 + g.Intn(3) {
			if n > 0 && g.chance(30) {
				g.preds = append(complete[:len(complete):len(complete)], p)
			}
			g.rule(p, complete)
			g.preds = complete
		}
		g.preds = append(g.preds, p)
		if g.chance(25) {
			g.aggregate(fmt.Sprint("a", i))
		}
	}
	if g.chance(50) {
		p, q := g.preds[g.Intn(len(g.preds))], g.preds[g.Intn(len(g.preds))]
		g.both("%s -> %s ; x < %s.", atom(p, func(int) string { return "x" }),
			atom(q, func(int) string { return "x" }), integerValues[g.Intn(len(integerValues))])
	}
	return g.mixed.String(), g.exact.String()
}

// pred draws a predicate and declares it. If open is set, it may have no
// declaration in the mixed program.
func (g *integers) pred(name string, open bool) integerPred {
	p := integerPred{name, make([]string, 1+g.Intn(2))}
	undeclared := open && g.chance(40)
	var names, types, decimals []string
	for i := range p.types {
		typ := integerTypes[g.Intn(len(integerTypes))]
		names = append(names, fmt.Sprint("x", i))
		types = append(types, fmt.Sprintf("%s(x%d)", typ, i))
		decimals = append(decimals, fmt.Sprintf("decimal[38,0](x%d)", i))
		if !undeclared {
			p.types[i] = typ
		}
	}
	head := fmt.Sprintf("%s(%s)", name, strings.Join(names, ", "))
	if !undeclared {
		fmt.Fprintf(&g.mixed, "%s -> %s.\n", head, strings.Join(types, ", "))
	}
	fmt.Fprintf(&g.exact, "%s -> %s.\n", head, strings.Join(decimals, ", "))
	return p
}

func atom(p integerPred, arg func(i int) string) string {
	args := make([]string, len(p.types))
	for i := range args {
		args[i] = arg(i)
	}
	return fmt.Sprintf("%s(%s)", p.name, strings.Join(args, ", "))
}

var integerVars = []string{"x", "y", "z"}

// body draws a conjunction. It returns it for both programs, with the variables
// that it binds. Negated predicates are complete.
func (g *integers) body(complete []integerPred) (mixed, exact, vars []string) {
	seen := map[string]bool{}
	for range 1 + g.Intn(3) {
		mixed = append(mixed, atom(g.preds[g.Intn(len(g.preds))], func(int) string {
			if g.chance(15) {
				return "_"
			}
			v := integerVars[g.Intn(len(integerVars))]
			if !seen[v] {
				seen[v], vars = true, append(vars, v)
			}
			return v
		}))
	}
	bound := func(other string) string {
		if len(vars) == 0 {
			return other
		}
		return vars[g.Intn(len(vars))]
	}
	test := func() string {
		other := integerValues[g.Intn(len(integerValues))]
		if g.chance(60) {
			other = bound(other)
		}
		op := []string{"=", "!=", "<", "<=", ">", ">="}[g.Intn(6)]
		return fmt.Sprintf("%s %s %s", vars[g.Intn(len(vars))], op, other)
	}
	if len(vars) > 0 && g.chance(40) {
		mixed = append(mixed, test())
	}
	negated := func() string {
		return atom(complete[g.Intn(len(complete))], func(int) string {
			if g.chance(30) {
				return "_"
			}
			return bound("_")
		})
	}
	switch n := g.Intn(100); {
	case n < 30:
		mixed = append(mixed, "!"+negated())
	case n < 45:
		p := complete[g.Intn(len(complete))]
		mixed = append(mixed, fmt.Sprintf("!(%s, %s, w > %s)", negated(),
			atom(p, func(int) string { return "w" }), bound("1")))
	case n < 55 && len(vars) > 0:
		mixed = append(mixed, "!("+test()+")")
	}
	exact = append(exact, mixed...)
	if len(vars) > 0 && g.chance(15) {
		v, typ := vars[g.Intn(len(vars))], integerTypes[g.Intn(len(integerTypes))]
		mixed = append(mixed, fmt.Sprintf("%s(%s)", typ, v))
		exact = append(exact, within(v, typ))
	}
	return mixed, exact, vars
}

// rule adds a rule. The exact program tests what fits the head.
func (g *integers) rule(p integerPred, complete []integerPred) {
	mixed, exact, vars := g.body(complete)
	for len(vars) == 0 {
		mixed, exact, vars = g.body(complete)
	}
	head := atom(p, func(i int) string {
		v := vars[g.Intn(len(vars))]
		if p.types[i] != "" {
			exact = append(exact, within(v, p.types[i]))
		}
		return v
	})
	fmt.Fprintf(&g.mixed, "%s <- %s.\n", head, strings.Join(mixed, ", "))
	fmt.Fprintf(&g.exact, "%s <- %s.\n", head, strings.Join(exact, ", "))
}

// aggregate adds a count, a least or a greatest value for each of a variable.
func (g *integers) aggregate(name string) {
	mixed, exact, vars := g.body(g.preds)
	if len(vars) == 0 {
		return
	}
	key, typ := vars[g.Intn(len(vars))], integerTypes[g.Intn(len(integerTypes))]
	of := integerTypes[g.Intn(len(integerTypes))]
	fn := []string{"count()", "min(" + vars[0] + ")", "max(" + vars[0] + ")"}[g.Intn(3)]
	fmt.Fprintf(&g.mixed, "%s[k] = v -> %s(k), %s(v).\n", name, typ, of)
	fmt.Fprintf(&g.mixed, "%s[%s] = n <- agg<<n = %s>> %s.\n", name, key, fn,
		strings.Join(mixed, ", "))
	fmt.Fprintf(&g.exact, "%s[k] = v -> decimal[38,0](k), decimal[38,0](v).\n", name)
	fmt.Fprintf(&g.exact, "_%s[%s] = n <- agg<<n = %s>> %s.\n", name, key, fn,
		strings.Join(exact, ", "))
	fmt.Fprintf(&g.exact, "%s[k] = v <- _%s[k] = v, %s, %s.\n", name, name, within("k", typ),
		within("v", of))
}
