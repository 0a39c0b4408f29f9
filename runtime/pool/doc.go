// Package pool keeps engines, because an engine keeps the code of what it has
// run and, on a GPU, columns of facts. The process has one [Pool], and each
// session has one of its own.
//
// In: the choice of an engine (runtime/machine) and how kernels are fused. Out:
// the engine, for one run at a time through [Pool.With]; a pool opens an engine
// for its first run and closes all of them at its end. It is the one package
// that imports every engine; it must not import the root.
package pool
