package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/bench/suite"
)

// print prints the report.
func (b *bench) print() {
	fmt.Fprintln(b.con.out, b.table().Render())
	b.notes(b.con.out)
}

// writeMarkdown writes the report as a page.
func (b *bench) writeMarkdown(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s\n\n", b.table().RenderMarkdown())
	b.notes(out)
	return out.Flush()
}

// table returns the table of the report. Numbers are aligned right.
func (b *bench) table() table.Writer {
	r := &b.Report
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header, t.Style().Format.Footer = text.FormatDefault, text.FormatDefault
	t.SetTitle("%s, scale factor %s, engine %s, %s", b.Suite.Title, suite.FormatScale(r.Scale),
		r.Engine, count(int64(r.Threads), "thread"))
	header := table.Row{"query", "rows", "load", "cold", "compile", "cached", "hot", "from", "to",
		"MB", "floor"}
	for _, p := range r.Peers {
		header = append(header, p.Name, "ratio")
	}
	t.AppendHeader(header)
	var columns []table.ColumnConfig
	for i := range header[1:] {
		columns = append(columns, table.ColumnConfig{Number: i + 2, Align: text.AlignRight,
			AlignHeader: text.AlignRight, AlignFooter: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	for _, m := range r.Queries {
		t.AppendRow(b.row(m))
	}
	if len(r.Queries) > 1 && r.Sum > 0 {
		t.AppendFooter(footer("sum", len(header), r.Sum, r.Peers,
			func(p measure.Peer) (float64, float64) { return p.Sum, p.Sum / r.Sum }))
		t.AppendFooter(footer("mean", len(header), r.Mean, r.Peers,
			func(p measure.Peer) (float64, float64) { return p.Mean, p.Faster }))
	}
	return t
}

// row returns the line of a query.
func (b *bench) row(m *measure.Measurement) table.Row {
	if m.Failure != "" {
		return table.Row{m.Query, "failed"}
	}
	load := ""
	if m.Load > 0 {
		load = measure.FormatTime(m.Load)
	}
	row := table.Row{m.Query, grouped(m.Rows), load, measure.FormatTime(m.Cold),
		m.Compile.Cold.String(), m.Compile.Cached.String(), measure.FormatTime(m.Hot.Median),
		measure.FormatTime(m.Hot.Least), measure.FormatTime(m.Hot.Most),
		fmt.Sprintf("%.4g", float64(m.Bytes)/1e6), fmt.Sprintf("%.0f %%", 100*m.Share)}
	for _, p := range b.Report.Peers {
		cells := table.Row{"", ""}
		for _, times := range m.Peers {
			if times.Peer == p.Name {
				cells = table.Row{measure.FormatTime(times.Median), fmt.Sprintf("%.2f", times.Faster)}
			}
		}
		row = append(row, cells...)
	}
	return row
}

// footer returns a line about all queries.
func footer(name string, width int, ours float64, peers []measure.Peer,
	of func(measure.Peer) (theirs, ratio float64)) table.Row {
	row := make(table.Row, width-2*len(peers))
	for i := range row {
		row[i] = ""
	}
	row[0], row[6] = name, measure.FormatTime(ours)
	for _, p := range peers {
		theirs, ratio := of(p)
		if theirs == 0 {
			row = append(row, "", "")
			continue
		}
		row = append(row, measure.FormatTime(theirs), fmt.Sprintf("%.2f", ratio))
	}
	return row
}

// notes prints where the figures of the table come from.
func (b *bench) notes(w io.Writer) {
	r := &b.Report
	fmt.Fprintf(w, "redfox %s, %s", r.Redfox, r.EngineDetail)
	if r.Machine.CPU != "" {
		fmt.Fprintf(w, "; %s", r.Machine.CPU)
	}
	fmt.Fprintf(w, "; floor at %s, %s\n", rate(r.Bandwidth), r.BandwidthBy)
	if r.Load > 0 {
		fmt.Fprintf(w, "the facts of all queries were loaded at once, in %s\n",
			measure.FormatTime(r.Load))
	}
	for _, p := range r.Peers {
		fmt.Fprintf(w, "%s: %s", p.Name, p.Source)
		if p.Frugal > 0 {
			fmt.Fprintf(w, "; %.2f times our processor time, in the geometric mean", p.Frugal)
		}
		fmt.Fprintln(w)
	}
	checked := 0
	for _, m := range r.Queries {
		if m.Checked != "" {
			checked++
		}
	}
	if checked > 0 {
		fmt.Fprintf(w, "%s equal to DuckDB's\n", count(int64(checked), "answer"))
	}
}

// writeFiles writes the report into the folder of --out: as JSON, as Markdown
// and as a chart.
func (b *bench) writeFiles(ctx context.Context) error {
	for _, file := range []struct {
		extension string
		write     func(io.Writer) error
	}{{".json", b.Report.WriteJSON}, {".md", b.writeMarkdown}, {".svg", b.Report.WriteSVG}} {
		if err := b.writeFile(ctx, file.extension, file.write); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a file into the folder of --out, if the flag is given. The
// name consists of the suite, the scale factor, the engine and end.
func (b *bench) writeFile(ctx context.Context, end string, write func(io.Writer) error) error {
	if b.out == "" {
		return nil
	}
	if err := os.MkdirAll(b.out, 0o777); err != nil {
		return cannotWrite(b.out, err)
	}
	name := fmt.Sprintf("%s-sf%s-%s%s", b.Suite.Name, suite.FormatScale(b.Report.Scale),
		b.Run.Engine, end)
	return b.con.output(ctx, filepath.Join(b.out, name), write)
}
