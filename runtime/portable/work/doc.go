// Package work holds what all parts of a run of the go engine share: its
// workers, its memory and the bound on it, cancellation, failures, and vectors
// of words.
//
// In: a context, a number of threads, a bound on memory. Out: a Run. It knows
// no plans and no tables. Of redfox it imports runtime, runtime/account and
// runtime/order. No flag prints it.
package work
