package ranges

import (
	"math"
	"sync"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/queryplan"
)

// Distinct returns a function that bounds the number of different values of a
// column, as far as they are all copied from columns of facts or are constants:
// a recursion that hands a value on makes no other one. Loaded bounds that of a
// column of facts. The function returns math.MaxInt64 if nothing is known. Its
// first call follows the values through the program.
func Distinct(p *harmony.Program, loaded func(r *harmony.Relation, col int) int64,
) func(r *harmony.Relation, col int) int64 {
	columns := sync.OnceValue(func() map[*harmony.Relation][]origins { return followed(p) })
	return func(r *harmony.Relation, col int) int64 {
		o, n := columns()[r][col], int64(0)
		if o.any {
			return math.MaxInt64
		}
		for from := range o.from {
			more := int64(1)
			if from.rel != nil {
				more = loaded(from.rel, from.at)
			}
			if n += more; n < 0 {
				return math.MaxInt64
			}
		}
		return n
	}
}

// followed returns the origins of all columns of relations.
func followed(p *harmony.Program) map[*harmony.Relation][]origins {
	f := &copies{columns: map[*harmony.Relation][]origins{}}
	for _, r := range p.Relations {
		f.columns[r] = make([]origins, len(r.Cols))
		for i := range r.Cols {
			f.columns[r][i] = origins{from: map[origin]bool{}}
			if r.Kind == queryplan.Input || r.Kind == queryplan.Table {
				f.columns[r][i].from[origin{rel: r, at: i}] = true
			}
		}
	}
	for f.changed = true; f.changed; {
		f.changed = false
		for _, c := range p.Commands() {
			f.command(c)
		}
	}
	return f.columns
}

// origin is where values come from: a column of facts, or the constant of a
// sink.
type origin struct {
	rel  *harmony.Relation
	sink harmony.Sink
	at   int
}

// origins are those of a column's values, or any.
type origins struct {
	any  bool
	from map[origin]bool
}

// mostOrigins is how many origins are told apart.
const mostOrigins = 32

// copies follows values through a kernel graph until nothing changes.
type copies struct {
	columns map[*harmony.Relation][]origins
	changed bool
}

// add adds to the origins of a column.
func (f *copies) add(r *harmony.Relation, col int, more origins) {
	o := &f.columns[r][col]
	before, any := len(o.from), o.any
	for from := range more.from {
		o.from[from] = true
	}
	o.any = any || more.any || len(o.from) > mostOrigins
	if o.any {
		clear(o.from)
	}
	f.changed = f.changed || o.any != any || !o.any && len(o.from) != before
}

func (f *copies) command(c harmony.Command) {
	ordered := func(to, from *harmony.Relation, cols []int) {
		for i, at := range cols {
			if at == harmony.Numbered {
				f.add(to, i, origins{any: true})
			} else {
				f.add(to, i, f.columns[from][at])
			}
		}
	}
	switch c := c.(type) {
	case *harmony.Run:
		f.kernel(c.Kernel)
	case *harmony.Number:
		ordered(c.To, c.From, c.Cols)
	case *harmony.TopK:
		ordered(c.To, c.From, c.Cols)
	}
}

// kernel adds what the sinks of a kernel copy to their relations.
func (f *copies) kernel(k *harmony.Kernel) {
	regs := map[*harmony.Reg]origins{}
	for _, s := range k.Stages {
		def := harmony.Def(s)
		if def == nil || def.Row != nil {
			continue
		}
		from, col := (*harmony.Relation)(nil), 0
		switch s := s.(type) {
		case *harmony.Load:
			if rows, ok := k.Source.(*harmony.Rows); ok {
				from, col = rows.Rel, s.Col
			}
		case *harmony.Gather:
			from, col = s.Row.Row, s.Col
		}
		if from == nil || col == from.Position() {
			regs[def] = origins{any: true}
		} else {
			regs[def] = f.columns[from][col]
		}
	}
	for _, s := range k.Sinks {
		to, ok := harmony.SinkTarget(s).(*harmony.Relation)
		if !ok {
			continue
		}
		for i, v := range harmony.SinkOperands(s) {
			if v.Reg == nil {
				f.add(to, i, origins{from: map[origin]bool{{sink: s, at: i}: true}})
			} else {
				f.add(to, i, regs[v.Reg])
			}
		}
	}
}
