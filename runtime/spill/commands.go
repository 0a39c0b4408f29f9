package spill

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/parts"
	"github.com/redfoxdb/redfox/queryplan/segments"
	"github.com/redfoxdb/redfox/runtime"
)

// commander evaluates a piece command by command. Its variables are bags in the
// file.
type commander struct {
	*run
	seg   *segments.Segment
	flow  *queryplan.Flow
	vars  map[*queryplan.Var]*state
	about *runtime.SpillPiece
}

// state is the contents of a variable. Blocks are owned by full and by fresh.
type state struct {
	full, old, delta *bag
	// fresh holds candidates: tuples derived since the last Merge.
	fresh *bag
	// distinct means that the candidates do not repeat, because one box has
	// derived them.
	distinct bool
}

func (s *state) version(v queryplan.Version) *bag {
	switch v {
	case queryplan.Old:
		return s.old
	case queryplan.Delta:
		return s.delta
	}
	return s.full
}

// commands evaluates a piece command by command and adds its outputs to out.
func (r *run) commands(seg *segments.Segment, out map[string]*bag,
	about *runtime.SpillPiece) error {
	c := &commander{run: r, seg: seg, flow: queryplan.NewFlow(seg.Plan),
		vars: map[*queryplan.Var]*state{}, about: about}
	numbered := map[*queryplan.Var]bool{}
	for _, cmd := range seg.Plan.Commands() {
		if n := queryplan.CommandNode(cmd); n != nil {
			for _, s := range queryplan.Scans(n) {
				numbered[s.Var] = numbered[s.Var] || s.Position != "" ||
					s.Version == queryplan.Last
			}
		}
	}
	for _, v := range seg.Plan.Vars {
		if v.Kind == queryplan.Derived || v.Kind == queryplan.Temp {
			c.vars[v] = newState(v, numbered[v])
		}
	}
	if err := c.walk(); err != nil {
		return err
	}
	for v, s := range c.vars {
		if v.Kind == queryplan.Derived && v.Output {
			// Tuple numbers are private to this piece.
			s.full.types = s.full.types[:max(len(v.Cols), 1)]
			out[v.Name] = s.full
			s.full.owned, s.old.owned = true, false
			r.dropCuts(s.old)
			r.dropCuts(s.delta)
			continue
		}
		c.clear(v)
	}
	return nil
}

func newState(v *queryplan.Var, numbered bool) *state {
	s := &state{full: newBag(v.Cols), old: newBag(v.Cols), delta: newBag(v.Cols),
		fresh: newBag(v.Cols)}
	s.old.owned, s.delta.owned = false, false
	if numbered {
		for _, g := range []*bag{s.full, s.old, s.delta} {
			g.types = append(g.types, numberType)
		}
	}
	return s
}

// walk executes the blocks of the plan, as the go engine does.
func (c *commander) walk() error {
	visits := map[*queryplan.Block]int64{}
	most := c.req.RoundsBound()
	var last *queryplan.Block
	for b := c.seg.Plan.Blocks[0]; b != nil; {
		if last != nil && !c.flow.SameLoop(last, b) {
			visits[b] = 0
		}
		visits[b]++
		if c.flow.InLoop(b) {
			c.about.Rounds++
		}
		for i, cmd := range b.Cmds {
			if err := c.command(b, i, cmd); err != nil {
				return err
			}
		}
		c.endRound(b)
		next := c.next(b)
		if loop, ok := b.Term.(*queryplan.Branch); ok && loop.Unbounded && next == loop.Then &&
			visits[b] >= most {
			total := int64(0)
			for _, v := range loop.Vars {
				total += c.vars[v].full.rows
			}
			return &runtime.RoundsError{Loop: loop, Rounds: most, Tuples: total}
		}
		b, last = next, b
	}
	return nil
}

// endRound records the sizes of the outputs that a block has filled.
func (c *commander) endRound(b *queryplan.Block) {
	if !c.req.Rounds {
		return
	}
	c.visited++
	for _, cmd := range b.Cmds {
		m, ok := cmd.(*queryplan.Merge)
		if !ok || !m.Var.Output || c.vars[m.Var].delta.rows == 0 {
			continue
		}
		c.answer.Rounds[m.Var.Name] = append(c.answer.Rounds[m.Var.Name],
			runtime.RoundEnd{Round: c.visited, Rows: c.vars[m.Var].full.rows})
	}
}

func (c *commander) next(b *queryplan.Block) *queryplan.Block {
	switch t := b.Term.(type) {
	case *queryplan.Jump:
		return t.To
	case *queryplan.Branch:
		if slices.ContainsFunc(t.Vars, func(v *queryplan.Var) bool {
			return c.vars[v] != nil && c.vars[v].delta.rows > 0
		}) {
			return t.Then
		}
		return t.Else
	}
	return nil
}

func (c *commander) command(b *queryplan.Block, i int, cmd queryplan.Command) error {
	if err := c.stopped(); err != nil {
		return err
	}
	switch cmd := cmd.(type) {
	case *queryplan.Insert:
		s := c.vars[cmd.Var]
		empty := s.fresh.rows == 0
		boxes, err := c.tree(cmd.Var, cmd.Node, cmd.Span, s.fresh)
		s.distinct = empty && boxes <= 1
		return err
	case *queryplan.Assign:
		to := newBag(cmd.Var.Cols)
		if _, err := c.tree(cmd.Var, cmd.Node, cmd.Var.Span, to); err != nil {
			return err
		}
		s := c.vars[cmd.Var]
		c.drop(s.full)
		s.full = to
		return nil
	case *queryplan.Merge:
		return c.merge(cmd.Var)
	case *queryplan.Clear:
		c.clear(cmd.Var)
		return nil
	case *queryplan.Check:
		return c.check(cmd)
	case *queryplan.CheckKey:
		job := parts.OfKey(cmd.Var, cmd)
		_, err := c.evaluateJob(job, func(*runtime.Answer) error { return nil })
		return err
	}
	return nil
}

// clear frees the contents of a variable of this piece.
func (c *commander) clear(v *queryplan.Var) {
	s := c.vars[v]
	if s == nil {
		return
	}
	for _, g := range []*bag{s.old, s.delta, s.full, s.fresh} {
		c.drop(g)
	}
}

// merge makes those candidates that the variable does not contain its delta.
func (c *commander) merge(v *queryplan.Var) error {
	s := c.vars[v]
	s.old.blocks = append(s.old.blocks, s.delta.blocks...)
	s.old.rows += s.delta.rows
	c.dropCuts(s.delta)
	s.delta.blocks, s.delta.rows = nil, 0
	fresh := newBag(v.Cols)
	fresh, s.fresh = s.fresh, fresh
	distinct := s.distinct
	s.distinct = false
	defer c.drop(fresh)
	if fresh.rows == 0 {
		return nil
	}
	if !c.flow.NeedsSet(v) || distinct && s.full.rows == 0 {
		if len(s.delta.types) == len(fresh.types) {
			s.take(fresh.blocks, fresh.rows)
			fresh.blocks = nil
			return nil
		}
	}
	news := newBag(v.Cols)
	news.types, news.rows = s.full.types, s.full.rows // numbers continue after these rows
	err := c.difference(v.Name, fresh, s.full, news)
	s.take(news.blocks, news.rows-s.full.rows)
	return err
}

// take makes blocks the delta.
func (s *state) take(blocks []block, rows int64) {
	s.delta.blocks, s.delta.rows = blocks, rows
	s.full.blocks = append(s.full.blocks, blocks...)
	s.full.rows += rows
}

// evaluateJob evaluates a job over the variables.
func (c *commander) evaluateJob(job *parts.Job, take func(*runtime.Answer) error) (int64, error) {
	sources, err := c.leaves(job, c.vars)
	if err != nil {
		return 0, err
	}
	return c.evaluateBoxes(c.newBoxes(job, sources, take))
}

// evaluateBoxes evaluates boxes and returns their number.
func (c *commander) evaluateBoxes(x *boxes) (int64, error) {
	err := x.evaluate()
	x.tell(c.about)
	return x.boxes, err
}

// check evaluates a constraint. Violations, of which there should be none, go
// to the file.
func (c *commander) check(cmd *queryplan.Check) error {
	n := cmd.Node
	cols := n.Columns()
	found := &queryplan.Var{Name: "a constraint", Kind: queryplan.Derived, Cols: cols,
		Keys: len(cols), Span: cmd.Span}
	s := newState(found, false)
	c.vars[found] = s
	defer delete(c.vars, found)
	defer c.clear(found)
	if _, err := c.tree(found, n, cmd.Span, s.fresh); err != nil {
		return err
	}
	if s.fresh.rows == 0 {
		return nil
	}
	if err := c.merge(found); err != nil {
		return err
	}
	all := runtime.Violation{Check: c.seg.Checks[cmd]}
	job := parts.OfCheck(&queryplan.Check{Node: scanOf(found), Text: cmd.Text,
		Result: cmd.Result, Span: cmd.Span})
	_, err := c.evaluateJob(job, func(a *runtime.Answer) error {
		for _, v := range a.Violations {
			all.Count += v.Count
			all.Cols, all.Tuples = v.Cols, append(all.Tuples, v.Tuples...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	// The first tuples overall are among the first ones of the boxes.
	slices.SortFunc(all.Tuples, func(a, b []scalar.Value) int {
		return slices.CompareFunc(a, b, scalar.Compare)
	})
	all.Tuples = all.Tuples[:min(len(all.Tuples), c.req.MaxViolations)]
	c.answer.Violations = append(c.answer.Violations, all)
	return nil
}

// dropCuts frees the partitioned copies of a bag.
func (r *run) dropCuts(g *bag) {
	blocks, rows, owned := g.blocks, g.rows, g.owned
	g.owned = false
	r.drop(g)
	g.blocks, g.rows, g.owned = blocks, rows, owned
}
