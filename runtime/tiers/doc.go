// Package tiers runs some parts of a plan on the go engine and the others as
// native code.
//
// In: a plan, facts and two engines. Out: what every engine gives, see package
// runtime. A plan of many commands is divided into segments, see package
// segments. A piece that is estimated to see few rows per command is not worth
// native code: making or loading the code, and binding it to the facts, would
// take longer than the go engine takes. Estimates start from the facts, and
// from what was derived once that is known. Multijoins outside of loops run on
// the go engine, which joins tries, as do loops whose aggregates it folds.
//
// An adaptive run begins on the go engine. Before each round of a loop it can
// change over: the loop's relations, old tuples and delta, become facts of a
// plan that goes on from there. The code of that plan is made beside the loop.
//
// The package must not import an engine or the weaver. `redfox run --stats`
// lists the segments, and `--no-tiers` turns them off.
package tiers
