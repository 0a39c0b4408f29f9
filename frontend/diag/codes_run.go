package diag

// Findings of a run: the program is well-formed but its data is not what it
// says.
var (
	ConstraintViolated = newCode(&Code{
		ID:   "RF1001",
		Name: "ConstraintViolated",
		When: "An integrity constraint does not hold when all rules have been evaluated. The first " +
			"violating bindings are shown.",
		Example: `age[p] = n -> string(p), int(n).
age["ann"] = 31.
age["bob"] = -2.
age[p] = n -> n >= 0.
`,
		Fix: "Correct the facts that are shown, or weaken the constraint.",
	})
	KeyConflict = newCode(&Code{
		ID:   "RF1002",
		Name: "KeyConflict",
		When: "A functional predicate p[k] = v gets two different values for one key, from its rules " +
			"or from its facts.",
		Example: `parent("ann", "bob").
parent("ann", "cid").
guardian[c] = p <- parent(c, p).
`,
		Fix: "Derive one value a key, for example with agg<<v = min(x)>>, or declare a relation p(k, " +
			"v) instead.",
	})
	TotalOverflow = newCode(&Code{
		ID:   "RF1003",
		Name: "TotalOverflow",
		When: "A total or an average does not fit the type of its result. A total is computed in 128 " +
			"bits, so the sum itself is right; it cannot be stored. A total has the type of what it " +
			"adds, 64 bits, unless the predicate that takes it is declared to have 38 digits; one of " +
			"decimals of 38 digits has 38. An average of decimals of 38 digits is exact if it fits " +
			"itself, however large the sum is.",
		Example: `n(1, 9223372036854775807).
n(2, 9223372036854775807).
sum[] = s <- agg<<s = total(x)>> n(_, x).
`,
		Fix: "Declare the predicate, with decimal[38,2] for the value of a total of decimal[18,2] and " +
			"decimal[38,0] for that of integers: sum[] = s -> decimal[38,0](s). Or convert the values " +
			"before adding them, for example with int:float:convert, or group them more finely.",
	})
	EndlessRecursion = newCode(&Code{
		ID:   "RF1005",
		Name: "EndlessRecursion",
		When: "A recursion of which RF0604 warns still derives new tuples after as many rounds as a " +
			"run allows it: 1,000,000, or as many as there are facts if these are more. A recursion " +
			"without that warning has no such bound.",
		Example: `n(0).
n(y) <- n(x), y = x + 1.
`,
		Fix: "Add a bound to the rule, as in `y < 100`. If the recursion ends later, allow it more " +
			"rounds with --max-rounds N, or any number with --max-rounds none; --memory and --timeout " +
			"bound it then.",
	})
	BadFacts = newCode(&Code{
		ID:   "RF1004",
		Name: "BadFacts",
		When: "A fact file does not hold what the program declares: a value is not of its type, a row " +
			"has too few or too many fields, or the file is damaged.",
		Fix: "Correct the file at the place that is shown, or run with --on-error skip to leave such " +
			"rows out and have them counted.",
	})
	UnmatchedFacts = newCode(&Code{
		ID:   "RF1007",
		Name: "UnmatchedFacts",
		When: "With --strict, a predicate has no file of facts, a file is that of no predicate, or a " +
			"file whose first line has the names of columns was read without --header. Without --strict, " +
			"these are notes.",
		Fix: "Rename the file or bind it with --fact PRED=FILE; give a predicate without facts an " +
			"empty file; or leave out --strict.",
	})
	BadImport = newCode(&Code{
		ID:   "RF1023",
		Name: "BadImport",
		When: "A line of an import script, a file whose name ends in .import, is not option,KEY,VALUE, " +
			"fromFile,\"PATH\",COLUMN,NAME,... or toPredicate,PRED,NAME,...",
		Fix: "Correct the line as the message says.",
	})
	NumberedEntities = newCode(&Code{
		ID:   "RF1022",
		Name: "NumberedEntities",
		When: "A transaction stores, by a fact or a delta rule, entities that no refmode or constructor " +
			"identifies; it sets a constructor with ^; or it changes what identifies entities that are " +
			"stored: it adds a constructor to a type that had a refmode only, or joins two types.",
		Fix: "Create the entities with a constructor, and declare the constructors, refmodes and " +
			"subtypes of a type before it has entities.",
	})
	RuleInExecution = newCode(&Code{
		ID:   "RF1021",
		Name: "RuleInExecution",
		When: "A transaction that is executed has a rule or a fact for a predicate of the program. Its " +
			"rules end with it, and a predicate of the program holds for longer.",
		Fix: "Insert into the predicate with +, add the file to the program with --add, or derive a " +
			"predicate of another name.",
	})
	BadProject = newCode(&Code{
		ID:   "RF1031",
		Name: "BadProject",
		When: "A line of a project file names a file that is not there, or has no kind. It is a note " +
			"if the line only has no effect, because it is about web services or of an unknown kind.",
		Fix: "Correct the path, which is relative to the folder of the project file; write `name, " +
			"kind`, where kind is active, inactive, execute, module or library.",
	})
	PathNotAllowed = newCode(&Code{
		ID:   "RF1006",
		Name: "PathNotAllowed",
		When: "The program names a file, with lang:physical:filePath, that it may not read or write. " +
			"It may read below its own folder, below the folder of --facts and below the current one, " +
			"and write below the folder of --out. A symbolic link does not lead out of these folders.",
		Example: `password(line) -> string(line).
lang:physical:filePath[` + "`" + `password] = "/etc/passwd".
`,
		Fix: "If you trust the program with the file, allow its folder with --allow-path DIR. A file " +
			"that is to be written may also be named by a path relative to the folder of --out.",
	})
)
