// Package target describes the targets of the weaver: the name of each, the
// shape of its tiles, its shared memory, the budget of a fused kernel, and the
// passes of LLVM that its code goes through.
//
// In: the name of a target. Out: a Target. The package must not import any
// phase but harmony/abi, which defines the smallest tile. `redfox compile
// --target` and `redfox explain --target` select a target.
package target
