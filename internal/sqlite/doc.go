// Package sqlite reads and writes tables of SQLite databases.
//
// In: the path of a file. Out: names of tables and columns, and rows of values;
// or a new file with tables. It imports the driver modernc.org/sqlite, by its
// own interface: database/sql would convert each value once more. It must not
// import any package of redfox.
//
// A file is opened for reading only, and nothing in it runs: a database may
// hold views and triggers, of which views are read as tables are, without
// functions that reach out of the database. SQLite has no checksums. It notices
// damage of the structure only.
package sqlite
