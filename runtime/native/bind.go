package native

import (
	"fmt"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// boundEntry is a function whose parameters are bound to the variables of a
// run.
type boundEntry struct {
	entry    *abi.Entry
	function uintptr
	cold     bool // its code is compiled with little effort
	params   []param
	targets  []machine.Target[*relation]
	groups   []machine.Target[*groups]
	values   []*column // the columns of a source of constant rows
	hosts    *hostCalls
	run      *run
	workers  []worker // kept for the next job
}

// param is a bound parameter.
type param struct {
	machine.Param
	filled *groups // the groups that the function fills, with a table for each worker; or nil
}

// bindKernel binds the parameters of a kernel's function.
func (r *run) bindKernel(k *harmony.Kernel, e *abi.Entry) (*boundEntry, error) {
	b, err := r.bindEntry(e)
	if err != nil {
		return nil, err
	}
	b.targets = machine.Targets(k, r.relations)
	b.groups = machine.Targets(k, r.groups)
	b.markFilled()
	if src, ok := k.Source.(*harmony.Values); ok {
		b.values, err = r.constants(src)
	}
	return b, err
}

// markFilled sets param.filled for the groups that the function fills.
func (b *boundEntry) markFilled() {
	for i := range b.params {
		for _, t := range b.groups {
			if b.params[i].Of == t.To {
				b.params[i].filled = t.To
			}
		}
	}
}

func (r *run) bindEntry(e *abi.Entry) (*boundEntry, error) {
	b := &boundEntry{cold: r.code.cold[e.Symbol], run: r}
	return b, r.rebind(b, e, r.code.functions[e.Symbol])
}

// rebind gives an entry a new function and binds its parameters.
func (r *run) rebind(b *boundEntry, e *abi.Entry, function uintptr) (err error) {
	if function == 0 {
		return fmt.Errorf("no code for %s", e.Symbol)
	}
	b.entry, b.function, b.hosts, b.workers = e, function, nil, nil
	if len(e.Hosts) > 0 {
		if b.hosts, err = r.newHostCalls(e); err != nil {
			return err
		}
	}
	bound, err := r.Bind(r.Bound, e, b.constant)
	if err != nil {
		return err
	}
	b.params = make([]param, len(bound))
	for i, p := range bound {
		b.params[i].Param = p
	}
	b.markFilled()
	return nil
}

// constant returns the word of a parameter that does not change in a run, or 0
// for other parameters.
func (b *boundEntry) constant(p abi.Param) (int64, error) {
	r := b.run
	switch p.Kind {
	case abi.TableData:
		return int64(uintptr(loadedData(r.Data.Tables[p.Index].Column))), nil
	case abi.TablePresent:
		return addressOf(r.Data.Tables[p.Index].Present), nil
	case abi.Fault:
		return addressOf(r.fault[:]), nil
	case abi.HostCall:
		return int64(hostCallback()), nil
	case abi.HostContext:
		if b.hosts != nil {
			return b.hosts.id, nil
		}
	}
	return 0, nil
}

// bind sets a worker's parameters to their current values.
func (b *boundEntry) bind(w *worker) (err error) {
	for i := range b.params {
		if w.params[i], err = b.word(&b.params[i], w); err != nil {
			return err
		}
	}
	return nil
}

// bindGroups updates a worker's parameters about its own groups. Other workers
// may be running.
func (b *boundEntry) bindGroups(w *worker) (err error) {
	for i := range b.params {
		if b.params[i].filled == nil {
			continue
		}
		if w.params[i], err = b.word(&b.params[i], w); err != nil {
			return err
		}
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
	if p.filled != nil {
		return p.filled.workers[w.id].Word(p.Param.Param)
	}
	return p.Value()
}

// Word returns the value of a parameter about the relation.
func (r *relation) Word(p abi.Param) (int64, error) {
	switch p.Kind {
	case abi.ColumnData:
		return r.cols[p.Index].data(), nil
	case abi.ColumnBase, abi.ColumnStep, abi.ColumnWidth:
		word, _ := r.cols[p.Index].Word(p)
		return word, nil
	case abi.Gauge:
		return r.gauge.address(), nil
	case abi.SetColumns:
		return r.columnPointers(), nil
	case abi.SetSeen:
		if r.seen != nil && r.seen[p.Index].on {
			return r.seen[p.Index].Address(), nil
		}
		return 0, nil
	}
	if s := r.set; s != nil {
		table, mask := s.table()
		if word, ok := machine.KeyWord(p, s.form, s.lay, table, mask); ok {
			return word, nil
		}
	}
	return 0, machine.ErrParam(p)
}

// Word returns the value of a parameter about groups that the function reads.
func (g *groups) Word(p abi.Param) (int64, error) { return g.current.Word(p) }

// Word returns the value of a parameter about the table.
func (t *groupTable) Word(p abi.Param) (int64, error) {
	switch p.Kind {
	case abi.Gauge:
		return t.gauge.address(), nil
	case abi.GroupColumns:
		return t.columnPointers(), nil
	case abi.GroupCells:
		return t.data[p.Index].Address(), nil
	case abi.GroupOccupied:
		return t.occupied.Address(), nil
	case abi.GroupShared:
		return 0, nil
	}
	table, mask := t.table()
	if word, ok := machine.KeyWord(p, t.Lay.Form, t.Lay, table, mask); ok {
		return word, nil
	}
	return 0, machine.ErrParam(p)
}
