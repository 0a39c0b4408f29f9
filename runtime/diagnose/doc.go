// Package diagnose words the failures of a run that the program or its data
// cause as diagnostics: a key with two values, an overflow, an endless
// recursion, a violated constraint, a file that the program may not use.
//
// In: the errors and violations of package runtime, the plan, and the places of
// clauses. Out: diagnostics in the user's names. The package must not import
// any engine. `redfox explain CODE` prints what a diagnostic means.
package diagnose
