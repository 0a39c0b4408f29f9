// Package scalar defines LogiQL's primitive types, their values, and the one
// table of functions over them: names, overloads, result types, and a reference
// implementation on single values.
//
// In: types and values. Out: resolved overloads and results. The checker types
// programs with this table, the optimiser folds constants with it, and engines
// fall back to it where they have no vectorised form. It imports no package of
// redfox.
package scalar
