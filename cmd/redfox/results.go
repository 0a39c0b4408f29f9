package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/internal/atomicfile"
	"github.com/redfoxdb/redfox/internal/driver"
)

// formats are the names that --format takes.
var formats = []string{"table", "tsv", "csv", "json", "jsonl", "parquet", "arrow", "arrows"}

// A terminal shows the beginning of a long table: terminalLimit rows of it, and
// implicitLimit of a predicate that was not asked for. Files and pipes get all.
const (
	terminalLimit = 40
	implicitLimit = 20
)

// results is what the flags say of printing and writing.
type results struct {
	print  []string
	dir    string // of --out, or "" if it names a file
	base   string // of --out, if it names a database, which takes what a folder would
	file   string // of --out, if it names a file
	format string // "" when not given
	header bool
	limit  int64 // 0 for all
	cut    bool  // no limit is given, so that terminals show the beginning
}

// newResults checks the flags about results.
func newResults(c *cli.Context) (results, error) {
	r := results{
		print:  splitList(c.StringSlice("print")),
		format: c.String("format"),
		header: headerOf(c) == headerBoth || headerOf(c) == headerResults,
		limit:  c.Int64("limit"),
		cut:    !c.IsSet("limit"),
	}
	if err := notNegative("limit", r.limit); err != nil {
		return r, err
	}
	if r.format != "" {
		if _, err := choice("format", r.format, formats...); err != nil {
			return r, err
		}
	}
	return r, r.destination(c.String("out"))
}

// otherFiles are extensions of files that --out does not write, beside that of
// databases. A folder of such a name would surprise.
var otherFiles = []string{".txt", ".xlsx", ".gz", ".zst"}

// destination decides whether --out names a file, which has the extension of a
// format, or a folder.
func (r *results) destination(out string) error {
	ext := strings.ToLower(filepath.Ext(out))
	info, err := os.Stat(out)
	named, ok := driver.FormatNamed(out)
	switch format := named.String(); {
	case out == "" || err == nil && info.IsDir():
		r.dir = out
		return nil
	case driver.IsDatabase(out) && r.format != "" && r.format != "table":
		return usage("leave out --format", "--out %s is an SQLite database, and --format asks for %s",
			shellQuote(out), r.format)
	case driver.IsDatabase(out):
		r.base = out
		return checkWritten("out", out)
	case driver.IsRemote(out):
		return usage("write a file, and upload it", "--out %s: results are not written to servers",
			shellQuote(out))
	case ext == driver.StoredExtension:
		return usage("redfox load PROGRAM --facts DIR -o "+shellQuote(out)+" writes one of the facts",
			"--out %s: run writes no databases", shellQuote(out))
	case slices.Contains(otherFiles, ext):
		return usage("end the name in .tsv, .csv, .json, .jsonl, .parquet or .arrow for one file, or name a folder",
			"--out %s: results are not written as %s", shellQuote(out), ext)
	case !ok:
		r.dir = out
		return nil
	case r.format != "" && r.format != format:
		return usage("leave out --format, or name the file *."+strings.Replace(r.format, "table", "tsv", 1),
			"--out %s is a %s file, and --format asks for %s", shellQuote(out), format, r.format)
	default:
		r.file, r.format = out, format
		return checkWritten("out", out)
	}
}

// isBinary reports whether what is written in a format is no text.
func isBinary(name string) bool {
	f, err := driver.ParseFormat(name)
	return err == nil && f.Binary()
}

// chosen says which predicates go where.
type chosen struct {
	results
	shown    []string // to standard output
	written  []string // to files
	implicit bool     // shown was not asked for
	// files has the file of each predicate of written, or its table.
	files map[string]string
}

// predicateOf returns the predicate that --print means: by its name in results,
// or by its own name with its block, or the end of the path of that, before it.
func predicateOf(prog *driver.Program, name string, names []string) (string, error) {
	if slices.Contains(names, name) {
		return name, nil
	}
	var found, paths []string
	for _, p := range prog.Predicates() {
		if p.Path == "" {
			continue
		}
		if strings.HasSuffix(":"+p.Path, ":"+strings.TrimPrefix(name, "$")) {
			found, paths = append(found, p.Name), append(paths, p.Path)
		}
	}
	switch len(found) {
	case 0:
		return "", &usageError{
			message: fmt.Sprintf("--print %s: the program has no such predicate", name),
			help:    nearest(name, names),
		}
	case 1:
		return found[0], nil
	}
	return "", &usageError{
		message: fmt.Sprintf("--print %s may mean several predicates", name),
		help:    "write " + strings.Join(paths, " or "),
	}
}

// choose decides, knowing the program, what is printed and what is written.
func (r results) choose(prog *driver.Program) (chosen, error) {
	var names, queries, exported []string
	for _, p := range prog.Predicates() {
		names = append(names, p.Name)
		if p.Query {
			queries = append(queries, p.Name)
		}
		if p.Exported {
			exported = append(exported, p.Name)
		}
	}
	r.print = slices.Clone(r.print)
	for i, name := range r.print {
		found, err := predicateOf(prog, name, names)
		if err != nil {
			return chosen{}, err
		}
		r.print[i] = found
	}
	out := chosen{results: r, shown: r.print, files: map[string]string{}}
	if r.dir != "" || r.base != "" {
		out.written = slices.Clone(exported)
		for _, name := range r.print {
			if !slices.Contains(out.written, name) {
				out.written = append(out.written, name)
			}
		}
	}
	if len(r.print) == 0 {
		out.shown = queries
		if len(queries) == 0 && r.dir == "" && r.base == "" {
			out.shown, out.implicit = exported, true
		}
	}
	if r.file != "" {
		return out, out.toFile()
	}
	out.nameFiles()
	if format := out.printed(); len(out.shown) > 1 && format != "table" {
		return chosen{}, &usageError{
			message: fmt.Sprintf("standard output takes one predicate as %s, and these are %d: %s",
				format, len(out.shown), strings.Join(out.shown, ", ")),
			help: "name one with --print, or write files with --out DIR",
		}
	}
	return out, nil
}

// toFile sends to the file of --out what would have been printed, which is one
// predicate.
func (c *chosen) toFile() error {
	if len(c.shown) != 1 {
		dir := strings.TrimSuffix(c.file, filepath.Ext(c.file))
		found := "none: the program has no query and derives nothing"
		if len(c.shown) > 0 {
			found = fmt.Sprintf("%d: %s", len(c.shown), strings.Join(c.shown, ", "))
		}
		return usage(fmt.Sprintf("name one with --print, or write a folder of files with --out %s --format %s",
			shellQuote(dir), c.format),
			"--out %s is a file, which takes one predicate, and these are %s", shellQuote(c.file), found)
	}
	c.written, c.shown, c.implicit = c.shown, nil, false
	c.files[c.written[0]] = filepath.Clean(c.file)
	return nil
}

// nameFiles gives each predicate of written a file of its own in the folder:
// that of a:b is a_b. If several have the same, those with a colon move to
// folders, such as a/b, as no name holds a slash. The tables of a database are
// named likewise, but those with a colon keep it.
func (c *chosen) nameFiles() {
	format := c.format
	if format == "" || format == "table" {
		format = "tsv"
	}
	flat := func(pred string) string { return strings.ReplaceAll(pred, ":", "_") }
	same := map[string]int{}
	for _, name := range c.written {
		same[flat(name)]++
	}
	if c.base != "" {
		for _, name := range c.written {
			if c.files[name] = flat(name); same[flat(name)] > 1 {
				c.files[name] = name
			}
		}
		return
	}
	for _, name := range c.written {
		stem := flat(name)
		if same[stem] > 1 {
			stem = strings.ReplaceAll(name, ":", "/")
		}
		c.files[name] = filepath.Join(c.dir, filepath.FromSlash(stem)+"."+format)
	}
}

// printed returns the format of what goes to standard output. With --out,
// --format is that of the files, and of a text that a single --print asks for.
func (c chosen) printed() string {
	alone := len(c.print) == 1 && !isBinary(c.format)
	if c.format == "" || c.dir != "" && !alone {
		return "table"
	}
	return c.format
}

// all lists the predicates that are wanted, each once.
func (c chosen) all() []string {
	out := []string{} // not nil, which would mean all exported predicates
	for _, name := range slices.Concat(c.shown, c.written) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// prepare finds out whether the results can be written before they are
// computed.
func (c chosen) prepare(con *console) error {
	if isBinary(c.printed()) && len(c.shown) > 0 && con.outTerminal {
		return &usageError{message: c.printed() + " is not for terminals",
			help: "redirect standard output, or write files with --out DIR"}
	}
	if c.dir == "" {
		return nil
	}
	if info, err := os.Stat(c.dir); err == nil && !info.IsDir() {
		return usage("name a folder, which is made if it is not there",
			"--out %s: this is a file, not a folder", shellQuote(c.dir))
	}
	return nil
}

// leave leaves the files that the program itself names to its exports.
func (c *chosen) leave(exports []driver.Export) error {
	files := map[string]string{}
	for _, name := range c.written {
		files[c.files[name]] = name
	}
	for _, x := range exports {
		path := filepath.Clean(x.Path)
		other, taken := files[path]
		if taken && other != x.Pred {
			return &usageError{
				message: fmt.Sprintf("%s and %s would both be written to %s", other, x.Pred, path),
				help:    "change the path that the program gives one of them",
			}
		}
		files[path] = x.Pred
		c.written = slices.DeleteFunc(c.written, func(name string) bool {
			return c.files[name] == path
		})
	}
	return nil
}

// write prints and writes what was chosen. Files come first, so that what is
// printed is there when they are.
func (c chosen) write(ctx context.Context, con *console, res *driver.Result) error {
	var err error
	switch {
	case c.base != "":
		err = c.writeDatabase(ctx, res)
	case c.dir != "" || c.file != "" && len(c.files) > 0:
		err = c.writeFiles(ctx, res)
	}
	if err != nil {
		return err
	}
	format, err := driver.ParseFormat(c.printed())
	if err != nil {
		return &usageError{message: err.Error()}
	}
	for i, name := range c.shown {
		limit, cut := c.limit, c.cut && con.outTerminal && format == driver.Table
		switch {
		case cut && c.implicit:
			limit = implicitLimit
		case cut:
			limit = terminalLimit
		}
		if i > 0 {
			fmt.Fprintln(con.out)
		}
		if len(c.shown) > 1 {
			fmt.Fprintf(con.out, "%s:\n", name)
		}
		w := stoppable{ctx, con.out}
		if err := res.Write(w, name, format,
			driver.WriteOptions{Header: c.header, Limit: limit}); err != nil {
			return written(err)
		}
		if more := res.Len(name) - limit; cut && more > 0 {
			if err := con.out.Flush(); err != nil {
				return written(err)
			}
			fmt.Fprintf(con.err, "redfox: note: %s of %s more; --limit 0 prints all\n",
				count(more, "tuple"), name)
		}
	}
	if len(c.shown) == 0 && c.dir == "" && c.file == "" && c.base == "" {
		fmt.Fprintln(con.err,
			"redfox: note: the program has no query and derives nothing; name what to print with --print")
	}
	return nil
}

// writeDatabase writes the database of --out, which gets its name when it is
// whole.
func (c chosen) writeDatabase(ctx context.Context, res *driver.Result) error {
	f, err := atomicfile.Create(c.base)
	if err != nil {
		return cannotWrite(c.base, err)
	}
	defer f.Discard()
	path, err := f.Unfinished()
	if err != nil {
		return cannotWrite(c.base, err)
	}
	var tables []string
	for _, name := range c.written {
		tables = append(tables, c.files[name])
	}
	if err := res.WriteDatabase(ctx, path, c.written, tables); err != nil {
		return written(writeFailed(c.base, err))
	}
	if err := f.Commit(); err != nil {
		return cannotWrite(c.base, err)
	}
	return nil
}

// writeFiles writes the files of --out. They get their names when all are
// whole, so that a failure leaves the results of an earlier run as they were.
func (c chosen) writeFiles(ctx context.Context, res *driver.Result) error {
	if c.dir != "" {
		if err := os.MkdirAll(c.dir, 0o777); err != nil {
			return cannotWrite(c.dir, err)
		}
	}
	var whole []*atomicfile.File
	defer func() {
		for _, f := range whole {
			f.Discard()
		}
	}()
	for _, name := range c.written {
		file := c.files[name]
		format, _ := driver.FormatNamed(file)
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if dir := filepath.Dir(file); c.dir != "" {
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return cannotWrite(dir, err)
			}
		}
		f, err := atomicfile.Create(file)
		if err != nil {
			return cannotWrite(file, err)
		}
		whole = append(whole, f)
		if err := res.Write(stoppable{ctx, f}, name, format,
			driver.WriteOptions{Header: c.header}); err != nil {
			return written(writeFailed(file, err))
		}
		if err := f.Finish(); err != nil {
			return cannotWrite(file, err)
		}
	}
	for i, f := range whole {
		if err := f.Commit(); err != nil {
			return cannotWrite(c.files[c.written[i]], err)
		}
	}
	return nil
}
