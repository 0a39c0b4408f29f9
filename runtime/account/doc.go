// Package account keeps the books of what a run holds for relations, sets,
// indexes and groups, against the bound that the user has set, and gets large
// memory for it from the operating system: pages that are zero, take no place
// until they are touched, move without being copied and are given back at once,
// as Go's heap does not.
//
// In: sizes. Out: Memory with its bound and peak, Region. Of redfox it imports
// runtime, for the error that tells what needed how much; it must not import an
// engine.
package account
