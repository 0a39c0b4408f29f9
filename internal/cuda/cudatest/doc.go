// Package cudatest has kernels by which tests see what a CUDA driver does.
//
// In: nothing. Out: PTX. The package imports nothing of redfox, so that package
// cuda's own tests can use it.
package cudatest

import _ "embed"

// Kernels is PTX for sm_80 and later. Parameters are words:
//
//	empty()                does nothing
//	line(out, n, a, b)     out[i] = a*i + b, words, for i below n
//	reverse(data)          turns round a block's words by way of dynamic shared memory
//	wait(nanoseconds)      keeps a multiprocessor busy
//	fault()                stores where there is no memory
//	narrow(x)              has a parameter of 32 bits
//
// and the variable answer, a word, is 42.
//
//go:embed kernels.ptx
var Kernels []byte
