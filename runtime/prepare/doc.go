// Package prepare makes stored facts ready for a run: it finds the columns of a
// program's loaded relations, gives each string domain one dictionary, recodes
// columns in it, and evaluates functions of strings for each entry.
//
// In: a harmony.Program with its domains, and a store.Database. Out: Data,
// which engines read and into which they intern the strings that they compute.
// The pieces, NewDictionary and Stored, serve the go engine as well, which runs
// plans. It must not import an engine or code generation. No flag prints it.
package prepare
