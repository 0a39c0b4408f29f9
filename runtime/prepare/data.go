package prepare

import (
	"context"
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/harmony/ranges"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Data is the facts of a program as one run sees them. It is safe for
// concurrent use.
type Data struct {
	// Tables are the results of the program's tables, as Domains.Tables has
	// them.
	Tables []Table
	// Copies are the loaded columns that the run has copies of, because other
	// strings share their dictionary. What they take belongs to the run.
	Copies []Copy

	columns      map[*harmony.Relation][]*store.Column
	rows         map[*harmony.Relation]int
	domains      *domain.Domains
	dictionaries []*Dictionary // by domain
}

// Table is a function's results for each entry of a dictionary.
type Table struct {
	Column *store.Column
	// Present is 1 for each entry for which there is a result, and nil if there
	// is one for all.
	Present []byte
}

// Copy is a copied column.
type Copy struct {
	Name  string // of the relation
	Bytes int64
}

// Bind finds the columns of a program's loaded relations among the facts, which
// may be nil, makes the dictionaries and evaluates the tables, on so many
// threads, in memory that is accounted for unless it is nil. The error says
// that the facts do not have the program's columns, or is the cause of ctx if
// that is done.
func Bind(ctx context.Context, p *harmony.Program, domains *domain.Domains, facts *store.Database,
	threads int, memory Memory) (*Data, error) {
	d := &Data{
		columns:      map[*harmony.Relation][]*store.Column{},
		rows:         map[*harmony.Relation]int{},
		domains:      domains,
		dictionaries: make([]*Dictionary, len(domains.All())),
		Tables:       make([]Table, len(domains.Tables())),
	}
	for _, r := range p.Relations {
		if r.Kind != queryplan.Input && r.Kind != queryplan.Table {
			continue
		}
		cols, rows, err := Stored(facts, Variable{r.Name, r.Kind, r.Cols, r.Source, r.Stored})
		if err != nil {
			return nil, err
		}
		d.columns[r], d.rows[r] = cols, rows
	}
	s := settler{Data: d, ctx: ctx, threads: threads, memory: memory}
	for _, dom := range domains.All() {
		if err := s.settle(dom); err != nil {
			return nil, err
		}
	}
	for i, t := range domains.Tables() {
		if t.Result.Kind == scalar.String {
			d.Tables[i].Column, _ = d.dictionaries[t.Out].Recode(d.Tables[i].Column, threads)
		} else if err := s.evaluate(i); err != nil {
			return nil, err
		}
	}
	for _, r := range p.Relations {
		for i, c := range d.columns[r] {
			d.columns[r][i] = d.own(r, i, c, threads)
		}
	}
	return d, nil
}

// own returns a loaded column in its domain's dictionary; an empty one for nil.
func (d *Data) own(r *harmony.Relation, i int, c *store.Column, threads int) *store.Column {
	dom := d.domains.Column(r, i)
	switch {
	case c == nil && dom == nil:
		return store.ColumnOf(r.Cols[i].Type, nil, nil)
	case c == nil:
		return store.ColumnOf(r.Cols[i].Type, nil, d.Dict(dom.ID))
	case dom == nil:
		return c
	}
	c, copied := d.dictionaries[dom.ID].Recode(c, threads)
	if copied {
		d.Copies = append(d.Copies, Copy{r.Name, c.Bytes()})
	}
	return c
}

// Columns returns the columns of an Input or Table relation, nil for others.
// One without facts has columns without entries.
func (d *Data) Columns(r *harmony.Relation) []*store.Column { return d.columns[r] }

// Rows returns the number of rows of an Input or Table relation.
func (d *Data) Rows(r *harmony.Relation) int { return d.rows[r] }

// Dict returns the dictionary of a domain.
func (d *Data) Dict(domain int) *store.Dict { return d.dictionaries[domain].Dict }

// Code returns the code of a constant of the program, -1 if it has none, and
// its place among the codes: smaller strings have codes below lo, greater ones
// from hi. A domain that grows has no places.
func (d *Data) Code(domain int, s string) (code, lo, hi int64) {
	dict := d.dictionaries[domain]
	code = -1
	if c, ok := dict.Dict.Lookup(s); ok {
		code = int64(c)
	}
	if !dict.Grows {
		lo, hi = dict.Place(s)
	}
	return code, lo, hi
}

// Intern returns the code of a string that the run computed; its domain grows.
func (d *Data) Intern(domain int, s string) int64 { return int64(d.Dict(domain).Intern(s)) }

// String returns the string of a code.
func (d *Data) String(domain int, code int64) string { return d.Dict(domain).String(uint32(code)) }

// Bounds returns the range of the codes of a domain.
func (d *Data) Bounds(domain int) interval.Interval { return d.dictionaries[domain].Bounds() }

// Constant reports whether runs change nothing, so that all over the same facts
// can share the data.
func (d *Data) Constant() bool {
	return !slices.ContainsFunc(d.dictionaries, func(d *Dictionary) bool { return d.Grows })
}

// Known returns what the data say about ranges.
func (d *Data) Known() ranges.Options {
	return ranges.Options{
		Column: func(r *harmony.Relation, col int) interval.Interval {
			return Bounds(d.columns[r][col])
		},
		Domain: d.Bounds,
		Table:  func(i int) interval.Interval { return Bounds(d.Tables[i].Column) },
	}
}
