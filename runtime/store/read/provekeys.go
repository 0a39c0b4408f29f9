package read

import (
	"context"
	"slices"

	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// readColumn is a field that was read to prove a key.
type readColumn struct {
	column *store.Column
	nulls  []uint32
	parts  []columnPart
}

// proveKeys reads unproven keys before all other columns, if rows can be left
// out once the keys are proven. It keeps the columns that it has read, so that
// none is read twice if the load wants all rows in the end.
func (p *parquetLoad) proveKeys(ctx context.Context) error {
	keys := p.unproven()
	if keys == nil {
		return nil
	}
	if done, err := p.proveSorted(ctx); done || err != nil {
		return err
	}
	order := p.order
	p.order = keys
	p.proving = true
	err := p.readFields(ctx)
	p.order, p.proving = order, false
	if err != nil {
		return err
	}
	p.load.rows = p.file.Rows
	p.proved = map[int]readColumn{}
	isWhole := true
	for _, i := range keys {
		d := &p.data[i]
		p.proved[i] = readColumn{d.column, d.nulls, p.parts[i]}
		for g := range p.parts[i] {
			isWhole = isWhole && len(p.parts[i][g].bad) == 0 && len(p.parts[i][g].nulls) == 0
		}
	}
	if !isWhole {
		return nil // the load reports what is wrong with the rows
	}
	with := store.Sorting{Threads: p.opts.threads(), Memory: p.ledger,
		What: "finding repeated keys in " + p.source.Path}
	for u, use := range p.source.Uses {
		key := p.args[u][:use.Schema.Keys]
		if p.proofs[proofName(key)] != nil {
			continue
		}
		var columns []*store.Column
		for _, i := range key {
			columns = append(columns, p.data[i].column)
		}
		unique, err := store.UniqueRows(ctx, with, columns, int(p.file.Rows))
		if err != nil || !unique {
			return err
		}
		p.prove(key, statsOf(columns))
	}
	return nil
}

// unproven returns the fields of the keys to prove first. There are none if no
// rows could be left out afterwards and no column could stay encoded, or if
// proving reads most of the file because strings or all columns are a key.
func (p *parquetLoad) unproven() (keys []int) {
	if p.allProven() || p.opts.OnError == Skip || len(p.file.Groups) == 0 ||
		!slices.ContainsFunc(p.source.Uses, func(u Use) bool { return u.asked() || u.shown() }) &&
			!slices.ContainsFunc(p.encodable, func(e *encodedPlan) bool { return e != nil }) {
		return nil
	}
	for u, use := range p.source.Uses {
		if use.Schema.Keys == 0 {
			return nil
		}
		for _, i := range p.args[u][:use.Schema.Keys] {
			if p.fields[i].typ.Kind == scalar.String {
				return nil
			}
			if !slices.Contains(keys, i) {
				keys = append(keys, i)
			}
		}
	}
	if len(keys) == len(p.fields) {
		return nil
	}
	return keys
}

// readFields reads all rows of the fields in p.order.
func (p *parquetLoad) readFields(ctx context.Context) error {
	groups := len(p.file.Groups)
	parallel.By(len(p.rooms), groups*len(p.order), func(t, task int) {
		p.task(ctx, t, p.order[task/groups], task%groups)
	})
	// Tasks start in order, so the first one that fails is always among those
	// that ran.
	for _, i := range p.order {
		for g := range p.parts[i] {
			if err := p.parts[i][g].err; err != nil {
				return err
			}
		}
	}
	return p.stopped
}

// setAside resets the key fields that were read, so that they can be read
// again. Their columns stay in proved.
func (p *parquetLoad) setAside() {
	for i := range p.proved {
		p.data[i] = fieldData{}
		p.parts[i] = make([]columnPart, len(p.file.Groups))
	}
}

// drop drops the columns of proven keys.
func (p *parquetLoad) drop() {
	for i, r := range p.proved {
		p.ledger.Give(r.column.Bytes())
		delete(p.proved, i)
	}
}

// takeBack uses the columns of proven keys for the fields that are read, and
// drops the others.
func (p *parquetLoad) takeBack() {
	for _, i := range slices.Clone(p.order) {
		r, ok := p.proved[i]
		if !ok {
			continue
		}
		p.data[i] = fieldData{column: r.column, nulls: r.nulls}
		p.parts[i] = r.parts
		p.offer(i)
		delete(p.proved, i)
		p.order = slices.DeleteFunc(p.order, func(at int) bool { return at == i })
	}
	p.drop()
}
