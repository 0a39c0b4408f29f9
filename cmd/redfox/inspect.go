package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/internal/driver"
)

// parts are the flags of inspect that print a part of the file, in the order of
// the help.
var parts = []driver.CompiledPart{driver.PartSource, driver.PartPlan, driver.PartHarmony,
	driver.PartABI,
	driver.PartLLVM, driver.PartPTX}

func inspectCommand(con *console) *cli.Command {
	names := []string{"target"}
	for _, p := range parts {
		names = append(names, string(p))
	}
	return &cli.Command{
		Name:      "inspect",
		Usage:     "show what the file of a compiled program holds",
		ArgsUsage: "FILE.rfx",
		Description: "Without flags it lists the sections with their sizes and checksums, and the functions for each " +
			"target. A flag prints one part of the file as it is; of several targets, --target chooses. A file that " +
			"is cut short or altered is refused.\n\n" +
			examplesMark +
			"redfox inspect reach.rfx\n" +
			"redfox inspect reach.rfx --ptx\n" +
			"redfox inspect reach.rfx --harmony --target gpu:sm_90",
		Flags: flags(names...),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return &usageError{message: fmt.Sprintf("inspect takes one file, and these are %d",
					c.NArg()),
					help: "write redfox inspect FILE" + driver.CompiledExtension}
			}
			if name := c.Args().First(); isProgram(name) &&
				filepath.Ext(name) != driver.CompiledExtension {
				return &usageError{message: fmt.Sprintf("%s is not compiled", name),
					help: "compile it with redfox compile -o FILE" + driver.CompiledExtension}
			}
			return inspect(c, con)
		},
	}
}

func inspect(c *cli.Context, con *console) error {
	targets, err := targetsOf(c)
	if err != nil {
		return err
	}
	if len(targets) > 1 {
		return &usageError{message: fmt.Sprintf("--target chooses one target, and these are %s",
			strings.Join(targets, ", "))}
	}
	var wanted []driver.CompiledPart
	for _, p := range parts {
		if c.Bool(string(p)) {
			wanted = append(wanted, p)
		}
	}
	if len(wanted) > 1 {
		return &usageError{message: fmt.Sprintf("--%s and --%s print different parts", wanted[0],
			wanted[1]), help: "give one of them"}
	}
	sources, err := readProgram(c)
	if err != nil {
		return err
	}
	compiled, err := driver.ParseCompiled(sources[0])
	if err != nil {
		return err
	}
	if len(wanted) == 0 {
		printInfo(con.out, compiled.Info(), targets)
		return nil
	}
	text, err := compiled.Text(wanted[0], strings.Join(targets, ""))
	if err != nil {
		return err
	}
	_, err = io.WriteString(con.out, text)
	return err
}

// shortSum is how many digits of a checksum are shown.
const shortSum = 16

// printInfo writes the tables of inspect.
func printInfo(w writer, info driver.CompiledInfo, targets []string) {
	fmt.Fprintf(w, "program   %s, compiled by redfox %s\n", info.Program, info.Redfox)
	fmt.Fprintf(w, "checksum  %s\n", info.Checksum)
	kernels := "for all facts"
	if info.Facts != "" {
		kernels = "for the facts they were compiled with, whose statistics have the fingerprint " +
			info.Facts
	}
	fmt.Fprintf(w, "kernels   %s\n\n", kernels)
	sections := newTable("section", "bytes", "sha256")
	sections.SetColumnConfigs([]table.ColumnConfig{{Number: 2, Align: text.AlignRight,
		AlignHeader: text.AlignRight}})
	for _, s := range info.Sections {
		sections.AppendRow(table.Row{s.Name, grouped(s.Size), s.Checksum[:shortSum]})
	}
	fmt.Fprintln(w, sections.Render())
	for _, t := range info.Targets {
		if len(targets) > 0 && t.Name != targets[0] {
			continue
		}
		by := "LLVM IR"
		if t.Compiler != "" {
			by = "by " + t.Compiler
		}
		fmt.Fprintf(w, "\n%s, %s, %s\n", t.Name, by, count(len(t.Functions), "function"))
		functions := newTable("function", "does", "tile", "shared", "parameters", "from")
		functions.SetColumnConfigs([]table.ColumnConfig{
			{Number: 3, Align: text.AlignRight, AlignHeader: text.AlignRight},
			{Number: 4, Align: text.AlignRight, AlignHeader: text.AlignRight},
			{Number: 5, Align: text.AlignRight, AlignHeader: text.AlignRight},
		})
		for _, f := range t.Functions {
			tile := fmt.Sprintf("%d × %d", f.Threads, f.Rows)
			from := strings.Join(append([]string{f.Place}, f.Operators...), "\n")
			functions.AppendRow(table.Row{f.Symbol, f.Does, tile, f.Scratch, f.Parameters,
				strings.TrimPrefix(from, "\n")})
		}
		fmt.Fprintln(w, functions.Render())
	}
}

// newTable returns a table in the style of results.
func newTable(columns ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.Options{SeparateHeader: true, SeparateColumns: true}
	style.Box = table.BoxStyle{MiddleHorizontal: "-", MiddleSeparator: "  ", MiddleVertical: "  "}
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.AppendHeader(columns)
	t.SuppressTrailingSpaces()
	return t
}
