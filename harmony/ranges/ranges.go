package ranges

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Options is what is known before. Each function may be nil: then nothing is
// known but types.
type Options struct {
	// Column bounds the words of a column of an Input or Table relation that is no
	// string.
	Column func(rel *harmony.Relation, col int) interval.Interval
	// Domain bounds the codes of a string domain.
	Domain func(id int) interval.Interval
	// Table bounds the results of a table of Domains.Tables that are no strings.
	Table func(i int) interval.Interval
	// UnknownLiterals leaves out of account what the constants of the program are.
	UnknownLiterals bool
}

// Ranges are the bounds of a program.
type Ranges struct {
	columns map[harmony.Managed][]interval.Interval
	regs    map[*harmony.Reg]value
}

// Column returns the bound of a column of a *harmony.Relation, over all of its
// versions, or of a *harmony.Groups as its Columns number them. It is empty for a
// column that never has a row.
func (r *Ranges) Column(v harmony.Managed, col int) interval.Interval { return r.columns[v][col] }

// Reg returns the bound of a register where it is defined, empty if no row gets
// there. exact says that each of its values is a word within the bound; it is
// false for a decimal that may need more than 64 bits, of which the bound holds
// if it does not. A register of rows has no bound.
func (r *Ranges) Reg(reg *harmony.Reg) (bound interval.Interval, exact bool) {
	v := r.regs[reg]
	return v.bound, v.fits
}

// value bounds a register.
type value struct {
	bound interval.Interval
	fits  bool // no value needs more than 64 bits
}

// maxGrowths is how often a bound may grow before it is widened. Bounds that
// only come from loaded columns settle long before.
const maxGrowths = 16

// narrowings is how many rounds give back what was widened too far.
const narrowings = 2

// Find bounds all columns and registers.
func Find(p *harmony.Program, domains *domain.Domains, opts Options) *Ranges {
	f := &finder{program: p, domains: domains, opts: opts, columns: map[harmony.Managed][]interval.Interval{}}
	for _, r := range p.Relations {
		f.columns[r] = f.loaded(r)
	}
	for _, g := range p.Groups {
		f.columns[g] = none(len(g.Columns()))
	}
	f.grow()
	for range narrowings {
		next := map[harmony.Managed][]interval.Interval{}
		for v, cols := range f.columns {
			next[v] = none(len(cols))
		}
		f.eachFilled(func(v harmony.Managed, cols []interval.Interval) {
			for i, c := range cols {
				next[v][i] = next[v][i].Union(c)
			}
		})
		for v, cols := range next {
			if r, ok := v.(*harmony.Relation); !ok || !isLoaded(r) {
				f.columns[v] = cols
			}
		}
	}
	out := &Ranges{columns: f.columns, regs: map[*harmony.Reg]value{}}
	for _, k := range p.Kernels() {
		f.kernel(k, out.regs)
	}
	return out
}

type finder struct {
	program *harmony.Program
	domains *domain.Domains
	opts    Options
	columns map[harmony.Managed][]interval.Interval
}

func none(n int) []interval.Interval {
	out := make([]interval.Interval, n)
	for i := range out {
		out[i] = interval.None
	}
	return out
}

func isLoaded(r *harmony.Relation) bool {
	return r.Kind == queryplan.Input || r.Kind == queryplan.Table
}

// loaded returns the bounds that a relation has before anything runs.
func (f *finder) loaded(r *harmony.Relation) []interval.Interval {
	out := none(len(r.Cols))
	if !isLoaded(r) {
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

// grow lets bounds grow from those of loaded columns until they hold.
func (f *finder) grow() {
	growths := map[harmony.Managed][]int{}
	for v, cols := range f.columns {
		growths[v] = make([]int, len(cols))
	}
	for changed := true; changed; {
		changed = false
		f.eachFilled(func(v harmony.Managed, cols []interval.Interval) {
			for i, c := range cols {
				old := f.columns[v][i]
				grown := old.Union(c)
				if grown == old {
					continue
				}
				changed = true
				if growths[v][i]++; growths[v][i] > maxGrowths {
					grown = old.Widened(grown, f.columnType(v, i))
				}
				f.columns[v][i] = grown
			}
		})
	}
}

// columnType bounds a column by its type or domain.
func (f *finder) columnType(v harmony.Managed, i int) interval.Interval {
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

// eachFilled calls visit with bounds of what each command adds to a variable.
func (f *finder) eachFilled(visit func(v harmony.Managed, cols []interval.Interval)) {
	for _, b := range f.program.Blocks {
		for _, c := range b.Cmds {
			switch c := c.(type) {
			case *harmony.Run:
				in := f.kernel(c.Kernel, nil)
				for _, s := range c.Kernel.Sinks {
					visit(harmony.SinkTarget(s), in.sink(s))
				}
			case *harmony.Number:
				visit(c.To, f.taken(c.From, c.Cols))
			case *harmony.TopK:
				visit(c.To, f.taken(c.From, c.Cols))
			}
		}
	}
}

// taken bounds what an ordering takes of the columns of a relation, and its numbers.
func (f *finder) taken(from *harmony.Relation, cols []int) []interval.Interval {
	out := make([]interval.Interval, len(cols))
	for i, at := range cols {
		if at == harmony.Numbered {
			out[i] = interval.Interval{Lo: 0, Hi: harmony.MaxRows - 1}
		} else {
			out[i] = f.columns[from][at]
		}
	}
	return out
}
