package suite

import (
	"bufio"
	"context"
	_ "embed" // for the script
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/internal/failure"
)

//go:embed duckdb_peer.py
var duckdbScript string

// DuckDB is a process that runs SQL in DuckDB. It is not safe for concurrent
// use.
type DuckDB struct {
	Version string
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	errors  *strings.Builder // complete when the process has ended
	ended   func() error     // waits for that
}

// StartDuckDB starts a Python interpreter that has the module duckdb, with that
// many threads. The process ends with ctx or Close. If the interpreter or the
// module is missing, the error is a *failure.Environment.
func StartDuckDB(ctx context.Context, python string, threads int) (*DuckDB, error) {
	d := &DuckDB{command: exec.CommandContext(ctx, python, "-c", duckdbScript,
		strconv.Itoa(threads)), errors: new(strings.Builder)}
	d.command.Stderr = d.errors
	d.ended = sync.OnceValue(d.command.Wait)
	in, err := d.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := d.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.in, d.out = in, bufio.NewReaderSize(out, 1<<16)
	if err := d.command.Start(); err != nil {
		return nil,
			missing("the peer needs Python with the module duckdb, and %s does not run: %v", python, err)
	}
	var hello struct {
		Version, Error string
		Missing        bool
	}
	err = d.receive(&hello)
	switch {
	case hello.Missing:
		err = missing("the peer needs the module duckdb, and %s does not have it: %s", python,
			hello.Error)
	case err != nil:
		err = missing("the peer, %s, did not start: %v", python, err)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	d.Version = hello.Version
	return d, nil
}

// missing returns the error of a peer that cannot be used.
func missing(format string, args ...any) error {
	return &failure.Environment{Message: fmt.Sprintf(format, args...),
		Help: "make it with pip install duckdb, and name that Python with --python"}
}

// request and reply are lines of JSON that the script reads and prints.
type request struct {
	SQL    string  `json:"sql"`
	Repeat int     `json:"repeat"`
	Limit  float64 `json:"limit"`
	Rows   bool    `json:"rows"`
}

type reply struct {
	Error     string
	Seconds   []float64
	Processor float64
	Columns   [][2]string
	Rows      [][]string
}

// receive reads a line of JSON.
func (d *DuckDB) receive(into any) error {
	line, err := d.out.ReadBytes('\n')
	if err != nil {
		_ = d.ended() // what it has to say is on its standard error
		if text := strings.TrimSpace(d.errors.String()); text != "" {
			return errors.New(text)
		}
		return errors.New("it ended without an answer")
	}
	return json.Unmarshal(line, into)
}

func (d *DuckDB) ask(q request) (*reply, error) {
	line, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	if _, err := d.in.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("DuckDB: %w", err)
	}
	var r reply
	if err := d.receive(&r); err != nil {
		return nil, fmt.Errorf("DuckDB: %w", err)
	}
	if r.Error != "" {
		return nil, fmt.Errorf("DuckDB: %s", r.Error)
	}
	return &r, nil
}

// Execute runs a statement.
func (d *DuckDB) Execute(sql string) error {
	_, err := d.ask(request{SQL: sql})
	return err
}

// Query runs a query once and then times up to repeat more runs: three in any
// case, and the others only within the limit. A limit of 0 is none. Times do
// not include the conversion of the answer to values of Python. If repeat is 0,
// the first run is the only one, and its time includes the conversion.
func (d *DuckDB) Query(sql string, repeat int,
	limit time.Duration) ([]time.Duration, *Answer, error) {
	if limit == 0 {
		limit = time.Hour
	}
	r, err := d.ask(request{sql, repeat, limit.Seconds(), true})
	if err != nil {
		return nil, nil, err
	}
	var times []time.Duration
	for _, s := range r.Seconds {
		times = append(times, fromSeconds(s))
	}
	a := &Answer{Rows: r.Rows, Processor: fromSeconds(r.Processor)}
	for _, c := range r.Columns {
		a.Columns = append(a.Columns, Column{c[0], c[1]})
	}
	return times, a, nil
}

// Load copies the tables of a folder, a Parquet file each, into memory.
func (d *DuckDB) Load(dir string, tables ...string) error {
	return d.define("table", dir, tables)
}

// Name lets queries read the tables of a folder from their files.
func (d *DuckDB) Name(dir string, tables ...string) error { return d.define("view", dir, tables) }

// define makes a table or a view of each file.
func (d *DuckDB) define(kind, dir string, tables []string) error {
	for _, t := range tables {
		file := filepath.Join(dir, t+".parquet")
		if _, err := os.Stat(file); err != nil {
			return err
		}
		if err := d.Execute(fmt.Sprintf("create or replace %s %q as from '%s'", kind, t,
			strings.ReplaceAll(file, "'", "''"))); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the process.
func (d *DuckDB) Close() error {
	err := d.in.Close()
	var exit *exec.ExitError
	if waited := d.ended(); !errors.As(waited, &exit) { // how it ends does not matter
		err = errors.Join(err, waited)
	}
	return err
}

func fromSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
