package diag

// The codes of semantic analysis. A hundred belongs to each subject.
var (
	// RF01xx: safety.

	// UnboundVariable: a variable of a rule or constraint gets no value: it
	// occurs only in the head, under negation, in comparisons, or in
	// expressions that need its value.
	UnboundVariable = newCode(&Code{
		ID: "RF0101", Name: "UnboundVariable",
		When: "A variable of a rule or constraint gets no value: it occurs only in the head, under " +
			"negation, in comparisons, or in expressions that need its value. Every variable must stand " +
			"in a positive atom, or be equal to an expression of variables that do.",
		Example: `edge(x, y) -> int(x), int(y).
out(x, z) <- edge(x, y), !edge(y, z).
`,
		Fix: "Bind z with an atom, as in `node(z)`, or use `_` under the negation and drop z from the " +
			"head.",
	})

	// UnboundInAlternative: a variable that is used outside a disjunction gets
	// a value in some of its alternatives only.
	UnboundInAlternative = newCode(&Code{
		ID: "RF0102", Name: "UnboundInAlternative",
		When: "A variable that is used outside a disjunction gets a value in some of its alternatives " +
			"only.",
		Example: `a(x) -> int(x).
b(x, y) -> int(x), int(y).
p(x, y) <- a(x) ; b(x, y).
`,
		Fix: "Bind y in both alternatives, or write two rules.",
	})

	// WildcardInHead: a head contains `_`, which says no value to derive.
	WildcardInHead = newCode(&Code{
		ID: "RF0103", Name: "WildcardInHead",
		When: "A head contains `_`, which says no value to derive.",
		Example: `edge(x, y) -> int(x), int(y).
p(x, _) <- edge(x, _).
`,
		Fix: "Name a variable that the body binds, or leave the argument out.",
	})

	// RF02xx: names and arities.

	// UnknownPredicate: a predicate in a body has no rule, no fact and no
	// declaration, and its name resembles that of one that has; or a directive
	// names a predicate that does not occur.
	UnknownPredicate = newCode(&Code{
		ID: "RF0201", Name: "UnknownPredicate",
		When: "A predicate in a body has no rule, no fact and no declaration, and its name resembles " +
			"that of one that has; or a directive names a predicate that does not occur.",
		Example: `edge(x, y) -> int(x), int(y).
path(x, y) <- egde(x, y).
`,
		Fix: "Write `edge`; declare the predicate if it is another one whose facts come from outside.",
	})

	// UnknownFunction: a name in the namespace of the built-in functions, such
	// as `string:`, is none of them.
	UnknownFunction = newCode(&Code{
		ID: "RF0202", Name: "UnknownFunction",
		When: "A name in the namespace of the built-in functions, such as `string:`, is none of them.",
		Example: `name(x) -> string(x).
len(x, n) <- name(x), n = string:lenght[x].
`,
		Fix: "Write `string:length`",
	})

	// UnknownType: a declaration gives an argument a type that is neither
	// primitive nor a unary predicate.
	UnknownType = newCode(&Code{
		ID: "RF0203", Name: "UnknownType",
		When: "A declaration gives an argument a type that is neither primitive nor a unary predicate.",
		Example: `age[p] = n -> string(p), integer(n).
`,
		Fix: "Write `int`",
	})

	// WrongArity: a predicate or function is used with another number of
	// arguments than it has.
	WrongArity = newCode(&Code{
		ID: "RF0204", Name: "WrongArity",
		When: "A predicate or function is used with another number of arguments than it has.",
		Example: `edge(x, y) -> int(x), int(y).
path(x, y) <- edge(x, y, _).
`,
		Fix: "Write `edge(x, y)`",
	})

	// NotFunctional: a predicate is used as a function, `p[k] = v`, but is a
	// relation or has another number of keys.
	NotFunctional = newCode(&Code{
		ID: "RF0205", Name: "NotFunctional",
		When: "A predicate is used as a function, `p[k] = v`, but is a relation or has another number " +
			"of keys.",
		Example: `edge(x, y) -> int(x), int(y).
next[x] = y <- edge[x] = y.
`,
		Fix: "Write `edge(x, y)`, or declare `edge[x] = y -> int(x), int(y).`",
	})

	// BuiltinDefined: a rule or fact has a built-in function or a primitive
	// type as its head.
	BuiltinDefined = newCode(&Code{
		ID: "RF0206", Name: "BuiltinDefined",
		When: "A rule or fact has a built-in function or a primitive type as its head.",
		Example: `string:length["a"] = 1.
`,
		Fix: "Choose another name.",
	})

	// BadTypeParameter: a type has a parameter that it does not take.
	BadTypeParameter = newCode(&Code{
		ID: "RF0207", Name: "BadTypeParameter",
		When: "A type has a parameter that it does not take.",
		Example: `p(x) -> int[7](x).
`,
		Fix: "Write `int[8]`, or another of the widths 8, 16, 32 and 64.",
	})

	// QueryInBody: the answer predicate `_` is used in a body.
	QueryInBody = newCode(&Code{
		ID: "RF0208", Name: "QueryInBody",
		When: "The answer predicate `_` is used in a body.",
		Example: `p(1).
_(x) <- p(x).
q(x) <- _(x).
`,
		Fix: "Derive a named predicate and use it in both places.",
	})

	// RF03xx: types.

	// TypeClash: two pieces of a program give one variable or argument
	// different types.
	TypeClash = newCode(&Code{
		ID: "RF0301", Name: "TypeClash",
		When: "Two pieces of a program give one variable or argument different types.",
		Example: `age[p] = n -> string(p), int(n).
name(x) -> string(x).
odd(x) <- age[_] = x, name(x).
`,
		Fix: "Compare what has one type; a conversion such as `int:string:convert[x]` makes one type " +
			"of another.",
	})

	// NoType: nothing says what type an argument has: there is no declaration,
	// no constant and no function that decides.
	NoType = newCode(&Code{
		ID: "RF0302", Name: "NoType",
		When: "Nothing says what type an argument has: there is no declaration, no constant and no " +
			"function that decides.",
		Example: `p(x) <- q(x).
`,
		Fix: "Declare one of the predicates: `q(x) -> int(x).`",
	})

	// WrongArgumentTypes: a function or operator has no form for the types of
	// its arguments.
	WrongArgumentTypes = newCode(&Code{
		ID: "RF0303", Name: "WrongArgumentTypes",
		When: "A function or operator has no form for the types of its arguments.",
		Example: `name(x) -> string(x).
p(y) <- name(x), y = x * 2.
`,
		Fix: "Convert an argument, or use another function.",
	})

	// LiteralOutOfRange: a constant does not fit the type of the argument in
	// which it stands.
	LiteralOutOfRange = newCode(&Code{
		ID: "RF0304", Name: "LiteralOutOfRange",
		When: "A constant does not fit the type of the argument in which it stands.",
		Example: `p(x) -> int[8](x).
p(300).
`,
		Fix: "Declare a wider type, or correct the constant.",
	})

	// Narrowing: a rule puts a number into an argument whose declared type
	// cannot hold all such numbers.
	Narrowing = newCode(&Code{
		ID: "RF0305", Name: "Narrowing",
		When: "A rule puts a number into an argument whose declared type cannot hold all such numbers. " +
			"Widening, int to decimal to float, is implicit; narrowing never is. Integers of all widths " +
			"and signs stand for one another, except for totals.",
		Example: `price[x] = v -> string(x), decimal(v).
round(n) -> int(n).
round(v) <- price[_] = v.
`,
		Fix: "Convert: `round(n) <- price[_] = v, n = decimal:int:convert[v].`",
	})

	// RF04xx: forms.

	// NotAFormula: a value stands where a formula is needed: `true`, a
	// variable, `f[x]` or arithmetic.
	NotAFormula = newCode(&Code{
		ID: "RF0401", Name: "NotAFormula",
		When: "A value stands where a formula is needed: `true`, a variable, `f[x]` or arithmetic.",
		Example: `p(1).
q(x) <- p(x), true.
`,
		Fix: "Leave it out, or compare it with something.",
	})

	// NotAnExpression: a formula stands where a value is needed, such as `f(x)`
	// with parentheses.
	NotAnExpression = newCode(&Code{
		ID: "RF0402", Name: "NotAnExpression",
		When: "A formula stands where a value is needed, such as `f(x)` with parentheses.",
		Example: `f[1] = 2.
q(y) <- y = f(1) + 1.
`,
		Fix: "Write `f[1]`",
	})

	// BadHead: the head of a rule is not a conjunction of atoms.
	BadHead = newCode(&Code{
		ID: "RF0403", Name: "BadHead",
		When: "The head of a rule is not a conjunction of atoms.",
		Example: `p(1).
q(x), x > 1 <- p(x).
`,
		Fix: "Move comparisons, negations and disjunctions to the body.",
	})

	// TooManyAlternatives: the disjunctions of a clause multiply out to more
	// than 1024 alternatives.
	TooManyAlternatives = newCode(&Code{
		ID: "RF0404", Name: "TooManyAlternatives",
		When: "The disjunctions of a clause multiply out to more than 1024 alternatives.",
		Example: `a(1). b(2).
p(x) <- (a(x) ; b(x)),
    (a(x) ; b(x)),
    (a(x) ; b(x)),
    (a(x) ; b(x)),
    (a(x) ; b(x)),
    (a(x) ; b(x)),
    (a(x) ; b(x)),
    (a(x) ; b(x)),
    (a(x) ; b(x)),
    (a(x) ; b(x)),
    (a(x) ; b(x)).
`,
		Fix: "Move parts of the body to helper predicates.",
	})

	// RF05xx: aggregates and sequences.

	// UnknownAggregation: a specifier names an aggregation that does not exist,
	// or none at all.
	UnknownAggregation = newCode(&Code{
		ID: "RF0501", Name: "UnknownAggregation",
		When: "A specifier names an aggregation that does not exist, or none at all.",
		Example: `p(1).
m[] = v <- agg<<v = product(x)>> p(x).
`,
		Fix: "`redfox help functions` lists the aggregations, such as count(), total(x) and max(x).",
	})

	// ExpressionInAggregateHead: a key in the head of an aggregate is an
	// expression, or its value has more than results and keys.
	ExpressionInAggregateHead = newCode(&Code{
		ID: "RF0502", Name: "ExpressionInAggregateHead",
		When: "A key in the head of an aggregate is an expression, or its value is one of variables that " +
			"are neither results nor keys.",
		Example: `p(1, 2).
s[x + 1] = v <- agg<<v = total(y)>> p(x, y).
`,
		Fix: "Bind the expression in the body: `s[g] = v <- agg<<v = total(y)>> p(x, y), g = x + 1.`",
	})

	// DisjunctionInAggregate: the body of an aggregate contains a disjunction.
	DisjunctionInAggregate = newCode(&Code{
		ID: "RF0503", Name: "DisjunctionInAggregate",
		When: "The body of an aggregate contains a disjunction.",
		Example: `p(1). q(2).
n[] = c <- agg<<c = count()>> (p(x) ; q(x)).
`,
		Fix: "Move the disjunction to a helper predicate and aggregate over that.",
	})

	// AggregateOutput: the result of an aggregate is not part of the value of a
	// functional head atom, is missing from the head, is computed twice, or
	// occurs in the body.
	AggregateOutput = newCode(&Code{
		ID: "RF0504", Name: "AggregateOutput",
		When: "The result of an aggregate is not part of the value of a functional head atom, is missing " +
			"from the head, is computed twice, or occurs in the body.",
		Example: `p(1, 2).
s(x, v) <- agg<<v = total(y)>> p(x, y).
`,
		Fix: "Write `s[x] = v`, or an expression of the results and keys, as in `s[x] = v / 2`",
	})

	// AggregateInput: an aggregation has an argument that it does not take, or
	// lacks one.
	AggregateInput = newCode(&Code{
		ID: "RF0505", Name: "AggregateInput",
		When: "An aggregation has an argument that it does not take, or lacks one.",
		Example: `p(1).
n[] = c <- agg<<c = count(x)>> p(x).
`,
		Fix: "Write `count()`; to count distinct values project them into a helper predicate first.",
	})

	// EmptyAggregateBody: an aggregate or sequence has no body.
	EmptyAggregateBody = newCode(&Code{
		ID: "RF0506", Name: "EmptyAggregateBody",
		When: "An aggregate or sequence has no body.",
		Example: `n[] = c <- agg<<c = count()>> .
`,
		Fix: "Write a body after `>>`",
	})

	// SequenceBody: the body of seq<<>> is not one atom all of whose variables
	// are in the head.
	SequenceBody = newCode(&Code{
		ID: "RF0507", Name: "SequenceBody",
		When: "The body of seq<<>> is not one atom all of whose variables are in the head.",
		Example: `p(1). q(1).
s[i] = x <- seq<<>> p(x), q(x).
`,
		Fix: "Derive a helper predicate and number that.",
	})

	// SequenceHead: the head of seq<<>> is not one atom with the body's
	// variables and one index among its keys.
	SequenceHead = newCode(&Code{
		ID: "RF0508", Name: "SequenceHead",
		When: "The head of seq<<>> is not one atom with the body's variables and one index among its " +
			"keys.",
		Example: `p(1).
s[x] = x <- seq<<>> p(x).
`,
		Fix: "Write `s[i] = x <- seq<<>> p(x).`",
	})

	// SequenceSpecifier: what stands between << and >> of seq has no meaning.
	SequenceSpecifier = newCode(&Code{
		ID: "RF0509", Name: "SequenceSpecifier",
		When: "What stands between << and >> of seq is not number(order(...), partition(...)).",
		Example: `score["ann"] = 3.
place[i] = s <- seq<<order by n desc>> score[s] = n.
`,
		Fix: "Write `place[i] = s <- seq<<i = number(order(desc(n)))>> score[s] = n.`",
	})

	// RF06xx: recursion.

	// NegationInRecursion: a predicate depends on its own negation, so that the
	// program has no least model.
	NegationInRecursion = newCode(&Code{
		ID: "RF0601", Name: "NegationInRecursion",
		When: "A predicate depends on its own negation, so that the program has no least model.",
		Example: `move(x, y) -> int(x), int(y).
win(x) <- move(x, y), !win(y).
`,
		Fix: "Break the cycle: negate a predicate that does not depend on the one being derived. If all " +
			"of something has to hold, count what holds in a predicate with lang:recursiveMax, and " +
			"compare: a position is lost if all its moves lead to won ones.",
	})

	// AggregationInRecursion: a predicate depends on an aggregate over itself.
	AggregationInRecursion = newCode(&Code{
		ID: "RF0602", Name: "AggregationInRecursion",
		When: "A predicate depends on an aggregate over itself.",
		Example: `edge(x, y, w) -> int(x), int(y), int(w).
dist[x] = d <- agg<<d = min(c)>> dist[y] = e, edge(y, x, w), c = e + w.
`,
		Fix: "Derive the recursive predicate without the aggregate, bounded, and aggregate its result.",
	})

	// SequenceInRecursion: a predicate depends on a numbering of itself.
	SequenceInRecursion = newCode(&Code{
		ID: "RF0603", Name: "SequenceInRecursion",
		When: "A predicate depends on a numbering of itself.",
		Example: `p(1).
p(i) <- s[i] = _.
s[i] = x <- seq<<>> p(x).
`,
		Fix: "Number the result in a predicate on which the recursion does not depend.",
	})

	// UnboundedRecursion: a recursive rule computes new values from its own
	// values and no comparison bounds them, so it may derive for ever.
	UnboundedRecursion = newCode(&Code{
		ID: "RF0604", Name: "UnboundedRecursion",
		When: "A recursive rule computes new values from its own values, and neither a comparison nor " +
			"a predicate outside the recursion bounds them, so it may derive for ever. A warning. A run " +
			"ends such a recursion with RF1005 after --max-rounds rounds: 1,000,000, or as many as there " +
			"are facts if these are more.",
		Example: `n(0).
n(y) <- n(x), y = x + 1.
`,
		Fix: "Add a bound, as in `y < 100`. A recursion that is known to end needs none; --max-rounds " +
			"N allows it more rounds.",
	})

	// NegationNotDisabled: a directive asks to allow recursion through
	// negation.
	NegationNotDisabled = newCode(&Code{
		ID: "RF0605", Name: "NegationNotDisabled",
		When: "A directive asks to allow recursion through negation. A note: a program without such " +
			"recursion runs, and any other is refused.",
		Example: `lang:compiler:disableError:NEGATION_RECURSION[] = true.
`,
		Fix: "Remove the directive; where there is a cycle, break it.",
	})

	// NotMonotone: a value that a recursion keeps the least or the greatest of
	// goes through a step after which a better one may derive less.
	NotMonotone = newCode(&Code{
		ID: "RF0606", Name: "NotMonotone",
		When: "A value of a predicate with lang:recursiveMin or lang:recursiveMax goes through a step of " +
			"its recursion after which a better value may derive less than a worse one: it is looked " +
			"up, becomes a key, fails a comparison, or goes through a function or an aggregation that is " +
			"not monotone.",
		Example: `edge(x, y, w) -> int(x), int(y), int(w).
dist[1] = 0.
dist[y] = d + w <- dist[x] = d, edge(x, y, w), d > 3.
lang:recursiveMin(` + "`dist" + `).
`,
		Fix: "Compare least values by < and <= only, and greatest ones by > and >=; or bound the " +
			"recursion without the directive, and aggregate its result.",
	})

	// NotIterable: the rounds of lang:iterate cannot run.
	NotIterable = newCode(&Code{
		ID: "RF0607", Name: "NotIterable",
		When: "The rounds of a predicate with lang:iterate or lang:iterateUntil cannot run: it has no " +
			"first value, none of its rules reads it, or another predicate depends on itself within a " +
			"round.",
		Example: `half[x] = y <- half[x] = z, y = z / 2.
half[x] = y -> string(x), int(y).
lang:iterate[` + "`half" + `] = 3.
`,
		Fix: "Give the predicate its first value by facts or by a rule that does not read it, and let " +
			"each predicate that a round depends on read the round before, or nothing of the round.",
	})

	// RF07xx: values.

	// DivisionByZero: an expression certainly divides by zero, and no other
	// alternative can hold.
	DivisionByZero = newCode(&Code{
		ID: "RF0701", Name: "DivisionByZero",
		When: "An expression certainly divides by zero, in every alternative of its formula. Where " +
			"another alternative can hold, it is the warning RF0804.",
		Example: `p(1).
q(y) <- p(x), y = x / 0.
`,
		Fix: "Divide by something else.",
	})

	// NoValue: an expression of constants has no value, such as a conversion
	// that fails, and no other alternative can hold.
	NoValue = newCode(&Code{
		ID: "RF0702", Name: "NoValue",
		When: "An expression of constants has no value, such as a conversion that fails, in every " +
			"alternative of its formula. Where another alternative can hold, it is the warning RF0804.",
		Example: `p(x) <- x = string:int:convert["ten"].
`,
		Fix: "Correct the constants.",
	})

	// BadConstant: a constant argument makes a function fail always: an unknown
	// unit, a broken format.
	BadConstant = newCode(&Code{
		ID: "RF0703", Name: "BadConstant",
		When: "A constant argument makes a function fail always: an unknown unit, a broken format.",
		Example: `p(#2024-01-31#).
q(y) <- p(d), y = datetime:part[d, "fortnight"].
`,
		Fix: "Use a value that the function knows.",
	})

	// ConflictingFacts: two facts give one key of a function different values.
	ConflictingFacts = newCode(&Code{
		ID: "RF0704", Name: "ConflictingFacts",
		When: "Two facts give one key of a function different values.",
		Example: `age["ann"] = 30.
age["ann"] = 31.
`,
		Fix: "Remove one of the facts, or make the predicate a relation.",
	})

	// RF08xx: warnings.

	// SingleOccurrence: a variable occurs only once in a rule, which is often a
	// misspelling.
	SingleOccurrence = newCode(&Code{
		ID: "RF0801", Name: "SingleOccurrence",
		When: "A variable occurs only once in a rule, which is often a misspelling. Names that start " +
			"with `_` are exempt, and so are aggregates. A warning, SINGLE_OCCURRENCE.",
		Example: `edge(1, 2).
node(x) <- edge(x, y).
`,
		Fix: "Write `_`, or `_y` to keep the name.",
	})

	// Undeclared: a predicate is not declared.
	Undeclared = newCode(&Code{
		ID: "RF0802", Name: "Undeclared",
		When: "A predicate is not declared. Off unless asked for with " +
			"`lang:compiler:warning:NO_DECLARATION[] = true.` A warning, NO_DECLARATION.",
		Example: `lang:compiler:warning:NO_DECLARATION[] = true.
p(1).
_(x) <- p(x), int(x).
`,
		Fix: "Declare it; the help line has the types that were inferred.",
	})

	// UnusedPredicate: the facts of a predicate, or a helper whose name starts
	// with `_`, are never used.
	UnusedPredicate = newCode(&Code{
		ID: "RF0803", Name: "UnusedPredicate",
		When: "The facts of a predicate, or a helper whose name starts with `_`, are never used. A " +
			"warning, UNUSED_PREDICATE.",
		Example: `p(1). q(2).
_(x) <- p(x).
`,
		Fix: "Use the predicate, or remove it.",
	})

	// NeverFires: a rule, or an alternative of a formula, can certainly not
	// hold.
	NeverFires = newCode(&Code{
		ID: "RF0804", Name: "NeverFires",
		When: "A rule has a condition that is certainly false, or an alternative has one or an " +
			"expression that certainly has no value. The rule or the alternative derives nothing. A " +
			"warning, NEVER_FIRES.",
		Example: `p(1).
q(x) <- p(x), 1 > 2.
r(y) <- (p(x) ; x = 0), y = 6 / x.
`,
		Fix: "Remove the rule or the alternative, or mend the condition.",
	})

	// NoSource: a body uses a predicate that has no rule, no fact and no
	// declaration, and no facts are bound to it from outside, so it is empty.
	NoSource = newCode(&Code{
		ID: "RF0805", Name: "NoSource",
		When: "A body uses a predicate that has no rule, no fact and no declaration, and no facts are " +
			"bound to it from outside, so it is empty. A warning, NO_SOURCE.",
		Example: `p(x) <- events(x), x > 3.
`,
		Fix: "Declare it, if its facts come from outside later; else correct the name.",
	})

	// RF09xx: features and directives.

	// NotSupportedYet: a program uses a part of LogiQL that redfox recognises
	// but does not run yet.
	NotSupportedYet = newCode(&Code{
		ID: "RF0901", Name: "NotSupportedYet",
		When: "A program uses a part of LogiQL that redfox recognises but does not run yet.",
		Example: `p(x) -> int(x).
toss[x] = v <- series<< v = rnd_binomial<10, 0.5, 1>[x] >> p(x).
`,
		Fix: "The help line says what to write instead.",
	})

	// NotSupported: a program uses a part of LogicBlox that is outside what
	// redfox is for.
	NotSupported = newCode(&Code{
		ID: "RF0902", Name: "NotSupported",
		When: "A program uses a part of LogicBlox that is outside what redfox is for.",
		Example: `p(1, 2f).
m[] = v <- predict<<v = logist(y|x)>> p(x, y).
`,
		Fix: "Do that part outside redfox.",
	})

	// UnknownDirective: a clause starts with `lang:` but names no directive.
	UnknownDirective = newCode(&Code{
		ID: "RF0903", Name: "UnknownDirective",
		When: "A clause starts with `lang:` but names no directive.",
		Example: "p(1).\n" +
			"lang:derivationTyp[`p] = \"Extensional\".\n",
		Fix: "Write `lang:derivationType`",
	})

	// BadDirective: a directive has a value that it does not take, or is not a
	// clause of its own.
	BadDirective = newCode(&Code{
		ID: "RF0904", Name: "BadDirective",
		When: "A directive has a value that it does not take, or is not a clause of its own.",
		Example: "p(1).\n" +
			"lang:output:limit[`p] = \"ten\".\n",
		Fix: "Write `lang:output:limit[`p] = 10.`",
	})

	// IgnoredDirective: a directive has no effect in redfox, for example one
	// about storage.
	IgnoredDirective = newCode(&Code{
		ID: "RF0905", Name: "IgnoredDirective",
		When: "A directive has no effect in redfox, for example one about storage. A note.",
		Example: "p(1).\n" +
			"lang:physical:capacity[`p] = 1000.\n",
		Fix: "Nothing has to be done.",
	})

	// DerivedFromOutside: facts from outside, or from a file, are bound to a
	// predicate that rules derive.
	DerivedFromOutside = newCode(&Code{
		ID: "RF0906", Name: "DerivedFromOutside",
		When: "Facts from outside, or from a file, are bound to a predicate that rules derive.",
		Example: "e(1).\n" +
			"p(x) <- e(x).\n" +
			"lang:physical:filePath[`p] = \"p.csv\".\n" +
			"lang:physical:fileMode[`p] = \"import\".\n",
		Fix: "Bind the facts to a predicate of its own.",
	})

	// RuleOnExtensional: a rule derives a predicate that is declared
	// extensional.
	RuleOnExtensional = newCode(&Code{
		ID: "RF0907", Name: "RuleOnExtensional",
		When: "A rule derives a predicate that is declared extensional.",
		Example: "lang:derivationType[`p] = \"Extensional\".\n" +
			"e(1).\n" +
			"p(x) <- e(x).\n",
		Fix: "Remove the directive, or derive another predicate.",
	})

	// RF04xx: entities.

	// BadEntity: a declaration of an entity type, a refmode or a constructor
	// does not say what it needs to.
	BadEntity = newCode(&Code{
		ID: "RF0405", Name: "BadEntity",
		When: "A declaration of an entity type, a refmode or a constructor lacks something: the type " +
			"of the refmode's value, or the entity type that a constructor makes.",
		Example: "person(x), person:name(x:n) -> .\n",
		Fix:     "Write `person(x), person:name(x:n) -> string(n).`",
	})

	// BadCreation: a refmode or constructor in a head cannot create an entity.
	BadCreation = newCode(&Code{
		ID: "RF0406", Name: "BadCreation",
		When: "A refmode or constructor stands in a head but creates no entity: its entity has a " +
			"value already, or the rule is an aggregate.",
		Example: "person(x), person:name(x:n) -> string(n).\n" +
			"friend(x, y) -> person(x), person(y).\n" +
			"person:name(x:\"Ann\") <- friend(x, _).\n",
		Fix: "Move the refmode to the body.",
	})

	// RangesOverType: a variable is bound by its entity type alone.
	RangesOverType = newCode(&Code{
		ID: "RF0806", Name: "RangesOverType",
		When: "No positive atom binds a variable of a rule, but it stands in a column of an entity " +
			"type, so that it ranges over all entities of that type. A warning, because several such " +
			"variables make every combination. A run prints how many combinations that were.",
		Example: "person(x), person:name(x:n) -> string(n).\n" +
			"friend(x, y) -> person(x), person(y).\n" +
			"stranger(x, y) -> person(x), person(y).\n" +
			"stranger(x, y) <- !friend(x, y).\n",
		Fix: "Bind the variables with atoms in the body if not every combination is meant.",
	})

	// DeltaOnDerived: a delta rule changes a predicate that rules derive.
	DeltaOnDerived = newCode(&Code{
		ID: "RF0921", Name: "DeltaOnDerived",
		When: "A delta rule adds to a predicate that rules without + derive. A predicate is either " +
			"derived or changed by transactions.",
		Example: `e(1).
p(x) <- e(x).
+p(x) <- e(y), x = y + 1.
`,
		Fix: "Write all of its rules with +, or all without.",
	})

	// EventInRule: a rule without delta reads an event or an earlier state.
	EventInRule = newCode(&Code{
		ID: "RF0922", Name: "EventInRule",
		When: "A rule reads an event, such as `+p(x)`, or what a predicate held before the " +
			"transaction, but its head is a derived predicate, which holds after the transaction too.",
		Example: `p(x) -> int(x).
+p(1).
q(x) <- +p(x).
`,
		Fix: "Store what the rule derives, as `+q(x) <- +p(x)` does, or declare q with lang:pulse " +
			"if it lasts one transaction.",
	})

	// UnknownStage: the name after @ is no stage of a transaction.
	UnknownStage = newCode(&Code{
		ID: "RF0923", Name: "UnknownStage",
		When: "The name after `@` is no stage of a transaction.",
		Example: `p(x) -> int(x).
+q(x) <- p@prior(x).
`,
		Fix: "Write `p@prev(x)` for what p held before the transaction, `p(x)` for what it holds after.",
	})
)
