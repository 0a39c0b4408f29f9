// Package harmony is the kernel graph: a control-flow graph whose commands run
// kernels without side effects over managed variables, as in Red Fox (Wu et
// al., CGO 2014). The runtime owns where variables live and when they are
// allocated and freed (Lifetimes); a kernel reads and writes nothing else.
//
// In: plans, through package lower, or the program's own text. Out: kernel
// graphs for weaver/fuse and for code generators. It has a printer, a parser
// that reverses the printer, and a verifier. `redfox compile --emit harmony`
// prints it. It knows no GPU and no engine. It imports queryplan for shared
// vocabulary, queryplan/irtext, source and scalar.
//
// # Managed variables
//
// A Relation is a set or a bag of tuples with typed columns. Inputs and tables
// are resident and never written. A derived relation is a set whose rows are in
// order of insertion, with the versions full, delta and old. A temp is a bag.
// An Index finds the rows of one version of a relation by a key. A Groups is a
// table from keys to accumulators.
//
// # Kernels
//
// A kernel is one pipeline: a source, stages, sinks. The source yields rows. A
// stage works on one row at a time; it may drop the row or, if it probes a
// multi index, make several rows of it. Sinks get the remaining rows. The
// values of a row are in registers. Each is defined once, before it is used.
//
// A register is absent if its function has no value for the row. A function of
// an absent operand is absent, except for holds, which is then false. A decimal
// may exceed its 64 bits in a register. Keys and sinks take only registers that
// are present and fit. Verify proves this: load, gather, and functions that
// always have a value define such registers, and need drops a row if its
// register is absent or does not fit. filter drops a row if its operand is
// absent or false.
//
// # Text
//
// The text of a program has its managed variables and then its blocks. Each
// item is a line, and its parts are indented below it; // starts a comment:
//
//	relation edge(x: int, y: int) input "edge"
//	relation path(x: int, y: int) derived output
//	index edge_x multi edge(x)
//	index nth unique path position      rows by their places
//	groups g(x: int; n: int = count(), s: float = total(float))
//	block b0:
//	  run k0
//	    rows delta path
//	    v0: int = load x
//	    v1: int = load y
//	    v2: boolean = map lt(v1, 10)
//	    filter v2
//	    v3: row = probe multi edge_x(v1)
//	    v4: int = gather y[v3]
//	    insert path(v0, v4)
//	  merge path
//	  branch delta path -> b0 else b1
//
// Relations are written like the variables of plans. Sources are
//
//	rows [delta|old] r
//	groups g                            its columns are the keys, then the results
//	values (x: int)                     rows under it: (1)
//
// stages are
//
//	v1: int = load x                    a column of the source's row
//	v2: int = map add(v1, 1)            a function of package scalar
//	filter v3
//	need v2
//	v4: row = probe unique i(v1, v2)    drops rows without a match
//	v4: row = probe multi i(v1)         a row for each match
//	probe exists i(v1)                  drops rows without a match
//	probe absent i(v1)                  drops rows with a match
//	v5: int = gather y[v4]              a column of the row found
//	v6: int = position                  the place of the source's row in its
//	                                    derived relation, from 0
//	v7: int = position v4               that of the row found
//
// and sinks
//
//	store t(v1, v2)                     appends to a temp
//	insert r(v1, v2)                    adds to the new part of a derived relation
//	group g [v1] count(), total(v2)     accumulates
//
// `run k0 on host` is a kernel that the runtime evaluates itself, for functions
// that the target has no code for (weaver/partition). Its source is the merged
// rows of a relation, it has no probes, and its sinks are stores.
//
// Commands other than run are
//
//	build i                                         makes an index of what its relation holds now
//	build i old                                     of the old ones; another build adds the rest
//	number n = t group [x] order [y]                t with a column that numbers rows
//	number n(*, y) = t group [x] order [y]          of t only y, behind the number
//	topk n = t limit 10 group [x] order [y desc]    the first rows of t
//	topk n(y) = t limit 10 order [y desc]           of these only y
//	merge r                                         ends a round of r
//	clear t                                         empties a temp, a groups or a set
//	check t "text"                                  t has the tuples that violate a constraint
//	checkkey r                                      the keys of r determine the rest
//
// and a block ends with jump, branch or halt. "branch unbounded" means the same
// as in plans.
package harmony
