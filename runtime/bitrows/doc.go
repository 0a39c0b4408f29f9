// Package bitrows decides whether a join goes through the matches of a row as
// bits, and has the form of those bits: the one of primitives/src/bitrows.h.
//
// In: the shape of a join, the size of its relations, the memory that is free.
// Out: whether bits pay, their size, words of them. Native code and the go
// engine share it. It must not import an engine.
package bitrows
