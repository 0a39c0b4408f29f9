// Package decompose finds the loops of kernel graphs whose fixpoint falls apart
// into fixpoints that have nothing to do with each other.
//
// In: a kernel graph. Out: its decomposable loops (Find). Of redfox it imports
// harmony and queryplan; it must not import an engine. `redfox explain` shows
// what it finds.
//
// # Which loops
//
// A loop computes one derived relation, from its own delta and from what does
// not change meanwhile, and every one of its kernels takes over a column from
// the tuple that it reads to the tuples that it derives. Of the transitive
// closure
//
//	tc(x, z) <- tc(x, y), edge(y, z).
//
// that is x. The tuples of one value of the column then never lead to those of
// another: rules with such a pivot are decomposable (Wolfson and Silberschatz,
// "Distributed Processing of Logic Programs", SIGMOD 1988; Seib and Lausen,
// "Parallelizing Datalog Programs by Generalized Pivoting", PODS 1991; Shkapsky
// et al., "Big Data Analytics with Datalog Queries on Spark", SIGMOD 2016). A
// worker can take some values, with the tuples that the relation begins with,
// and go on to their fixpoint alone, in any order, with a set of just their
// tuples, which fits its cache.
//
// A loop over several relations, such as that of two mutually recursive
// predicates, is not decomposable, even if they hand on a column. Nor is one
// over a relation whose rows the program numbers.
package decompose
