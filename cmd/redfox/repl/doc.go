// Package repl is the prompt of redfox: clauses that are typed become part of a
// workspace, queries are answered, and commands that begin with a colon load,
// list and explain.
//
//	terminal   lines with history and completion, and Ctrl-C
//	Prompt     what each line does, without a terminal
//
// A line goes on until its last clause ends with a full stop. It imports the
// public API, and the parser to tell clauses apart.
package repl
