package spill

import (
	"errors"
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
	if done, k, err := c.twoSteps(v, n, at, to); done || err != nil {
		return k, err
	}
	// Over relations in the file, an operator can be cut in more ways.
	if stored, free, err := c.storeInputs(v, n, at); err != nil || stored != n {
		defer free()
		if err != nil {
			return 0, err
		}
		return c.tree(v, stored, at, to)
	}
	return c.streamed(v, n, at, to, err)
}

// twoSteps evaluates an aggregate, or a choice of the first rows, in two steps,
// the first of them over parts of its input. It is not done if the operator has
// no such steps, if they do not fit the memory, or if a total of a part
// overflows.
func (c *commander) twoSteps(v *queryplan.Var, n queryplan.Node, at source.Span, to *bag) (
	done bool, boxes int64, err error) {
	if _, ok := n.(*queryplan.Dedup); ok {
		return false, 0, nil // the ways of a set are those of its columns
	}
	first, again, computes := parts.TwoSteps(n)
	if again == nil {
		return false, 0, nil
	}
	before := c.mark(to)
	some, free := c.temp(v, first.Columns())
	defer free()
	job := parts.OfPartial(some, first, at)
	if len(job.Ways) == 0 {
		return false, 0, nil
	}
	if _, err = c.direct(some, c.vars[some].full, job); err == nil {
		dropped := c.answer.Dropped
		all := again(scanOf(some))
		boxes, err = c.direct(v, to, parts.OfTree(v, all, at))
		if computes && err == nil && c.answer.Dropped > dropped {
			err = &runtime.OverflowError{}
		}
	}
	var overflow *runtime.OverflowError
	if isMemory(err) || errors.As(err, &overflow) {
		c.restore(to, before)
		return false, 0, nil
	}
	return err == nil, boxes, err
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
func (c *commander) direct(v *queryplan.Var, to *bag, job *parts.Job) (boxes int64, err error) {
	before := c.mark(to)
	sources, err := c.leaves(job, c.vars)
	if err == nil {
		boxes, err = c.fill(v, to, job, sources)
	}
	if err != nil {
		c.restore(to, before)
	}
	return boxes, err
}

// marked is a snapshot of the size of a bag and of Answer.Dropped.
type marked struct {
	blocks        int
	rows, dropped int64
}

func (c *commander) mark(to *bag) marked {
	return marked{len(to.blocks), to.rows, c.answer.Dropped}
}

// restore resets a bag and Answer.Dropped to a snapshot.
func (c *commander) restore(to *bag, was marked) {
	c.freeBlocks(to.blocks[was.blocks:])
	to.blocks, to.rows, c.answer.Dropped = to.blocks[:was.blocks], was.rows, was.dropped
}

// fill evaluates a job over the rows of its leaves into a bag.
func (c *commander) fill(v *queryplan.Var, to *bag, job *parts.Job, sources []*bag) (
	int64, error) {
	f := c.filler(to)
	x := c.newBoxes(job, sources, func(a *runtime.Answer) error { return f.add(a.Outputs[v.Name]) })
	boxes, err := c.evaluateBoxes(x)
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
	return c.fill(v, to, job, sources)
}
