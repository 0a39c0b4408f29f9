// Package joins takes joins apart and puts them together again. A Conjunction
// is a tree of joins, filters, maps and projections as a set: relations,
// conditions and computed columns. A Graph is what the search for an order of
// its joins sees, with estimates and costs; a VariableGraph the same for the
// variables of a multijoin.
//
// In: an operator tree and estimates. Out: a tree of the same meaning, or the
// costs that passes compare. It imports bitset, queryplan, stats and trees, and
// knows no pass; `redfox explain --steps` shows what passes make with it.
package joins
