package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
	tests "github.com/redfoxdb/redfox/internal/short"
)

// peakVariable, when set, makes a redfox process of a test write its greatest
// resident set into the file of that name, as /proc has it.
const peakVariable = "REDFOX_TEST_PEAK"

// writePeak writes the line of /proc/self/status that has the greatest resident
// set. Go's rusage of a child would count that of the process that has started
// it.
func writePeak(file string) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				panic(err)
			}
		}
	}
}

// peakOf returns the greatest resident set of a finished process in bytes.
func peakOf(t *testing.T, file string) int64 {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kilobytes, err := strconv.ParseInt(
		strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(string(text)), "kB")), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// besideBound is how much a process may have resident beside what --memory
// bounds.
const besideBound = 150 << 20

// memoryFacts writes the files that TestMemoryBound reads: strings of 100 bytes
// that are all different (s), 20 different ones (few), pairs of numbers (pair,
// three times), and a record that has 64 MB (long).
func memoryFacts(t *testing.T, dir string) {
	t.Helper()
	const rows, wide = 500_000, 250_000
	file := func(name string, write func(w *bufio.Writer)) {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriterSize(f, 1<<20)
		write(w)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	different := func(i int) string {
		return fmt.Sprintf("%08x%0*d", uint32(i)*2654435761, 92, i)
	}
	strings100 := func(format string) func(w *bufio.Writer) {
		return func(w *bufio.Writer) {
			for i := range wide {
				fmt.Fprintf(w, format, i, different(i))
			}
		}
	}
	file("s.tsv", strings100("%d\t%s\n"))
	file("s.csv", strings100("%d,\"%s\"\n"))
	file("s.tsv.gz", func(w *bufio.Writer) {
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		b := bufio.NewWriter(z)
		strings100("%d\t%s\n")(b)
		b.Flush()
		z.Close()
	})
	file("few.tsv", func(w *bufio.Writer) {
		for i := range rows {
			w.WriteString(strconv.Itoa(i))
			w.WriteString("\tone of twenty strings, that with the number ")
			w.WriteString(strconv.Itoa(i * 7 % 20))
			w.WriteByte('\n')
		}
	})
	pairs := func(w *bufio.Writer) {
		for i := range rows {
			w.WriteString(strconv.Itoa(i))
			w.WriteByte('\t')
			w.WriteString(strconv.Itoa(i * 7919 % rows))
			w.WriteByte('\n')
		}
	}
	for _, name := range []string{"pair.tsv", "pair2.tsv", "pair3.tsv"} {
		file(name, pairs)
	}
	file("twice.tsv", func(w *bufio.Writer) { pairs(w); pairs(w) })
	file("long.tsv", func(w *bufio.Writer) {
		w.WriteString("1\t")
		for range 1 << 20 {
			w.WriteString(strings.Repeat("x", 64))
		}
		w.WriteByte('\n')
	})
	// The formats that redfox writes itself.
	prog, err := driver.Compile(context.Background(),
		[]driver.Source{{Name: "facts.logic",
			Text: "s(i, x) -> int(i), string(x).\nfew(i, x) -> int(i), string(x).\n"}},
		driver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := prog.Run(context.Background(),
		driver.NewFacts().File("s", filepath.Join(dir, "s.tsv")).File("few",
			filepath.Join(dir, "few.tsv")),
		driver.RunOptions{Engine: "go", Outputs: []string{"s", "few"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, format := range map[string]driver.Format{"s.parquet": driver.Parquet,
		"s.tsv.zst": driver.TSV} {
		if err := res.WriteFile(filepath.Join(dir, name), "s", format,
			driver.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := res.WriteFile(filepath.Join(dir, "few.parquet"), "few", driver.Parquet,
		driver.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// Programs of TestMemoryBound.
const (
	countStrings = "s(i, x) -> int(i), string(x).\nn[] = c -> int(c).\nn[] = c <- agg<<c = count()>> s(_, _).\n_(c) <- n[] = c.\n"
	countPairs   = "pair(a, b) -> int(a), int(b).\nn[] = c -> int(c).\nn[] = c <- agg<<c = count()>> pair(_, _).\n_(c) <- n[] = c.\n"
	sumPairs     = "pair(a, b) -> int(a), int(b).\nn[] = s <- agg<<s = total(b)>> pair(_, b).\n_(s) <- n[] = s.\n"
	threeFiles   = "pair(a, b) -> int(a), int(b).\npair2(a, b) -> int(a), int(b).\npair3(a, b) -> int(a), int(b).\ns(i, x) -> int(i), string(x).\n" +
		"n[] = c -> int(c).\nn[] = c <- agg<<c = count()>> pair(a, b), pair2(b, d), pair3(d, _), s(a, _).\n_(c) <- n[] = c.\n"
	derivePairs = "pair(a, b) -> int(a), int(b).\nout(b, a) <- pair(a, b).\n"
	wholeFacts  = "s(i, x) -> int(i), string(x).\nout(x, i) <- s(i, x).\n"
	numbered    = "pair(a, b) -> int(a), int(b).\nfirst(a) <- pair(a, _).\nat[i] = a <- seq<<i>> first(a).\n_(a) <- at[999] = a.\n"
	firstRows   = "pair(a, b) -> int(a), int(b).\n_(b, a) <- pair(a, b).\nlang:output:orderBy[`_] = \"b desc\".\nlang:output:limit[`_] = 3.\n"
	countGroups = "pair(a, b) -> int(a), int(b).\nby[k] = c -> int(k), int(c).\nby[k] = c <- agg<<c = count()>> pair(k, _).\nn[] = c <- agg<<c = count()>> by[_] = _.\n_(c) <- n[] = c.\n"
	joined      = "pair(a, b) -> int(a), int(b).\nout(a, d) <- pair(a, b), pair(b, d).\nn[] = c <- agg<<c = count()>> out(_, _).\n_(c) <- n[] = c.\n"
	computed    = "s(i, x) -> int(i), string(x).\nout(y) <- s(_, x), y = string:add[x, \" and more\"].\nn[] = c <- agg<<c = count()>> out(_).\n_(c) <- n[] = c.\n"
)

// memoryCase is a run under a bound.
type memoryCase struct {
	name    string
	program string
	bound   string
	args    []string
	// prints is what the run prints; "" if it prints much, or writes files.
	// refused is what the message names if memory does not suffice; "" where it
	// does. Columns are made at the same time, so chance decides which one of a
	// file finds no memory left.
	prints, refused string
	runs            bool // the engine is what needs memory
}

var memoryCases = []memoryCase{
	{"strings from TSV", countStrings, "20M", []string{"--fact", "s=s.tsv"}, "",
		" of s.tsv", false},
	{"strings from TSV", countStrings, "100M", []string{"--fact", "s=s.tsv"}, "250000", "", false},
	{"strings from CSV", countStrings, "20M", []string{"--fact", "s=s.csv"}, "",
		" of s.csv", false},
	{"strings from gzip", countStrings, "20M", []string{"--fact", "s=s.tsv.gz"}, "",
		" of s.tsv.gz", false},
	{"strings from gzip", countStrings, "100M", []string{"--fact", "s=s.tsv.gz"}, "250000", "",
		false},
	{"strings from Zstandard", countStrings, "20M", []string{"--fact", "s=s.tsv.zst"}, "",
		"s.tsv.zst", false},
	{"strings from Zstandard", countStrings, "100M", []string{"--fact", "s=s.tsv.zst"}, "250000",
		"", false},
	{"strings from plain pages", countStrings, "20M", []string{"--fact", "s=s.parquet"}, "",
		"s.parquet", false},
	{"strings from plain pages", countStrings, "100M", []string{"--fact", "s=s.parquet"}, "250000",
		"", false},
	{"strings from dictionary pages", countStrings, "20M", []string{"--fact", "s=few.parquet"},
		"500000", "", false},
	{"strings from many threads", countStrings, "20M",
		[]string{"--fact", "s=few.tsv", "--threads", "32"}, "500000", "", false},
	{"strings in a file", countStrings, "20M", []string{"--fact", "s=s.tsv", "--spill", "."},
		"250000", "", false},
	{"strings of plain pages in a file", countStrings, "20M",
		[]string{"--fact", "s=s.parquet", "--spill", "."}, "250000", "", false},
	{"a long record", countStrings, "20M", []string{"--fact", "s=long.tsv"}, "", "long.tsv", false},
	{"numbers", countPairs, "5M", []string{"--fact", "pair=pair.tsv"}, "", "pair.tsv", false},
	{"numbers", countPairs, "20M", []string{"--fact", "pair=pair.tsv"}, "500000", "", false},
	{"numbers in a file", sumPairs, "5M", []string{"--fact", "pair=pair.tsv", "--spill", "."},
		"124999750000", "", true},
	{"a database", sumPairs, "1M", []string{"--fact", "pair=pair.rfdb"}, "", " needs ", false},
	{"a database", sumPairs, "20M", []string{"--fact", "pair=pair.rfdb"}, "124999750000", "", true},
	{"a database in a file", sumPairs, "1M",
		[]string{"--fact", "pair=pair.rfdb", "--spill", "."}, "124999750000", "", true},
	{"a database that is not packed", sumPairs, "1M", []string{"--fact", "pair=raw.rfdb"},
		"124999750000", "", true},
	{"repeated facts", countPairs, "10M", []string{"--fact", "pair=twice.tsv"}, "", "twice.tsv",
		false},
	{"repeated facts", countPairs, "100M", []string{"--fact", "pair=twice.tsv"}, "500000", "",
		false},
	{"several files", threeFiles, "50M",
		[]string{"--fact", "pair=pair.tsv", "--fact", "pair2=pair2.tsv", "--fact",
			"pair3=pair3.tsv", "--fact", "s=s.tsv"}, "", "s.tsv", false},
	{"several files", threeFiles, "200M",
		[]string{"--fact", "pair=pair.tsv", "--fact", "pair2=pair2.tsv", "--fact",
			"pair3=pair3.tsv", "--fact", "s=s.tsv"}, "250000", "", false},
	{"seq", numbered, "100M", []string{"--fact", "pair=pair.tsv"}, "999", "", true},
	{"order by and limit", firstRows, "50M", []string{"--fact", "pair=pair.tsv"}, "499999", "",
		true},
	{"groups", countGroups, "9M", []string{"--fact", "pair=pair.tsv"}, "", " needs ", false},
	{"groups", countGroups, "100M", []string{"--fact", "pair=pair.tsv"}, "500000", "", true},
	{"a join and a set", joined, "12M", []string{"--fact", "pair=pair.tsv"}, "", " needs ", true},
	{"a join and a set", joined, "100M", []string{"--fact", "pair=pair.tsv"}, "500000", "", true},
	{"computed strings", computed, "85M", []string{"--fact", "s=s.tsv"}, "",
		"the dictionary of computed strings", true},
	{"printing a table", derivePairs, "50M", []string{"--fact", "pair=pair.tsv", "--print", "out"},
		"500000 rows", "", false},
	{"printing JSON", derivePairs, "50M",
		[]string{"--fact", "pair=pair.tsv", "--print", "out", "--format", "json"}, "499999", "",
		false},
	{"writing TSV", wholeFacts, "100M", []string{"--fact", "s=s.tsv", "--out", "results"}, "", "",
		true},
	{"printing in a file", derivePairs, "6M",
		[]string{"--fact", "pair=pair.tsv", "--print", "out", "--spill", "."}, "500000 rows", "",
		false},
	{"writing CSV", derivePairs, "50M",
		[]string{"--fact", "pair=pair.tsv", "--out", "results", "--format", "csv"}, "", "", true},
	{"writing Parquet", wholeFacts, "100M",
		[]string{"--fact", "s=s.tsv", "--out", "results", "--format", "parquet"}, "", "", true},
}

// TestMemoryBound runs programs under --memory as processes. Their greatest
// resident set stays near the bound, and each ends with its answer or with a
// message that names what needed the memory.
func TestMemoryBound(t *testing.T) {
	if goruntime.GOOS != "linux" {
		t.Skip("the greatest resident set is read from /proc")
	}
	dir := t.TempDir()
	memoryFacts(t, dir)
	write(t, dir, "pair.logic", "pair(a, b) -> int(a), int(b).\n")
	for _, args := range [][]string{{"pair.rfdb"}, {"raw.rfdb", "--raw"}} {
		if o := finish(t, redfoxProcess(t, dir, append([]string{"load", "pair.logic", "--fact",
			"pair=pair.tsv", "-o"}, args...)...)); o.code != exitDone {
			t.Fatal(o)
		}
	}
	for i, c := range tests.Part(t, memoryCases, "bounds") {
		for _, engine := range []string{"go", "cpu"} {
			if engine == "cpu" && !c.runs {
				continue // engines do not load
			}
			t.Run(fmt.Sprintf("%s, %s, %s", c.name, c.bound, engine), func(t *testing.T) {
				runBounded(t, dir, fmt.Sprintf("p%d", i), engine, c)
			})
		}
	}
}

func runBounded(t *testing.T, dir, name, engine string, c memoryCase) {
	write(t, dir, name+".logic", c.program)
	cmd := redfoxProcess(t, dir,
		append([]string{"run", name + ".logic", "--memory", c.bound, "--engine", engine},
			c.args...)...)
	if engine == "cpu" {
		withLLVM(t, cmd)
	}
	peakFile := filepath.Join(dir, name+".peak")
	cmd.Env = append(cmd.Env, peakVariable+"="+peakFile)
	var printed tail
	var stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &printed, &stderr
	_ = cmd.Run() // its exit code is looked at below
	code := cmd.ProcessState.ExitCode()
	switch {
	case c.refused != "" &&
		(code != exitEnvironment || !strings.Contains(stderr.String(), "out of memory: ") ||
			!strings.Contains(stderr.String(), c.refused)):
		t.Errorf("exit code %d, %q; want a message about %s", code, stderr.String(), c.refused)
	case c.refused == "" && (code != exitDone || !strings.Contains(string(printed), c.prints)):
		t.Errorf("exit code %d, prints ...%q, %q; want %q", code, printed, stderr.String(),
			c.prints)
	}
	var bound int64
	if _, err := fmt.Sscanf(c.bound, "%dM", &bound); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(peakFile); err != nil {
		t.Errorf("the process ended by itself, exit code %d: %s", code, stderr.String())
	}
	peak := peakOf(t, peakFile)
	t.Logf("peak %d MiB", peak>>20)
	if most := bound<<20 + besideBound; peak > most {
		t.Errorf("%d MiB were resident, under --memory %s; at most %d MiB may be", peak>>20,
			c.bound, most>>20)
	}
}

// tail keeps the end of what is written to it.
type tail []byte

// Write appends bytes and forgets older ones.
func (t *tail) Write(p []byte) (int, error) {
	const kept = 1 << 10
	*t = append(*t, p[max(0, len(p)-kept):]...)
	*t = (*t)[max(0, len(*t)-kept):]
	return len(p), nil
}

var _ io.Writer = (*tail)(nil)

// TestAddressSpace runs redfox under limits of the process's address space. It
// has its answer, or says what the limit leaves, or that it is too low.
func TestAddressSpace(t *testing.T) {
	tests.Skip(t, "processes with little address space")
	if goruntime.GOOS != "linux" {
		t.Skip("ulimit -v is Linux's")
	}
	dir := t.TempDir()
	write(t, dir, "count.logic", "n(0).\nn(y) <- n(x), x < 2000000000, y = x + 1.\n")
	for _, c := range []struct{ kilobytes, flags, says string }{
		{"2500000", "--memory 20M --timeout 60s", "redfox: error: out of memory: n needs "},
		{"2500000", "--memory 20G --timeout 1s", "redfox: note: --memory is "},
		{"1500000", "",
			"redfox: error: the address space of the process is limited to 1.4 GiB (ulimit -v), and redfox needs "},
	} {
		cmd := redfoxProcess(t, dir)
		cmd.Args = []string{"sh", "-c",
			"ulimit -v " + c.kilobytes + "; exec \"$0\" run count.logic --engine go --threads 2 " +
				c.flags, cmd.Path}
		cmd.Path = "/bin/sh"
		o := finish(t, cmd)
		if strings.Contains(o.stderr, "pthread_create failed") ||
			strings.Contains(o.stderr, "runtime: out of memory") {
			continue // Go has wanted a thread or memory before redfox had its say
		}
		if o.code != exitEnvironment || !strings.Contains(o.stderr, c.says) {
			t.Errorf("ulimit -v %s: %v", c.kilobytes, o)
		}
	}
}
