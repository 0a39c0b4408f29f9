// Package mixed is the mixed engine. It runs a plan on a GPU for the rows whose
// columns are there, and at the same time on the host for the others.
//
// In: plans, facts, the engine of a GPU, one of native code, and the go engine.
// Out: what every engine gives, see package runtime. It must not import an
// engine. `redfox run --engine mixed --stats` lists which rows ran where, and
// what the GPU holds.
//
// # How
//
// The plan is cut into steps (queryplan/segments). A step that can be computed
// from partial results over rows of one table (parts.ByRows) is divided: the
// GPU takes the first rows, whose columns it holds, and the host takes the
// rest. Both read the other facts whole. The go engine merges the partial
// results. Any other step runs as a whole on the engine that is expected to be
// faster.
//
// Between runs, the cache (cache.go) decides which columns the GPU holds and
// how many segments of each. Before a step, the cost model (cost.go) decides
// whether the GPU takes the rows that it holds. The design follows Mordred
// (Yogatama, Gong and Yu, "Orchestrating Data Placement and Query Execution in
// Heterogeneous CPU-GPU DBMS", VLDB 2022).
package mixed
