// Package tiers runs some parts of a plan on the go engine and the others as
// native code.
//
// In: a plan, facts and two engines. Out: a runtime.Answer, as of every engine.
// A plan of many commands is divided into segments (queryplan/segments). A
// piece that is estimated to see few rows for each command is not worth native
// code: compiling or loading the code and binding it to the facts would take
// longer than running the piece on the go engine. The estimates start from the
// sizes of the facts, and of derived relations once those are known. The go
// engine also runs multijoins outside of loops, which it joins by tries, and
// loops whose aggregates it folds.
//
// An adaptive run begins on the go engine. Before each round of a loop it can
// switch: the old tuples and the delta of the loop's relations become facts of
// a plan that resumes the loop. The code of that plan is compiled while the
// loop runs, for a GPU if there is one ([Card]), which is opened then, too. If
// that fails, or the GPU lacks room, native code of the CPU is next. If it
// fails behind the change, the go engine goes on from there.
//
// The package must not import an engine or the weaver. `redfox run --stats`
// lists the segments, and `--no-tiers` turns tiers off.
package tiers
