package read

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/remote"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/rfdb"
)

// IsStoredName reports whether a name is that of a database of redfox.
func IsStoredName(path string) bool { return formatOf(path) == RFDB }

// isStored reports whether a file is a database of redfox, by its name or by
// its first bytes.
func isStored(path string) bool {
	if IsStoredName(path) {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return rfdb.IsDatabase(firstBytes(f))
}

// openStored opens a database of redfox.
func openStored(path string) (*rfdb.File, error) {
	f, err := rfdb.Open(path)
	return f, storedError(err)
}

// storedError is an error of a database of redfox with its advice.
func storedError(err error) error {
	var advised interface {
		error
		Advice() string
	}
	if errors.As(err, &advised) {
		return &LoadError{Reason: err.Error(), Help: advised.Advice(), Err: err}
	}
	return err
}

// storedDatabase binds the relations of a database of redfox to the predicates
// of their names.
func (b *binder) storedDatabase(path string) error {
	f, err := openStored(path)
	if err != nil {
		return fileError(path, err)
	}
	names := f.Names()
	for i := range b.result.Schemas {
		s := &b.result.Schemas[i]
		if b.named[s.Name] {
			continue
		}
		if of, ok := f.Stored(s.Name); ok {
			if err := b.useStored(path, f, of, s); err != nil {
				return err
			}
		} else if near, ok := nearest(s.Name, names); ok && !b.isInput(near) {
			b.similar[s.Name] = tableName(path, near)
		}
	}
	return nil
}

// isInput reports whether a predicate of this name takes facts.
func (b *binder) isInput(name string) bool {
	return slices.ContainsFunc(b.result.Schemas,
		func(s store.Schema) bool { return s.Name == name })
}

// storedFact binds relations of a database of redfox to the predicates of a
// fact.
func (b *binder) storedFact(f *Fact, takers []*store.Schema) error {
	switch {
	case f.Open != nil:
		return &LoadError{File: f.Path, Reason: "a program cannot name a database itself",
			Help: "name it in the command: --facts FILE, or --fact PRED=FILE"}
	case f.Reader != nil || remote.Is(f.Path):
		return &LoadError{File: f.Path, Reason: "a database is mapped into memory, so it must be a file here",
			Help: "copy it to a file, and name that"}
	case f.Columns != nil:
		return &BindError{Reason: "the columns of " + f.Path + " are bound to arguments already",
			Help: "name no columns: --fact " + f.Pred + "=" + f.Path}
	}
	file, err := openStored(f.Path)
	if err != nil {
		return fileError(f.Path, err)
	}
	found := 0
	for _, s := range takers {
		name := s.Name
		if f.Table != "" && name == f.Pred {
			name = f.Table
		}
		if of, ok := file.Stored(name); ok {
			found++
			if err := b.useStored(f.Path, file, of, s); err != nil {
				return err
			}
		}
	}
	if found > 0 {
		return nil
	}
	e := &BindError{Reason: fmt.Sprintf("%s has no predicate %s", f.Path, orElse(f.Table, f.Pred)),
		Help: "redfox db info " + f.Path + " lists those that it has"}
	if near, ok := nearest(f.Pred, file.Names()); ok {
		e.Help = "did you mean " + tableName(f.Path, near) + "?"
	}
	return e
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// useStored binds the stored relations of a predicate to that of the program.
func (b *binder) useStored(path string, f *rfdb.File, of rfdb.Stored, s *store.Schema) error {
	types := func(args []store.Field) []scalar.Type {
		return list.Map(args, func(a store.Field) scalar.Type { return a.Type })
	}
	if !slices.Equal(types(of.Args), types(s.Args)) {
		return &BindError{
			Reason: fmt.Sprintf("%s has %s, and the program wants %s", path,
				signatureOf(&of.Schema), signatureOf(s)),
			Help: "declare the predicate so, or load its facts again: redfox load PROGRAM --facts DIR -o FILE.rfdb",
		}
	}
	// Predicates of a table are loaded together.
	source := &Source{Path: tableName(path, of.Name), Format: RFDB, Arity: len(of.Cols),
		stored: f, storedRows: int64(of.Rows), storedTable: of.Table, storedAs: map[string]string{}}
	if err := b.add(source, s, of.Cols); err != nil {
		return err
	}
	for i := range b.result.Sources {
		if have := &b.result.Sources[i]; have.sameAs(source) {
			have.storedAs[s.Name] = of.Schema.Name
		}
	}
	return nil
}

// signatureOf renders a predicate with the types of its arguments.
func signatureOf(s *store.Schema) string {
	args, keys := arguments(s)
	types := list.Map(args, func(a store.Field) string { return a.Type.String() })
	if keys == len(args) {
		return s.Name + "(" + strings.Join(types, ", ") + ")"
	}
	return s.Name + "[" + strings.Join(types[:keys], ", ") + "] = " + types[keys]
}

// loadStored loads relations of a database of redfox: they stay in the file.
func (s *Source) loadStored(ctx context.Context, opts *Options) ([]*store.Relation, *FileReport,
	error) {
	start := time.Now()
	report := &FileReport{File: s.Path, Rows: s.storedRows}
	names := make([]string, len(s.Uses))
	unread := map[string][]bool{}
	for i, u := range s.Uses {
		report.Predicates = append(report.Predicates, u.Schema.Name)
		of, _ := s.stored.Stored(s.storedAs[u.Schema.Name])
		names[i] = of.Schema.Name
		left := make([]bool, len(of.Args))
		if u.Unread != nil && u.Schema.Keys >= of.Keys {
			copy(left[:of.Keys], u.Unread) // only keys are left out
		}
		if before, ok := unread[of.Schema.Name]; ok {
			for arg := range left {
				left[arg] = left[arg] && before[arg]
			}
		}
		unread[of.Schema.Name] = left
	}
	ledger := opts.ledger()
	selection := &rfdb.Selection{}
	rels, err := s.stored.Relations(ctx, names, rfdb.Reading{Threads: opts.threads(),
		Unread: func(pred string, arg int) bool { return unread[pred][arg] },
		Ledger: ledger, Tests: s.storedTests(), Selection: selection})
	if err != nil {
		ledger.Fail(err)
		return nil, report, storedError(err)
	}
	report.Selected, report.Kept = selection.Selected, selection.Kept
	report.Blocks, report.BlocksLeft = selection.Blocks, selection.Left
	report.Bytes = selection.Bytes
	columns := map[*store.Column]bool{}
	for i, u := range s.Uses {
		r := rels[i]
		stored := r.Keys
		r.Name, r.Keys = u.Schema.Name, u.Schema.Keys
		for arg := range r.Cols {
			c := r.Column(arg)
			if !columns[c] {
				columns[c] = true
				if !selection.Selected {
					report.Bytes += c.Bytes()
				}
				if c.Absent {
					report.Left = append(report.Left, r.Table.Names[r.Cols[arg]])
				}
			}
		}
		if u.Schema.Keys < stored {
			if rels[i], err = keyed(ctx, r, &u.Schema, opts); err != nil {
				var key *KeyError
				if errors.As(err, &key) {
					key.File, key.Rows = s.Path, true
				}
				return nil, report, err
			}
		}
		if opts.Column == nil {
			continue
		}
		for arg := range rels[i].Cols {
			if c := rels[i].Column(arg); !c.Absent {
				opts.Column(r.Name, arg, c)
			}
		}
	}
	report.Elapsed = time.Since(start)
	if opts.Progress != nil {
		opts.Progress(Progress{File: s.Path, Rows: report.Rows, Bytes: report.Bytes,
			Size: report.Bytes, Elapsed: report.Elapsed, Done: true})
	}
	return rels, report, nil
}

// storedTests returns the conditions that plans place on stored arguments; nil
// if keys have to be checked first.
func (s *Source) storedTests() func(pred string, arg int) *rfdb.Test {
	tests := map[string][]*rfdb.Test{}
	for _, u := range s.Uses {
		of, _ := s.stored.Stored(s.storedAs[u.Schema.Name])
		if u.Schema.Keys < of.Keys {
			return nil
		}
		list := make([]*rfdb.Test, len(of.Args))
		for arg, t := range u.Tests {
			if t == nil || of.Args[arg].Type.Word != scalar.Whole {
				continue
			}
			test := &rfdb.Test{Range: t.Range, Least: t.Least, Most: t.Most, Equal: t.Equal,
				Passes: t.Holds, Alone: t.Alone}
			if t.Holds == nil {
				test.Passes = func(v scalar.Value) bool { return t.passes(v.Type, int64(v.Bits())) }
			}
			if t.Text != nil {
				test.Passes = func(v scalar.Value) bool { return t.Text(v.Str()) }
			}
			list[arg] = test
		}
		tests[of.Schema.Name] = list
	}
	return func(pred string, arg int) *rfdb.Test { return tests[pred][arg] }
}

// keyed checks keys that the database has not proven. It returns the relation,
// or a *KeyError.
func keyed(ctx context.Context, r *store.Relation, s *store.Schema, opts *Options) (
	*store.Relation, error) {
	with := store.Sorting{Threads: opts.threads(),
		Memory: opts.ledger(), What: "the keys of " + r.Name}
	unique, err := store.UniqueRows(ctx, with, r.Columns()[:s.Keys], r.Rows())
	if unique || err != nil {
		return r, err
	}
	return NewRelation(*s, r.Columns())
}
