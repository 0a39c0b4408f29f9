package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/reference/randprog"
)

// testCase is a program with facts.
type testCase struct {
	name  string
	again string // the flags that choose it
	// load loads the facts for runs of a session.
	load func(ctx context.Context, s *driver.Session) (*driver.Program, *driver.Database, error)
	// program is what a random case is made of.
	program *randprog.Program
}

// cases lists what is to be tested.
func (t *tester) cases() ([]testCase, error) {
	var all []testCase
	lists := []func() ([]testCase, error){t.folders, t.quickstart, t.made, t.closures, t.queries}
	for _, list := range lists {
		some, err := list()
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	all = slices.DeleteFunc(all, func(c testCase) bool { return !strings.Contains(c.name, t.only) })
	for i := range t.random {
		all = append(all, randomCase(randprog.New(t.seed+uint64(i)).WithTerms()))
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no program of %s has %q in its name", t.data, t.only)
	}
	return all, nil
}

// fileCase is a program in one or several files.
func fileCase(name string, facts func(*driver.Program) *driver.Facts, program ...string) testCase {
	return testCase{name: name, again: "-only " + name,
		load: func(ctx context.Context, s *driver.Session) (*driver.Program, *driver.Database,
			error) {
			sources, err := driver.ReadSources(program...)
			if err != nil {
				return nil, nil, err
			}
			return load(ctx, s, sources, facts)
		}}
}

func load(ctx context.Context, s *driver.Session, sources []driver.Source,
	facts func(*driver.Program) *driver.Facts) (*driver.Program, *driver.Database, error) {
	prog, err := driver.Compile(ctx, sources, driver.Options{})
	if err != nil {
		return nil, nil, err
	}
	db, err := s.Load(ctx, prog, facts(prog), driver.LoadOptions{})
	return prog, db, err
}

// folders are the programs that have a folder each, of which some have facts.
func (t *tester) folders() ([]testCase, error) {
	files, err := filepath.Glob(filepath.Join(t.data, "programs", "*", "program.logic"))
	if err != nil || len(files) == 0 {
		return nil,
			fmt.Errorf("%s has no programs; -data names the folder testdata of the source tree",
				t.data)
	}
	var out []testCase
	for _, file := range files {
		dir := filepath.Dir(file)
		out = append(out,
			fileCase("programs/"+filepath.Base(dir), func(*driver.Program) *driver.Facts {
				return factsIn(filepath.Join(dir, "facts"))
			}, file))
	}
	return out, nil
}

// factsIn returns the facts of a folder, if there is one: PRED.tsv without a
// header, and tables of several predicates, NAME.csv with a header and
// NAME.parquet.
func factsIn(dir string) *driver.Facts {
	facts := driver.NewFacts()
	if _, err := os.Stat(dir); err != nil {
		return facts
	}
	tables, _ := filepath.Glob(filepath.Join(dir, "*.csv")) // the pattern is well-formed
	for _, path := range tables {
		facts.Add(tableFile(strings.TrimSuffix(filepath.Base(path), ".csv"), path))
	}
	return facts.Dir(dir)
}

// tableFile is a CSV file with a header, which feeds the predicates NAME:*.
func tableFile(name, path string) driver.FactFile {
	header := true
	return driver.FactFile{Pred: name, Path: path, Format: driver.CSVFacts, Header: &header}
}

func (t *tester) quickstart() ([]testCase, error) {
	dir := filepath.Join(t.data, "quickstart")
	return []testCase{fileCase("quickstart", func(*driver.Program) *driver.Facts {
		return driver.NewFacts().Dir(filepath.Join(dir, "facts"))
	}, filepath.Join(dir, "reach.logic"))}, nil
}

// made are programs whose facts are made up.
func (t *tester) made() ([]testCase, error) {
	files, err := filepath.Glob(filepath.Join(t.data, "fusion", "*.logic"))
	if err != nil {
		return nil, err
	}
	var out []testCase
	for _, file := range files {
		name := "fusion/" + strings.TrimSuffix(filepath.Base(file), ".logic")
		out = append(out, fileCase(name, func(p *driver.Program) *driver.Facts {
			return madeUp(p, 20_000)
		}, file))
	}
	return append(out, fileCase("graphs/cspa", func(p *driver.Program) *driver.Facts {
		return madeUp(p, 300)
	},
		filepath.Join(t.data, "graphs", "cspa.logic"))), nil
}

// madeUp returns n tuples for each predicate that takes facts. The keys of
// functional ones count from 0, and other numbers are below n, so that they
// lead somewhere.
func madeUp(p *driver.Program, n int) *driver.Facts {
	facts := driver.NewFacts()
	for _, pred := range p.Predicates() {
		if pred.Derived {
			continue
		}
		var rows [][]any
		state := uint64(len(pred.Name))
		for i := range n {
			var row []any
			for at, c := range pred.Columns {
				// Knuth's MMIX generator.
				state = state*6364136223846793005 + 1442695040888963407
				v := int(state>>33) % n
				if at < pred.Keys && pred.Keys < len(pred.Columns) {
					v = i
				}
				row = append(row, valueText(c.Type.String(), v))
			}
			rows = append(rows, row)
		}
		facts.Rows(pred.Name, rows...)
	}
	return facts
}

// valueText returns value v of a type, which has it as text.
func valueText(typ string, v int) string {
	kind, _, _ := strings.Cut(typ, "[")
	switch kind {
	case "string":
		return fmt.Sprintf("s%d", v)
	case "boolean":
		return strconv.FormatBool(v%2 == 1)
	case "datetime":
		return fmt.Sprintf("%d-%02d-%02d", 1992+v%7, 1+v%12, 1+v%28)
	case "decimal":
		return fmt.Sprintf("%d.%02d", v, v%100)
	case "float":
		return fmt.Sprintf("%d.5", v)
	}
	if typ == "int[8]" {
		v %= 128
	}
	return strconv.Itoa(v)
}

// smallClosure bounds the tuples of closures that are always tested,
// largeClosure those that -large adds.
const (
	smallClosure = 1_000_000
	largeClosure = 20_000_000
)

// closures are the programs over graphs, with the graphs of a size to be
// tested.
func (t *tester) closures() ([]testCase, error) {
	dir := filepath.Join(t.data, "graphs")
	file, err := os.Open(filepath.Join(dir, "SIZES.tsv"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.Comma = '\t'
	table, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	bound := int64(smallClosure)
	if t.large {
		bound = largeClosure
	}
	var out []testCase
	add := func(program, graph string) {
		out = append(out,
			fileCase("graphs/"+program+"/"+graph, func(*driver.Program) *driver.Facts {
				return driver.NewFacts().File("edge", filepath.Join(dir, graph+".tsv.gz"))
			}, filepath.Join(dir, program+".logic")))
	}
	for _, row := range table[1:] {
		add("triangles", row[0])
		for c, program := range table[0] {
			if c < 3 {
				continue
			}
			if size, err := strconv.ParseInt(row[c], 10, 64); err != nil || size > bound {
				t.skipped = append(t.skipped,
					fmt.Sprintf("graphs/%s/%s, of %s tuples", program, row[0], row[c]))
				continue
			}
			add(program, row[0])
		}
	}
	return out, nil
}

// queries are those of TPC-H, with a predicate for each column or for each
// table, and of the Star Schema Benchmark. Their data are small ones, unless
// -tpch names others.
func (t *tester) queries() ([]testCase, error) {
	tpch := t.tpch
	if tpch == "" {
		tpch = filepath.Join(t.data, "tpch", "sf0.01")
	}
	var out []testCase
	for _, of := range []struct{ folder, facts, again string }{
		{"tpch", tpch, " -tpch " + tpch},
		{"tpch/wide", tpch, " -tpch " + tpch},
		{"ssb", filepath.Join(t.data, "ssb", "sf0.01"), ""},
	} {
		dir := filepath.Join(t.data, filepath.FromSlash(of.folder))
		files, err := filepath.Glob(filepath.Join(dir, "q*.logic"))
		if err != nil || len(files) == 0 {
			return nil, errors.Join(fmt.Errorf("%s has no queries", dir), err)
		}
		for _, file := range files {
			name := of.folder + "/" + strings.TrimSuffix(filepath.Base(file), ".logic")
			c := fileCase(name, func(*driver.Program) *driver.Facts {
				return driver.NewFacts().Dir(of.facts)
			},
				filepath.Join(dir, "schema.logic"), file)
			c.again += of.again
			out = append(out, c)
		}
	}
	return out, nil
}

// randomCase is a random program.
func randomCase(p *randprog.Program) testCase {
	return testCase{
		name:    fmt.Sprintf("random/%d", p.Seed),
		again:   fmt.Sprintf("-only random/ -random 1 -seed %d", p.Seed),
		program: p,
		load: func(ctx context.Context, s *driver.Session) (*driver.Program, *driver.Database,
			error) {
			return load(ctx, s, []driver.Source{driver.Text("program.logic", p.Text())},
				func(*driver.Program) *driver.Facts {
					facts := driver.NewFacts()
					files := p.FactFiles()
					var names []string
					for name := range files {
						names = append(names, name)
					}
					slices.Sort(names)
					for _, name := range names {
						if pred, isTable := strings.CutSuffix(name, ".csv"); isTable {
							table := tableFile(pred, name)
							table.Reader = strings.NewReader(files[name])
							facts.Add(table)
							continue
						}
						facts.Reader(strings.TrimSuffix(name, ".tsv"), driver.TSVFacts,
							strings.NewReader(files[name]))
					}
					return facts
				})
		},
	}
}
