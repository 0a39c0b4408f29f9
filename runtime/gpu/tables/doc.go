// Package tables is the variables of a run on a GPU: relations, sets, indexes
// and groups, and the columns of facts that stay on the device from run to run.
//
// In: a program bound to facts (runtime/woven) and the device's part of a run
// (runtime/gpu/device). Out: State, which has every variable, makes room for
// what launches may add, and gives functions their words. A kernel moves gauges
// on the device; the host knows their values when State.Numbers was called, and
// a bound of them before. Residency keeps columns and the indexes over them,
// and evicts what no run uses. The package launches service kernels only; it
// must not import the engine, nor what runs woven kernels.
package tables
