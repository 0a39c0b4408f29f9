// Package facts lists where the facts of a run come from, and completes a
// database that package store has loaded: it adds facts that were given as Go
// values, names the tables, and describes them to the optimiser.
//
// In: [Sources], relations and tables. Out: [Bind], [AddValues], [NameTables],
// [Catalog] and [Fingerprint]; [Failure] words a failed load. The package must
// not import any engine. `redfox explain` shows
// the estimates that rest on the catalog.
package facts
