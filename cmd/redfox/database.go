package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/internal/driver"
)

func loadCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:      "load",
		Usage:     "write the facts of a program to the file of a database",
		ArgsUsage: "PROGRAM... | DIR",
		Description: "The declarations of the program name the predicates and their types, as for redfox run; rules are not " +
			"run. Facts are read as redfox run reads them. DIR stands for the .logic files in it, and for --facts DIR.\n\n" +
			"--facts FILE.rfdb then reads the database, which is mapped into memory: programs that declare its predicates " +
			"with the same types begin at once. redfox run --db FILE.rfdb makes transactions of it.\n\n" +
			examplesMark +
			"redfox load shop.logic --facts data -o shop.rfdb\n" +
			"redfox load shop -o shop.rfdb\n" +
			"redfox run sales.logic --facts shop.rfdb",
		Flags: flags(append([]string{"output", "raw", "clauses", "threads", "memory", "spill", "timeout",
			"json"},
			factNames...)...),
		Action: func(c *cli.Context) error { return load(c, con) },
	}
}

// load writes a database.
func load(c *cli.Context, con *console) error {
	path := c.String("output")
	if path != "" && !driver.IsStored(path) {
		return &usageError{command: c.Command.Name,
			message: fmt.Sprintf("-o %s: the name of a database ends in %s", path, driver.StoredExtension),
			help:    "write -o " + strings.TrimSuffix(path, filepath.Ext(path)) + driver.StoredExtension}
	}
	if path == "" {
		return &usageError{command: c.Command.Name, message: "no file of a database is named",
			help: "write -o FILE" + driver.StoredExtension}
	}
	if !c.Args().Present() && len(c.StringSlice("clauses")) == 0 {
		return &usageError{command: c.Command.Name, message: "no program is named",
			help: "write redfox load PROGRAM --facts DIR -o " + path}
	}
	r := &run{con: con, progress: newProgress(con)}
	defer r.progress.done()
	var err error
	if r.factFlags, err = newFactFlags(c); err != nil {
		return err
	}
	files, err := r.folderPrograms(c)
	if err != nil {
		return err
	}
	sources, err := readSources(c, files)
	if err != nil {
		return err
	}
	if r.load.Memory, err = sizeFlag(c, "memory"); err != nil {
		return err
	}
	if r.load.Spill, err = spillFlag(c, r.load.Memory > 0); err != nil {
		return err
	}
	r.load.Threads, r.load.Progress, r.load.Raw = c.Int("threads"), r.showLoad, c.Bool("raw")
	if err := notNegative("threads", r.load.Threads); err != nil {
		return err
	}
	ctx, cancel, err := withTimeout(c)
	if err != nil {
		return err
	}
	defer cancel()
	program, err := driver.Compile(ctx, sources, programOptions(c, r.external))
	if err != nil {
		return err
	}
	con.diagnostics(program.Warnings())
	limitHeap(r.load.Memory)
	report, err := program.Store(ctx, r.facts, path, r.load)
	r.progress.done()
	if report != nil && err == nil {
		r.notes(report)
		err = r.check(report)
	}
	r.options.Memory, r.options.Spill = r.load.Memory, r.load.Spill
	return r.adviseSpill(err)
}

// folderPrograms returns the files of the program. A folder stands for the
// .logic files in it, and for the facts.
func (r *run) folderPrograms(c *cli.Context) ([]string, error) {
	var files []string
	for _, name := range c.Args().Slice() {
		info, err := os.Stat(name)
		if err != nil || !info.IsDir() {
			files = append(files, name)
			continue
		}
		entries, _ := os.ReadDir(name) // without entries, the error below says enough
		known := len(files)
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".logic") {
				files = append(files, filepath.Join(name, e.Name()))
			}
		}
		if len(files) == known {
			return nil, usage("write the declarations of its predicates to a file there, or name a program: "+
				"redfox load PROGRAM --facts "+shellQuote(name),
				"%s has no .logic files, and nothing else says which predicates its files hold", name)
		}
		if !c.IsSet("facts") {
			r.facts.Dir(name)
		}
	}
	return files, nil
}

// program reads the program that the arguments name. With --db there may be
// none.
func (r *run) program(c *cli.Context) ([]driver.Source, error) {
	if c.IsSet("db") && !c.Args().Present() && len(c.StringSlice("clauses")) == 0 {
		return nil, nil
	}
	return readProgram(c)
}

// open opens the workspace of a run: that of the program, or the database of
// --db. Without write and without a program the database is only read.
func (r *run) open(ctx context.Context, c *cli.Context, session *driver.Session,
	sources []driver.Source, write bool, opts driver.RunOptions) (*driver.Workspace, error) {
	path := c.String("db")
	if path == "" {
		return session.OpenWorkspace(ctx, sources, r.facts, programOptions(c, r.external), opts)
	}
	if !driver.IsStored(path) {
		return nil, usage("end its name in "+driver.StoredExtension,
			"--db %s: this is no name of a database", shellQuote(path))
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && len(sources) == 0 {
		return nil, usage("redfox run PROGRAM --db "+shellQuote(path)+" makes it", "--db %s: %v",
			shellQuote(path), reason(err))
	}
	return session.OpenDatabase(ctx, path, driver.OpenDatabaseOptions{Write: write,
		Sources: sources, Facts: r.facts, Program: programOptions(c, r.external), Run: opts})
}

// databaseActions are what redfox db does with a file.
var databaseActions = []string{"info", "check", "compact"}

func databaseCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:      "db",
		Usage:     "show, check or compact the file of a database",
		ArgsUsage: "info|check|compact FILE.rfdb",
		Description: "info lists the predicates with their columns. check compares all of the file with its checksums, " +
			"looks whether keys are keys, and exits with 1 if something is damaged. compact writes the file anew, packed, " +
			"without what earlier transactions have left; processes that read the old file go on with it.\n\n" +
			examplesMark +
			"redfox db info shop.rfdb\n" +
			"redfox db check shop.rfdb\n" +
			"redfox db compact shop.rfdb",
		Flags: flags("threads", "raw"),
		Action: func(c *cli.Context) error {
			action, path := c.Args().Get(0), c.Args().Get(1)
			if c.NArg() != 2 || !slices.Contains(databaseActions, action) {
				return &usageError{command: c.Command.Name,
					message: "db takes what to do, and a file",
					help:    "write redfox db info FILE.rfdb, or check or compact in place of info"}
			}
			threads := c.Int("threads")
			if err := notNegative("threads", threads); err != nil {
				return err
			}
			switch action {
			case "check":
				return checkDatabase(c.Context, con, path, threads)
			case "compact":
				before, after, err := driver.CompactDatabase(c.Context, path, threads,
					c.Bool("raw"))
				if err == nil {
					fmt.Fprintf(con.out, "%s: %s, %s before\n", path, size(after), size(before))
				}
				return err
			}
			info, err := driver.DatabaseInfo(path)
			if err == nil {
				printDatabase(con, info)
			}
			return err
		},
	}
}

// checkDatabase prints what is damaged.
func checkDatabase(ctx context.Context, con *console, path string, threads int) error {
	damage, info, err := driver.CheckDatabase(ctx, path, threads)
	if err != nil {
		return err
	}
	for _, d := range damage {
		fmt.Fprintf(con.err, "%s: error: %v\n", path, d)
	}
	if len(damage) > 0 {
		return &toldError{exitProgram}
	}
	fmt.Fprintf(con.out, "%s: transaction %d, %s: all of it is as it was written\n", path,
		info.Transaction, count(int64(len(info.Relations)), "predicate"))
	return nil
}

// printDatabase prints what a database holds.
func printDatabase(con *console, info driver.StoredInfo) {
	fmt.Fprintf(con.out, "format       %d, written by redfox %s\n", info.Format, info.Redfox)
	fmt.Fprintf(con.out, "transaction  %d\n", info.Transaction)
	fmt.Fprintf(con.out, "size         %s, %s of it unused\n", size(info.Bytes), size(info.Unused))
	if len(info.Texts) > 0 {
		fmt.Fprintf(con.out, "texts        %s\n", strings.Join(info.Texts, ", "))
	}
	for _, r := range info.Relations {
		fmt.Fprintf(con.out, "\n%s  %s of table %s", r.Name, count(int64(r.Rows), "row"), r.Table)
		if r.Keys < len(r.Columns) {
			fmt.Fprintf(con.out, ", key of %s", count(int64(r.Keys), "column"))
		}
		fmt.Fprintln(con.out)
		for _, c := range r.Columns {
			form := "offsets of " + count(int64(c.Width), "byte")
			if c.Forms != nil {
				form = strings.Join(c.Forms, ", ")
			}
			fmt.Fprintf(con.out, "  %-16s %-14s %s: %s, about %d different", c.Name, c.Type, form,
				sizeOf(c.Stored, c.Bytes), c.Distinct)
			if c.Ascending {
				fmt.Fprint(con.out, ", ascending")
			}
			if c.Strings > 0 {
				fmt.Fprintf(con.out, ", %s: %s", count(c.Strings, "string"),
					sizeOf(c.StoredText, c.Text))
			}
			fmt.Fprintln(con.out)
		}
	}
}

// sizeOf renders a size in a file, and the size in memory if that is another.
func sizeOf(stored, memory int64) string {
	if stored == memory {
		return size(stored)
	}
	return fmt.Sprintf("%s of %s", size(stored), size(memory))
}
