package desugar

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// specifier is v = function<parameters>[index](input).
var specifier = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^\s*([\pL_?][\pL\d_?]*)\s*=\s*(\w+)\s*(?:<(.*)>)?\s*\[([^\]]*)\]\s*(?:\((.*)\))?\s*$`)
})

// series rewrites v = runtotal[i](x), and v = rnd_uniform_int<lo, hi, seed>[i]
// and rnd_uniform_real.
func (g *generator) series(c *ast.Clause) []*ast.Clause {
	m := specifier().FindStringSubmatch(c.P2P.Text)
	if m == nil || c.Right == nil {
		return nil
	}
	at := c.P2P.Span
	out := &ast.Var{Span: at, Name: m[1]}
	parameters, index, input := terms(m[3], at), terms(m[4], at), terms(m[5], at)
	if len(index) != 1 {
		return nil
	}
	switch m[2] {
	case "runtotal":
		if len(parameters) == 0 && len(input) == 1 {
			return g.runningTotal(c, out, index[0], input[0])
		}
	case "rnd_uniform_int", "rnd_uniform_real":
		if len(parameters) == 3 && len(input) == 0 {
			items := g.uniform(m[2] == "rnd_uniform_real", out, parameters, index[0])
			rule := *c
			rule.P2P, rule.PartOf = nil, c
			rule.Right = conjunction(append(conjuncts(c.Right), items...), at)
			return []*ast.Clause{&rule}
		}
	}
	return nil
}

// terms parses expressions with commas between them.
func terms(text string, at source.Span) []ast.Node {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var found diag.List
	f := parse.File(source.NewFile(at.File.Name, "p("+text+")."), &found)
	if found.HasErrors() || len(f.Clauses) != 1 {
		return nil
	}
	a, ok := ast.Unparen(f.Clauses[0].Left).(*ast.Apply)
	if !ok {
		return nil
	}
	out := slices.Clone(a.Args)
	for i, n := range out {
		switch n := n.(type) {
		case *ast.Var:
			out[i] = &ast.Var{Span: at, Name: n.Name}
		case *ast.Literal:
			out[i] = &ast.Literal{Span: at, Value: n.Value, Raw: n.Raw}
		}
	}
	return out
}

// runningTotal adds up the inputs of each group in the order of the index. sums
// has the total of the last d inputs up to a rank, for powers d of 2, so that n
// inputs take log n rounds. Each binding of the variables of the body is an
// input of its own, as for agg<<>>, so the inputs have all variables.
func (g *generator) runningTotal(c *ast.Clause, out *ast.Var, index, input ast.Node) []*ast.Clause {
	f, v, ok := function(c.Left)
	i, isVar := index.(*ast.Var)
	if !ok || !isVar {
		return nil
	}
	if result, ok := ast.Unparen(v).(*ast.Var); !ok || result.Name != out.Name {
		return nil
	}
	var groups []ast.Node
	for _, x := range f.Args {
		if key, ok := ast.Unparen(x).(*ast.Var); !ok || key.Name != i.Name {
			groups = append(groups, x)
		}
	}
	if len(groups) != len(f.Args)-1 {
		return nil
	}
	g.places++
	at := c.P2P.Span
	of := func(kind string, args ...ast.Node) ast.Node {
		return apply(fmt.Sprintf("%s#%d", kind, g.places), slices.Concat(groups, args), at)
	}
	body := g.named(c.Right)
	others := otherVariables(body, append(f.Args[:len(f.Args):len(f.Args)], out, input))
	ranked := func(rank, i, x ast.Node) ast.Node {
		a := of("ranked", append([]ast.Node{rank, i, x}, others...)...).(*ast.Apply)
		a.Split = len(groups) + 1
		return a
	}
	inputs := func(x ast.Node) ast.Node {
		return of("input", append([]ast.Node{i, x}, others...)...)
	}
	rank, before, d, p, q := g.fresh(at), g.fresh(at), g.fresh(at), g.fresh(at), g.fresh(at)
	x := g.fresh(at)
	numbered := g.clauseOf(ranked(rank, i, x), inputs(x))
	numbered.P2P = &ast.P2P{Span: at, Name: "seq"}
	last := value(fmt.Sprintf("last#%d", g.places), at, groups...)
	most := g.clauseOf(compare(last, "=", p, at), ranked(rank, i, x))
	most.P2P = &ast.P2P{Span: at, Name: "agg", Specs: []*ast.Spec{{Span: at,
		Out: &ast.Name{Span: at, Text: p.Name}, Fn: &ast.Name{Span: at, Text: "max"}, In: rank}}}
	double := binary("*", number(2, at), d, at)
	total := value(f.Name.Text, f.Span, f.Args...)
	return []*ast.Clause{
		g.clauseOf(inputs(x), append(conjuncts(body), compare(x, "=", input, at))...),
		numbered, most,
		g.clauseOf(of("sums", rank, number(1, at), x), ranked(rank, i, x)),
		g.clauseOf(of("sums", rank, double, binary("+", p, q, at)),
			of("sums", rank, d, p), compare(d, "<=", last, at), compare(rank, ">=", d, at),
			compare(before, "=", binary("-", rank, d, at), at), of("sums", before, d, q)),
		g.clauseOf(of("sums", rank, double, p),
			of("sums", rank, d, p), compare(d, "<=", last, at), compare(rank, "<", d, at)),
		g.clauseOf(compare(total, "=", out, at), ranked(rank, i, x),
			of("sums", rank, d, out), compare(d, ">", last, at)),
	}
}

// named returns a formula with variables for the wildcards that bind values,
// which are those outside of negations and alternatives.
func (g *generator) named(n ast.Node) ast.Node {
	list := func(nodes []ast.Node) []ast.Node {
		out := make([]ast.Node, len(nodes))
		for i, x := range nodes {
			out[i] = g.named(x)
		}
		return out
	}
	switch n := n.(type) {
	case *ast.Wildcard:
		return g.fresh(n.Span)
	case *ast.Conj:
		return &ast.Conj{Span: n.Span, Items: list(n.Items)}
	case *ast.Apply:
		out := *n
		out.Args = list(n.Args)
		return &out
	case *ast.RefMode:
		return &ast.RefMode{Span: n.Span, X: g.named(n.X), V: g.named(n.V)}
	}
	return mapped(n, g.named)
}

// otherVariables returns the variables that a formula binds, without those that
// are given. An alternative binds what all alternatives bind.
func otherVariables(n ast.Node, given []ast.Node) []ast.Node {
	var out []ast.Node
	seen := func(v *ast.Var) bool {
		return slices.ContainsFunc(slices.Concat(given, out), func(x ast.Node) bool {
			y, ok := ast.Unparen(x).(*ast.Var)
			return ok && y.Name == v.Name
		})
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Not:
			return false
		case *ast.Disj:
			for _, v := range otherVariables(n.Items[0], given) {
				inAll := !slices.ContainsFunc(n.Items[1:], func(x ast.Node) bool {
					return !slices.ContainsFunc(otherVariables(x, given), func(y ast.Node) bool {
						return y.(*ast.Var).Name == v.(*ast.Var).Name
					})
				})
				if inAll && !seen(v.(*ast.Var)) {
					out = append(out, v)
				}
			}
			return false
		case *ast.Var:
			if !seen(n) {
				out = append(out, n)
			}
		}
		return true
	})
	return out
}

// uniform returns the items that give a variable the pseudo-random number of a
// seed and an index: SplitMix64 (Steele, Lea and Flood 2014) of both.
func (g *generator) uniform(real bool, out *ast.Var, parameters []ast.Node, index ast.Node,
) []ast.Node {
	at := out.Span
	lo, hi, seed := parameters[0], parameters[1], parameters[2]
	var items []ast.Node
	let := func(x ast.Node) ast.Node {
		v := g.fresh(at)
		items = append(items, compare(v, "=", x, at))
		return v
	}
	times := func(x ast.Node, k uint64) ast.Node { return binary("*", x, number(int64(k), at), at) }
	// int:shr keeps the sign; the mask takes it away.
	right := func(x ast.Node, n int64) ast.Node {
		mask := int64(uint64(1)<<(64-n) - 1)
		return value("int:bitand", at, value("int:shr", at, x, number(n, at)), number(mask, at))
	}
	mixed := func(x ast.Node, n int64) ast.Node {
		return value("int:bitxor", at, x, right(x, n))
	}
	z := let(binary("+", times(seed, 0xd1342543de82ef95), times(binary("+", index, number(1, at), at),
		0x9e3779b97f4a7c15), at))
	z = let(times(mixed(z, 30), 0xbf58476d1ce4e5b9))
	z = let(times(mixed(z, 27), 0x94d049bb133111eb))
	z = let(mixed(z, 31))
	if !real {
		size := binary("+", binary("-", hi, lo, at), number(1, at), at)
		return append(items, compare(out, "=", binary("+", lo,
			value("int:mod", at, right(z, 1), size), at), at))
	}
	unit := binary("*", value("int:float:convert", at, right(z, 11)), &ast.Literal{Span: at,
		Value: scalar.OfFloat(scalar.FloatType, 1.0/(1<<53)), Raw: "1.1102230246251565e-16f"}, at)
	return append(items, compare(out, "=", binary("+", lo, binary("*", unit,
		binary("-", hi, lo, at), at), at), at))
}
