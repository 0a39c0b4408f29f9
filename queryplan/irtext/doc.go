// Package irtext reads and writes what the texts of redfox's intermediate forms
// have in common: one item a line, inputs and bodies indented under their line,
// comments after //, names that are not one word between backquotes, constants
// as package scalar writes literals.
//
// In: text. Out: lines of tokens and a cursor over them that fails with a
// *SyntaxError, and names as the texts quote them. It knows no plan and no
// kernel: queryplan and harmony parse their own items with it. It imports
// source and scalar only; no flag prints it.
package irtext
