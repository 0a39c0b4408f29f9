// Package expr emits the scalar functions of the language as LLVM IR, one row
// at a time, for loops over items that LLVM vectorises on a CPU and unrolls on
// a GPU.
//
// In: a function of package scalar and its arguments as SSA values. Out:
// instructions at the end of a block, and the result as an SSA value. What they
// compute is what scalar.Func.Eval computes, to the bit, absence included. It
// must not import harmony, queryplan or anything that knows of kernels. The
// flag --emit llvm prints what it makes.
//
// # Rules that the instructions keep
//
//   - No branches: a case is a select, so that a loop around it stays one block.
//   - Nothing traps and nothing is poison, whatever the words of absent values and
//     of rows that are no longer live are. Bounds of values choose the width of the
//     arithmetic, but are never promised to LLVM.
//   - No division of 128 bits, no conversion between 128 bits and floats and no
//     call of libm: neither a JIT nor a GPU has the functions they need.
//   - Floats are canonical, as scalar.Value has them: one NaN, no negative zero.
//
// # Widths
//
// Words are 64 bits wide. Arithmetic whose operands and result are bounded by
// 32 bits is done in 32, which doubles the lanes of a vector and quarters a
// GPU's instructions; truncations and extensions around it cancel in chains.
// Decimals are computed in 128 bits unless bounds show that 64 do.
//
// # What is not here
//
// Strings: they are dictionary codes to a kernel, and their functions are
// tables or calls to the host. Of the functions of floats those that Go's
// library does not round correctly (exponentials, logarithms, trigonometry,
// powers) are left to the host as well, since no other implementation gives the
// same bits.
package expr
