package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// duckdbQuery runs a query and prints the answer. Its process reports the
// processor time from opening the database to the answer.
const duckdbQuery = `import duckdb, sys, time
start = time.process_time()
con = duckdb.connect(sys.argv[1], read_only=True)
con.sql(f"set threads={sys.argv[2]}")
for row in con.sql(open(sys.argv[3]).read()).fetchall():
    print(*row, sep="\t")
print(time.process_time() - start, file=sys.stderr)
`

// databaseQueries are the queries of the suite database.
var databaseQueries = []string{"q01", "q03", "q06", "q14", "q18"}

// storedData is a data set from which the suite database makes files.
type storedData struct {
	name, folder string
	int32s       int64   // bytes of its columns in four bytes a value; 0 if unknown
	size, peer   int64   // bytes of the file, and of DuckDB's
	before       int64   // bytes of the file of -before
	took, peers  float64 // seconds to make the file, and DuckDB's
	open         float64 // seconds
}

// benchDatabase makes database files of TPC-H and of SSB. It then measures
// queries of TPC-H, each in a process: from the file of redfox, from the file
// of -before, from Parquet, and in DuckDB from its own file. The systems take
// turns. Times are processor times, the least of -repeat turns. Those of redfox
// are of whole processes, and those of DuckDB exclude the start of Python. The
// answers of redfox must be equal, and those of DuckDB must have as many rows.
func benchDatabase(ctx context.Context, c config) error {
	bin, remove, err := c.command(ctx)
	if err != nil {
		return err
	}
	defer remove()
	dir, err := os.MkdirTemp("", "redfox-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := &databaseRuns{config: c, bin: bin, dir: dir}
	var rows []table.Row
	for _, data := range []*storedData{{name: "tpch", folder: c.tpch}, {name: "ssb", folder: c.ssb}} {
		if _, err := os.Stat(data.folder); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s is left out: %v\n", data.name, err)
			continue
		}
		if err := d.make(ctx, data); err != nil {
			return err
		}
		before := ""
		if data.before > 0 {
			before = megabytes(data.before)
		}
		rows = append(rows, table.Row{data.name, megabytes(data.size), before, megabytes(data.peer),
			megabytes(data.int32s), measure.FormatTime(data.took), measure.FormatTime(data.peers),
			measure.FormatTime(data.open)})
	}
	report("files of databases", table.Row{"data", "redfox", "-before", "DuckDB",
		"columns of 4 bytes", "made in", "DuckDB's in", "opened in"}, rows)
	return d.queries(ctx)
}

// databaseRuns measures processes over databases of the same data.
type databaseRuns struct {
	config
	bin, dir string
}

func (d *databaseRuns) file(name, ending string) string {
	return filepath.Join(d.dir, name+ending)
}

const beforeEnding = ".before.rfdb"

// make makes the files.
func (d *databaseRuns) make(ctx context.Context, data *storedData) (err error) {
	load := func(bin, path string) (float64, error) {
		return timed(exec.CommandContext(ctx, bin, "load", testFile(data.name, "schema.logic"),
			"--facts", data.folder, "-o", path))
	}
	path := d.file(data.name, driver.StoredExtension)
	if data.took, err = load(d.bin, path); err != nil {
		return err
	}
	if d.before != "" {
		if _, err := load(d.before, d.file(data.name, beforeEnding)); err != nil {
			return err
		}
		data.before = sizeOf(d.file(data.name, beforeEnding))
	}
	peer := d.file(data.name, ".duckdb")
	if data.peers, err = timed(exec.CommandContext(ctx, d.python, "-c", duckdbFile, data.folder,
		peer)); err != nil {
		return err
	}
	data.size, data.peer = sizeOf(path), sizeOf(peer)
	var info driver.StoredInfo
	data.open, err = repeat(d.repeat, func() error {
		info, err = driver.DatabaseInfo(path)
		return err
	})
	seen := map[string]bool{}
	for _, r := range info.Relations {
		for _, column := range r.Columns {
			if name := r.Table + " " + column.Name; !seen[name] {
				seen[name] = true
				data.int32s += 4 * int64(r.Rows)
			}
		}
	}
	return err
}

// timed returns the seconds that a command takes.
func timed(cmd *exec.Cmd) (float64, error) {
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", cmd.Path, err, out)
	}
	return time.Since(start).Seconds(), nil
}

// queries measures the queries.
func (d *databaseRuns) queries(ctx context.Context) error {
	type reader struct {
		name string
		run  func(ctx context.Context, query string) (float64, []byte, error)
	}
	stored := d.file("tpch", driver.StoredExtension)
	systems := []reader{{"redfox, .rfdb", d.query(d.bin, stored)}}
	if d.before != "" {
		systems = append(systems, reader{"-before, .rfdb",
			d.query(d.before, d.file("tpch", beforeEnding))})
	}
	systems = append(systems, reader{"redfox, Parquet", d.query(d.bin, d.tpch)},
		reader{"DuckDB, its file", d.duckdb})
	header, totals := table.Row{"query"}, make([]float64, len(systems))
	for _, s := range systems {
		header = append(header, s.name)
	}
	var rows []table.Row
	for _, q := range databaseQueries {
		if !d.wants(q, true) {
			continue
		}
		took := make([][]float64, len(systems))
		var want []byte
		for turn := range d.repeat + 1 { // the first one fills caches
			for i, s := range systems {
				seconds, answer, err := s.run(ctx, q)
				if err != nil {
					return fmt.Errorf("%s by %s: %w", q, s.name, err)
				}
				if want == nil {
					want = answer
				}
				isPeer := i == len(systems)-1
				if isPeer && bytes.Count(answer, []byte{'\n'}) != bytes.Count(want, []byte{'\n'}) ||
					!isPeer && !bytes.Equal(answer, want) {
					return fmt.Errorf("%s: %s answers\n%s and %s\n%s", q, s.name, answer,
						systems[0].name, want)
				}
				if turn > 0 {
					took[i] = append(took[i], seconds)
				}
			}
		}
		row := table.Row{q}
		for i := range systems {
			least := slices.Min(took[i])
			totals[i] += least
			row = append(row, measure.FormatTime(least))
		}
		rows = append(rows, row)
	}
	sum := table.Row{"all"}
	for _, t := range totals {
		sum = append(sum, measure.FormatTime(t))
	}
	report(fmt.Sprintf("processor time of TPC-H, a process each, the least of %d, %d threads",
		d.repeat, d.threads), header, append(rows, sum))
	return nil
}

// query runs queries over facts. Code is kept from turn to turn.
func (d *databaseRuns) query(bin, facts string) func(context.Context, string) (float64, []byte,
	error) {
	return func(ctx context.Context, query string) (took float64, answer []byte, err error) {
		cmd := exec.CommandContext(ctx, bin, "run", testFile("tpch", "schema.logic"),
			testFile("tpch", query+".logic"), "--facts", facts, "--threads", fmt.Sprint(d.threads),
			"--format", "tsv")
		cmd.Env = append(os.Environ(), "REDFOX_CACHE="+filepath.Join(d.dir, filepath.Base(bin)))
		var messages bytes.Buffer
		cmd.Stderr = &messages
		took, err = processorTime(func() error {
			answer, err = cmd.Output()
			return err
		})
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, &messages)
		}
		return took, answer, err
	}
}

// duckdb runs a query over the database of DuckDB.
func (d *databaseRuns) duckdb(ctx context.Context, query string) (float64, []byte, error) {
	cmd := exec.CommandContext(ctx, d.python, "-c", duckdbQuery, d.file("tpch", ".duckdb"),
		fmt.Sprint(d.threads), testFile("tpch", filepath.Join("sql", query+".sql")))
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

// sizeOf returns the size of a file, or 0.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// megabytes renders a size.
func megabytes(n int64) string { return fmt.Sprintf("%d MB", n/1e6) }
