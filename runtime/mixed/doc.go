// Package mixed is the mixed engine: it runs a plan on a GPU where the columns
// that it reads are there, and on the host where they are not, at the same
// time.
//
// In: plans, facts, the engine of a GPU, one of native code, and the go engine.
// Out: what every engine gives, see package runtime. It must not import an
// engine. `redfox run --engine mixed --stats` lists which rows ran where, and
// what the GPU holds.
//
// # How
//
// The plan is cut into steps (queryplan/segments). A step that is a sum over
// the rows of a table (parts.ByRows) runs as two parts: the GPU takes the first
// rows, whose columns it holds, and the host takes the rest. Both read the
// other facts whole. The go engine merges what the parts yield. A step that is
// no such sum runs as a whole on the better of the two.
//
// The cache (cache.go) decides which columns the GPU holds, and how many
// segments of each, between runs. The choice between the GPU and the host
// (cost.go) decides whether a run uses what it holds. The idea is that of
// Mordred (Yogatama, Gong and Yu, "Orchestrating Data Placement and Query
// Execution in Heterogeneous CPU-GPU DBMS", VLDB 2022).
package mixed
