// Package rfdb reads and writes database files such as shop.rfdb. A file holds
// relations in the form in which engines use them, and named texts, which
// record what is installed over the relations.
//
// In: relations of runtime/store. Out: one file, mapped into memory. Columns
// and strings are packed if that makes them smaller, and unpacked when they are
// read; others are used in place. A transaction appends to the file. A process
// that is killed at any moment leaves the previous transaction intact. Damage
// is an error that names the predicate, the column and the offset; it is found
// before anything is computed from it. `redfox load` and `redfox run --db`
// write such files and `redfox db` shows them. The package imports
// runtime/store and knows no program, no plan and no engine.
//
// # Layout
//
// Numbers are little-endian. A page has 4,096 bytes.
//
//	page 0       magic (8 bytes: 0x89 R D B \r \n 0x1A \n), version of the format
//	             (4), CRC-32C of both (4)
//	pages 1, 2   the latest two roots: that of transaction n is on page 1 + n mod 2
//	then         what transactions have appended, one behind the other: sections,
//	             the directory, and a page with the root again
//
// A root has a magic number, the number of the transaction, the position and
// the CRC-32C of its directory, the end of the transaction, and a CRC-32C of
// all this.
//
// The directory is JSON. It lists tables with the layout and the statistics of
// their columns, dictionaries, relations with their keys, texts, and for each
// section its position and a CRC-32C of every 256 KiB. Sections are aligned to
// 64 bytes. Entries and raw strings of a page or more are aligned to pages, so
// that a device can copy from the mapping. Sections are:
//
//	entries   of a column, as offsets of 1, 2, 4 or 8 bytes: of all rows, or of
//	          those behind the packed ones
//	headers   of the blocks of a packed column, 48 bytes each
//	blocks    of a packed column, one behind the other; their checksums are in
//	          the headers
//	sample    the words of a column in the sample of its table
//	text      the strings of a sorted dictionary, one behind the other, or blocks
//	          of packed ones
//	ends      where each of these ends, in 4 or 8 bytes
//	symbols   the table of symbols of packed strings
//	a text    by its name
//
// A block of a column has 8,192 rows; runtime/store/blocks describes it and its
// header. A block of strings has 64 of them; internal/frontcode describes it,
// and internal/fsst the table of symbols. Format 1 is the same without packed
// columns and strings. Files of format 1 keep it until they are compacted.
//
// # Transactions
//
// A commit writes new sections after the end of the last transaction, then the
// directory and the root, and waits for the disk. Then it writes the root to
// page 1 or 2, and waits again. It does not change what earlier transactions
// refer to. The only place before the end that it writes to is the room that
// may follow the entries of a column: rows that are appended to the column go
// there. Rows that are appended to a packed column are entries in addition to
// its blocks. Once they are a quarter of the column, all of it is packed again.
//
// Opening takes the valid root with the greatest number. If page 1 or 2 is
// damaged, it looks for the copies of roots at the ends of transactions, so
// that a flipped bit does not bring back an old state. If the page of the next
// transaction is damaged, and bytes after the latest one are no whole copy of
// it, the file is damaged.
//
// Readers take no lock. A writer locks the file. Compacting writes another file
// and renames it, so that the mappings of readers stay valid.
package rfdb
