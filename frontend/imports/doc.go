// Package imports reads the import scripts of LogicBlox 3 as programs.
//
// In: a file such as
//
//	option,delimiter,"\t"
//	option,hasColumnNames,false
//	fromFile,"edges.txt",column:1,from,column:2,to
//	toPredicate,edge,from,to
//
// Out: its syntax tree, a file predicate for each fromFile, and a delta rule
// for each toPredicate.
//
// It imports the syntax tree and diagnostics.
package imports
