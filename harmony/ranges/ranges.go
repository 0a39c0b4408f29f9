package ranges

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/bounds"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Options is what is known before. Each function may be nil: then nothing is
// known but types.
type Options struct {
	// Column bounds the words of a column of an Input or Table relation that is
	// no string.
	Column func(rel *harmony.Relation, col int) interval.Interval
	// Domain bounds the codes of a string domain.
	Domain func(id int) interval.Interval
	// Table bounds the results of a table of Domains.Tables that are no
	// strings.
	Table func(i int) interval.Interval
	// UnknownLiterals leaves out of account what the constants of the program
	// are.
	UnknownLiterals bool
}

// Ranges are the bounds of a program.
type Ranges struct {
	columns bounds.Columns[harmony.Managed]
	regs    map[*harmony.Reg]bounds.Value
}

// Column returns the bound of a column of a *harmony.Relation, over all of its
// versions, or of a *harmony.Groups as its Columns number them. It is empty for
// a column that never has a row.
func (r *Ranges) Column(v harmony.Managed, col int) interval.Interval { return r.columns[v][col] }

// Reg returns the bound of a register where it is defined, empty if no row gets
// there. exact says that each of its values is a word within the bound; it is
// false for a decimal that may need more than 64 bits, of which the bound holds
// if it does not. A register of rows has no bound.
func (r *Ranges) Reg(reg *harmony.Reg) (bound interval.Interval, exact bool) {
	v := r.regs[reg]
	return v.Bound, v.Fits
}

// Find bounds all columns and registers.
func Find(p *harmony.Program, domains *domain.Domains, opts Options) *Ranges {
	f := &finder{program: p, domains: domains, opts: opts}
	loaded := bounds.Columns[harmony.Managed]{}
	for _, r := range p.Relations {
		loaded[r] = f.loaded(r)
	}
	for _, g := range p.Groups {
		loaded[g] = bounds.None(len(g.Columns()))
	}
	out := &Ranges{columns: bounds.Solve(f, loaded), regs: map[*harmony.Reg]bounds.Value{}}
	for _, k := range p.Kernels() {
		f.kernel(k, out.columns, out.regs)
	}
	return out
}

// finder describes a kernel graph to package bounds.
type finder struct {
	program *harmony.Program
	domains *domain.Domains
	opts    Options
}

// loaded returns the bounds that a relation has before anything runs.
func (f *finder) loaded(r *harmony.Relation) []interval.Interval {
	out := bounds.None(len(r.Cols))
	if r.Kind != queryplan.Input && r.Kind != queryplan.Table {
		return out
	}
	for i, c := range r.Cols {
		switch d := f.domains.Column(r, i); {
		case d != nil:
			out[i] = f.codes(d)
		case f.opts.Column != nil:
			out[i] = f.opts.Column(r, i)
		default:
			out[i] = interval.OfType(c.Type)
		}
	}
	return out
}

// codes bounds the codes of a domain.
func (f *finder) codes(d *domain.Domain) interval.Interval {
	if f.opts.Domain == nil {
		return interval.OfType(scalar.StringType)
	}
	return f.opts.Domain(d.ID)
}

// Widest bounds a column by its type or domain.
func (f *finder) Widest(v harmony.Managed, i int) interval.Interval {
	if d := f.domains.Column(v, i); d != nil {
		return f.codes(d)
	}
	switch v := v.(type) {
	case *harmony.Relation:
		return interval.OfType(v.Cols[i].Type)
	case *harmony.Groups:
		return interval.OfType(v.Columns()[i].Type)
	}
	return interval.All
}

// Added visits what the sinks of each kernel, and orderings, add to a variable.
func (f *finder) Added(cols bounds.Columns[harmony.Managed],
	visit func(v harmony.Managed, added []interval.Interval)) {
	for _, c := range f.program.Commands() {
		switch c := c.(type) {
		case *harmony.Run:
			in := f.kernel(c.Kernel, cols, nil)
			for _, s := range c.Kernel.Sinks {
				visit(harmony.SinkTarget(s), in.sink(s))
			}
		case *harmony.Number:
			visit(c.To, taken(cols[c.From], c.Cols))
		case *harmony.TopK:
			visit(c.To, taken(cols[c.From], c.Cols))
		}
	}
}

// positions bounds the numbers of rows.
var positions = interval.Interval{Lo: 0, Hi: harmony.MaxRows - 1}

// taken bounds the columns that an ordering takes of a relation, and its
// numbers.
func taken(from []interval.Interval, cols []int) []interval.Interval {
	out := make([]interval.Interval, len(cols))
	for i, at := range cols {
		if at == harmony.Numbered {
			out[i] = positions
		} else {
			out[i] = from[at]
		}
	}
	return out
}
