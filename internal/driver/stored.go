package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/runtime/facts"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/read"
	"github.com/redfoxdb/redfox/runtime/store/rfdb"
)

// StoredExtension ends the names of files of databases.
const StoredExtension = rfdb.Extension

// IsStored reports whether the name of a file is that of a database of redfox.
func IsStored(path string) bool { return read.IsStoredName(path) }

// Store loads the facts of all predicates that a program takes facts of, and
// writes them to the file of a database. Facts.Dir and FactFile read it. It
// replaces a file of facts, but not one that has a program.
func (p *Program) Store(ctx context.Context, given *Facts, path string,
	opts LoadOptions) (_ *LoadReport, err error) {
	defer failure.Recover("the loader", &err)
	if err := mayReplace(path); err != nil {
		return nil, err
	}
	given = cmp.Or(given, NewFacts())
	schemas := p.schemas()
	_, schemas = p.terms(schemas) // entities stay terms, as they are in other files
	if err := facts.CheckNames(given, schemas, p.derives); err != nil {
		return nil, err
	}
	binding, so, err := p.bind(ctx, given, schemas, opts)
	if err != nil {
		return nil, err
	}
	db, report, err := read.Load(ctx, binding, so)
	if err == nil {
		err = facts.AddValues(db, schemas, given)
	}
	if err != nil {
		return report, loadError(ctx, err)
	}
	facts.NameTables(db)
	rels := slices.DeleteFunc(db.Relations(), func(r *store.Relation) bool {
		return r.Rows() == 0 && !binding.Fills(r.Name)
	})
	return report, storedError(path, rfdb.Create(path, Version(),
		rfdb.Writing{Threads: opts.Threads, Raw: opts.Raw}, rels, nil))
}

// mayReplace returns an error if a file is a database that has a program. What
// its transactions have changed is nowhere else.
func mayReplace(path string) error {
	f, err := rfdb.Open(path)
	if err != nil {
		return nil // it is not there, or no database; writing it says what is wrong
	}
	defer f.Close()
	if text, err := f.Text(programText); err != nil || text == nil {
		return nil
	}
	return &EnvironmentError{
		Message: path + " has a program, and what its transactions have changed",
		Help:    "name another file; to begin anew, remove this one"}
}

// storedError words a failure about the file of a database.
func storedError(path string, err error) error {
	if err == nil {
		return nil
	}
	out := &EnvironmentError{Message: fmt.Sprintf("%s: %v", path, err), Err: err}
	var advised failure.Advised
	var missing *fs.PathError
	switch {
	case errors.As(err, &advised):
		out.Message, out.Help = fmt.Sprintf("%s: %v", path, advised), advised.Advice()
	case errors.As(err, &missing):
		out.Message = fmt.Sprintf("%s: %v", path, missing.Err)
	}
	return out
}

// StoredInfo describes the file of a database.
type StoredInfo = rfdb.Info

// DatabaseInfo describes the file of a database, without looking at its
// columns.
func DatabaseInfo(path string) (StoredInfo, error) {
	f, err := rfdb.Open(path)
	if err != nil {
		return StoredInfo{}, storedError(path, err)
	}
	return f.Info(), nil
}

// CheckDatabase looks at all of the file of a database, and returns what is
// damaged.
func CheckDatabase(ctx context.Context, path string, threads int) (damage []error,
	info StoredInfo, err error) {
	f, err := rfdb.Open(path)
	if err != nil {
		return nil, StoredInfo{}, storedError(path, err)
	}
	damage, err = f.Check(ctx, threads)
	return damage, f.Info(), err
}

// CompactDatabase writes the file of a database anew, without what no
// transaction refers to, and returns its sizes before and after. With raw
// nothing is packed.
func CompactDatabase(ctx context.Context, path string, threads int, raw bool) (before,
	after int64, err error) {
	old, err := DatabaseInfo(path)
	if err == nil {
		err = storedError(path, rfdb.Compact(ctx, path, Version(),
			rfdb.Writing{Threads: threads, Raw: raw}))
	}
	if err != nil {
		return 0, 0, err
	}
	now, err := DatabaseInfo(path)
	return old.Bytes, now.Bytes, err
}
