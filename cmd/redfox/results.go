package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox"
	"github.com/redfoxdb/redfox/internal/atomicfile"
)

// formats are the names that --format takes.
var formats = []string{"table", "tsv", "csv", "json", "parquet"}

// implicitLimit bounds what is shown of a predicate that was not asked for: a
// program without queries shows the beginning of what it derives.
const implicitLimit = 20

// results is what the flags say of printing and writing.
type results struct {
	print  []string
	dir    string // of --out, or ""
	format string // "" when not given
	header bool
	limit  int64 // 0 for all
}

// newResults checks the flags about results.
func newResults(c *cli.Context) (results, error) {
	r := results{
		print:  splitList(c.StringSlice("print")),
		dir:    c.String("out"),
		format: c.String("format"),
		header: headerOf(c) == headerBoth || headerOf(c) == headerResults,
		limit:  c.Int64("limit"),
	}
	if err := notNegative("limit", r.limit); err != nil {
		return r, err
	}
	if r.format != "" {
		if _, err := choice("format", r.format, formats...); err != nil {
			return r, err
		}
	}
	return r, nil
}

// chosen says which predicates go where.
type chosen struct {
	results
	shown    []string // to standard output
	written  []string // to files
	implicit bool     // shown was not asked for
}

// choose decides, knowing the program, what is printed and what is written.
func (r results) choose(prog *redfox.Program) (chosen, error) {
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
	for _, name := range r.print {
		if !slices.Contains(names, name) {
			return chosen{}, &usageError{
				message: fmt.Sprintf("--print %s: the program has no such predicate", name),
				help:    nearest(name, names),
			}
		}
	}
	out := chosen{results: r, shown: r.print}
	if r.dir != "" {
		out.written = slices.Clone(exported)
		for _, name := range r.print {
			if !slices.Contains(out.written, name) {
				out.written = append(out.written, name)
			}
		}
	}
	if len(r.print) == 0 {
		out.shown = queries
		if len(queries) == 0 && r.dir == "" {
			out.shown, out.implicit = exported, true
		}
	}
	if format := out.printed(); len(out.shown) > 1 && format != "table" {
		return chosen{}, &usageError{
			message: fmt.Sprintf("standard output takes one predicate as %s, and these are %d: %s",
				format, len(out.shown), strings.Join(out.shown, ", ")),
			help: "name one with --print, or write files with --out DIR",
		}
	}
	return out, nil
}

// printed returns the format of what goes to standard output. With --out,
// --format is that of the files.
func (c chosen) printed() string {
	if c.format == "" || c.dir != "" {
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
	if c.printed() == "parquet" && len(c.shown) > 0 && con.outTerminal {
		return &usageError{message: "Parquet is not for terminals",
			help: "redirect standard output, or write files with --out DIR"}
	}
	if c.dir == "" {
		return nil
	}
	if info, err := os.Stat(c.dir); err == nil && !info.IsDir() {
		return usage("name a folder, which is made if it is not there",
			"--out %s: this is a file, not a folder", shellQuote(c.dir))
	}
	files := map[string]string{}
	for _, name := range c.written {
		file := c.file(name)
		if other, ok := files[file]; ok {
			return &usageError{message: fmt.Sprintf("%s and %s would both be written to %s", other,
				name, file),
				help: "write them in two runs, each with --print"}
		}
		files[file] = name
	}
	return nil
}

// leave leaves the files that the program itself names to its exports.
func (c *chosen) leave(exports []redfox.Export) error {
	files := map[string]string{}
	for _, name := range c.written {
		files[c.file(name)] = name
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
			return c.file(name) == path
		})
	}
	return nil
}

// file returns the file that a predicate is written to.
func (c chosen) file(pred string) string {
	format := c.format
	if format == "" || format == "table" {
		format = "tsv"
	}
	return filepath.Join(c.dir, strings.ReplaceAll(pred, ":", "_")+"."+format)
}

// write prints and writes what was chosen. Files come first, so that what is
// printed is there when they are.
func (c chosen) write(ctx context.Context, con *console, res *redfox.Result) error {
	if c.dir != "" {
		if err := c.writeFiles(ctx, res); err != nil {
			return err
		}
	}
	format, err := redfox.ParseFormat(c.printed())
	if err != nil {
		return &usageError{message: err.Error()}
	}
	for i, name := range c.shown {
		limit := c.limit
		if c.implicit && limit == 0 && format == redfox.Table {
			limit = implicitLimit
		}
		if i > 0 {
			fmt.Fprintln(con.out)
		}
		if len(c.shown) > 1 {
			fmt.Fprintf(con.out, "%s:\n", name)
		}
		w := stoppable{ctx, con.out}
		if err := res.Write(w, name, format,
			redfox.WriteOptions{Header: c.header, Limit: limit}); err != nil {
			return written(err)
		}
		if more := res.Len(name) - limit; c.implicit && limit > 0 && more > 0 {
			if err := con.out.Flush(); err != nil {
				return written(err)
			}
			fmt.Fprintf(con.err, "redfox: %s of %s more; --print %s prints all\n",
				count(more, "tuple"), name, name)
		}
	}
	if len(c.shown) == 0 && c.dir == "" {
		fmt.Fprintln(con.err,
			"redfox: the program has no query and derives nothing; name what to print with --print")
	}
	return nil
}

// writeFiles writes the files of --out. They get their names when all are
// whole, so that a failure leaves the results of an earlier run as they were.
func (c chosen) writeFiles(ctx context.Context, res *redfox.Result) error {
	if err := os.MkdirAll(c.dir, 0o777); err != nil {
		return cannotWrite(c.dir, err)
	}
	var whole []*atomicfile.File
	defer func() {
		for _, f := range whole {
			f.Discard()
		}
	}()
	for _, name := range c.written {
		file := c.file(name)
		format, err := redfox.ParseFormat(strings.TrimPrefix(filepath.Ext(file), "."))
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		f, err := atomicfile.Create(file)
		if err != nil {
			return cannotWrite(file, err)
		}
		whole = append(whole, f)
		if err := res.Write(stoppable{ctx, f}, name, format,
			redfox.WriteOptions{Header: c.header}); err != nil {
			return written(writeFailed(file, err))
		}
		if err := f.Finish(); err != nil {
			return cannotWrite(file, err)
		}
	}
	for i, f := range whole {
		if err := f.Commit(); err != nil {
			return cannotWrite(c.file(c.written[i]), err)
		}
	}
	return nil
}
