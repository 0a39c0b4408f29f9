package vocabulary

// Directive is a lang: directive that redfox obeys.
type Directive struct {
	Name string
	// Form is the directive as a program writes it, about a predicate p.
	Form string
	Doc  string
	// Example is a program with the directive.
	Example string
}

// Directives lists the directives.
var Directives = []Directive{
	{
		Name: "lang:derivationType",
		Form: "lang:derivationType[`p] = \"Extensional\".",
		Doc: "How p gets its tuples: \"Extensional\" from facts only, \"DerivedAndStored\" by " +
			"rules, \"Derived\" by rules and only if something asks for it.",
		Example: "p(x) -> int(x).\nlang:derivationType[`p] = \"Extensional\".\n",
	},
	{
		Name: "lang:physical:filePath",
		Form: "lang:physical:filePath[`p] = \"p.csv\".",
		Doc:  "The file that p is read from, or written to if rules derive p.",
		Example: "staff(name, pay) -> string(name), int(pay).\n" +
			"lang:physical:filePath[`staff] = \"staff.csv\".\n",
	},
	{
		Name: "lang:physical:fileMode",
		Form: "lang:physical:fileMode[`p] = \"import\".",
		Doc: "\"import\" reads the file of p, \"export\" writes it. By default a predicate with " +
			"rules is written and others are read.",
		Example: "q(1).\np(x) <- q(x).\nlang:physical:filePath[`p] = \"p.csv\".\n" +
			"lang:physical:fileMode[`p] = \"export\".\n",
	},
	{
		Name: "lang:physical:delimiter",
		Form: "lang:physical:delimiter[`p] = \"|\".",
		Doc: "The character between fields. By default a comma in files whose name ends in " +
			".csv, and a tab in others.",
		Example: "p(x, y) -> int(x), int(y).\nlang:physical:filePath[`p] = \"p.txt\".\n" +
			"lang:physical:delimiter[`p] = \"|\".\n",
	},
	{
		Name: "lang:physical:hasColumnNames",
		Form: "lang:physical:hasColumnNames[`p] = true.",
		Doc: "Whether the first line of the file has the names of the columns. By default as " +
			"--header says. A file that a program names gives its columns to the arguments by " +
			"their place, not by their names.",
		Example: "p(x, y) -> int(x), int(y).\nlang:physical:filePath[`p] = \"p.csv\".\n" +
			"lang:physical:hasColumnNames[`p] = true.\n",
	},
	{
		Name: "lang:physical:columnNames",
		Form: "lang:physical:columnNames[`p] = \"id,price\".",
		Doc: "The names of all columns of the file, as a header that is written has them. A " +
			"comma, a tab, a bar or a semicolon separates them.",
		Example: "sold[id] = n -> int(id), decimal(n).\nsold[1] = 2.50.\n" +
			"report(id, n) <- sold[id] = n.\n" +
			"lang:physical:filePath[`report] = \"report.csv\".\n" +
			"lang:physical:hasColumnNames[`report] = true.\n" +
			"lang:physical:columnNames[`report] = \"Number,Price\".\n",
	},
	{
		Name: "lang:output:orderBy",
		Form: "lang:output:orderBy[`p] = \"total desc, name\".",
		Doc: "The order of the tuples of p in results: names of arguments, each with asc or " +
			"desc. The other arguments break ties. An extension of redfox.",
		Example: "p(1, \"a\"). p(2, \"b\").\n_(n, s) <- p(n, s).\n" +
			"lang:output:orderBy[`_] = \"n desc\".\n",
	},
	{
		Name:    "lang:output:limit",
		Form:    "lang:output:limit[`p] = 10.",
		Doc:     "The greatest number of tuples of p in results. An extension of redfox.",
		Example: "p(1). p(2).\n_(x) <- p(x).\nlang:output:limit[`_] = 1.\n",
	},
	{
		Name: "lang:recursiveMin",
		Form: "lang:recursiveMin(`p).",
		Doc: "The value of a key of p is the least that a rule derives, also in a recursion. An " +
			"extension of redfox.",
		Example: "edge(1, 2, 5). edge(2, 1, 3).\nlang:recursiveMin(`dist).\ndist[1] = 0.\n" +
			"dist[y] = dist[x] + d <- edge(x, y, d).\n",
	},
	{
		Name: "lang:recursiveMax",
		Form: "lang:recursiveMax(`p).",
		Doc: "The value of a key of p is the greatest that a rule derives, also in a recursion, and " +
			"also a count of what the recursion finds. An extension of redfox.",
		Example: "edge(1, 2, 5). edge(2, 1, 3).\nlang:recursiveMax(`width).\nwidth[1] = 100.\n" +
			"width[y] = int:min[width[x], d] <- edge(x, y, d).\n",
	},
	{
		Name: "lang:recursiveAny",
		Form: "lang:recursiveAny(`p).",
		Doc: "The value of a key of p is one of those that rules derive: the least of those that the " +
			"recursion derives first. An extension of redfox.",
		Example: "edge(1, 2). edge(1, 3). edge(2, 4). edge(3, 4).\nlang:recursiveAny(`parent).\n" +
			"parent[1] = 0.\nparent[y] = x <- parent[x] = _, edge(x, y).\n",
	},
	{
		Name: "lang:iterate",
		Form: "lang:iterate[`p] = 20.",
		Doc: "The rules of p run that often, each time on what the time before has left. Rules that " +
			"do not read p give what it has at first. An extension of redfox.",
		Example: "half[\"a\"] = 8.\nhalf[x] = half[x] / 2.\nlang:iterate[`half] = 3.\n",
	},
	{
		Name: "lang:iterateUntil",
		Form: "lang:iterateUntil[`p] = 1e-9.",
		Doc: "The rules of p run, as with lang:iterate, until no value moves by more than that. " +
			"With 0, nothing moves at all. With both, lang:iterate bounds the rounds. An extension of " +
			"redfox.",
		Example: "root[\"two\"] = 1f.\nroot[x] = (root[x] + 2f / root[x]) / 2f.\n" +
			"lang:iterateUntil[`root] = 1e-9.\n",
	},
	{
		Name: "lang:compiler:warning",
		Form: "lang:compiler:warning:NAME[] = true.",
		Doc:  "Switches a warning on or off.",
		Example: "lang:compiler:warning:SINGLE_OCCURRENCE[] = false.\n" +
			"p(1, 2).\n_(x) <- p(x, y).\n",
	},
	{
		Name: "lang:compiler:disableWarning",
		Form: "lang:compiler:disableWarning:NAME[] = true.",
		Doc:  "Switches a warning off.",
		Example: "lang:compiler:disableWarning:SINGLE_OCCURRENCE[] = true.\n" +
			"p(1, 2).\n_(x) <- p(x, y).\n",
	},
	{
		Name:    "lang:compiler:error",
		Form:    "lang:compiler:error:NAME[] = true.",
		Doc:     "Makes a warning an error.",
		Example: "lang:compiler:error:SINGLE_OCCURRENCE[] = true.\np(1, 2).\n_(x) <- p(x, _).\n",
	},
	{
		Name: "lang:compiler:disableError",
		Form: "lang:compiler:disableError:NAME[] = true.",
		Doc: "Makes the error of lang:compiler:error a warning again. NEGATION_RECURSION stays " +
			"an error.",
		Example: "lang:compiler:disableError:NO_SOURCE[] = true.\np(1).\n_(x) <- p(x).\n",
	},
	{
		Name:    "lang:pulse",
		Form:    "lang:pulse(`p).",
		Doc:     "p holds the tuples of one transaction and is empty after it.",
		Example: "order(x) -> int(x).\nlang:pulse(`order).\n+order(1).\n+seen(x) <- +order(x).\n",
	},
	{
		Name:    "lang:entity",
		Form:    "lang:entity(`p).",
		Doc:     "p is an entity type.",
		Example: "person(x) -> .\nlang:entity(`person).\n",
	},
	{
		Name: "lang:isEntity",
		Form: "lang:isEntity[`p] = false.",
		Doc: "With false, p is a plain relation, although it is declared as a subtype. With true, " +
			"p is an entity type.",
		Example: "person(x), person:name(x:n) -> string(n).\nadult(x) -> person(x).\n" +
			"lang:isEntity[`adult] = false.\n",
	},
	{
		Name: "lang:constructor",
		Form: "lang:constructor(`p).",
		Doc:  "p creates an entity for each of its keys.",
		Example: "point(p) -> .\nat[x, y] = p -> int(x), int(y), point(p).\n" +
			"lang:constructor(`at).\npoint(p), at[1, 2] = p <- .\n",
	},
	{
		Name: "lang:skolem",
		Form: "lang:skolem(`p).",
		Doc:  "The name of lang:constructor in LogicBlox 3.",
		Example: "point(p) -> .\nat[x, y] = p -> int(x), int(y), point(p).\n" +
			"lang:skolem(`at).\npoint(p), at[1, 2] = p <- .\n",
	},
	{
		Name: "lang:autoNumbered",
		Form: "lang:autoNumbered(`t:id).",
		Doc:  "redfox chooses the values of the refmode t:id.",
		Example: "ticket(x), ticket:id(x:n) -> int(n).\nlang:autoNumbered(`ticket:id).\n" +
			"holder[x] = s -> ticket(x), string(s).\nperson(\"ann\").\n" +
			"ticket(x), holder[x] = s <- person(s).\n",
	},
}

// DirectiveNames returns the names of the directives.
func DirectiveNames() []string {
	var out []string
	for _, d := range Directives {
		out = append(out, d.Name)
	}
	return out
}
