package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/atomicfile"
	"github.com/redfoxdb/redfox/internal/driver"
)

// performancePage is the document that shows the figures.
const performancePage = "docs/performance.md"

// documentTable is a table of the page, from one file of figures.
type documentTable struct {
	marker  string // between <!-- marker --> and <!-- end -->
	file    string
	engines []string // a column each
	rows    []documentRow
	// partial leaves out rows without a figure.
	partial bool
}

// documentRow is a row of a table.
type documentRow struct{ work, text, command string }

const (
	// ofProcess describes the figures of works named process/.
	ofProcess = "processor time of a process"
	// withPeers is the flag that names the peers built by the commands of the
	// page.
	withPeers = "-peer $P/datafrog,$P/ascent "
)

var documentTables = []documentTable{
	{marker: "two cores", file: "bench/figures/two-cores.json",
		engines: []string{driver.EngineCPU, driver.EngineGo}, rows: []documentRow{
			{"tpch/sum", "TPC-H SF1: the sum of 22 queries, hot", "tpch"},
			{"ssb/sum", "Star Schema Benchmark SF1: the sum of 13 queries, hot", "ssb"},
			{"tc/SF.cedge", "transitive closure of a road network (SF.cedge), 80,498,014 pairs", "tc"},
			{"tc/cti", "transitive closure of a mesh (cti), 6,859,653 pairs", "tc"},
			{"doop/400", "Doop's core rules over 400 packages, hot", "doop"},
			{"crdt/50000", "a list CRDT of 50,000 insertions, hot", "crdt"},
			{"process/cliques/ego-Facebook", "4-cliques of ego-Facebook, 30,004,668, " + ofProcess,
				withPeers + "cliques"},
			{"process/tc/path", "closure of a path of 9,000 edges, 40,504,500 pairs, " + ofProcess,
				withPeers + "tc"},
			{"process/sg/cti", "same generation of a mesh (cti), 14,503,742 pairs, " + ofProcess,
				withPeers + "sg"},
			{"process/cspa/2000", "CSPA over 2,000 variables, 840,985 pairs, " + ofProcess,
				withPeers + "cspa"},
			{"process/andersen/20000", "Andersen's analysis, 2,163,189 pairs, " + ofProcess,
				withPeers + "andersen"},
			{"load/tsv", "loading 267 MB of TSV", "load"},
			{"load/parquet", "loading 9 columns of lineitem from Parquet", "load"},
		}},
	{marker: "one NVIDIA H200", file: "bench/figures/h200.json",
		engines: []string{driver.EngineGPU}, rows: []documentRow{
			{"tpch-sf10/sum", "TPC-H SF10: the sum of 22 queries, hot", "gpu"},
			{"tpch-sf100/sum", "TPC-H SF100: the sum of 22 queries, hot", ""},
			{"ssb-sf20/sum", "Star Schema Benchmark SF20: the sum of 13 queries, hot", ""},
			{"ssb-sf100/sum", "Star Schema Benchmark SF100: the sum of 13 queries, hot", ""},
			{"tc/usroads", "transitive closure of a road network (usroads), 871,365,688 pairs", "gpu"},
			{"tc/p2p-Gnutella31",
				"transitive closure of a peer-to-peer network (p2p-Gnutella31), 884,179,859 pairs",
				"gpu"},
			{"doop/400", "Doop's core rules over 400 packages, hot", "doop"},
			{"crdt/50000", "a list CRDT of 50,000 insertions, hot", "crdt"},
			{"cold", "the first result of a small program in a new process, nothing compiled", "gpu"},
		}},
	{marker: "recursion on one NVIDIA H200", file: "bench/figures/h200.json",
		engines: []string{driver.EngineGPU}, rows: recursionRows(), partial: true},
}

// recursionRows are the rows of the suite recursion.
func recursionRows() (rows []documentRow) {
	for _, w := range recursionWorks() {
		rows = append(rows, documentRow{w.name, w.title(), "recursion"})
	}
	return rows
}

// writeDocuments renders the figures into the tables of the page.
func writeDocuments(context.Context, config) error {
	text, err := os.ReadFile(performancePage)
	if err != nil {
		return err
	}
	page, err := renderPage(string(text))
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(performancePage, []byte(page))
}

// renderPage replaces the tables of the page.
func renderPage(page string) (string, error) {
	for _, t := range documentTables {
		begin, end := "<!-- "+t.marker+" -->\n", "<!-- end -->\n"
		before, rest, ok := strings.Cut(page, begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			return "", fmt.Errorf("%s has no table between %q and %q", performancePage, begin, end)
		}
		all, err := readFigures(t.file)
		if err != nil {
			return "", err
		}
		table, err := t.render(all)
		if err != nil {
			return "", fmt.Errorf("%s: %w", t.file, err)
		}
		page = before + begin + table + end + after
	}
	return page, nil
}

// render writes the table in Markdown. A peer that takes longer than the
// fastest engine gets the ratio beside its time.
func (t documentTable) render(all *figures) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b,
		"%s.\n\n| work | %s engine | peers | measured | command |\n|---|%s---|---|---|\n",
		all.Machine,
		strings.Join(t.engines, " engine | "), strings.Repeat("---|", len(t.engines)))
	for _, r := range t.rows {
		f := all.find(r.work)
		switch {
		case f == nil && t.partial:
			continue
		case f == nil:
			return "", fmt.Errorf("there is no row %s", r.work)
		}
		fmt.Fprintf(&b, "| %s |", r.text)
		best := 0.0
		for _, e := range t.engines {
			s, ok := f.Seconds[e]
			if !ok {
				b.WriteString(" |")
				continue
			}
			if best == 0 || s < best {
				best = s
			}
			fmt.Fprintf(&b, " %s |", inUnit(s))
		}
		fmt.Fprintf(&b, " %s | %s |", strings.Join(t.peers(f, best), "; "), f.Date)
		if r.command != "" {
			fmt.Fprintf(&b, " `go run ./bench %s`", r.command)
		}
		b.WriteString(" |\n")
	}
	return b.String(), nil
}

// peers returns the systems of a row that are not engines, sorted by name.
func (t documentTable) peers(f *figure, best float64) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(f.Seconds)) {
		if driver.CheckEngine(name) == nil {
			continue
		}
		text := fmt.Sprintf("%s %s", name, inUnit(f.Seconds[name]))
		if best > 0 && f.Seconds[name] > best {
			text += fmt.Sprintf(" (%.3g times as long)", f.Seconds[name]/best)
		}
		if from := f.Source[name]; from != "" {
			text += ", " + from
		}
		out = append(out, text)
	}
	return out
}

// inUnit renders seconds, below a tenth as milliseconds.
func inUnit(s float64) string {
	if s < 0.1 {
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g s", s)
}
