// Package write writes rows of columns in their order: as TSV, CSV, JSON,
// Parquet, an aligned table, or Arrow records. Equal relations give equal
// bytes.
//
// In: an Output, which is columns with an order and a limit. Out: bytes,
// records, or files, which appear only when they are complete. It imports
// runtime/store and internal/parquet, and must not import an engine or
// runtime/store/read.
//
// `redfox run --out DIR --format FORMAT` writes with it.
package write
