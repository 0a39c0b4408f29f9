// Package starprog makes random star and snowflake data and random queries over
// them, always the same from a seed, as LogiQL and as SQL at once.
//
// In: a seed. Out: data sets with their Parquet or CSV files, programs over 6NF
// and wide predicates, the same programs in SQL, the answers that DuckDB or
// brute force gives, and smaller programs that still show a failure. Where
// internal/reference/randprog gives each predicate facts of its own, the
// predicates here are columns of shared tables. It must not import a plan, a
// rewrite or an engine. Only tests import it.
package starprog
