// Package testdata has the queries of the benchmarks as files of the binary.
//
// Out: a file system that holds this folder's LogiQL of TPC-H and of the Star Schema
// Benchmark and the same queries in SQL. It must not import anything of redfox.
package testdata

import "embed"

// Queries holds the folders tpch and ssb, without data: schema.logic, a file of LogiQL
// for each query, and the query in SQL in the folder sql.
//
//go:embed tpch/*.logic tpch/sql/*.sql ssb/*.logic ssb/sql/*.sql
var Queries embed.FS
