package gpu

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/tables"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// boundEntry is a function whose parameters are bound to the variables of a
// run.
type boundEntry struct {
	*function
	params  []machine.Param
	targets []machine.Target[*tables.Relation]
	groups  []machine.Target[*tables.Groups]
	reads   []*tables.Relation // the relations among its parameters that it does not fill
	values  []device.Buffer    // the columns of a source of constant rows
	gauges  []int              // the gauges that the function reads
	faults  bool               // the function may report a fault
}

// bindKernel binds the parameters of a kernel's function.
func (r *run) bindKernel(k *harmony.Kernel, f *function) (*boundEntry, error) {
	b, err := r.bindEntry(f)
	if err != nil {
		return nil, err
	}
	b.targets = machine.Targets(k, r.Relations)
	b.groups = machine.Targets(k, r.Groups)
	for _, p := range b.params {
		rel, ok := p.Of.(*tables.Relation)
		if ok && !slices.Contains(b.reads, rel) && !slices.ContainsFunc(b.targets,
			func(t machine.Target[*tables.Relation]) bool { return t.To == rel }) {
			b.reads = append(b.reads, rel)
		}
	}
	if src, ok := k.Source.(*harmony.Values); ok {
		for i := range src.Cols {
			words := r.Constants(src, i)
			var to device.Buffer
			if err := r.Alloc(&to, "the constants of a rule", int64(8*len(words))); err != nil {
				return nil, err
			}
			if err := r.PutFresh(to, words...); err != nil {
				return nil, err
			}
			b.values = append(b.values, to)
		}
	}
	return b, nil
}

func (r *run) bindEntry(f *function) (b *boundEntry, err error) {
	if len(f.entry.Hosts) > 0 {
		return nil, fmt.Errorf("%s calls a function that GPUs do not have", f.entry.Symbol)
	}
	b = &boundEntry{function: f}
	for _, p := range f.entry.Params {
		b.faults = b.faults || p.Kind == abi.Fault
	}
	b.params, err = r.Bind(r.Bound, f.entry, r.constant)
	for _, p := range b.params {
		switch v := p.Of.(type) {
		case *tables.Index:
			if p.Kind == abi.IndexWideGauge {
				b.gauges = append(b.gauges, v.Gauge)
			}
		case *tables.Relation:
			if p.Kind == abi.Gauge {
				b.gauges = append(b.gauges, v.Gauge)
			}
		case *tables.Groups:
			if p.Kind == abi.Gauge {
				b.gauges = append(b.gauges, v.Gauge)
			}
		}
	}
	return b, err
}

// constant returns the word of a parameter that does not change in a run, or 0
// for other parameters.
func (r *run) constant(p abi.Param) (int64, error) {
	switch p.Kind {
	case abi.TableData:
		return r.ResidentColumn(r.Ctx, "a function of strings", r.Data.Tables[p.Index].Column, 0)
	case abi.TablePresent:
		present := r.Data.Tables[p.Index].Present
		if len(present) == 0 {
			return 0, nil
		}
		var to device.Buffer
		if err := r.Alloc(&to, "a function of strings", int64(len(present))); err != nil {
			return 0, err
		}
		return to.Word(), r.Send(to, present)
	case abi.Board:
		return r.donations()
	case abi.Fault:
		return int64(r.Control.At(device.FaultWord)), nil
	case abi.Dropped:
		return int64(r.Control.At(device.DroppedWord)), nil
	}
	return 0, nil
}

// donated returns how many parts of their work blocks have given away
// (primitives/src/donate.h). It waits for the device.
func (r *run) donated() (int64, error) {
	if r.board.At == 0 {
		return 0, nil
	}
	words := make([]int64, abi.BoardParts+1)
	_, err := r.Receive(r.Ctx, device.HostCopy{To: device.BytesOf(words), From: r.board})
	return words[abi.BoardParts], err
}

// donations returns the address of the board at which blocks donate work. All
// launches share it, because one runs at a time.
func (r *run) donations() (int64, error) {
	if r.board.At == 0 {
		if err := r.Zeroed(&r.board, "donated work", abi.BoardBytes); err != nil {
			return 0, err
		}
	}
	return r.board.Word(), nil
}

// bind appends the current words of the parameters.
func (b *boundEntry) bind(j *job, words []int64) ([]int64, error) {
	for i := range b.params {
		word, err := b.word(&b.params[i], j)
		if err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	return words, nil
}

func (b *boundEntry) word(p *machine.Param, j *job) (int64, error) {
	switch p.Kind {
	case abi.RowsFrom:
		return j.from, nil
	case abi.RowsUntil:
		return j.until, nil
	case abi.Board:
		if j.alone {
			return 0, nil
		}
	case abi.ValuesData:
		return b.values[p.Index].Word(), nil
	}
	return p.Value()
}
