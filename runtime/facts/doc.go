// Package facts completes a database that package store has loaded: it adds
// facts that were given as Go values, names the tables, and describes them to
// the optimiser.
//
// In: relations and tables. Out: [FromRows], [Add], [NameTables], [Catalog] and
// [Fingerprint]. The package must not import any engine. `redfox explain` shows
// the estimates that rest on the catalog.
package facts
