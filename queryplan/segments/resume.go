package segments

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
)

// Resume returns the plan that goes on with a loop at the end of a round, up to
// but without piece until. Of Needs it takes all tuples, of Resumes the old
// ones and the delta.
//
// It is not ok if the loop has several blocks, or if the rest of the plan needs
// what no relation holds: numbers of tuples, or a bag that cannot be computed
// again.
func (c *Cuts) Resume(loop string, until int) (seg *Segment, ok bool) {
	from := slices.IndexFunc(c.units, func(u unit) bool {
		return len(u.loops) == 1 && u.loops[0].Name == loop && loopsToItself(u.loops[0])
	})
	if from < 0 {
		return nil, false
	}
	b := c.builder(from, c.Pieces[until-1].until)
	b.resume = &resume{read: map[*queryplan.Var]bool{}}
	if !b.recompute() || b.numbered() {
		return nil, false
	}
	b.out.Again = len(b.resume.assign) > 0
	return b.build(), true
}

// PieceOf returns the piece that has a loop, -1 if none has.
func (c *Cuts) PieceOf(loop string) int {
	return slices.IndexFunc(c.Pieces, func(p Piece) bool { return slices.Contains(p.Loops, loop) })
}

func loopsToItself(b *queryplan.Block) bool {
	t, ok := b.Term.(*queryplan.Branch)
	return ok && t.Then == b && t.Else != b
}

// OldSource names the relation with the old tuples of a variable, for a plan
// that resumes a loop.
func OldSource(variable string) string { return Source(variable) + " old" }

// DeltaSource names the relation with the delta of a variable.
func DeltaSource(variable string) string { return Source(variable) + " delta" }

// resume is what the plan of a resumed loop does before the loop.
type resume struct {
	vars   []*queryplan.Var    // whose old tuples and delta it takes
	assign []*queryplan.Assign // of bags that are computed again
	read   map[*queryplan.Var]bool
}

// commands returns the commands of a unit.
func (u unit) commands() []queryplan.Command {
	if u.cmd != nil {
		return []queryplan.Command{u.cmd}
	}
	var out []queryplan.Command
	for _, b := range u.loops {
		out = append(out, b.Cmds...)
	}
	return out
}

// recompute lists the bags that the plan reads and that are filled before it.
// It reports whether all of them can be computed again.
func (b *builder) recompute() bool {
	filled := map[*queryplan.Var]bool{}
	for _, u := range b.units[b.from:b.until] {
		for _, c := range u.commands() {
			if n := queryplan.CommandNode(c); n != nil {
				for _, s := range queryplan.Scans(n) {
					if s.Var.Kind == queryplan.Temp && !filled[s.Var] && !b.again(s.Var) {
						return false
					}
				}
			}
			if c, ok := c.(*queryplan.Assign); ok {
				filled[c.Var] = true
			}
		}
	}
	return true
}

// again notes that a bag is computed again, and reports whether that gives what
// it was: one command fills it, from variables that are complete by then and
// still there.
func (b *builder) again(v *queryplan.Var) bool {
	if b.resume.read[v] {
		return true
	}
	at := -1
	var assign *queryplan.Assign
	for i, u := range b.units {
		for _, c := range u.commands() {
			c, ok := c.(*queryplan.Assign)
			if !ok || c.Var != v {
				continue
			}
			if assign != nil || i >= b.from || u.cmd == nil {
				return false
			}
			at, assign = i, c
		}
	}
	if assign == nil {
		return false
	}
	b.resume.read[v] = true
	for _, s := range queryplan.Scans(assign.Node) {
		switch {
		case s.Version != queryplan.Full || s.Position != "":
			return false
		case s.Var.Kind == queryplan.Temp:
			if !b.again(s.Var) {
				return false
			}
		case s.Var.Kind == queryplan.Derived:
			if b.lives[s.Var].complete >= at || b.cleared(s.Var, at) {
				return false
			}
		}
		b.resume.read[s.Var] = true
	}
	b.resume.assign = append(b.resume.assign, assign)
	return true
}

// cleared reports whether a variable is cleared between a unit and the loop.
func (b *builder) cleared(v *queryplan.Var, after int) bool {
	return slices.ContainsFunc(b.units[after:b.from], func(u unit) bool {
		c, ok := u.cmd.(*queryplan.Clear)
		return ok && c.Var == v
	})
}

// numbered reports whether the plan reads the numbers, or asks for the last, of
// tuples that earlier units have inserted. Another engine has another order.
func (b *builder) numbered() bool {
	for _, u := range b.units[b.from:b.until] {
		for _, c := range u.commands() {
			n := queryplan.CommandNode(c)
			if n == nil {
				continue
			}
			for _, s := range queryplan.Scans(n) {
				ordered := s.Position != "" || s.Version == queryplan.Last
				if ordered && b.lives[s.Var].filled < b.from {
					return true
				}
			}
		}
	}
	return false
}

// resumes reports whether the plan takes a variable's old tuples and delta: it
// adds to them, or tells them apart.
func (b *builder) resumes(v *queryplan.Var) bool {
	if b.resume == nil {
		return false
	}
	return b.lives[v].complete >= b.from ||
		slices.ContainsFunc(b.units[b.from:b.until], func(u unit) bool {
			return slices.ContainsFunc(u.uses(), func(x use) bool { return x.v == v && x.versions })
		})
}

// begin adds what a resumed loop begins with to the block before it.
func (b *builder) begin(to *queryplan.Block) {
	for _, v := range b.resume.vars {
		for _, source := range []string{OldSource(v.Name), DeltaSource(v.Name)} {
			from := &queryplan.Var{Name: source, Kind: queryplan.Input, Source: source,
				Cols: v.Cols, Keys: len(v.Cols), Limit: -1}
			b.out.Plan.Vars = append(b.out.Plan.Vars, from)
			b.command(to, added, &queryplan.Insert{Var: v,
				Node: &queryplan.Scan{Var: from, Names: queryplan.NamesOf(v.Cols)}})
			b.command(to, added, &queryplan.Merge{Var: v})
		}
	}
	for _, c := range b.resume.assign {
		b.command(to, added, c)
	}
}

// Done lists the variables that are complete when a loop begins.
func (c *Cuts) Done(loop string) []*queryplan.Var {
	var out []*queryplan.Var
	from := slices.IndexFunc(c.units, func(u unit) bool {
		return slices.ContainsFunc(u.loops, func(b *queryplan.Block) bool { return b.Name == loop })
	})
	for _, v := range c.plan.Vars {
		if l := c.lives[v]; v.Kind == queryplan.Derived && l != nil && l.filled >= 0 &&
			l.complete < from {
			out = append(out, v)
		}
	}
	return out
}
