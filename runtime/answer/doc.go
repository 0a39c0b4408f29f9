// Package answer holds the relations of a result: their tuples, on the host or
// still on a device, the order in which they are presented, and entities as the
// terms that made them.
//
// In: what an engine returns. Out: columns for the writers of package
// runtime/store/write. It may import the packages of the runtime except
// engines.
package answer
