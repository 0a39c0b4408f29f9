package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/redfoxdb/redfox/internal/driver"
)

// notes says what the user should know of the facts: which predicates have
// none, which files are not used, which rows were left out.
func (r *run) notes(report *driver.LoadReport) {
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
func (r *run) printStats(db *driver.Database, res *driver.Result, names []string, at moments) {
	r.printLoaded(db.Report())
	r.printRun(res, res.Stats, names)
	r.printTime(res.Stats, at)
}

// printLoaded says what was read of files.
func (r *run) printLoaded(report *driver.LoadReport) {
	w := r.con.err
	for _, f := range report.Files {
		repeated := ""
		if f.Repeated > 0 {
			repeated = fmt.Sprintf(", %s repeated", grouped(f.Repeated))
		}
		left := ""
		if len(f.Left) > 0 {
			left = ", without " + strings.Join(f.Left, ", ")
		}
		if len(f.Late) > 0 {
			left += ", " + strings.Join(f.Late, ", ") + " later"
		}
		selected := ""
		if f.Selected {
			selected = grouped(f.Kept) + " of "
		}
		of := ""
		if f.Size > 0 {
			of = " of " + size(f.Size)
		}
		fmt.Fprintf(w, "read     %s: %s%s%s, %s%s, %s%s%s%s\n", f.File, selected,
			count(f.Rows, "row"), repeated, size(f.Bytes), of, short(f.Elapsed), readRate(f), left,
			partsLeft(f))
	}
	if report.Spilled > 0 {
		fmt.Fprintf(w, "spill    %s: %s for columns of facts\n", r.options.Spill, size(report.Spilled))
	}
}

// partsLeft says which parts of a file were not decoded, if any.
func partsLeft(f driver.FileReport) string {
	text := ""
	if f.GroupsLeft > 0 {
		text = fmt.Sprintf(", without %s of %s", grouped(int64(f.GroupsLeft)),
			count(int64(f.Groups), "row group"))
	}
	if f.PagesLeft > 0 {
		text += fmt.Sprintf(", without %s of %s", grouped(int64(f.PagesLeft)),
			count(int64(f.Pages), "page"))
	}
	if f.BlocksLeft > 0 {
		text += fmt.Sprintf(", without %s of %s", grouped(int64(f.BlocksLeft)),
			count(int64(f.Blocks), "block"))
	}
	if n := f.Undecoded(); n > 0 {
		text += ", " + count(int64(n), "column") + " decoded on the GPU"
	}
	return text
}

// printRun says how many tuples a result has, and what the engine did.
func (r *run) printRun(res *driver.Result, stats driver.Stats, names []string) {
	w := r.con.err
	for _, l := range stats.Late {
		fmt.Fprintf(w, "read     %s: %s for %s of the answer, %s, %s\n", l.File, l.Column,
			count(int64(l.Rows), "row"), size(l.Bytes), short(l.Elapsed))
	}
	for _, name := range names {
		fmt.Fprintf(w, "result   %s: %s\n", name, count(res.Len(name), "tuple"))
	}
	fmt.Fprintf(w, "engine   %s, at most %s of facts, relations and indexes\n", stats.Engine,
		size(stats.Peak))
	if d := stats.Device; d != nil {
		printDevice(w, d)
	}
	printSegments(w, stats.Segments)
	printReordered(w, stats.Reordered)
	if stats.Cache != nil {
		printCache(w, stats.Cache)
	}
	if stats.Spill != nil {
		printSpill(w, stats.Spill, stats.Run)
	}
	printKernels(w, stats)
}

// printSpill says what a run kept in a file, and how it cut what did not fit.
func printSpill(w io.Writer, s *driver.SpillStats, took time.Duration) {
	rate := func(bytes int64, in time.Duration) string {
		line := size(bytes)
		if in > 0 {
			line += fmt.Sprintf(" in %s (%s/s, %.0f%% of the run)", short(in),
				size(int64(float64(bytes)/in.Seconds())), 100*in.Seconds()/took.Seconds())
		}
		return line
	}
	where := s.Folder
	if where == "" {
		where = "memory of the host"
	}
	fmt.Fprintf(w, "spill    %s: wrote %s, read %s; at most %s at once\n", where,
		rate(s.Written, s.Writing), rate(s.Read, s.Reading), size(s.Peak))
	fmt.Fprintf(w, "spill    %s, and %s that did not fit\n", count(s.Boxes, "part"),
		count(s.Tries, "attempt"))
	if moving := s.Writing + s.Reading; moving > took/mostMoving {
		fmt.Fprintf(w, "spill    the run took %.1f times as long as its writes and reads\n",
			took.Seconds()/moving.Seconds())
	}
	for _, p := range s.Pieces {
		if p.Boxes <= 1 && p.Rounds == 0 {
			continue
		}
		line := fmt.Sprintf("spill    %s: %s", strings.Join(p.Fills, ", "), count(p.Boxes, "part"))
		var by []string
		if len(p.By) > 0 {
			by = append(by, " by the values of "+strings.Join(p.By, ", "))
		}
		if len(p.Ranges) > 0 {
			by = append(by, " by ranges of "+strings.Join(p.Ranges, ", "))
		}
		line += strings.Join(by, " and")
		if p.Rounds > 0 {
			line += ", " + count(p.Rounds, "round") + " over the file"
		}
		fmt.Fprintf(w, "%s, %s\n", line, short(p.Time))
	}
}

// mostMoving is how many times as long as its writes and reads a run takes that
// tells the ratio. Beyond it, they hardly matter.
const mostMoving = 100

// printTime says where the time of a run went.
func (r *run) printTime(stats driver.Stats, at moments) {
	code := ""
	if stats.Compile > 0 {
		code = " code " + short(stats.Compile) + ","
	}
	fmt.Fprintf(r.con.err, "time     %s: compile %s, load %s, plan %s,%s run %s, write %s\n",
		short(at.written.Sub(at.start)), short(at.compiled.Sub(at.start)),
		short(at.loaded.Sub(at.compiled)),
		short(stats.Plan), code, short(stats.Run), short(at.written.Sub(at.ran)))
}

// printDevice says what a run did on a GPU beside its kernels.
func printDevice(w io.Writer, d *driver.DeviceStats) {
	fmt.Fprintf(w,
		"device   %s: at most %s held, %s of facts were there already, %s, %s for the host\n",
		d.Name, size(d.Peak), size(d.Resident), count(d.Launches, "launch"), count(d.Waits, "wait"))
	if p := d.Packed; p.Columns > 0 {
		fmt.Fprintf(w, "packed   %s of facts, %s instead of %s\n", count(p.Columns, "column"),
			size(p.Bytes), size(p.Whole))
	}
	fmt.Fprintf(w, "sizes    %s, %s enlarged, %s taken from a record\n", origins[d.Origin],
		count(d.Enlarged, "table"), count(d.Replayed, "count"))
	if d.Rounds > 0 {
		fmt.Fprintf(w, "loops    %s that the device ran by itself\n", count(d.Rounds, "round"))
	}
	if d.Donated > 0 {
		fmt.Fprintf(w, "shared   %s of a block's work that idle blocks took over\n",
			count(d.Donated, "part"))
	}
	if d.Ahead > 0 {
		fmt.Fprintf(w, "sent     %s of columns to the device while the code was made\n", size(d.Ahead))
	}
	fmt.Fprintf(w, "copied   %s to the device, %s from it\n", transfer(d.ToDevice),
		transfer(d.FromDevice))
	if d.Load > 0 {
		fmt.Fprintf(w, "loaded   the code in %s, by the driver\n", short(d.Load))
	}
}

// origins say from where a run on a GPU knows how large its tables become.
var origins = map[driver.Origin]string{
	driver.NoRun:          "of no earlier run",
	driver.OtherFacts:     "of a run over other facts",
	driver.EarlierRun:     "of an earlier run over these facts",
	driver.EarlierProcess: "of an earlier process over these facts",
}

// transfer renders what was copied in one direction, and how fast.
func transfer(t driver.Transfer) string {
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

// printSegments says which engine ran which part of a program.
func printSegments(w io.Writer, segments []driver.SegmentStats) {
	const named = 3
	for _, s := range segments {
		names := s.Fills
		more := ""
		if len(names) > named {
			more = fmt.Sprintf(" and %d more", len(names)-named)
			names = names[:named]
		}
		line := fmt.Sprintf("segment  on %s: %s for %s%s, run %s", s.Engine,
			count(s.Commands, "command"), strings.Join(names, ", "), more, short(s.Run))
		if s.Compile > 0 {
			line += ", code " + short(s.Compile)
		}
		if s.Of != "" {
			line += fmt.Sprintf(", rows %s to %s of %s", grouped(s.From), grouped(s.Until), s.Of)
		}
		if s.Batches > 0 {
			line += fmt.Sprintf(", in %s", count(s.Batches, "batch"))
		}
		switch {
		case s.Left:
			line += fmt.Sprintf(", left %s after %s", s.Loop, count(int(s.Rounds), "round"))
		case s.Loop != "":
			line += fmt.Sprintf(", from round %d of %s on", s.Rounds+1, s.Loop)
		}
		if s.Dropped {
			line += ", stopped as a loop derives many tuples"
		}
		if s.Failed != "" {
			line += ", stopped: " + s.Failed
		}
		fmt.Fprintln(w, line)
	}
}

// printReordered says in which rounds of recursions rules got another order of
// joins. Those of a round are one line.
func printReordered(w io.Writer, list []driver.Reordering) {
	const named = 3
	for len(list) > 0 {
		first, n := list[0], 0
		var names []string
		for ; n < len(list) && list[n].Block == first.Block && list[n].Round == first.Round; n++ {
			if n < named {
				names = append(names, list[n].Of())
			}
		}
		more := ""
		if n > named {
			more = fmt.Sprintf(" and %d more", n-named)
		}
		fmt.Fprintf(w, "joins    in another order from round %d of %s on: %s%s; %s has %s, not %s\n",
			first.Round, first.Block, strings.Join(names, ", "), more, first.Grown,
			count(first.Rows, "tuple"), grouped(first.Expected))
		list = list[n:]
	}
}

// printCache says which columns of the facts the GPU holds for the mixed
// engine.
func printCache(w io.Writer, c *driver.CacheStats) {
	fmt.Fprintf(w, "cache    %s of facts on the GPU, in at most %s\n", size(c.Bytes),
		size(c.Budget))
	for _, x := range c.Columns {
		fmt.Fprintf(w, "cache    %s of %s: %s of %s, %s\n", x.Name, x.Of, grouped(x.Rows),
			count(x.All, "row"), size(x.Bytes))
	}
}

// printKernels says what each kernel did, by the strata of the plan. On a GPU
// times are those by its events, and rates also are shares of the bandwidth of
// its memory.
func printKernels(w io.Writer, stats driver.Stats) {
	took := func(k driver.KernelStats) time.Duration { return cmp.Or(k.Device, k.Time) }
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
		if k.ByBits {
			line += ", by bits"
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
func (r *run) showLoad(p driver.LoadProgress) {
	text := fmt.Sprintf("loading %s: %s", p.File, count(p.Rows, "row"))
	if p.Size > 0 {
		text += fmt.Sprintf(", %.0f of %.0f MB (%d%%)", float64(p.Bytes)/1e6, float64(p.Size)/1e6,
			100*p.Bytes/p.Size)
	} else {
		text += fmt.Sprintf(", %.0f MB", float64(p.Bytes)/1e6)
	}
	text += fmt.Sprintf(", %.0f MB/s", p.Rate()/1e6)
	r.progress.show(text)
}

// showRun shows where the evaluation is.
func (r *run) showRun(p driver.RunProgress) {
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
