// Package prefetch copies columns of facts to a GPU while other columns are
// still being read.
//
// In: the plan of the program, columns as they are read, and in the end the
// facts. Out: copies on the GPU that later runs find. A failure of the GPU only
// ends the copying; the run meets it again and explains it. The package must
// not import any engine; it uses one through runtime/pool.
package prefetch
