package main

import (
	"fmt"
	"time"

	"github.com/redfoxdb/redfox"
)

// notes says what the user should know of the facts: which predicates have none,
// which files are not used, which rows were left out.
func (r *run) notes(db *redfox.Database) {
	report := db.Report()
	for _, note := range report.Notes {
		fmt.Fprintln(r.con.err, "redfox: note:", note)
	}
	for _, f := range report.Files {
		if f.Skipped == 0 {
			continue
		}
		fmt.Fprintf(r.con.err, "redfox: %s: %s skipped, of %s\n", f.File, count(f.Skipped, "malformed row"), count(f.Rows+f.Skipped, "row"))
		for _, e := range f.Examples {
			fmt.Fprintf(r.con.err, "  %v\n", e)
		}
	}
}

// moments are the ends of the parts of a run.
type moments struct{ start, compiled, loaded, ran, written time.Time }

// printStats says what a run read, derived and wrote, and where the time went.
func (r *run) printStats(db *redfox.Database, res *redfox.Result, names []string, at moments) {
	w := r.con.err
	for _, f := range db.Report().Files {
		repeated := ""
		if f.Repeated > 0 {
			repeated = fmt.Sprintf(", %s repeated", grouped(f.Repeated))
		}
		fmt.Fprintf(w, "read     %s: %s%s, %s, %s\n", f.File, count(f.Rows, "row"), repeated, size(f.Bytes), short(f.Elapsed))
	}
	for _, name := range names {
		fmt.Fprintf(w, "result   %s: %s\n", name, count(res.Len(name), "tuple"))
	}
	fmt.Fprintf(w, "engine   %s, at most %s of facts, relations and indexes\n", res.Stats.Engine, size(res.Stats.Peak))
	fmt.Fprintf(w, "time     %s: compile %s, load %s, plan %s, run %s, write %s\n",
		short(at.written.Sub(at.start)), short(at.compiled.Sub(at.start)), short(at.loaded.Sub(at.compiled)),
		short(res.Stats.Plan), short(res.Stats.Run), short(at.written.Sub(at.ran)))
}

// short renders a duration with about three digits.
func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		d = d.Round(100 * time.Millisecond)
	case d >= time.Second:
		d = d.Round(10 * time.Millisecond)
	case d >= time.Millisecond:
		d = d.Round(100 * time.Microsecond)
	default:
		d = d.Round(time.Microsecond)
	}
	return d.String()
}

// size renders a number of bytes.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	if n >= 1<<10 {
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// showLoad shows how far the reading of a file is.
func (r *run) showLoad(p redfox.LoadProgress) {
	text := fmt.Sprintf("loading %s: %s, %.0f MB/s", p.File, count(p.Rows, "row"), p.Rate()/1e6)
	if p.Size > 0 {
		text += fmt.Sprintf(", %d%%", 100*p.Bytes/p.Size)
	}
	r.progress.show(text)
}

// showRun shows where the evaluation is.
func (r *run) showRun(p redfox.RunProgress) {
	what := p.Block
	if len(p.Vars) > 0 {
		what = p.Vars[0]
		if more := len(p.Vars) - 1; more > 0 {
			what += fmt.Sprintf(" and %d more", more)
		}
	}
	r.progress.show(fmt.Sprintf("deriving %s: round %s, %s new, %s in all", what, grouped(int64(p.Iteration)), grouped(p.New), count(p.Total, "tuple")))
}
