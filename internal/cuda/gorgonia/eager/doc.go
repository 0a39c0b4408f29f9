// Package eager has the CUDA driver load modules as a whole, unless the
// environment says otherwise: lazy loading puts the loading of a kernel into
// its first launch.
//
// The driver reads CUDA_MODULE_LOADING when it is initialised, which package cu
// does while the program's packages are. Go initialises those that are ready in
// the order of their paths, and this one imports the standard library alone and
// comes before gorgonia.org/cu. It must not import anything else.
package eager
