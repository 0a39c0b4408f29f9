// Package lower turns query plans into kernel graphs: each operator becomes one
// kernel that reads and writes managed variables, so that fusion is a
// transformation of the kernel graph and can be left out, wholly or for two
// kernels.
//
// In: a verified queryplan.Plan. Out: a harmony.Program with the operations of
// legal, and no others. It must not import a pass of the plan, weaver or an
// engine. `redfox compile --emit harmony` prints its result.
//
// A scan and a projection have no kernel: what reads them loads other columns.
// A filter or map is a kernel over its input. A join builds an index of its
// right side, on the relation itself if that is a scan, else on a temp, and the
// kernel of its left side probes it; a product probes an index without key. An
// aggregate is a kernel into groups and one over them. Dedup inserts into a
// set, a union is a kernel for each input, with one sink. An operator that an
// insert or a union stands over directly has their variable as its sink.
//
// A multijoin becomes binary joins, in an order that keeps nodes with many
// tuples from multiplying (multijoin.go). Inputs without a column of their own
// filter. An uneven one becomes several parts, of which each reads the list of
// values that is the shortest for its tuples (uneven.go).
//
// Indexes are built where they are used, and then once where a rebuild finds
// nothing new, and before a loop that leaves their relation alone.
package lower
