// Package sortpairs sorts what the folds of iterations read, once and by group,
// so that kernels need no table of groups.
//
// In: an optimised plan. Out: a plan with the same answers for engines that run
// kernels; the go engine has its own lists. It imports no pass. `redfox explain
// --kernels` names what is sorted, and `--disable SortPairs` leaves plans as
// they are.
package sortpairs
