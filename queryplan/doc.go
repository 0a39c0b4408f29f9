// Package queryplan is the relational plan: typed variables and a control-flow
// graph of basic blocks whose commands evaluate trees of relational operators,
// as in Red Fox (Wu et al., CGO 2014). Recursion is a loop over explicit
// versions of a variable; nothing about semi-naive evaluation is implicit.
//
// In: core programs, through package build, or the plan's own text. Out: plans
// for package rewrite and for the engines. It has a printer, a parser with
// Parse(Print(p)) equal to p, and a verifier that runs after every pass.
// `redfox compile --emit plan` prints it. It knows no GPU and imports source and
// scalar only.
package queryplan
