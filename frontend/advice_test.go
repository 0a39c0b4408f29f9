package frontend_test

import (
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/diag"
)

// TestAdvice compiles what people type who know another language, and then what
// the advice tells them to write: say is in the message and in the program that
// follows it, which compiles.
func TestAdvice(t *testing.T) {
	const e = "e(x, y) -> int(x), int(y). e(1, 2). "
	for _, c := range []struct{ name, typed, say, fixed string }{
		{"an aggregate as a function", e + "n[] = count(e).",
			"n[] = v <- agg<<v = count()>> e(x, y).", ""},
		{"an aggregate over a body", e + "m[] = max(x) <- e(x, _).",
			"m[] = v <- agg<<v = max(x)>> e(x, _).", ""},
		{"an aggregate of a predicate", e + "m[] = max(e).",
			"m[] = v <- agg<<v = max(y)>> e(x, y).", ""},
		{"a function without its type", e + "r(x) <- e(y, _), x = abs[y].",
			"int:abs", "r(x) <- e(y, _), x = int:abs[y]."},
		{"the length of a string", `s("a"). r(x) <- s(y), x = length[y].`,
			"string:length", `s("a"). r(x) <- s(y), x = string:length[y].`},
		{"an expression of a result in a relation",
			e + "out(x, int:float:convert[n]) <- agg<<n = count()>> e(x, _).",
			"out[x] = int:float:convert[n]",
			"out[x] = int:float:convert[n] <- agg<<n = count()>> e(x, _)."},
		{"an expression as a key", e + "out[x + g] = n <- agg<<n = count()>> e(x, g).",
			"add y = x + g after >>, and write y in the head",
			"-"},
		{"a function in a head", e + "f(x) = 1 <- e(x, _).", "f[x] = 1",
			"f[x] = 1 <- e(x, _)."},
		{"a variable in a negation alone", e + "r(x) <- !e(x, _).", "e(_, x)",
			"r(x) <- !e(x, _), e(_, x)."},
		{"a name without quotes", "likes(ann, 3).", `"ann"`, `likes("ann", 3).`},
		{"false for a denial", e + "e(x, y), x > y -> false.", "!(e(x, y), x > y).", ""},
		{"a missing value", e + "f[x] = y <- e(x, y). r(x) <- e(x, _), f[x] != null.",
			"f[k] = _", "f[x] = y <- e(x, y). r(k) <- e(k, _), f[k] = _."},
		{"a directive misspelt", "p(a) -> string(a). lang:physical:filePath[`p] = \"p.csv\". " +
			"lang:physical:delimeter[`p] = \";\".", "lang:physical:delimiter",
			"p(a) -> string(a). lang:physical:filePath[`p] = \"p.csv\". " +
				"lang:physical:delimiter[`p] = \";\"."},
		{"a declaration of Soufflé", ".decl edge(x:number, y:symbol)",
			"edge(x, y) -> int(x), string(y).", ""},
		{"a declaration of Soufflé with blanks", ".decl edge(x: unsigned, y : float)",
			"edge(x, y) -> uint(x), float(y).", ""},
		{"an input of Soufflé", ".input edge", "leave it out: --facts DIR", "-"},
		{"an output of Soufflé", ".output edge", "leave it out: --print edge", "-"},
		{"a type of Soufflé", ".type Name <: symbol", "p(x) -> string(x).", ""},
		{"a query of SQL", "SELECT x FROM e", "_(x) <- e(x).", "e(1). _(x) <- e(x)."},
		{"a longer query of SQL", "select x, y from e where x > 1", "_(x, y) <- p(x, y), x > 1.",
			"p(1, 2). _(x, y) <- p(x, y), x > 1."},
		{"a table of SQL", "CREATE TABLE e (x int);", "p(x, y) -> int(x), string(y).", ""},
		{"a row of SQL", "INSERT INTO e VALUES (1);", `p(1, "a").`, ""},
		{"one of several values", e + "r(x) <- e(x, _), x in (1, 2).", "x in {1, 2}",
			"r(x) <- e(x, _), x in {1, 2}."},
		{"none of several values", e + "r(x) <- e(x, _), x not in (1, 2).", "!(x in {1, 2})",
			"r(x) <- e(x, _), !(x in {1, 2})."},
		{"one of the values of a query", e + "r(x) <- e(x, _), x in (select y from t).",
			"x in {1, 2}", "r(x) <- e(x, _), x in {1, 2}."},
		{"a member that is no literal", e + "r(x) <- e(x, y), x in {1, y}.",
			"(x in {...} ; x = y)", "-"},
		{"a pattern", `s("a"). r(x) <- s(x), x like "a%".`, `string:like(x, "a%")`,
			`s("a"). r(x) <- s(x), string:like(x, "a%").`},
		{"between", e + "r(x) <- e(x, _), x between 1 and 5.", "1 <= x <= 5",
			"r(x) <- e(x, _), 1 <= x <= 5."},
		{"is null", e + "f[x] = y <- e(x, y). r(x) <- e(x, _), f[x] is null.", "!f[k] = _",
			"f[x] = y <- e(x, y). r(k) <- e(k, _), !f[k] = _."},
		{"a case", e + "r(y) <- e(x, _), y = case when x > 1 then 2 else 3 end.",
			"if x > 1 then 2 else 3", "r(y) <- e(x, _), y = if x > 1 then 2 else 3."},
		{"a case alone", e + "r(y) <- e(x, _), y = if x > 1 then 2.",
			"if x > 1 then 2 else 3", "r(y) <- e(x, _), y = if x > 1 then 2 else 3."},
		{"an order", e + "_(x) <- e(x, _), ORDER BY x.", "lang:output:orderBy[`_] = \"x\".",
			"_(x) <- e(x, _). lang:output:orderBy[`_] = \"x\"."},
		{"a limit", e + "top(x) <- e(x, _) LIMIT 3.", "lang:output:limit[`top] = 3.",
			"top(x) <- e(x, _). lang:output:limit[`top] = 3."},
		{"groups", e + "n(x) <- e(x, _) GROUP BY x.", "n[x] = v <- agg<<v = count()>> p(x, _).",
			"p(1, 2). n[x] = v <- agg<<v = count()>> p(x, _)."},
		{"not exists", e + "r(x) <- e(x, _), NOT EXISTS e(_, x).", "!p(x)",
			"p(1). r(x) <- e(x, _), !p(x)."},
		{"all of a count", e + "n[] = v <- agg<<v = count(*)>> e(_, _).",
			"n[] = v <- agg<<v = count()>> p(x).", "p(1). n[] = v <- agg<<v = count()>> p(x)."},
		{"a greatest in a body", e + "r(x) <- e(x, y), y = max(y).",
			"v[] = v <- agg<<v = max(y)>> e(x, y).", ""},
		{"a text and a number", `s("a", 1). r(x + "-" + n) <- s(x, n).`, "int:string:convert[n]",
			`s("a", 1). r(x + "-" + int:string:convert[n]) <- s(x, n).`},
		{"a function in round brackets", `s("a"). r(upper(x)) <- s(x).`, "string:upper[x]",
			`s("a"). r(string:upper[x]) <- s(x).`},
		{"a function of Soufflé", `s("a"). r(strlen(x)) <- s(x).`, "string:length[x]",
			`s("a"). r(string:length[x]) <- s(x).`},
		{"the year of a date", "d(#2020-01-02#). r(year(x)) <- d(x).",
			`datetime:part[x, "year"]`, `d(#2020-01-02#). r(datetime:part[x, "year"]) <- d(x).`},
		{"a question without an end", e + "e(X, Y).", "_(X, Y) <- e(X, Y).", ""},
		{"a missing value in a fact", `s("a", null).`, "leave its fact out", "-"},
		{"a question of Prolog", e + "?- e(1, X).", "_(x) <- p(x, 1).", "p(1, 1). _(x) <- p(x, 1)."},
		{"a question", e + "e(1, X)?", "_(x) <- p(x, 1).", "p(1, 1). _(x) <- p(x, 1)."},
		{"a list", "len([], 0).", `element(0, "a")`, `element(0, "a").`},
		{"a remainder", e + "r(x) <- e(x, _), x mod 2 = 0.", "int:mod[x, 2]",
			"r(x) <- e(x, _), int:mod[x, 2] = 0."},
		{"bits", e + "r(x band y) <- e(x, y).", "int:bitand[x, y]",
			"r(int:bitand[x, y]) <- e(x, y)."},
		{"an aggregate of Soufflé", e + "r(n) <- n = count : { e(_, _) }.",
			"n[x] = v <- agg<<v = count()>> p(x, _).",
			"p(1, 2). n[x] = v <- agg<<v = count()>> p(x, _)."},
		{"a sum of Soufflé", e + "r(n) <- n = sum y : { e(_, y) }.",
			"n[x] = v <- agg<<v = sum(y)>> p(x, y).",
			"p(1, 2). n[x] = v <- agg<<v = sum(y)>> p(x, y)."},
		{"a range of numbers", e + "r(x) <- x in range(0, 5).", "int:range(0, 4, 1, x)",
			"r(x) <- int:range(0, 4, 1, x)."},
		{"a component", ".comp A { p(1). }", "block(`name) { clauses(`{ p(1). }) } <-- .", ""},
		{"a result as a key", e + "n[v] = v <- agg<<v = count()>> e(_, _).", "n[] = v",
			"n[] = v <- agg<<v = count()>> e(_, _)."},
		{"an if without then", e + "r(y) <- e(x, _), y = if x > 1, 2, 3.",
			"", "r(y) <- e(x, _), y = if x > 1 then 2 else 3."},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, found := compile(t, c.typed)
			said := ""
			for _, d := range found {
				if d.Severity == diag.Error {
					said += strings.Join(d.Helps, "\n") + "\n"
				}
			}
			if !strings.Contains(said, c.say) {
				t.Fatalf("it does not say %s, but\n%s", c.say, said)
			}
			switch {
			case c.fixed == "-":
				return
			case c.fixed == "":
				c.fixed = c.say
			case !strings.Contains(c.fixed, c.say):
				t.Fatalf("the program does not follow the advice: %s", c.fixed)
			}
			if strings.HasPrefix(c.typed, e) {
				c.fixed = e + c.fixed
			}
			if program, found := compile(t, c.fixed); program == nil {
				t.Errorf("%s: %s", c.fixed, found[0].Message)
			}
		})
	}
}
