// Package facts lists the sources of a run's facts and completes the database
// that package store loads: it adds facts given as Go values, names the tables,
// describes them to the optimiser, and says which rows and strings a plan
// needs.
//
// In: [Sources], relations and tables. Out: [Bind], [AddValues], [NameTables],
// [Catalog], [Fingerprint], [Wants] and [Late]; [Failure] words a failed load.
// The package must not import any engine. `redfox explain` shows the estimates
// that rest on the catalog.
package facts
