// Package collector decides how often Go's garbage collector runs.
//
// In: the growth of the heap that a process allows. Out: debug.SetGCPercent,
// set again after each collection. It imports no package of redfox.
package collector
