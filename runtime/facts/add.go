package facts

import (
	"github.com/redfoxdb/redfox/runtime/store"

	"github.com/redfoxdb/redfox/runtime/store/read"
)

// Add adds parts to the relation of a predicate. The parts are sets, unless bag
// says that their tuples may repeat.
func Add(db *store.Database, s store.Schema, parts []*store.Relation, bag bool) error {
	if len(parts) == 0 {
		return nil
	}
	if loaded := db.Relation(s.Name); loaded != nil && loaded.Rows() > 0 {
		parts = append(parts, loaded)
	}
	if len(parts) == 1 && !bag {
		db.Put(parts[0])
		return nil
	}
	rel, err := read.Concat(s, parts...)
	if err == nil {
		db.Put(rel)
	}
	return err
}
