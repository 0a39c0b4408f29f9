// Package rowmarks works on marks of rows, eight at a time.
//
// In: a mark for each row. Out: the places of marked rows, their number, the
// values that they have. It imports nothing of the project.
package rowmarks
