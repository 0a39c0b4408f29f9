package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/rfdb"
)

// programText is the text of a database that has what is installed in it.
const programText = "program"

// loggedProgram is what transactions have installed, as a database keeps it:
// the steps that the front end repeats when the database is opened.
type loggedProgram struct {
	External []string     `json:"external,omitempty"`
	Steps    []loggedStep `json:"steps"`
	Stored   []string     `json:"stored"` // after the steps
}

// loggedStep is a transaction that has installed clauses, or after which other
// predicates are known.
type loggedStep struct {
	Kind    string   `json:"kind"`
	Sources []Source `json:"sources"`
	Before  []string `json:"before"` // the predicates whose tuples were stored
	Held    []string `json:"held"`   // those that had a relation
	Stored  []string `json:"stored"` // what Commit entered
}

var kindNames = map[frontend.Kind]string{frontend.Whole: "program",
	frontend.Addition: "addition", frontend.Execution: "execution"}

// databaseFile is the file of a workspace.
type databaseFile struct {
	path    string
	reader  *rfdb.File
	writer  *rfdb.Writer // nil if it is open for reading
	program loggedProgram
	stubs   map[string]*store.Relation // as they were opened
	// held are the predicates that the workspace has had relations of.
	held map[string]bool
}

// OpenDatabaseOptions are the options of OpenDatabase.
type OpenDatabaseOptions struct {
	// Write makes the workspace one that transactions can change. Only one
	// process at a time can have the database open so.
	Write bool
	// Sources are the program of a database that has none yet.
	Sources []Source
	// Facts are those of predicates that the database does not have.
	Facts   *Facts
	Program Options
	Run     RunOptions // of the program, if there are Sources
}

// OpenDatabase opens the workspace that is the file of a database. A file that
// is not there, and one without a program, gets opts.Sources: the program is
// run, and what it derives is stored. Close lets go of the file.
func (s *Session) OpenDatabase(ctx context.Context, path string,
	opts OpenDatabaseOptions) (*Workspace, error) {
	if err := opts.Program.check(); err != nil {
		return nil, err
	}
	f, created, err := openDatabaseFile(path, opts)
	if err != nil {
		return nil, storedError(path, err)
	}
	w := &Workspace{session: s, facts: opts.Facts, options: opts.Program, file: f,
		relations: map[string]*store.Relation{}, steps: map[string]*step{}, report: &LoadReport{}}
	if w.facts == nil {
		w.facts = NewFacts()
	}
	if !w.facts.HasDir() && !created {
		w.facts.Dir(path)
	}
	text, err := f.reader.Text(programText)
	switch {
	case err != nil:
		err = storedError(path, err)
	case text != nil && len(opts.Sources) > 0:
		err = &EnvironmentError{Message: path + " has a program already",
			Help: "add files to it with --add, and run transactions with --exec; to begin anew, remove the file"}
	case text != nil:
		err = w.restore(text)
	case len(opts.Sources) == 0:
		err = &EnvironmentError{Message: path + " has facts, and no program",
			Help: fmt.Sprintf("run a program over them with --facts %s, or install one: redfox run PROGRAM --db %s",
				path, path)}
	default:
		var res *Result
		f.program.External = opts.Program.External
		res, err = w.install(ctx, opts.Sources, frontend.Whole, opts.Run)
		if res != nil {
			return w, err
		}
		if created {
			// The file has nothing yet.
			err = errors.Join(err, os.Remove(path))
		}
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// openDatabaseFile opens the file, or makes one.
func openDatabaseFile(path string, opts OpenDatabaseOptions) (f *databaseFile, created bool,
	err error) {
	f = &databaseFile{path: path, stubs: map[string]*store.Relation{}, held: map[string]bool{}}
	if !opts.Write && len(opts.Sources) == 0 {
		f.reader, err = rfdb.Open(path)
	} else {
		f.writer, err = rfdb.OpenWriter(path, Version())
		if errors.Is(err, fs.ErrNotExist) && len(opts.Sources) > 0 {
			created = true
			if err = rfdb.Create(path, Version(), rfdb.Writing{}, nil, nil); err == nil {
				f.writer, err = rfdb.OpenWriter(path, Version())
			}
		}
		if err == nil {
			f.reader = f.writer.File
		}
	}
	if err != nil {
		return nil, created, err
	}
	for _, r := range f.reader.Stubs() {
		f.stubs[r.Name] = r
	}
	return f, created, nil
}

// restore repeats what transactions have installed.
func (w *Workspace) restore(text []byte) error {
	f := w.file
	wrong := func(err error) error {
		return &EnvironmentError{Message: fmt.Sprintf("the program in %s cannot be used: %v", f.path, err),
			Help: fmt.Sprintf("transaction %d was written by redfox %s, and this is %s",
				f.reader.Transaction(), f.reader.Info().Redfox, Version()), Err: err}
	}
	if err := json.Unmarshal(text, &f.program); err != nil {
		return wrong(err)
	}
	external := map[string]bool{}
	for _, name := range f.program.External {
		external[name] = true
	}
	for _, s := range f.program.Steps {
		w.front.Restore(s.Before)
		for kind, name := range kindNames {
			if name != s.Kind {
				continue
			}
			step, found := frontend.CompileStep(&w.front, sourceFiles(s.Sources), kind,
				frontend.Options{External: external,
					Held: func(name string) bool { return slices.Contains(s.Held, name) }})
			if step.Program == nil {
				return wrong(&ProgramError{Diagnostics: found})
			}
			step.Commit(&w.front, s.Stored)
			if kind != frontend.Execution {
				w.installed++
			}
		}
	}
	w.front.Restore(f.program.Stored)
	w.options.External = append(slices.Clone(f.program.External), w.options.External...)
	for name, r := range f.stubs {
		if w.front.Knows(name) {
			w.relations[name], f.held[name] = r, true
		}
	}
	return nil
}

// ErrReadOnly is the cause of the error of a transaction that changes a
// database which is open for reading.
var ErrReadOnly = errors.New("the database is open for reading")

func (f *databaseFile) readOnly() error {
	return &EnvironmentError{Message: f.path + " is open for reading",
		Help: "open the database for writing to run transactions that change it", Err: ErrReadOnly}
}

// commit writes a transaction to the file. A step without a kind is not part
// of what is installed.
func (f *databaseFile) commit(step loggedStep, relations map[string]*store.Relation,
	front *frontend.Workspace) error {
	if f.writer == nil {
		return f.readOnly()
	}
	next := f.program
	next.Stored = front.StoredNames()
	if step.Kind != "" {
		next.Steps = append(slices.Clip(next.Steps), step)
	}
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	all := maps.Clone(relations)
	for name, r := range f.stubs {
		// Facts of predicates that are installed later stay.
		if all[name] == nil && !f.held[name] {
			all[name] = r
		}
	}
	var list []*store.Relation
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r := *all[name]
		r.Name = name // a result has the name of what was asked for
		list = append(list, &r)
	}
	if err := f.writer.Commit(list, map[string][]byte{programText: text}); err != nil {
		return storedError(f.path, err)
	}
	f.program = next
	for name := range relations {
		f.held[name] = true
	}
	return nil
}

// prove compares relations that are about to be read, as far as they lie in the
// file, with their checksums.
func (w *Workspace) prove(ctx context.Context, names []string, threads int) error {
	if w.file == nil {
		return nil
	}
	var stored []string
	for name, r := range w.relations {
		isMaker := strings.HasSuffix(name, core.MadeSuffix) ||
			strings.HasSuffix(name, core.NamedSuffix)
		if r == w.file.stubs[name] && (isMaker || slices.Contains(names, name)) {
			stored = append(stored, name)
		}
	}
	slices.Sort(stored)
	err := w.file.reader.Prove(ctx, threads, stored)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return storedError(w.file.path, err)
}

// Close lets go of the file of a workspace. One that is in memory only has
// nothing to close.
func (w *Workspace) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil || w.file.writer == nil {
		return nil
	}
	return storedError(w.file.path, w.file.writer.Close())
}
