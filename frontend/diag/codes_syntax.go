package diag

// The codes of the scanner and the parser, RF0001 to RF0099.
var (
	UnexpectedToken = newCode(&Code{
		ID:   "RF0001",
		Name: "UnexpectedToken",
		When: "Something stands where the language has no place for it, or something that must " +
			"follow is not there.",
		Example: "p(x) <- q(x), .\n",
		Fix:     "Write what is expected, or remove what is too much: `p(x) <- q(x).`",
	})
	MissingFullStop = newCode(&Code{
		ID:      "RF0002",
		Name:    "MissingFullStop",
		When:    "A clause does not end with a full stop before the next clause or the end of the file.",
		Example: "p(x) <- q(x)\nr(x) <- p(x).\n",
		Fix:     "End every clause with a full stop: `p(x) <- q(x).`",
	})
	UnbalancedBracket = newCode(&Code{
		ID:   "RF0003",
		Name: "UnbalancedBracket",
		When: "A parenthesis, bracket or brace is never closed, is closed by one of another kind, " +
			"or closes nothing.",
		Example: "p(x, y <- q(x, y).\n",
		Fix:     "Close it where its contents end: `p(x, y) <- q(x, y).`",
	})
	ForeignOperator = newCode(&Code{
		ID:   "RF0004",
		Name: "ForeignOperator",
		When: "An operator of another language is used, such as `:-`, `==`, `=>`, `&&` or `||`. It " +
			"is read as the operator of LogiQL that is meant.",
		Example: "p(x) :- q(x).\n",
		Fix:     "Write the operator of LogiQL: `p(x) <- q(x).`",
	})
	ForeignQuote = newCode(&Code{
		ID:      "RF0005",
		Name:    "ForeignQuote",
		When:    "Text stands in quotation marks other than straight double ones.",
		Example: "p('a').\n",
		Fix:     "Use straight double quotes: `p(\"a\").`",
	})
	HashComment = newCode(&Code{
		ID:      "RF0006",
		Name:    "HashComment",
		When:    "A comment is written with #.",
		Example: "# the roots\nroot(1).\n",
		Fix:     "Start a comment with two slashes: `// the roots`",
	})
	NotKeyword = newCode(&Code{
		ID:      "RF0007",
		Name:    "NotKeyword",
		When:    "Negation is written as the word `not`.",
		Example: "p(x) <- q(x), not r(x).\n",
		Fix:     "Negate with an exclamation mark: `p(x) <- q(x), !r(x).`",
	})
	UnterminatedString = newCode(&Code{
		ID:      "RF0008",
		Name:    "UnterminatedString",
		When:    "A string is not closed on its line, or a \"\"\" string is not closed in its file.",
		Example: "p(\"a).\n",
		Fix:     "Close the string: `p(\"a\").`",
	})
	UnterminatedComment = newCode(&Code{
		ID:      "RF0009",
		Name:    "UnterminatedComment",
		When:    "A comment that starts with `/*` is not closed. Comments do not nest.",
		Example: "p(1).\n/* the rest\nq(2).\n",
		Fix:     "Close the comment with `*/`.",
	})
	UnknownCharacter = newCode(&Code{
		ID:      "RF0010",
		Name:    "UnknownCharacter",
		When:    "A character starts no word, number or operator of the language.",
		Example: "p(x) <- q(x, y), x = y % 2.\n",
		Fix:     "Use the function: `x = int:mod[y, 2]`",
	})
	InvalidEncoding = newCode(&Code{
		ID:   "RF0011",
		Name: "InvalidEncoding",
		When: "The file holds bytes that are not UTF-8, or NUL bytes. Only the first such place of " +
			"a file is reported.",
		Example: "p(\"\xff\").\n",
		Fix:     "Save the file as UTF-8, or write the character as an escape: `\"\\u00ff\"`",
	})
	MalformedNumber = newCode(&Code{
		ID:      "RF0012",
		Name:    "MalformedNumber",
		When:    "A number runs into letters that are no suffix of a number.",
		Example: "p(12abc).\n",
		Fix:     "Separate the two, or quote the text: `p(\"12abc\").`",
	})
	NumberOutOfRange = newCode(&Code{
		ID:   "RF0013",
		Name: "NumberOutOfRange",
		When: "A number does not fit its type: 64 bits for an integer, 38 digits for a decimal, an " +
			"IEEE double for a float.",
		Example: "p(99999999999999999999).\n",
		Fix:     "Use a smaller number, or a float: `p(1e20).`",
	})
	MalformedEscape = newCode(&Code{
		ID:   "RF0014",
		Name: "MalformedEscape",
		When: "A backslash in a string is followed by something other than \\\" \\\\ \\n" +
			" \\t \\r or \\u and four hexadecimal digits.",
		Example: "p(\"\\d\").\n",
		Fix:     "Double a backslash that stands for itself: `p(\"\\\\d\").`",
	})
	MalformedDatetime = newCode(&Code{
		ID:      "RF0015",
		Name:    "MalformedDatetime",
		When:    "The text between two # is not a date, or a date and a time.",
		Example: "p(#1998-02-30#).\n",
		Fix: "Write an existing day as year-month-day, or with a time: `#1998-03-02#`, " +
			"`#1998-03-02T12:00:00Z#`",
	})
	MalformedQuote = newCode(&Code{
		ID:      "RF0016",
		Name:    "MalformedQuote",
		When:    "A backquote is not followed directly by the name of a predicate.",
		Example: "lang:entity(` person).\n",
		Fix:     "Put the backquote directly before the name: `` lang:entity(`person). ``",
	})
	NestingTooDeep = newCode(&Code{
		ID:   "RF0017",
		Name: "NestingTooDeep",
		When: "Parentheses, arguments, negations or blocks are nested more than 200 deep, or more " +
			"than 1,000 operators are chained.",
		Example: "p(x) <- q(x), !!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!r(x).\n",
		Fix:     "Name parts of the formula as predicates of their own.",
	})
	SecondArrow = newCode(&Code{
		ID:      "RF0018",
		Name:    "SecondArrow",
		When:    "A clause has more than one arrow.",
		Example: "p(x) <- q(x) <- r(x).\n",
		Fix: "End the first clause with a full stop, or join the conditions with a comma: `p(x) <- " +
			"q(x), r(x).`",
	})
	MisplacedSpecifier = newCode(&Code{
		ID:   "RF0019",
		Name: "MisplacedSpecifier",
		When: "`<<` follows something other than agg, seq, list, list_to_seq, series, predict or " +
			"uid, or stands elsewhere than directly after the arrow of a rule.",
		Example: "n[] = c <- p(x), agg<<c = count()>>.\n",
		Fix: "Put it directly after the arrow, before the formula that it ranges over: `n[] = c <- " +
			"agg<<c = count()>> p(x).`",
	})
	MissingArguments = newCode(&Code{
		ID:   "RF0020",
		Name: "MissingArguments",
		When: "The name of a predicate (one with a colon, a sign for insertion or deletion, or a " +
			"stage) stands without arguments.",
		Example: "p(x) <- q(x), config:debug.\n",
		Fix: "Write the arguments, or an empty pair of parentheses when there are none: `p(x) <- " +
			"q(x), config:debug().`",
	})
	EmptyClause = newCode(&Code{
		ID:      "RF0021",
		Name:    "EmptyClause",
		When:    "A clause has nothing before its full stop or its arrow.",
		Example: "p(1)..\n",
		Fix:     "Remove the full stop that is too much: `p(1).`",
	})
	Preprocessor = newCode(&Code{
		ID:      "RF0022",
		Name:    "Preprocessor",
		When:    "A line is a directive of the C preprocessor, such as #include or #define.",
		Example: "#define LIMIT 10\nsmall(x) <- n(x), x < LIMIT.\n",
		Fix: "Run `cpp -undef -nostdinc program.logic program.i.logic` and check program.i.logic; " +
			"messages show the files that it is made of.",
	})
)
