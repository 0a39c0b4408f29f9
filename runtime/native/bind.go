package native

import (
	"fmt"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

// boundEntry is a function together with what its parameters stand for in a run.
type boundEntry struct {
	entry    *abi.Entry
	function uintptr
	params   []param
	// What the function fills, each once, with the number of its sinks.
	targets []filled[*relation]
	groups  []filled[*groups]
	values  []*column // of constant rows
	hosts   *hostCalls
	run     *run
	workers []worker // that have called it
}

// filled is a variable that sinks fill.
type filled[T any] struct {
	rel   T
	sinks int
}

// param is a parameter with the variable that it is about.
type param struct {
	abi.Param
	rel    *relation
	index  *index
	groups *groups
	filled bool  // groups are filled, not read
	word   int64 // of what does not change in a run
}

// bindKernel finds out what the parameters of a kernel's function are.
func (r *run) bindKernel(k *harmony.Kernel, e *abi.Entry) (*boundEntry, error) {
	b, err := r.bindEntry(e)
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
	for i := range b.params {
		for _, t := range b.groups {
			if b.params[i].groups == t.rel {
				b.params[i].filled = true
			}
		}
	}
	if src, ok := k.Source.(*harmony.Values); ok {
		b.values, err = r.constants(src)
	}
	return b, err
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

func (r *run) bindEntry(e *abi.Entry) (*boundEntry, error) {
	b := &boundEntry{entry: e, function: r.code.functions[e.Symbol], run: r}
	if b.function == 0 {
		return nil, fmt.Errorf("no code for %s", e.Symbol)
	}
	if len(e.Hosts) > 0 {
		var err error
		if b.hosts, err = r.newHostCalls(e); err != nil {
			return nil, err
		}
	}
	for _, p := range e.Params {
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
				return nil, fmt.Errorf("%s has a parameter about %s, which is not there", e.Symbol, p.Var)
			}
		}
		if err := b.constant(&q); err != nil {
			return nil, err
		}
		b.params = append(b.params, q)
	}
	return b, nil
}

// constant finds the words that are the same for all of a run.
func (b *boundEntry) constant(p *param) error {
	r := b.run
	var ok bool
	if p.word, ok = r.Constant(b.entry, p.Param); ok {
		return nil
	}
	switch p.Kind {
	case abi.TableData:
		p.word = int64(uintptr(loadedData(r.Data.Tables[p.Index].Column)))
	case abi.TablePresent:
		p.word = addressOf(r.Data.Tables[p.Index].Present)
	case abi.Fault:
		p.word = addressOf(r.fault[:])
	case abi.HostCall:
		p.word = int64(hostCallback())
	case abi.HostContext:
		if b.hosts != nil {
			p.word = b.hosts.id
		}
	}
	return nil
}

// bind sets a worker's parameters to what they are now.
func (b *boundEntry) bind(w *worker) error {
	for i := range b.params {
		word, err := b.word(&b.params[i], w)
		if err != nil {
			return err
		}
		w.params[i] = word
	}
	return nil
}

// bindGroups sets those of a worker's parameters that are about its own groups. The
// other workers may be at work.
func (b *boundEntry) bindGroups(w *worker) error {
	for i := range b.params {
		if !b.params[i].filled {
			continue
		}
		word, err := b.word(&b.params[i], w)
		if err != nil {
			return err
		}
		w.params[i] = word
	}
	return nil
}

func (b *boundEntry) word(p *param, w *worker) (int64, error) {
	switch p.Kind {
	case abi.RowsFrom:
		return int64(w.job.from), nil
	case abi.RowsUntil:
		return int64(w.job.until), nil
	case abi.Dropped:
		return addressOf(w.dropped[:]), nil
	case abi.SetShared:
		if w.job.workers > 1 {
			return 1, nil
		}
		return 0, nil
	case abi.ValuesData:
		return b.values[p.Index].Address(), nil
	}
	switch {
	case p.rel != nil:
		return p.rel.word(p)
	case p.index != nil:
		x := p.index
		if x.byRuns {
			x = x.runs[x.at]
		}
		return x.word(p)
	case p.groups != nil:
		t := p.groups.current
		if p.filled {
			t = p.groups.workers[w.id]
		}
		return t.word(p)
	}
	return p.word, nil
}

// errParam is a parameter that does not belong to its variable.
func errParam(p *param) error {
	return fmt.Errorf("%s has no parameter %v", p.Var, p.Kind)
}

func (r *relation) word(p *param) (int64, error) {
	switch p.Kind {
	case abi.ColumnData:
		return r.cols[p.Index].data(), nil
	case abi.ColumnBase, abi.ColumnStep, abi.ColumnWidth:
		word, _ := r.cols[p.Index].Word(p.Param)
		return word, nil
	case abi.Gauge:
		return r.gauge.address(), nil
	}
	s := r.set
	if s == nil {
		return 0, errParam(p)
	}
	switch p.Kind {
	case abi.SetForm:
		return int64(s.form), nil
	case abi.SetTable:
		return s.table(), nil
	case abi.SetSize:
		return s.size(), nil
	case abi.SetShift, abi.SetBase, abi.SetBits:
		word, _ := s.lay.Word(p.Param)
		return word, nil
	case abi.SetColumns:
		return r.columnPointers(), nil
	}
	return 0, errParam(p)
}

func (x *index) word(p *param) (int64, error) {
	switch p.Kind {
	case abi.IndexForm:
		return int64(x.form), nil
	case abi.IndexTable:
		return x.tableAddress(), nil
	case abi.IndexSize:
		return x.size(), nil
	case abi.IndexShift, abi.IndexBase, abi.IndexBits:
		word, _ := x.lay.Word(p.Param)
		return word, nil
	case abi.IndexBegins:
		return x.begins.Address(), nil
	case abi.IndexRows:
		return x.rowsAddress(), nil
	case abi.IndexWideSlots:
		return x.wide.Address(), nil
	case abi.IndexWideMask:
		return int64(x.wide.mask), nil
	case abi.IndexWideColumns:
		return x.columnPointers(), nil
	case abi.IndexWideGauge:
		return x.gauge.address(), nil
	}
	return 0, errParam(p)
}

func (t *groupTable) word(p *param) (int64, error) {
	switch p.Kind {
	case abi.Gauge:
		return t.gauge.address(), nil
	case abi.GroupForm:
		return int64(t.lay.Form), nil
	case abi.GroupTable:
		return t.tableAddress(), nil
	case abi.GroupSize:
		return t.size(), nil
	case abi.GroupShift, abi.GroupBase, abi.GroupBits:
		word, _ := t.lay.Word(p.Param)
		return word, nil
	case abi.GroupColumns:
		return t.columnPointers(), nil
	case abi.GroupCells:
		return t.cells[p.Index].Address(), nil
	case abi.GroupOccupied:
		return t.occupied.Address(), nil
	case abi.GroupShared:
		return 0, nil
	}
	return 0, errParam(p)
}
