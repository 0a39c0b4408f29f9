package diag

// mended has, by the name of a code, its example as the advice says.
var mended = map[string]string{
	"UnexpectedToken": `q(1).
p(x) <- q(x).
`,
	"MissingFullStop": `q(1).
p(x) <- q(x).
r(x) <- p(x).
`,
	"UnbalancedBracket": `q(1, 2).
p(x, y) <- q(x, y).
`,
	"ForeignOperator": `q(1).
p(x) <- q(x).
`,
	"ForeignQuote": `p("a").
`,
	"HashComment": `// the roots
root(1).
`,
	"NotKeyword": `q(1).
r(2).
p(x) <- q(x), !r(x).
`,
	"UnterminatedString": `p("a").
`,
	"UnterminatedComment": `p(1).
/* the rest */
q(2).
`,
	"UnknownCharacter": `q(1, 7).
p(x) <- q(_, y), x = int:mod[y, 2].
`,
	"InvalidEncoding": `p("\u00ff").
`,
	"MalformedNumber": `p("12abc").
`,
	"NumberOutOfRange": `p(1e20).
`,
	"MalformedEscape": `p("\\d").
`,
	"MalformedDatetime": `p(#1998-03-02#).
p(#1998-03-02T12:00:00Z#).
`,
	"MalformedQuote": "person(x) -> .\n" +
		"lang:entity(`person).\n",
	"NestingTooDeep": `q(1).
r(2).
s(x) <- q(x), !r(x).
p(x) <- q(x), s(x).
`,
	"SecondArrow": `q(1).
r(1).
p(x) <- q(x), r(x).
`,
	"MisplacedSpecifier": `p(1).
n[] = c <- agg<<c = count()>> p(x).
`,
	"MissingArguments": `q(1).
config:debug().
p(x) <- q(x), config:debug().
`,
	"EmptyClause": `p(1).
`,
	"Preprocessor": `limit[] = 10.
n(3).
small(x) <- n(x), x < limit[].
`,
	"UnboundVariable": `edge(x, y) -> int(x), int(y).
node(x) -> int(x).
out(x, z) <- edge(x, y), !edge(y, z), node(z).
sink(x) <- edge(x, y), !edge(y, _).
`,
	"UnboundInAlternative": `a(x) -> int(x).
b(x, y) -> int(x), int(y).
p(x, y) <- a(x), y = 0 ; b(x, y).
`,
	"WildcardInHead": `edge(x, y) -> int(x), int(y).
p(x, y) <- edge(x, y).
q(x) <- edge(x, _).
`,
	"UnknownPredicate": `edge(x, y) -> int(x), int(y).
path(x, y) <- edge(x, y).
`,
	"UnknownFunction": `name(x) -> string(x).
len(x, n) <- name(x), n = string:length[x].
`,
	"UnknownType": `age[p] = n -> string(p), int(n).
`,
	"WrongArity": `edge(x, y) -> int(x), int(y).
path(x, y) <- edge(x, y).
`,
	"NotFunctional": `edge[x] = y -> int(x), int(y).
next[x] = y <- edge[x] = y.
`,
	"BuiltinDefined": `size["a"] = 1.
`,
	"BadTypeParameter": `p(x) -> int[8](x).
`,
	"QueryInBody": `p(1).
answer(x) <- p(x).
_(x) <- answer(x).
q(x) <- answer(x).
`,
	"TypeClash": `age[p] = n -> string(p), int(n).
name(x) -> string(x).
odd(x) <- age[_] = x, name(int:string:convert[x]).
`,
	"NoType": `q(x) -> int(x).
p(x) <- q(x).
`,
	"WrongArgumentTypes": `name(x) -> string(x).
p(y) <- name(x), y = string:int:convert[x] * 2.
`,
	"LiteralOutOfRange": `p(x) -> int[16](x).
p(300).
`,
	"Narrowing": `price[x] = v -> string(x), decimal(v).
round(n) -> int(n).
round(n) <- price[_] = v, n = decimal:int:convert[v].
`,
	"NotAFormula": `p(1).
q(x) <- p(x).
r(x) <- p(x), x = 1.
`,
	"NotAnExpression": `f[1] = 2.
q(y) <- y = f[1] + 1.
`,
	"BadHead": `p(1).
q(x) <- p(x), x > 1.
`,
	"TooManyAlternatives": `a(1). b(2).
either(x) <- a(x) ; b(x).
p(x) <- either(x).
`,
	"UnknownAggregation": `p(1).
m[] = v <- agg<<v = avg(x)>> p(x).
`,
	"ExpressionInAggregateHead": `p(1, 2).
s[g] = v <- agg<<v = total(y)>> p(x, y), g = x + 1.
`,
	"DisjunctionInAggregate": `p(1). q(2).
either(x) <- p(x) ; q(x).
n[] = c <- agg<<c = count()>> either(x).
`,
	"AggregateOutput": `p(1, 2).
s[x] = v <- agg<<v = total(y)>> p(x, y).
half[x] = v / 2 <- agg<<v = total(y)>> p(x, y).
`,
	"AggregateInput": `p(1).
n[] = c <- agg<<c = count()>> p(x).
`,
	"EmptyAggregateBody": `p(1).
n[] = c <- agg<<c = count()>> p(x).
`,
	"SequenceBody": `p(1). q(1).
both(x) <- p(x), q(x).
s[i] = x <- seq<<>> both(x).
`,
	"SequenceHead": `p(1).
s[i] = x <- seq<<>> p(x).
`,
	"NegationInRecursion": `move(x, y) -> int(x), int(y).
stuck(x) <- move(_, x), !move(x, _).
win(x) <- move(x, y), stuck(y).
`,
	"SequenceSpecifier": `score["ann"] = 3.
place[i] = s <- seq<<i = number(order(desc(n)))>> score[s] = n.
`,
	"AggregationInRecursion": `edge(x, y, w) -> int(x), int(y), int(w).
path(y, 0) <- edge(_, y, _), y = 1.
path(y, c) <- path(x, e), edge(x, y, w), c = e + w, c < 100.
dist[y] = d <- agg<<d = min(c)>> path(y, c).
`,
	"SequenceInRecursion": `p(1).
q(i) <- s[i] = _.
s[i] = x <- seq<<>> p(x).
`,
	"UnboundedRecursion": `n(0).
n(y) <- n(x), y = x + 1, y < 100.
`,
	"NotMonotone": `edge(x, y, w) -> int(x), int(y), int(w).
dist[1] = 0.
dist[y] = d + w <- dist[x] = d, edge(x, y, w), d < 3.
lang:recursiveMin(` + "`dist" + `).
`,
	"NotIterable": `half["a"] = 8.
half[x] = y <- half[x] = z, y = z / 2.
lang:iterate[` + "`half" + `] = 3.
`,
	"NegationNotDisabled": `p(1).
`,
	"DivisionByZero": `p(1).
q(y) <- p(x), y = x / 2.
`,
	"NoValue": `p(x) <- x = string:int:convert["10"].
`,
	"BadConstant": `p(#2024-01-31#).
q(y) <- p(d), y = datetime:part[d, "month"].
`,
	"ConflictingFacts": `age["ann"] = 31.
`,
	"SingleOccurrence": `edge(1, 2).
node(x) <- edge(x, _).
`,
	"Undeclared": `lang:compiler:warning:NO_DECLARATION[] = true.
p(x) -> int(x).
p(1).
_(x) <- p(x), int(x).
`,
	"UnusedPredicate": `p(1). q(2).
_(x) <- p(x) ; q(x).
`,
	"NeverFires": `p(1).
r(y) <- p(x), y = 6 / x.
`,
	"NoSource": `events(x) -> int(x).
p(x) <- events(x), x > 3.
`,
	"NotSupportedYet": `p(x) -> int(x).
toss[x] = v <- series<< v = rnd_uniform_int<0, 10, 1>[x] >> p(x).
`,
	"NotSupported": `p(1, 2f).
m[] = v <- agg<<v = avg(y)>> p(x, y).
`,
	"UnknownDirective": "p(1).\n" +
		"lang:derivationType[`p] = \"Extensional\".\n",
	"BadDirective": "p(1).\n" +
		"lang:output:limit[`p] = 10.\n",
	"IgnoredDirective": `p(1).
`,
	"DerivedFromOutside": "e(1).\n" +
		"given(x) -> int(x).\n" +
		"lang:physical:filePath[`given] = \"p.csv\".\n" +
		"lang:physical:fileMode[`given] = \"import\".\n" +
		"p(x) <- e(x).\n" +
		"p(x) <- given(x).\n",
	"RuleOnExtensional": `e(1).
p(x) <- e(x).
`,
	"BadEntity": `person(x), person:name(x:n) -> string(n).
`,
	"BadCreation": `person(x), person:name(x:n) -> string(n).
friend(x, y) -> person(x), person(y).
ann(y) <- person:name(x:"Ann"), friend(x, y).
`,
	"RangesOverType": `person(x), person:name(x:n) -> string(n).
friend(x, y) -> person(x), person(y).
stranger(x, y) -> person(x), person(y).
stranger(x, y) <- friend(x, _), friend(y, _), !friend(x, y).
`,
	"DeltaOnDerived": `e(1).
+p(x) <- e(x).
+p(x) <- e(y), x = y + 1.
`,
	"EventInRule": `p(x) -> int(x).
+p(1).
+q(x) <- +p(x).
`,
	"UnknownStage": `p(x) -> int(x).
+q(x) <- p@prev(x).
`,
	"BadBlock": "block(`main) {\n" +
		"  clauses(`{ p(1). })\n" +
		"} <-- .\n",
	"UnknownBlock": "block(`shapes) {\n" +
		"  export(`{ area(x) -> int(x). }), clauses(`{ area(4). })\n" +
		"} <-- .\n" +
		"block(`main) {\n" +
		"  alias_all(`shapes),\n" +
		"  clauses(`{ p(x) <- area(x). })\n" +
		"} <-- .\n",
	"NotExported": "block(`store) {\n" +
		"  export(`{ stock(x) -> string(x). }),\n" +
		"  clauses(`{ stock(\"pear\"). })\n" +
		"} <-- .\n" +
		"low(x) <- store:stock(x), $store:stock(x).\n",
	"AmbiguousName": "block(`a) { export(`{ p(x) -> int(x). }), clauses(`{ p(1). }) } <-- .\n" +
		"block(`b) { export(`{ p(x) -> int(x). }), clauses(`{ p(2). }) } <-- .\n" +
		"block(`main) {\n" +
		"  alias_all(`a), alias_all(`b),\n" +
		"  clauses(`{ q(x) <- a:p(x), b:p(x). })\n" +
		"} <-- .\n",
	"SealedPredicate": "block(`store) {\n" +
		"  export(`{ stock(x) -> string(x). }), clauses(`{ stock(\"pear\"). })\n" +
		"} <-- .\n" +
		"store:stock(\"plum\").\n",
}
