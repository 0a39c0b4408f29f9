// Package parts finds how a plan, or the tree of one command, can be evaluated
// part by part: each part reads the rows of its inputs whose hashes are in one
// class, and the results of all parts together are the result of the whole.
//
// In: a plan, or a tree and the variable that it fills. Out: a Job, which is a
// plan over inputs of its own, and the ways to cut these inputs. It must not
// import an engine. `redfox explain --memory SIZE --spill DIR` prints what can
// be cut and by which columns.
//
// # Which parts
//
// A way is a set of columns of inputs that a tree makes equal, such as both
// sides of a join. Rows whose values in it differ never meet, so a class of
// values is a part (a partition of a Grace join: Kitsuregawa et al., 1983).
// Inputs that have no column of the way are read whole by every part. Several
// ways cut a tree into boxes (Wu, "Acceleration and Execution of Relational
// Queries Using General Purpose Graphics Processing Unit", 2015; Afrati and
// Ullman, "Optimizing Multiway Joins in a Map-Reduce Environment", 2011).
//
// A plan with a loop has a way if each variable that it fills has a column that
// all of its rules carry along: a generalised pivot (Seib and Lausen,
// "Parallelizing Datalog Programs by Generalized Pivoting", PODS 1991). Unlike
// harmony/decompose, several variables may fill each other.
package parts
