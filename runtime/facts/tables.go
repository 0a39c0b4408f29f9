package facts

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/redfoxdb/redfox/runtime/store"
)

// Tables returns the tables of a database in order of first use.
func Tables(db *store.Database) []*store.Table {
	var out []*store.Table
	seen := map[*store.Table]bool{}
	for _, r := range db.Relations() {
		if !seen[r.Table] {
			seen[r.Table] = true
			out = append(out, r.Table)
		}
	}
	return out
}

// NameTables gives the tables of a database short, unique names, so that plans
// do not depend on the folders of files. A table that has such a name already
// keeps it, as it may belong to an earlier database that is still read.
func NameTables(db *store.Database) {
	taken := map[string]bool{}
	var rest []*store.Table
	for _, t := range Tables(db) {
		if t.Name == shortName(t) && !taken[t.Name] {
			taken[t.Name] = true
		} else {
			rest = append(rest, t)
		}
	}
	for _, t := range rest {
		base := shortName(t)
		name := base
		for i := 2; taken[name]; i++ {
			name = fmt.Sprintf("%s#%d", base, i)
		}
		taken[name] = true
		t.Name = name
	}
}

// shortName is the name of a table without folders and extensions.
func shortName(t *store.Table) string {
	base := filepath.Base(t.Name)
	for _, ext := range []string{".gz", ".zst", ".tsv", ".csv", ".parquet", ".pq"} {
		base = strings.TrimSuffix(base, ext)
	}
	return base
}

// Bytes returns the sizes of a database's columns and of their dictionaries,
// and how much of both lies in pages of files.
func Bytes(db *store.Database) (columns, text, onDisk int64) {
	dicts := map[*store.Dict]bool{}
	for _, t := range Tables(db) {
		for _, c := range t.Columns {
			columns += c.Bytes()
			if c.OnDisk {
				onDisk += c.Bytes()
			}
			if c.Dict != nil && !dicts[c.Dict] {
				dicts[c.Dict] = true
				text += c.Dict.Bytes()
				if c.Dict.OnDisk {
					onDisk += c.Dict.Bytes()
				}
			}
		}
	}
	return columns, text, onDisk
}
