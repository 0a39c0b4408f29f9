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
		{"an expression of an aggregate",
			e + "out[x] = int:float:convert[n] <- agg<<n = count()>> e(x, _).",
			"out_n[x] = n <- agg<<n = count()>> e(x, _). " +
				"out[x] = int:float:convert[n] <- out_n[x] = n.", ""},
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
		{"one of several values", e + "r(x) <- e(x, _), x in (1, 2).", "(x = 1 ; x = 2)",
			"r(x) <- e(x, _), (x = 1 ; x = 2)."},
		{"a pattern", `s("a"). r(x) <- s(x), x like "a%".`, `string:like(x, "a%")`,
			`s("a"). r(x) <- s(x), string:like(x, "a%").`},
		{"between", e + "r(x) <- e(x, _), x between 1 and 2.", "1 <= x <= 2",
			"r(x) <- e(x, _), 1 <= x <= 2."},
		{"is null", e + "f[x] = y <- e(x, y). r(x) <- e(x, _), f[x] is null.", "!f[k] = _",
			"f[x] = y <- e(x, y). r(k) <- e(k, _), !f[k] = _."},
		{"a conditional value", e + "r(y) <- e(x, _), y = if x > 1 then 2 else 3.",
			"each case is a rule of its own", "-"},
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
