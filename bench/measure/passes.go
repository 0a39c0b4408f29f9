package measure

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

	"github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/internal/driver"
)

// variant is the optimiser without one pass, or without kernel fusion.
type variant struct {
	name   string
	change func(*driver.Options)
	kernel bool // changes kernels or runs, and not the plan

	ratios []queryRatio // of the queries whose plan or kernels change
	cost   cost         // of all queries
	lost   []string     // queries that took too long or ran out of memory
}

// queryRatio is the time of a query without the pass, relative to the time with
// it. Both are shortest times, because other load of the machine only makes
// runs longer.
type queryRatio struct {
	query         string
	ratio         float64
	with, without float64 // seconds
}

// cost is the shortest time and the least processor time of a query, in
// seconds.
type cost struct{ time, processor float64 }

func (c *cost) add(of cost) { c.time, c.processor = c.time+of.time, c.processor+of.processor }

// least keeps the smaller values.
func (c *cost) least(took Times) {
	c.time, c.processor = min(c.time, took.Least), min(c.processor, took.Processor)
}

// The bounds of a run without a pass: some plans are hopeless without it.
const (
	slowFactor = 100              // times as long as with all passes
	slowFloor  = 30 * time.Second // the least bound; it includes compiling
	wildMemory = 4 << 30          // beside the facts, without --memory
)

// PassReport is the effect of leaving out each optional pass of the optimiser.
type PassReport struct {
	variants []*variant
	total    cost // of all queries with all passes
	named    bool // of passes that were asked for: each query has a line
}

// EachPassOff measures every query without each optional pass that changes its
// plan, and without kernel fusion. Runs with and without the pass alternate, so
// that other load of the machine affects both. Answers must be equal.
func (r *Runner) EachPassOff(ctx context.Context) (*PassReport, error) {
	r.Shared = true
	if err := r.Start(ctx); err != nil {
		return nil, err
	}
	defer r.Close()
	if r.Run.Memory == 0 {
		r.Run.Memory = r.db.Bytes() + wildMemory
	}
	out := &PassReport{variants: r.variants(), named: len(r.Off) > 0}
	for _, v := range out.variants { // no pass of an unknown name
		options := r.Compile
		v.change(&options)
		if _, err := driver.Compile(ctx, Sources(r.Queries[0]), options); err != nil {
			return nil, err
		}
	}
	for i, q := range r.Queries {
		q = r.Suite.At(q, r.Report.Scale)
		base, err := r.baseline(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.Name, err)
		}
		out.total.add(base.cost)
		for _, v := range out.variants {
			r.show(fmt.Sprintf("%s without %s, query %d of %d", q.Name, v.name, i+1,
				len(r.Queries)))
			if err := r.vary(ctx, base, v); err != nil {
				return nil, fmt.Errorf("%s without %s: %w", q.Name, v.name,
					errors.Join(err, base.session.Close()))
			}
		}
		if err := base.session.Close(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// leaveOut returns what leaves a pass or step out.
func leaveOut(name string) func(*driver.Options) {
	return func(o *driver.Options) { o.Disable = append(slices.Clone(o.Disable), name) }
}

// variants lists the passes and steps that were asked for, or the optional
// passes, and kernel fusion for engines that have kernels.
func (r *Runner) variants() []*variant {
	var out []*variant
	if len(r.Off) > 0 {
		passes := driver.Passes()
		for _, name := range r.Off {
			same := func(p driver.Pass) bool { return p.Name == name }
			isPass := slices.ContainsFunc(passes, same)
			out = append(out, &variant{name: name, kernel: !isPass, change: leaveOut(name)})
		}
		return out
	}
	for _, p := range driver.Passes() {
		if !p.Required && !slices.Contains(r.Compile.Disable, p.Name) {
			out = append(out, &variant{name: p.Name, change: leaveOut(p.Name)})
		}
	}
	if r.Run.Engine != driver.EngineGo && !r.Compile.NoFuse {
		out = append(out, &variant{name: "kernel fusion", kernel: true,
			change: func(o *driver.Options) { o.NoFuse = true }})
	}
	return out
}

// baseline is a query with all passes.
type baseline struct {
	query    suite.Query
	session  *driver.Session
	prepared *driver.Prepared
	plan     string
	answer   string
	cost     cost
}

func (r *Runner) baseline(ctx context.Context, q suite.Query) (*baseline, error) {
	session, err := r.session()
	if err != nil {
		return nil, err
	}
	base := &baseline{query: q, session: session}
	prog, err := r.Program(ctx, q)
	if err == nil {
		base.plan, err = r.planOf(prog)
	}
	if err == nil {
		base.prepared, err = session.Prepare(ctx, prog, r.db, r.Run)
	}
	if err == nil {
		base.answer, err = answerOf(base.prepared.Run(ctx, r.Run))
	}
	if err == nil {
		var times Times
		times, err = hot(ctx, base.prepared, r.Run, r.Runs)
		base.cost = cost{times.Least, times.Processor}
	}
	if err != nil {
		return nil, errors.Join(err, session.Close())
	}
	return base, nil
}

// planOf returns the text of the plan over the facts.
func (r *Runner) planOf(prog *driver.Program) (string, error) {
	var out bytes.Buffer
	err := prog.Emit(&out, driver.StagePlan, driver.EmitOptions{Facts: r.db})
	return out.String(), err
}

// answerOf returns the text of an answer, in its order.
func answerOf(res *driver.Result, err error) (string, error) {
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = res.Write(&out, "_", driver.TSV, driver.WriteOptions{})
	return out.String(), err
}

// vary measures a query with a variant, if the variant changes its plan.
func (r *Runner) vary(ctx context.Context, base *baseline, v *variant) error {
	v.cost.add(base.cost) // corrected below if the plan changes
	options := r.Compile
	v.change(&options)
	other := *r
	other.Compile = options
	prog, err := other.Program(ctx, base.query)
	if err != nil {
		return err
	}
	if !v.kernel {
		if plan, err := r.planOf(prog); err != nil || plan == base.plan {
			return err
		}
	}
	limit := max(time.Duration(slowFactor*base.cost.time*float64(time.Second)), slowFloor)
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	prepared, err := base.session.Prepare(ctx, prog, r.db, r.Run)
	if err != nil {
		return err
	}
	answer, err := answerOf(prepared.Run(bounded, r.Run))
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
		return &passMismatch{base.query.Name, v.name}
	}
	with, without := cost{math.Inf(1), math.Inf(1)}, cost{math.Inf(1), math.Inf(1)}
	begin := time.Now()
	for i := 0; i < r.Runs && (i < 3 || time.Since(begin) < hotLimit); i++ {
		for _, side := range []struct {
			prepared *driver.Prepared
			cost     *cost
		}{{base.prepared, &with}, {prepared, &without}} {
			took, err := hot(ctx, side.prepared, r.Run, 1)
			if err != nil {
				return err
			}
			side.cost.least(took)
		}
	}
	ratio := without.time / with.time
	v.ratios = append(v.ratios, queryRatio{base.query.Name, ratio, with.time, without.time})
	v.cost.time += base.cost.time * (ratio - 1)
	if with.processor > 0 {
		v.cost.processor += base.cost.processor * (without.processor/with.processor - 1)
	}
	return nil
}

// passMismatch is the error of an answer that depends on a pass.
type passMismatch struct{ query, pass string }

// Error names the query and the pass.
func (e *passMismatch) Error() string {
	return fmt.Sprintf("%s has another answer without %s", e.query, e.pass)
}

// writeQueries writes a table of the queries that change without a pass.
func (v *variant) writeQueries(out *strings.Builder) {
	fmt.Fprintf(out, "| query | with %s | without | ratio |\n|---|---|---|---|\n", v.name)
	for _, q := range v.ratios {
		fmt.Fprintf(out, "| %s | %.3f ms | %.3f ms | %.3f |\n", q.query, 1e3*q.with, 1e3*q.without,
			q.ratio)
	}
	fmt.Fprintln(out)
}

// WriteMarkdown writes a table of the passes, those with the largest effect
// first, after one of the queries for each pass that was asked for.
func (p *PassReport) WriteMarkdown(w io.Writer) error {
	slices.SortStableFunc(p.variants, func(x, y *variant) int {
		return cmp.Or(cmp.Compare(len(y.lost), len(x.lost)), cmp.Compare(y.cost.time, x.cost.time))
	})
	var out strings.Builder
	var idle []string
	if p.named {
		for _, v := range p.variants {
			v.writeQueries(&out)
		}
	}
	fmt.Fprintf(&out,
		"| left out | queries that change | sum | processor time | mean of these | longest | shorter |\n|---|---|---|---|---|---|---|\n")
	for _, v := range p.variants {
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
		if p.total.processor > 0 {
			processor = fmt.Sprintf("%.2f", round(v.cost.processor/p.total.processor))
		}
		if len(ratios) > 0 {
			mean = fmt.Sprintf("%.2f", GeometricMean(ratios))
		}
		fmt.Fprintf(&out, "| %s | %d | %.2f | %s | %s | %s | %s |\n", v.name,
			len(v.ratios)+len(v.lost), round(v.cost.time/p.total.time), processor, mean,
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

// round removes the rounding error of a sum, which would print as -0.00.
func round(x float64) float64 { return math.Round(x*1e6) / 1e6 }
