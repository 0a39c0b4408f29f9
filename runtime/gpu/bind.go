package gpu

import (
	"context"
	"fmt"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

// boundEntry is a function together with what its parameters stand for in a run.
type boundEntry struct {
	*function
	params []param
	// What the function fills, each once, with the number of its sinks.
	targets []filled[*relation]
	groups  []filled[*groups]
	values  []buffer // of constant rows
	faults  bool     // the function may report a fault
	run     *run
}

// filled is a variable that sinks fill.
type filled[T any] struct {
	rel   T
	sinks int64
}

// param is a parameter with the variable that it is about.
type param struct {
	abi.Param
	rel    *relation
	index  *index
	groups *groups
	word   int64 // of what does not change in a run
}

// bindKernel finds out what the parameters of a kernel's function are.
func (r *run) bindKernel(ctx context.Context, k *harmony.Kernel, f *function) (*boundEntry, error) {
	b, err := r.bindEntry(ctx, f)
	if err != nil {
		return nil, err
	}
	for _, s := range k.Sinks {
		switch s := s.(type) {
		case *harmony.Store:
			b.targets = addTarget(b.targets, r.relations[s.To])
		case *harmony.Insert:
			b.targets = addTarget(b.targets, r.relations[s.To])
		case *harmony.Group:
			b.groups = addTarget(b.groups, r.groups[s.To])
		}
	}
	if src, ok := k.Source.(*harmony.Values); ok {
		for i := range src.Cols {
			words := r.Constants(src, i)
			var to buffer
			if err := r.alloc(&to, "the constants of a rule", int64(8*len(words))); err != nil {
				return nil, err
			}
			if err := r.putFresh(to, words...); err != nil {
				return nil, err
			}
			b.values = append(b.values, to)
		}
	}
	return b, nil
}

func addTarget[T comparable](list []filled[T], v T) []filled[T] {
	for i := range list {
		if list[i].rel == v {
			list[i].sinks++
			return list
		}
	}
	return append(list, filled[T]{v, 1})
}

func (r *run) bindEntry(ctx context.Context, f *function) (*boundEntry, error) {
	b := &boundEntry{function: f, run: r}
	if len(f.entry.Hosts) > 0 {
		return nil, fmt.Errorf("%s calls a function that GPUs do not have", f.entry.Symbol)
	}
	for _, p := range f.entry.Params {
		q := param{Param: p}
		if p.Var != "" {
			switch v := r.Named[p.Var].(type) {
			case *harmony.Relation:
				q.rel = r.relations[v]
			case *harmony.Index:
				q.index = r.indexes[v]
			case *harmony.Groups:
				q.groups = r.groups[v]
			default:
				return nil, fmt.Errorf("%s has a parameter about %s, which is not there", f.entry.Symbol, p.Var)
			}
		}
		b.faults = b.faults || p.Kind == abi.Fault
		if err := b.constant(ctx, &q); err != nil {
			return nil, err
		}
		b.params = append(b.params, q)
	}
	return b, nil
}

// constant finds the words that are the same for all of a run.
func (b *boundEntry) constant(ctx context.Context, p *param) error {
	r := b.run
	var ok bool
	if p.word, ok = r.Constant(b.entry, p.Param); ok {
		return nil
	}
	switch p.Kind {
	case abi.TableData:
		at, err := r.residentColumn(ctx, "a function of strings", r.Data.Tables[p.Index].Column)
		p.word = at
		return err
	case abi.TablePresent:
		present := r.Data.Tables[p.Index].Present
		if len(present) == 0 {
			return nil
		}
		var to buffer
		if err := r.alloc(&to, "a function of strings", int64(len(present))); err != nil {
			return err
		}
		p.word = to.word()
		return r.send(to, present)
	case abi.Fault:
		p.word = int64(r.control.at(faultWord))
	case abi.Dropped:
		p.word = int64(r.control.at(droppedWord))
	}
	return nil
}

// bind appends the words of the parameters as they are now.
func (b *boundEntry) bind(ctx context.Context, j *job, words []int64) ([]int64, error) {
	for i := range b.params {
		word, err := b.word(ctx, &b.params[i], j)
		if err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	return words, nil
}

func (b *boundEntry) word(ctx context.Context, p *param, j *job) (int64, error) {
	switch p.Kind {
	case abi.RowsFrom:
		return j.from, nil
	case abi.RowsUntil:
		return j.until, nil
	case abi.ValuesData:
		return b.values[p.Index].word(), nil
	}
	switch {
	case p.rel != nil:
		return p.rel.word(ctx, p)
	case p.index != nil:
		return p.index.word(p)
	case p.groups != nil:
		return p.groups.word(p)
	}
	return p.word, nil
}

// errParam is a parameter that does not belong to its variable.
func errParam(p *param) error {
	return fmt.Errorf("%s has no parameter %v", p.Var, p.Kind)
}

func (r *relation) word(ctx context.Context, p *param) (int64, error) {
	switch p.Kind {
	case abi.ColumnData:
		c := r.cols[p.Index]
		if c.loaded != nil {
			return r.run.residentColumn(ctx, r.what, c.loaded)
		}
		return c.data.word(), nil
	case abi.ColumnBase, abi.ColumnStep, abi.ColumnWidth:
		word, _ := r.cols[p.Index].Word(p.Param)
		return word, nil
	case abi.Gauge:
		return int64(r.run.control.at(r.gauge)), nil
	}
	s := r.set
	if s == nil {
		return 0, errParam(p)
	}
	switch p.Kind {
	case abi.SetForm:
		return int64(s.form), nil
	case abi.SetTable:
		return s.table.word(), nil
	case abi.SetSize:
		return s.size(), nil
	case abi.SetShift, abi.SetBase, abi.SetBits:
		word, _ := s.lay.Word(p.Param)
		return word, nil
	case abi.SetColumns:
		return r.pointers.word(), nil
	case abi.SetShared:
		return 1, nil
	}
	return 0, errParam(p)
}

func (x *index) word(p *param) (int64, error) {
	switch p.Kind {
	case abi.IndexForm:
		return int64(x.form), nil
	case abi.IndexTable:
		return x.table.word(), nil
	case abi.IndexSize:
		return x.size(), nil
	case abi.IndexShift, abi.IndexBase, abi.IndexBits:
		word, _ := x.lay.Word(p.Param)
		return word, nil
	case abi.IndexBegins:
		return x.begins.word(), nil
	case abi.IndexRows:
		if x.identity {
			return 0, nil
		}
		return x.rows.word(), nil
	case abi.IndexWideSlots:
		return x.wide.word(), nil
	case abi.IndexWideMask:
		return int64(x.wideMask), nil
	case abi.IndexWideColumns:
		return x.pointers.word(), nil
	case abi.IndexWideGauge:
		return int64(x.run.control.at(x.gauge)), nil
	}
	return 0, errParam(p)
}

func (g *groups) word(p *param) (int64, error) {
	switch p.Kind {
	case abi.Gauge:
		return int64(g.run.control.at(g.gauge)), nil
	case abi.GroupForm:
		return int64(g.lay.Form), nil
	case abi.GroupTable:
		return g.table.word(), nil
	case abi.GroupSize:
		return g.size(), nil
	case abi.GroupShift, abi.GroupBase, abi.GroupBits:
		word, _ := g.lay.Word(p.Param)
		return word, nil
	case abi.GroupColumns:
		return g.pointers.word(), nil
	case abi.GroupCells:
		return g.data[p.Index].word(), nil
	case abi.GroupOccupied:
		return g.occupied.word(), nil
	case abi.GroupShared:
		return 1, nil
	}
	return 0, errParam(p)
}
