// Package diag holds diagnostics as data: what is wrong with a program, where,
// why, and what to do about it.
//
// In: findings of the other front-end packages. Out: a sorted list that never
// reports one cause twice, and its renderings: Render with snippets of the
// source for people, JSON for machines (--json). The codes, each documented by
// an example, stand in one file for each phase; redfox explain prints them.
//
// It must not import any other package of redfox but source.
package diag
