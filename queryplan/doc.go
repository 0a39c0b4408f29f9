// Package queryplan is the relational plan: typed variables and a control-flow
// graph of basic blocks whose commands evaluate trees of relational operators,
// as in Red Fox (Wu et al., CGO 2014). Recursion is a loop over explicit
// versions of a variable; nothing about semi-naive evaluation is implicit.
//
// In: core programs, through package build, or the plan's own text. Out: plans
// for package rewrite and for the engines. It has a printer, a parser with
// Parse(Print(p)) equal to p, and a verifier that runs after every pass.
// `redfox compile --emit plan` prints it, and `redfox explain` its tree. It
// knows no GPU and imports source, scalar and irtext only.
//
// # Text
//
// A plan is variables and then blocks, one operator a line, its inputs indented
// under it; // starts a comment:
//
//	var edge(x: int, y: int) input "edge"
//	var dist(x: int; d: int) derived output order [d desc] limit 10
//	block b0:
//	  insert dist
//	    aggregate [x] d: int = min(n)
//	      map n = add(y, 1)
//	        filter lt(x, 10)
//	          scan edge(x, y)
//	  merge dist
//	  checkkey dist
//	  branch delta dist -> b1 else b2
//
// Key columns stand before the semicolon of a variable. A variable is input
// "relation", table "table" stored [columns], derived or temp, and then unique,
// checked, output. Commands are insert, assign and check with an operator under
// them, merge, clear and checkkey; a block ends with jump, branch or halt.
// "branch unbounded delta" ends the block of a loop that nothing is known to
// end. Operators are
//
//	scan [delta|old] v(x, _, y)         _ leaves a column out
//	scan v(x, y) position p             and the number of the tuple in v
//	values (x: int)                     rows under it: (1)
//	filter lt(x, 10)
//	map z = add(x, 1), w = convert:float(x)
//	project x, y as z
//	dedup
//	[unique] [semi|anti] join x, y      the columns that both sides have
//	aggregate [x, y] n: int = count(), s: float = total(v)
//	union
//	[uneven] multijoin x, y, z          the columns of several inputs, in the order to bind them
//	seq i [group [x]] order [y]
//	topk 10 [group [x]] order [y desc]
//
// Functions have the canonical names of package scalar; one whose result type
// does not follow from its arguments has it after a colon. Constants are
// written as scalar.Literal does. A name that is not one word stands between
// backquotes.
package queryplan
