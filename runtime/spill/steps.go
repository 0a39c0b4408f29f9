package spill

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/parts"
	"github.com/redfoxdb/redfox/runtime"
)

var numberType = scalar.IntType

// tree evaluates the tree of a command into a bag and returns the number of
// boxes. With more than one, tuples may repeat.
func (c *commander) tree(v *queryplan.Var, n queryplan.Node, at source.Span, to *bag) (
	boxes int64, err error) {
	if u, ok := n.(*queryplan.Union); ok {
		cols := queryplan.NamesOf(u.Columns())
		for _, in := range u.Nodes {
			k, err := c.tree(v, ordered(in, cols), at, to)
			if boxes += k; err != nil {
				return boxes, err
			}
		}
		return boxes, nil
	}
	boxes, err = c.direct(v, to, parts.OfTree(v, n, at))
	if !isMemory(err) {
		return boxes, err
	}
	// Over relations in the file, an operator can be cut in more ways.
	if stored, free, err := c.storeInputs(v, n, at); err != nil || stored != n {
		defer free()
		if err != nil {
			return 0, err
		}
		return c.tree(v, stored, at, to)
	}
	if again := parts.Again(n); again != nil {
		some, free := c.temp(v, n.Columns())
		defer free()
		_, err := c.direct(some, c.vars[some].full, parts.OfPartial(some, n, at))
		if err == nil {
			n = again(scanOf(some))
			if boxes, err = c.direct(v, to, parts.OfTree(v, n, at)); isMemory(err) {
				return c.streamed(v, n, at, to, err)
			}
			return boxes, err
		}
		if !isMemory(err) {
			return 0, err
		}
	}
	return c.streamed(v, n, at, to, err)
}

// ordered returns a tree with its columns in a given order.
func ordered(n queryplan.Node, cols []string) queryplan.Node {
	if slices.Equal(queryplan.NamesOf(n.Columns()), cols) {
		return n
	}
	p := &queryplan.Project{Input: n}
	for _, c := range cols {
		p.Cols = append(p.Cols, queryplan.Rename{From: c, To: c})
	}
	return p
}

// direct evaluates a job into a bag. On failure the bag is unchanged.
func (c *commander) direct(v *queryplan.Var, to *bag, job *parts.Job) (int64, error) {
	had, rows := len(to.blocks), to.rows
	boxes, err := c.fill(v, to, job)
	if err != nil {
		c.freeBlocks(to.blocks[had:])
		to.blocks, to.rows = to.blocks[:had], rows
	}
	return boxes, err
}

// fill evaluates a job for a variable into a bag.
func (c *commander) fill(v *queryplan.Var, to *bag, job *parts.Job) (int64, error) {
	sources, err := c.leaves(job, c.vars)
	if err != nil {
		return 0, err
	}
	return c.fillOver(v, to, job, sources)
}

// fillOver is fill over the rows of the job's leaves.
func (c *commander) fillOver(v *queryplan.Var, to *bag, job *parts.Job,
	sources []*bag) (int64, error) {
	f := c.filler(to)
	boxes, err := c.evaluateOver(job, sources, func(a *runtime.Answer) error {
		return f.add(a.Outputs[v.Name])
	})
	if err != nil {
		return boxes, err
	}
	return boxes, f.close()
}

// temp declares a bag in the file.
func (c *commander) temp(about *queryplan.Var, cols []queryplan.Column) (*queryplan.Var, func()) {
	v := &queryplan.Var{Name: about.Name, Kind: queryplan.Temp, Cols: cols, Keys: len(cols),
		Limit: -1, Span: about.Span}
	c.vars[v] = newState(v, false)
	return v, func() {
		c.clear(v)
		delete(c.vars, v)
	}
}

func scanOf(v *queryplan.Var) *queryplan.Scan {
	return &queryplan.Scan{Var: v, Names: queryplan.NamesOf(v.Cols)}
}

// storeInputs evaluates those inputs of an operator that are more than scans
// into the file, and returns the operator over them. It returns the operator
// itself if there are none.
func (c *commander) storeInputs(v *queryplan.Var, n queryplan.Node, at source.Span) (
	queryplan.Node, func(), error) {
	inputs := slices.Clone(n.Inputs())
	var frees []func()
	free := func() {
		for _, f := range frees {
			f()
		}
	}
	for i, in := range inputs {
		if isScan(in) {
			continue
		}
		some, f := c.temp(v, in.Columns())
		frees = append(frees, f)
		if _, err := c.tree(some, in, at, c.vars[some].full); err != nil {
			return n, free, err
		}
		inputs[i] = scanOf(some)
	}
	return queryplan.WithInputs(n, inputs), free, nil
}

// isScan reports whether a tree is a scan, possibly filtered and renamed.
func isScan(n queryplan.Node) bool {
	switch n := n.(type) {
	case *queryplan.Scan, *queryplan.Values:
		return true
	case *queryplan.Filter:
		return isScan(n.Input)
	case *queryplan.Project:
		return isScan(n.Input)
	}
	return false
}

// streamed evaluates a tree in one run over columns mapped from the file, for
// operators that hold little of their input. If files cannot be mapped, it
// returns the error of the boxes.
func (c *commander) streamed(v *queryplan.Var, n queryplan.Node, at source.Span, to *bag,
	boxed error) (int64, error) {
	job := parts.OfTree(v, n, at)
	job.Ways = nil
	sources, err := c.leaves(job, c.vars)
	if err != nil {
		return 0, err
	}
	for i, g := range sources {
		if g.facts != nil {
			continue
		}
		cols, free, err := c.mapped(g)
		if err != nil {
			return 0, err
		}
		if cols == nil {
			return 0, boxed
		}
		defer free()
		sources[i] = &bag{types: g.types, facts: cols, rows: g.rows}
	}
	return c.fillOver(v, to, job, sources)
}
