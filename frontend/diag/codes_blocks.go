package diag

// Codes of blocks, reported before predicates have names of the program.
var (
	// BadBlock: a block does not have the form that a block has.
	BadBlock = newCode(&Code{
		ID: "RF0210", Name: "BadBlock",
		When: "A block has a part that blocks do not have, a part with the wrong arguments, or the " +
			"name of another block.",
		Example: "block(`main) {\n" +
			"  rules(`{ p(1). })\n" +
			"} <-- .\n",
		Fix: "Write `clauses` for `rules`.",
	})

	// UnknownBlock: an alias names a block that no file has.
	UnknownBlock = newCode(&Code{
		ID: "RF0211", Name: "UnknownBlock",
		When: "An alias names a block or an exported predicate that the program does not have, or a " +
			"name that fits several blocks.",
		Example: "block(`main) {\n" +
			"  alias_all(`shapes),\n" +
			"  clauses(`{ p(1). })\n" +
			"} <-- .\n",
		Fix: "Add the file of the block to the program, or correct the name.",
	})

	// NotExported: a predicate of another block is not exported.
	NotExported = newCode(&Code{
		ID: "RF0212", Name: "NotExported",
		When: "A clause uses a predicate that only another block has, and either that block does not " +
			"export it, or the clause names it without the block.",
		Example: "block(`store) {\n" +
			"  clauses(`{ stock(\"pear\"). })\n" +
			"} <-- .\n" +
			"low(x) <- store:stock(x), $store:stock(x).\n",
		Fix: "Declare `stock` in an `export` of block store; `$store:stock` also names what is not " +
			"exported.",
	})

	// AmbiguousName: a name stands for predicates of several blocks.
	AmbiguousName = newCode(&Code{
		ID: "RF0213", Name: "AmbiguousName",
		When: "A block uses a name that it exports and also takes over from another block, or takes " +
			"over from several.",
		Example: "block(`a) { export(`{ p(x) -> int(x). }), clauses(`{ p(1). }) } <-- .\n" +
			"block(`b) { export(`{ p(x) -> int(x). }), clauses(`{ p(2). }) } <-- .\n" +
			"block(`main) {\n" +
			"  alias_all(`a), alias_all(`b),\n" +
			"  clauses(`{ q(x) <- p(x), a:p(x), b:p(x). })\n" +
			"} <-- .\n",
		Fix: "Write `a:p` or `b:p`, or name one block with alias instead of alias_all.",
	})

	// SealedPredicate: a rule outside of a block derives what the block seals.
	SealedPredicate = newCode(&Code{
		ID: "RF0214", Name: "SealedPredicate",
		When: "A clause adds to or changes a predicate that another block declares in `sealed`.",
		Example: "block(`store) { sealed(`{ stock(x) -> string(x). }), clauses(`{ stock(\"pear\"). }) }" +
			" <-- .\n" +
			"store:stock(\"plum\").\n",
		Fix: "Move the clause into block store, or declare the predicate in `export`.",
	})
)
