package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/redfoxdb/redfox"
)

// notes says what the user should know of the facts: which predicates have
// none, which files are not used, which rows were left out.
func (r *run) notes(report *redfox.LoadReport) {
	for _, note := range report.Notes {
		if r.strict && slices.Contains(report.Unmatched, note) {
			continue // check reports it
		}
		fmt.Fprintln(r.con.err, "redfox: note:", note)
	}
	for _, f := range report.Files {
		if f.Skipped == 0 {
			continue
		}
		fmt.Fprintf(r.con.err, "%s: note: %s skipped, of %s\n", f.File,
			count(f.Skipped, "malformed row"), count(f.Rows+f.Skipped, "row"))
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
		fmt.Fprintf(w, "read     %s: %s%s, %s, %s\n", f.File, count(f.Rows, "row"), repeated,
			size(f.Bytes), short(f.Elapsed))
	}
	for _, name := range names {
		fmt.Fprintf(w, "result   %s: %s\n", name, count(res.Len(name), "tuple"))
	}
	fmt.Fprintf(w, "engine   %s, at most %s of facts, relations and indexes\n", res.Stats.Engine,
		size(res.Stats.Peak))
	if d := res.Stats.Device; d != nil {
		printDevice(w, d)
	}
	printKernels(w, res.Stats)
	code := ""
	if res.Stats.Compile > 0 {
		code = " code " + short(res.Stats.Compile) + ","
	}
	fmt.Fprintf(w, "time     %s: compile %s, load %s, plan %s,%s run %s, write %s\n",
		short(at.written.Sub(at.start)), short(at.compiled.Sub(at.start)),
		short(at.loaded.Sub(at.compiled)),
		short(res.Stats.Plan), code, short(res.Stats.Run), short(at.written.Sub(at.ran)))
}

// printDevice says what a run did on a GPU beside its kernels.
func printDevice(w io.Writer, d *redfox.DeviceStats) {
	fmt.Fprintf(w,
		"device   %s: at most %s held, %s of facts were there already, %s, %s for the host\n",
		d.Name, size(d.Peak), size(d.Resident), count(d.Launches, "launch"), count(d.Waits, "wait"))
	fmt.Fprintf(w, "copied   %s to the device, %s from it\n", transfer(d.ToDevice),
		transfer(d.FromDevice))
	if d.Load > 0 {
		fmt.Fprintf(w, "loaded   the code in %s, by the driver\n", short(d.Load))
	}
}

// transfer renders what was copied in one direction, and how fast.
func transfer(t redfox.Transfer) string {
	text := size(t.Bytes)
	if t.Time > 0 {
		text += fmt.Sprintf(" in %s, %s", short(t.Time), rate(float64(t.Bytes)/t.Time.Seconds()))
	}
	return text
}

// rate renders bytes a second.
func rate(bytes float64) string {
	if bytes >= 1e12 {
		return fmt.Sprintf("%.2f TB/s", bytes/1e12)
	}
	if bytes >= 1e9 {
		return fmt.Sprintf("%.1f GB/s", bytes/1e9)
	}
	return fmt.Sprintf("%.0f MB/s", bytes/1e6)
}

// printKernels says what each kernel did, by the strata of the plan. On a GPU
// times are those by its events, and rates also are shares of the bandwidth of
// its memory.
func printKernels(w io.Writer, stats redfox.Stats) {
	took := func(k redfox.KernelStats) time.Duration { return cmp.Or(k.Device, k.Time) }
	for i, k := range stats.Kernels {
		if i == 0 || k.Block != stats.Kernels[i-1].Block {
			var total time.Duration
			for _, other := range stats.Kernels[i:] {
				if other.Block == k.Block {
					total += took(other)
				}
			}
			fills := ""
			if names := stats.Fills(k.Block); len(names) > 0 {
				fills = " for " + strings.Join(names, ", ")
			}
			fmt.Fprintf(w, "stratum  %s%s: kernels %s\n", k.Block, fills, short(total))
		}
		name := k.Kernel
		if len(k.Rules) > 0 {
			name += " of " + strings.Join(k.Rules, ", ")
		}
		line := fmt.Sprintf("kernel   %s: %s, %s in, %s new, %s, %s", name, count(k.Calls, "call"),
			count(k.Rows, "row"),
			grouped(k.Kept), size(k.Bytes), short(took(k)))
		if t := took(k).Seconds(); t > 0 && k.Bytes > 0 {
			line += ", " + rate(float64(k.Bytes)/t)
			if d := stats.Device; d != nil && d.Bandwidth > 0 {
				line += fmt.Sprintf(", %.0f%% of the memory's", 100*float64(k.Bytes)/t/d.Bandwidth)
			}
		}
		fmt.Fprintln(w, line)
	}
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
	r.progress.show(fmt.Sprintf("deriving %s: round %s, %s new, %s in all", what,
		grouped(int64(p.Iteration)), grouped(p.New), count(p.Total, "tuple")))
}
