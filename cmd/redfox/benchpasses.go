package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/redfoxdb/redfox"
	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/bench/suite"
)

// variant is the optimiser with something left out.
type variant struct {
	name   string
	change func(*redfox.Options)
	kernel bool // it changes kernels and not the plan

	ratios []queryRatio // of the queries whose plan or kernels are others
	cost   cost         // of all queries
	lost   []string     // queries that took too long, ran out of memory, or failed
}

// queryRatio is how many times as long a query takes, by the shortest run of
// each side: what else the machine does only ever makes runs longer.
type queryRatio struct {
	query string
	ratio float64
}

// cost is what a query takes, in seconds: the shortest time, and the least of
// processors.
type cost struct{ time, processor float64 }

func (c *cost) add(of cost) { c.time, c.processor = c.time+of.time, c.processor+of.processor }

// least keeps the smaller ones.
func (c *cost) least(took measure.Times) {
	c.time, c.processor = min(c.time, took.Least), min(c.processor, took.Processor)
}

// The bounds of a run with a pass off: some plans are hopeless without it.
const (
	slowFactor = 100              // times as long as with all passes
	slowFloor  = 30 * time.Second // though at least so long, of which compiling is a part
	wildMemory = 4 << 30          // beside the facts, where --memory does not say
)

// eachPassOff measures every query with each optional pass left out that makes
// a difference to its plan, and without kernel fusion. Runs with and without
// alternate, so that what else the machine does is the same for both; answers
// must be the same.
func (b *bench) eachPassOff(ctx context.Context) error {
	if b.run.Memory == 0 {
		b.run.Memory = b.db.Bytes() + wildMemory
	}
	var variants []*variant
	for _, p := range redfox.Passes() {
		if !p.Required && !slices.Contains(b.compile.Disable, p.Name) {
			variants = append(variants, &variant{name: p.Name, change: func(o *redfox.Options) {
				o.Disable = append(slices.Clone(o.Disable), p.Name)
			}})
		}
	}
	if b.run.Engine != redfox.EngineGo && !b.compile.NoFuse {
		variants = append(variants,
			&variant{name: "kernel fusion", kernel: true, change: func(o *redfox.Options) {
				o.NoFuse = true
			}})
	}
	var total cost
	for i, q := range b.queries {
		q = b.suite.At(q, b.report.Scale)
		base, err := b.baseline(ctx, q)
		if err != nil {
			return fmt.Errorf("%s: %w", q.Name, err)
		}
		total.add(base.cost)
		for _, v := range variants {
			b.progress.show(fmt.Sprintf("%s without %s, query %d of %d", q.Name, v.name, i+1,
				len(b.queries)))
			err := b.vary(ctx, base, v)
			if err == nil {
				continue
			}
			if err := errors.Join(err, base.session.Close()); err != nil {
				return fmt.Errorf("%s without %s: %w", q.Name, v.name, err)
			}
		}
		if err := base.session.Close(); err != nil {
			return err
		}
	}
	b.progress.done()
	write := func(w io.Writer) error { return b.writePasses(w, variants, total) }
	if err := write(b.con.out); err != nil {
		return err
	}
	return b.writeFile(ctx, "-passes.md", write)
}

// baseline is a query with all passes.
type baseline struct {
	query    suite.Query
	session  *redfox.Session
	prepared *redfox.Prepared
	plan     string
	answer   string
	cost     cost
}

func (b *bench) baseline(ctx context.Context, q suite.Query) (*baseline, error) {
	session, err := b.session()
	if err != nil {
		return nil, err
	}
	base := &baseline{query: q, session: session}
	prog, err := b.program(ctx, q)
	if err == nil {
		base.plan, err = b.planOf(prog)
	}
	if err == nil {
		base.prepared, err = session.Prepare(ctx, prog, b.db, b.run)
	}
	if err == nil {
		base.answer, err = answerOf(base.prepared.Run(ctx, b.run))
	}
	if err == nil {
		var times measure.Times
		times, err = b.hot(ctx, base.prepared, b.run)
		base.cost = cost{times.Least, times.Processor}
	}
	if err != nil {
		return nil, errors.Join(err, session.Close())
	}
	return base, nil
}

// planOf returns the text of the plan over the facts.
func (b *bench) planOf(prog *redfox.Program) (string, error) {
	var out bytes.Buffer
	err := prog.Emit(&out, redfox.StagePlan, redfox.EmitOptions{Facts: b.db})
	return out.String(), err
}

// answerOf returns the text of an answer, in its order.
func answerOf(res *redfox.Result, err error) (string, error) {
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = res.Write(&out, "_", redfox.TSV, redfox.WriteOptions{})
	return out.String(), err
}

// vary measures a query with something left out, if that makes a difference.
func (b *bench) vary(ctx context.Context, base *baseline, v *variant) error {
	v.cost.add(base.cost) // corrected below where it differs
	options := b.compile
	v.change(&options)
	other := *b
	other.compile = options
	prog, err := other.program(ctx, base.query)
	if err != nil {
		return err
	}
	if !v.kernel {
		if plan, err := b.planOf(prog); err != nil || plan == base.plan {
			return err
		}
	}
	limit := max(time.Duration(slowFactor*base.cost.time*float64(time.Second)), slowFloor)
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	prepared, err := base.session.Prepare(ctx, prog, b.db, b.run)
	if err != nil {
		return err
	}
	answer, err := answerOf(prepared.Run(bounded, b.run))
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		reason := "out of memory"
		if bounded.Err() != nil {
			reason = fmt.Sprintf("over %.3g", limit.Seconds()/base.cost.time)
		} else if !strings.Contains(err.Error(), "memory") {
			return err
		}
		v.lost = append(v.lost, fmt.Sprintf("%s %s", base.query.Name, reason))
		return nil
	case answer != base.answer:
		return &toldMismatch{base.query.Name, v.name}
	}
	once := *b
	once.runs = 1
	with, without := cost{math.Inf(1), math.Inf(1)}, cost{math.Inf(1), math.Inf(1)}
	begin := time.Now()
	for i := 0; i < b.runs && (i < 3 || time.Since(begin) < hotLimit); i++ {
		for _, side := range []struct {
			prepared *redfox.Prepared
			cost     *cost
		}{{base.prepared, &with}, {prepared, &without}} {
			took, err := once.hot(ctx, side.prepared, b.run)
			if err != nil {
				return err
			}
			side.cost.least(took)
		}
	}
	ratio := without.time / with.time
	v.ratios = append(v.ratios, queryRatio{base.query.Name, ratio})
	v.cost.time += base.cost.time * (ratio - 1)
	if with.processor > 0 {
		v.cost.processor += base.cost.processor * (without.processor/with.processor - 1)
	}
	return nil
}

// toldMismatch is an answer that depends on a pass.
type toldMismatch struct{ query, pass string }

// Error says which.
func (e *toldMismatch) Error() string {
	return fmt.Sprintf("%s has another answer without %s", e.query, e.pass)
}

// writePasses writes the table in Markdown, what matters most first.
func (b *bench) writePasses(w io.Writer, variants []*variant, total cost) error {
	slices.SortStableFunc(variants, func(x, y *variant) int {
		return cmp.Or(cmp.Compare(len(y.lost), len(x.lost)), cmp.Compare(y.cost.time, x.cost.time))
	})
	var out strings.Builder
	var idle []string
	fmt.Fprintf(&out,
		"| left out | queries that change | sum | processor time | mean of these | longest | shorter |\n|---|---|---|---|---|---|---|\n")
	for _, v := range variants {
		if len(v.ratios)+len(v.lost) == 0 {
			idle = append(idle, v.name)
			continue
		}
		slices.SortStableFunc(v.ratios, func(x, y queryRatio) int {
			return cmp.Compare(y.ratio, x.ratio)
		})
		var ratios []float64
		var longest, shorter []string
		for i, q := range v.ratios {
			ratios = append(ratios, q.ratio)
			text := fmt.Sprintf("%s %.2f", q.query, q.ratio)
			switch {
			case i < 4 && q.ratio > 1.05:
				longest = append(longest, text)
			case q.ratio < 0.95:
				shorter = append(shorter, text)
			}
		}
		mean, processor := "", ""
		if total.processor > 0 {
			processor = fmt.Sprintf("%.2f", round(v.cost.processor/total.processor))
		}
		if len(ratios) > 0 {
			mean = fmt.Sprintf("%.2f", measure.GeometricMean(ratios))
		}
		fmt.Fprintf(&out, "| %s | %d | %.2f | %s | %s | %s | %s |\n", v.name,
			len(v.ratios)+len(v.lost), round(v.cost.time/total.time), processor, mean,
			strings.Join(append(slices.Clone(v.lost), longest...), ", "),
			strings.Join(shorter, ", "))
	}
	if len(idle) > 0 {
		fmt.Fprintf(&out, "\nNo plan of these queries changes without %s.\n",
			strings.Join(idle, ", "))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// round keeps a sum of equal terms from being shown as -0.00 or 0.999999.
func round(x float64) float64 { return math.Round(x*1e6) / 1e6 }
