package read

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/internal/remote"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Fact binds a file to a predicate by name. The name of the file does not
// matter.
type Fact struct {
	// Pred is a predicate, or the common prefix of several before a colon. With
	// a prefix, the file feeds every predicate for whose arguments it has
	// columns.
	Pred string
	// Sniff has Bind read the start of Reader to detect format, delimiter and
	// header, as it does for files.
	Sniff bool
	// Path is a file, a folder of files, or a glob pattern; with Reader or
	// Open, it is the name of one file. Files in a folder called year=2024 get
	// a column year (Hive partitioning).
	Path   string
	Table  string    // of an SQLite database; empty finds it by Pred
	Reader io.Reader // read instead of the file, when not nil
	// Open opens the file; nil stands for os.Open. A path that the program
	// names may be outside what its user may read, so Open can refuse it.
	Open      func(context.Context) (File, error)
	Format    Format
	Delimiter byte  // 0 is the format's own: tab or comma
	Header    *bool // nil is Options.Header
	// Names are the column names of a text file, for files without a header and
	// for headers to be ignored.
	Names []string
	// Columns holds the file's column for each argument: a name, or a number
	// from 1. Nil finds them by the arguments' names.
	Columns []string
	// Positional assigns columns to arguments by position, even if they have
	// names.
	Positional bool
	Offset     bool // the first argument is the byte offset of the record

	parts []part // columns from the names of folders
}

// ParseFact reads "PRED=FILE" or "PRED=FILE(column, column)". A format may
// stand before the file, as in "PRED=csv:FILE", and a table behind an SQLite
// database, as in "PRED=x.sqlite#TABLE".
func ParseFact(text string) (f Fact, err error) {
	pred, path, ok := strings.Cut(text, "=")
	if !ok || pred == "" || path == "" {
		return Fact{}, fmt.Errorf("%q is not of the form PRED=FILE or PRED=FILE(column, ...)", text)
	}
	f = Fact{Pred: strings.TrimSpace(pred), Path: path}
	defer func() {
		// A file whose own name begins with a format is written ./csv:x.
		format, rest, ok := strings.Cut(f.Path, ":")
		if i := slices.Index(formatNames[1:], format); ok && i >= 0 && rest != "" {
			f.Format, f.Path = Format(i+1), rest
		}
		at := strings.LastIndexByte(f.Path, '#')
		isTable := func(of Format) bool { return of == SQLite || of == RFDB }
		if at > 0 && (isTable(f.Format) || isTable(formatOf(f.Path[:at]))) {
			f.Path, f.Table = f.Path[:at], f.Path[at+1:]
		}
	}()
	if open := strings.LastIndexByte(path, '('); open > 0 && strings.HasSuffix(path, ")") {
		f.Path = path[:open]
		for _, c := range strings.Split(path[open+1:len(path)-1], ",") {
			if c = strings.TrimSpace(c); c == "" {
				return Fact{}, fmt.Errorf("%q has a column without a name", text)
			}
			f.Columns = append(f.Columns, c)
		}
	}
	return f, nil
}

// Binding says which file fills which predicates.
type Binding struct {
	Schemas []store.Schema
	Sources []Source
	Notes   []string
	// Unmatched notes predicates without a file, and files without a predicate.
	Unmatched []string
}

// Restrict removes the predicates that are not needed.
func (b *Binding) Restrict(needed map[string]bool) {
	sources := b.Sources[:0]
	for _, s := range b.Sources {
		s.Uses = slices.DeleteFunc(s.Uses, func(u Use) bool { return !needed[u.Schema.Name] })
		if len(s.Uses) > 0 {
			sources = append(sources, s)
		}
	}
	b.Sources = sources
}

// BindError is a binding that cannot be made: two files for a predicate, a
// missing or ambiguous column, an unknown predicate.
type BindError struct {
	Reason string
	Help   string // what to do, or ""
}

// Error returns the reason and the help.
func (e *BindError) Error() string {
	if e.Help == "" {
		return e.Reason
	}
	return e.Reason + "; " + e.Help
}

// Bind finds the files of facts for predicates. A folder's files PRED.tsv, .csv
// and .parquet (the texts also with .gz or .zst) belong to the predicate of
// their name, and so does PRED.txt, as TSV, if there is no other; that of a
// predicate a:b may also be called a_b.* or stand in a folder as a/b.*. A file
// with named columns feeds more: lineitem.parquet fills every predicate
// lineitem:X whose arguments are named like columns of it. The value of a
// functional predicate may also be the column that is named like the last part
// of the predicate's name, or the only one that ends in "_" and that. Names of
// columns are compared without regard to case.
//
// Facts come first: a predicate that one of them names takes nothing from dir.
// Several facts of a predicate are united. An empty dir is no folder.
func Bind(
	ctx context.Context, schemas []store.Schema, dir string, facts []Fact, opts Options,
) (*Binding, error) {
	b := &binder{ctx: ctx, opts: &opts, result: &Binding{Schemas: schemas},
		taken: map[string]string{},
		named: map[string]bool{}, united: map[string]bool{},
		bound: map[string]bool{}, similar: map[string]string{}}
	for i := range facts {
		// A file that the program names is complete: it has all tuples of its
		// predicate.
		b.uniting = facts[i].Open == nil
		files, err := expand(ctx, &facts[i])
		if err != nil {
			return nil, err
		}
		for j := range files {
			b.bound[files[j].Path] = true // for a URL
			b.bound[filepath.Clean(files[j].Path)] = true
			if err := b.fact(&files[j]); err != nil {
				return nil, err
			}
		}
	}
	b.uniting = false
	if dir != "" {
		for name := range b.taken {
			b.named[name] = true
		}
		if err := b.folder(dir); err != nil {
			return nil, err
		}
		b.noteUnknown()
	}
	b.noteAbsent()
	b.noteSniffed()
	for _, s := range schemas {
		switch path := b.similar[s.Name]; {
		case b.taken[s.Name] != "" || s.Optional:
		case path != "":
			b.unmatched("%s has no file of facts; it is empty; did you mean %s?", s.Name, path)
		case b.folderOf(s.Name) != "":
			b.unmatched("%s has no file of facts; it is empty; bind the folder as --fact %s", s.Name,
				b.folderOf(s.Name))
		default:
			b.unmatched("%s has no file of facts; it is empty", s.Name)
		}
	}
	return b.result, nil
}

// binder is the making of a binding.
type binder struct {
	ctx    context.Context // of the call
	opts   *Options
	result *Binding
	taken  map[string]string // predicate → path of the file that fills it
	named  map[string]bool   // predicates that a Fact fills
	// uniting makes further files add to those in united.
	uniting bool
	united  map[string]bool
	// bound are paths of facts, which are not looked at in the folder.
	bound map[string]bool
	// unknown are files of the folder whose names do not resemble a
	// predicate's. Folders are often shared by programs, so one note covers all
	// of these files.
	unknown []string
	// derived are files of the folder whose predicates rules derive.
	derived []string
	sniffed []sniffedFiles
	absent  []string // paths of files that the program names and that are not there
	// subfolders whose names look like files of facts
	folders []string
	// similar maps a predicate to an unused file with a similar name.
	similar map[string]string
}

// noteUnknown adds notes that list the unused files.
func (b *binder) noteUnknown() {
	if len(b.derived) > 0 {
		b.unmatched("not used, because rules derive the predicate of the name: %s",
			someOf(b.derived))
	}
	if len(b.unknown) > 0 {
		b.unmatched("not used, for want of a predicate of the name: %s", someOf(b.unknown))
	}
}

// noteAbsent adds a note that lists the absent files, whose predicates are
// empty.
func (b *binder) noteAbsent() {
	if n := len(b.absent); n > 0 {
		b.note("taken as empty: %s that the program names and that %s not there: %s",
			counted(n, "file"), map[bool]string{true: "is", false: "are"}[n == 1],
			someOf(b.absent))
	}
}

// someOf lists the first few names, and the number of the others.
func someOf(names []string) string {
	const shown = 3
	if more := len(names) - shown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), more)
	}
	return strings.Join(names, ", ")
}

// missing binds a file that the program names and that does not exist.
func (b *binder) missing(f *Fact) error {
	if !b.opts.MissingEmpty {
		return &LoadError{File: f.Path, Reason: "the file of " + f.Pred + " is not there",
			Help: "correct the path, or take absent files as empty with --missing-facts empty",
			Err:  fs.ErrNotExist}
	}
	b.taken[f.Pred] = f.Path
	b.absent = append(b.absent, f.Path)
	return nil
}

func (b *binder) unmatched(format string, args ...any) {
	b.note(format, args...)
	b.result.Unmatched = append(b.result.Unmatched, fmt.Sprintf(format, args...))
}

func (b *binder) note(format string, args ...any) {
	b.result.Notes = append(b.result.Notes, fmt.Sprintf(format, args...))
}

// fact binds one explicit file.
func (b *binder) fact(f *Fact) error {
	var exact *store.Schema
	var group []*store.Schema
	var names []string
	for i := range b.result.Schemas {
		s := &b.result.Schemas[i]
		names = append(names, s.Name)
		if s.Name == f.Pred {
			exact = s
		} else if strings.HasPrefix(s.Name, f.Pred+":") {
			group = append(group, s)
		}
	}
	if exact == nil && len(group) == 0 {
		e := &BindError{Reason: fmt.Sprintf("there is no predicate %s that could take the facts of %s",
			f.Pred, f.Path)}
		if near, ok := nearest(f.Pred, names); ok {
			e.Help = fmt.Sprintf("did you mean %s?", near)
		}
		return e
	}
	takers := group
	if exact != nil {
		takers = append([]*store.Schema{exact}, group...)
	}
	if f.Format == RFDB || f.Format == FormatAuto && formatOf(f.Path) == RFDB {
		return b.storedFact(f, takers)
	}
	source, err := b.openSource(f, takers)
	if err != nil && f.Open != nil && errors.Is(err, fs.ErrNotExist) {
		return b.missing(f)
	}
	if bad := new(BindError); errors.As(err, &bad) {
		return err
	}
	if err != nil {
		return fileError(f.Path, err)
	}
	if exact != nil {
		if err := b.use(source, exact, f); err != nil {
			return err
		}
		if f.Columns != nil || f.Offset || source.Columns == nil {
			return nil
		}
	}
	missing, err := b.feed(source, group)
	if err == nil && len(missing) == len(group) && exact == nil {
		return &BindError{
			Reason: fmt.Sprintf("%s feeds no predicate %s:...: %v", f.Path, f.Pred, missing[0]),
			Help:   "name the predicate and its columns, as in PRED=FILE(column, ...)",
		}
	}
	return err
}

// folder binds the files of a folder.
func (b *binder) folder(dir string) error {
	if remote.Is(dir) {
		return b.remoteFolder(dir)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fileError(dir, err)
	}
	if !info.IsDir() {
		if isStored(dir) {
			return b.storedDatabase(dir)
		}
		if isDatabase(dir) {
			return b.database(dir)
		}
		return &BindError{Reason: fmt.Sprintf("%s is a file, not a folder of facts", dir),
			Help: "bind a file as PRED=FILE"}
	}
	// The trailing separator makes the walk follow a dir that is a link.
	root := dir + string(filepath.Separator)
	var plain []string // are for predicates without another file
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fileError(path, err)
		}
		_, ok := dataFile(path)
		if strings.HasPrefix(entry.Name(), ".") && path != root {
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if entry.IsDir() && path != root {
			if ok {
				b.folders = append(b.folders, path)
			}
			ok = false
		}
		if !ok || path == root {
			return nil
		}
		if isPlain(path) {
			plain = append(plain, path)
			return nil
		}
		return b.folderFile(dir, path)
	})
	for _, path := range plain {
		if err == nil {
			err = b.folderFile(dir, path)
		}
	}
	return err
}

// folderOf returns the argument PRED=FOLDER that binds a folder called like a
// predicate's file, or "".
func (b *binder) folderOf(pred string) string {
	for _, path := range b.folders {
		stem, _ := dataFile(filepath.Base(path))
		if full, prefix := named(pred, stem); full {
			return pred + "=" + path
		} else if prefix {
			return stem + "=" + path
		}
	}
	return ""
}

// remoteFolder binds the objects of a folder of S3.
func (b *binder) remoteFolder(dir string) error {
	if !remote.IsFolder(dir) {
		return &BindError{Reason: fmt.Sprintf("%s is no folder of S3", dir),
			Help: "name what a predicate reads as PRED=URL"}
	}
	dir = strings.TrimRight(dir, "/") + "/"
	urls, err := remote.List(b.ctx, dir)
	if err != nil {
		return fileError(dir, err)
	}
	var plain []string // are for predicates without another file
	for _, u := range urls {
		name := strings.TrimPrefix(u, dir)
		_, ok := dataFile(u)
		switch isHidden := func(part string) bool { return strings.HasPrefix(part, ".") }; {
		case !ok || slices.ContainsFunc(strings.Split(name, "/"), isHidden) || b.bound[u]:
		case isPlain(u):
			plain = append(plain, u)
		default:
			err = b.remoteFile(dir, u)
		}
		if err != nil {
			return err
		}
	}
	for _, u := range plain {
		if err := b.remoteFile(dir, u); err != nil {
			return err
		}
	}
	return nil
}

// remoteFile binds an object of a folder.
func (b *binder) remoteFile(dir, u string) error {
	stem, _ := dataFile(strings.TrimPrefix(u, dir))
	return b.bindNamed(stem, u, &Fact{Path: u})
}

// dataFile returns a data file's path without its extensions, in lower or upper
// case.
func dataFile(path string) (string, bool) {
	stem, f, ok := cutEnding(path)
	return stem, ok && f != SQLite && f != RFDB // those of databases are for --facts
}

// isPlain reports whether a file is text or JSON, which many other programs
// write. If no predicate has its name, it gets no note, and a predicate with
// another file ignores it.
func isPlain(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return strings.HasSuffix(name, ".txt") || strings.HasSuffix(name, ".json")
}

// folderFile binds a file of a folder.
func (b *binder) folderFile(dir, path string) error {
	if b.bound[filepath.Clean(path)] {
		return nil
	}
	stem, _ := dataFile(path)
	stem, err := filepath.Rel(dir, stem)
	if err != nil {
		return fileError(path, err)
	}
	return b.bindNamed(filepath.ToSlash(stem), path, &Fact{Path: path})
}

// bindNamed binds a file, or a table, to the predicates that its stem names.
// Messages call it path.
func (b *binder) bindNamed(stem, path string, f *Fact) error {
	var own, group []*store.Schema
	var names []string
	explicit := false
	for i := range b.result.Schemas {
		s := &b.result.Schemas[i]
		names = append(names, s.Name)
		full, prefix := named(s.Name, stem)
		switch {
		case (full || prefix) && b.named[s.Name]:
			explicit = true
		case (full || prefix) && isPlain(path) && b.taken[s.Name] != "":
			explicit = true
			b.unmatched("%s is not used: %s has %s", path, s.Name, b.taken[s.Name])
		case full:
			own = append(own, s)
		case prefix:
			group = append(group, s)
		}
	}
	isExact := func(s *store.Schema) bool { return s.Name == stem }
	if i := slices.IndexFunc(own, isExact); i >= 0 {
		own = own[i : i+1] // f_t.tsv holds f_t, even if f:t is a predicate, too
	}
	if len(own) > 1 {
		return &BindError{
			Reason: fmt.Sprintf("%s could be the file of %s", path,
				strings.Join([]string{own[0].Name, own[1].Name}, " and of ")),
			Help: "say which with PRED=FILE",
		}
	}
	if len(own)+len(group) == 0 {
		if explicit {
			return nil
		}
		if slices.ContainsFunc(b.opts.Derived, func(pred string) bool {
			full, _ := named(pred, stem)
			return full
		}) {
			if !isPlain(path) {
				b.derived = append(b.derived, path)
			}
			return nil
		}
		near, ok := nearest(stem, names)
		if ok {
			b.unmatched("%s is not used: there is no predicate %s; did you mean %s?", path,
				strings.ReplaceAll(stem, "/", ":"), near)
			b.similar[near] = path
		} else if !isPlain(path) {
			b.unknown = append(b.unknown, path)
		}
		return nil
	}
	if len(own) > 0 {
		f.Pred = own[0].Name
	}
	source, err := b.openSource(f, append(own, group...))
	if err != nil {
		return fileError(path, err)
	}
	for _, s := range own {
		if err := b.use(source, s, &Fact{Path: f.Path}); err != nil {
			return err
		}
	}
	if source.Columns == nil {
		for _, s := range group {
			b.unmatched("%s takes nothing from %s, whose columns have no names", s.Name, path)
		}
		return nil
	}
	_, err = b.feed(source, group)
	return err
}

// named reports whether a file called stem is the predicate's, or that of a
// group it belongs to.
func named(pred, stem string) (full, prefix bool) {
	for _, separator := range []string{":", "_", "/"} {
		name := strings.ReplaceAll(pred, ":", separator)
		if name == stem {
			return true, false
		}
	}
	for i := range pred {
		if pred[i] != ':' {
			continue
		}
		for _, separator := range []string{":", "_", "/"} {
			if strings.ReplaceAll(pred[:i], ":", separator) == stem {
				prefix = true
			}
		}
	}
	return false, prefix
}

// feed binds the source to the predicates of a group for whose arguments it has
// columns. It notes the others and returns what each of them lacks.
func (b *binder) feed(source *Source, group []*store.Schema) (misses []error, err error) {
	for _, s := range group {
		columns, err := matchColumns(s, source, nil, false)
		var missing *missingColumn
		if errors.As(err, &missing) {
			misses = append(misses, missing)
			b.unmatched("%s takes nothing from %s: %s", s.Name, source.Path, missing.Error())
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := b.add(source, s, columns); err != nil {
			return nil, err
		}
	}
	return misses, nil
}

// use binds a source to the predicate that it was named for.
func (b *binder) use(source *Source, s *store.Schema, f *Fact) error {
	explicit := f.Columns
	if f.Positional && explicit == nil && f.Names == nil {
		var err error
		if explicit, err = b.placed(source, s, f.Offset); err != nil {
			return err
		}
	}
	columns, err := matchColumns(s, source, explicit, f.Offset)
	if err != nil {
		var missing *missingColumn
		if errors.As(err, &missing) {
			return &LoadError{File: source.Path, Line: headerLine(source), Reason: missing.Error(),
				Help: namesHelp(source, s), Err: missing}
		}
		return err
	}
	return b.add(source, s, columns)
}

func headerLine(s *Source) int64 {
	if s.Header {
		return 1
	}
	return 0
}

func (b *binder) add(source *Source, s *store.Schema, columns []int) error {
	if other := b.taken[s.Name]; other != "" && !(b.uniting && b.united[s.Name]) {
		return &BindError{
			Reason: fmt.Sprintf("%s has two files of facts: %s and %s", s.Name, other, source.Path),
			Help: fmt.Sprintf("remove one, or name each that you mean with --fact %s=FILE",
				s.Name),
		}
	}
	b.taken[s.Name] = source.Path
	b.united[s.Name] = b.uniting
	for i := range b.result.Sources {
		if have := &b.result.Sources[i]; have.sameAs(source) {
			have.Uses = append(have.Uses, Use{Schema: *s, Columns: columns})
			return nil
		}
	}
	added := *source
	added.Uses = []Use{{Schema: *s, Columns: columns}}
	if added.Columns == nil && added.Arity < 0 {
		added.Arity = 0
		for _, c := range columns {
			if c >= firstPart {
				continue
			}
			added.Arity = max(added.Arity, c+1)
		}
	}
	b.result.Sources = append(b.result.Sources, added)
	return nil
}

// sameAs reports whether two sources read one file in the same way.
func (s *Source) sameAs(t *Source) bool {
	return s.Path == t.Path && s.Reader == t.Reader && (s.Open == nil) == (t.Open == nil) &&
		s.Format == t.Format && s.Delimiter == t.Delimiter &&
		s.Header == t.Header && slices.Equal(s.Columns, t.Columns) &&
		s.storedTable == t.storedTable &&
		(s.Arity == t.Arity || t.Arity < 0)
}

// openSource detects the format and the column names of a file that feeds
// schemas.
func (b *binder) openSource(f *Fact, schemas []*store.Schema) (*Source, error) {
	s := &Source{Path: f.Path, Reader: f.Reader, Open: f.Open, Format: f.Format,
		Delimiter: f.Delimiter, Header: b.opts.Header, Arity: -1, parts: f.parts}
	if f.Header != nil {
		s.Header = *f.Header
	}
	if s.Format == FormatAuto {
		s.Format = formatOf(f.Path)
		if f.Sniff {
			s.sniffFormat()
		}
		if s.Format == SQLite && f.Open != nil && strings.EqualFold(filepath.Ext(f.Path), ".db") {
			s.Format = TSV // whose names end in anything in older programs
		}
	}
	if !s.Format.isText() || s.Format == JSON {
		return s, s.nameColumns(b.ctx, f)
	}
	s.Format, s.Delimiter = textFormatOf(s.Format, cmp.Or(s.Delimiter, b.opts.Delimiter))
	if d := s.Delimiter; d == '\n' || d == '\r' || d == '"' && s.Format == CSV || d >= 0x80 {
		return nil, fmt.Errorf("%s cannot be a delimiter", strconv.QuoteRune(rune(d)))
	}
	if s.Reader == nil {
		if err := s.look(b.ctx); err != nil {
			return nil, err
		}
	}
	b.sniff(s, f, schemas)
	if !s.Header && f.Names == nil && f.Columns == nil {
		return s, nil
	}
	first, err := s.firstRecord(b.ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case f.Names != nil:
		s.Columns, s.Arity = f.Names, len(f.Names)
		if len(first) > 0 && len(first) != s.Arity {
			return nil, &LoadError{File: s.Path, Line: 1,
				Reason: fmt.Sprintf("found %s, expected %d, those named %s",
					counted(len(first), "column"), s.Arity, strings.Join(f.Names, ", "))}
		}
	case s.named != nil: // the names have been looked at
	case s.Header && f.Positional && f.Columns == nil:
		s.named = first
	case s.Header && len(first) > 0 && !f.Positional:
		s.Columns, s.Arity = first, len(first)
	case f.Columns != nil && len(first) > 0:
		s.Arity = len(first)
	}
	return s, nil
}

// nameColumns reads the column names of a file that has them.
func (s *Source) nameColumns(ctx context.Context, f *Fact) (err error) {
	s.Header = false
	var names []string
	switch s.Format {
	case Parquet:
		if names, err = s.parquetColumns(ctx); err != nil {
			return s.notParquet(ctx, err)
		}
	case Arrow:
		names, err = s.arrowColumns(ctx)
	case SQLite:
		names, err = s.sqliteColumns(ctx, f)
	default:
		if s.Reader == nil {
			err = s.look(ctx)
		}
		if err == nil {
			names, err = s.jsonColumns(ctx)
		}
	}
	if s.Columns = names; err != nil || names == nil {
		return err
	}
	s.Arity = len(names)
	if f.Positional && s.Format != JSON {
		s.Columns, s.named = nil, names
	}
	return nil
}

// firstRecord returns the fields of the first record of a text, or nil if the
// text is empty. It rewinds the reader, if there is one.
func (s *Source) firstRecord(ctx context.Context) ([]string, error) {
	look := *s
	var seen bytes.Buffer
	if s.Reader != nil {
		look.Reader = io.TeeReader(s.Reader, &seen)
		defer func(rest io.Reader) { s.Reader = io.MultiReader(&seen, rest) }(s.Reader)
	}
	file, err := look.open(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader, err := newTextReader(file, s.textFormat(), 4096, func(int64) error { return nil })
	if err != nil {
		return nil, err
	}
	block, err := reader.next(nil)
	if err == io.EOF {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	fields, _, err := s.textFormat().record(block.data, 0)
	if err != nil {
		return nil, &LoadError{File: s.Path, Line: 1, Column: len(fields) + 1, Reason: err.Error()}
	}
	return fields, nil
}

// Fills reports whether a file holds facts of a predicate.
func (b *Binding) Fills(pred string) bool {
	return slices.ContainsFunc(b.Sources, func(s Source) bool { return s.fills(pred) })
}
