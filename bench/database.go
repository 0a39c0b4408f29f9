package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/internal/driver"
)

// duckdbFile makes a database of DuckDB from the Parquet files of a folder.
const duckdbFile = `import duckdb, glob, os, sys
con = duckdb.connect(sys.argv[2])
for f in glob.glob(sys.argv[1] + "/*.parquet"):
    con.sql(f"create table {os.path.basename(f)[:-8]} as from '{f}'")
con.close()
`

// duckdbQuery runs a query and prints the answer. Its process says how long it
// took from opening the database, or the files, to the answer.
const duckdbQuery = `import duckdb, glob, os, sys, time
start = time.perf_counter()
con = duckdb.connect(sys.argv[1], read_only=sys.argv[1] != ":memory:")
con.sql(f"set threads={sys.argv[2]}")
if sys.argv[1] == ":memory:":
    for f in glob.glob(sys.argv[4] + "/*.parquet"):
        con.sql(f"create view {os.path.basename(f)[:-8]} as from '{f}'")
for row in con.sql(open(sys.argv[3]).read()).fetchall():
    print(*row, sep="\t")
print(time.perf_counter() - start, file=sys.stderr)
`

// benchDatabase measures the first answer of TPC-H's sixth query in a process
// of its own: from a database of redfox, from Parquet, and with DuckDB from its
// own database and from Parquet. The systems take turns, and answers must be
// equal. Redfox's times are those of whole processes; DuckDB's are without the
// start of Python.
func benchDatabase(ctx context.Context, c config) error {
	bin, remove, err := buildCommand(ctx)
	if err != nil {
		return err
	}
	defer remove()
	d := &databaseRuns{config: c, bin: bin, dir: filepath.Dir(bin)}
	if err := d.make(ctx); err != nil {
		return err
	}
	systems := []struct {
		name string
		run  func(ctx context.Context) (float64, []byte, error)
	}{
		{"redfox, .rfdb", d.redfox(d.stored())},
		{"redfox, Parquet", d.redfox(c.tpch)},
		{"DuckDB, its file", d.duckdb(d.peer())},
		{"DuckDB, Parquet", d.duckdb(":memory:")},
	}
	took := make([][]float64, len(systems))
	var want []byte
	for range c.repeat + 1 { // the first turn fills caches
		for i, s := range systems {
			seconds, answer, err := s.run(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if want == nil {
				want = answer
			}
			if !bytes.Equal(answer, want) {
				return fmt.Errorf("%s answers %q, and %s %q", s.name, answer, systems[0].name, want)
			}
			took[i] = append(took[i], seconds)
		}
	}
	base := measure.Median(took[0][1:])
	var rows []table.Row
	for i, s := range systems {
		m := measure.Median(took[i][1:])
		rows = append(rows, table.Row{s.name, measure.FormatTime(m), fmt.Sprintf("%.2f", m/base)})
	}
	open, err := repeat(c.repeat, func() error {
		_, err := driver.DatabaseInfo(d.stored())
		return err
	})
	if err != nil {
		return err
	}
	rows = append(rows, table.Row{"opening the .rfdb alone", measure.FormatTime(open),
		fmt.Sprintf("%.3f", open/base)})
	report(fmt.Sprintf("first answer of TPC-H Q6 of a process, %d threads; loaded in %s (DuckDB %s), %s (DuckDB %s)",
		c.threads, measure.FormatTime(d.load), measure.FormatTime(d.peerLoad),
		megabytes(d.stored()), megabytes(d.peer())),
		table.Row{"system", "time", "ratio"}, rows)
	return nil
}

// databaseRuns measures processes over databases of the same data.
type databaseRuns struct {
	config
	bin, dir       string
	load, peerLoad float64 // seconds to make the databases
}

func (d *databaseRuns) stored() string { return filepath.Join(d.dir, "tpch.rfdb") }
func (d *databaseRuns) peer() string   { return filepath.Join(d.dir, "tpch.duckdb") }

// make makes both databases.
func (d *databaseRuns) make(ctx context.Context) error {
	start := time.Now()
	out, err := exec.CommandContext(ctx, d.bin, "load", testFile("tpch", "schema.logic"), "--facts",
		d.tpch, "-o", d.stored()).CombinedOutput()
	if err != nil {
		return fmt.Errorf("redfox load: %w\n%s", err, out)
	}
	d.load = time.Since(start).Seconds()
	start = time.Now()
	out, err = exec.CommandContext(ctx, d.python, "-c", duckdbFile, d.tpch,
		d.peer()).CombinedOutput()
	if err != nil {
		return fmt.Errorf("DuckDB: %w\n%s", err, out)
	}
	d.peerLoad = time.Since(start).Seconds()
	return nil
}

// redfox runs the query over facts. Code is kept from turn to turn.
func (d *databaseRuns) redfox(facts string) func(context.Context) (float64, []byte, error) {
	return func(ctx context.Context) (float64, []byte, error) {
		cmd := exec.CommandContext(ctx, d.bin, "run", testFile("tpch", "schema.logic"),
			testFile("tpch", "q06.logic"), "--facts", facts, "--threads", fmt.Sprint(d.threads),
			"--format", "tsv")
		cmd.Env = append(os.Environ(), "REDFOX_CACHE="+filepath.Join(d.dir, "cache"))
		var messages bytes.Buffer
		cmd.Stderr = &messages
		start := time.Now()
		answer, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, &messages)
		}
		return time.Since(start).Seconds(), answer, err
	}
}

// duckdb runs the query over a database.
func (d *databaseRuns) duckdb(database string) func(context.Context) (float64, []byte, error) {
	return func(ctx context.Context) (float64, []byte, error) {
		cmd := exec.CommandContext(ctx, d.python, "-c", duckdbQuery, database,
			fmt.Sprint(d.threads), testFile("tpch", filepath.Join("sql", "q06.sql")), d.tpch)
		var messages bytes.Buffer
		cmd.Stderr = &messages
		answer, err := cmd.Output()
		if err != nil {
			return 0, nil, fmt.Errorf("%w\n%s", err, &messages)
		}
		var seconds float64
		_, err = fmt.Sscan(strings.TrimSpace(messages.String()), &seconds)
		return seconds, answer, err
	}
}

// megabytes renders the size of a file.
func megabytes(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "no file"
	}
	return fmt.Sprintf("%d MB", info.Size()/1e6)
}
