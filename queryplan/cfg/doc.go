// Package cfg is the control-flow graph that query plans and kernel graphs
// share: basic blocks of commands that end in a jump, a branch or halt. It is
// generic over the commands and over the variables that branches test.
//
// In: blocks. Out: their text, parsed blocks, copies, the structural checks of
// verifiers, reachability, and forward data flow. It imports queryplan/irtext
// and knows no plan and no kernel. `redfox compile --emit plan` and `--emit
// harmony` print its text.
package cfg
