package segments

import (
	"maps"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
)

// Cuts is a plan and the places where it can be cut.
type Cuts struct {
	Pieces []Piece

	plan  *queryplan.Plan
	units []unit
	lives map[*queryplan.Var]*life
	named map[string]*queryplan.Var
}

// Piece is a part of a plan that cannot be cut.
type Piece struct {
	// Commands are those of the piece, in the order of the plan.
	Commands []queryplan.Command
	// Loops are the names of the blocks of its loops.
	Loops []string

	from, until int // units
}

// life is where a variable is used: indexes of units.
type life struct {
	filled, complete int // first and last unit that fills it; -1 if none does
	read             int // last unit that reads it; -1 if none does
	tied             int // last unit that has to run on the engine that fills it
}

// Cut finds the pieces of a plan.
func Cut(p *queryplan.Plan) *Cuts {
	c := &Cuts{plan: p, units: unitsOf(p), lives: map[*queryplan.Var]*life{},
		named: map[string]*queryplan.Var{}}
	for _, v := range p.Vars {
		c.named[v.Name] = v
	}
	for i, u := range c.units {
		for _, x := range u.uses() {
			c.lifeOf(x.v).note(x, u, i)
		}
	}
	// joined[i] says that unit i belongs to the piece of the unit before it.
	joined := make([]bool, len(c.units)+1)
	for _, l := range c.lives {
		for i := l.filled + 1; l.filled >= 0 && i <= l.tied; i++ {
			joined[i] = true
		}
	}
	for from := 0; from < len(c.units); {
		until := from + 1
		for joined[until] {
			until++
		}
		c.Pieces = append(c.Pieces, c.piece(from, until))
		from = until
	}
	return c
}

func (c *Cuts) lifeOf(v *queryplan.Var) *life {
	l := c.lives[v]
	if l == nil {
		l = &life{filled: -1, complete: -1, read: -1, tied: -1}
		c.lives[v] = l
	}
	return l
}

// note enters a use of a variable by unit i.
func (l *life) note(x use, u unit, i int) {
	if _, ok := u.cmd.(*queryplan.Clear); ok {
		// It frees the variable on the engine that has it. If the variable is
		// filled again, the next use ties both together.
		return
	}
	if x.fills {
		if l.filled < 0 {
			l.filled = i
		}
		l.complete, l.tied = i, max(l.tied, i)
	} else {
		l.read = i
	}
	// The tuples of a temporary variable are a bag, and inputs are sets.
	if x.versions || x.v.Kind == queryplan.Temp {
		l.tied = max(l.tied, i)
	}
}

func (c *Cuts) piece(from, until int) Piece {
	p := Piece{from: from, until: until}
	for _, u := range c.units[from:until] {
		if u.cmd != nil {
			p.Commands = append(p.Commands, u.cmd)
		}
		for _, b := range u.loops {
			p.Commands = append(p.Commands, b.Cmds...)
			p.Loops = append(p.Loops, b.Name)
		}
	}
	return p
}

// Segment is a plan of successive pieces.
type Segment struct {
	Plan *queryplan.Plan
	// Needs are the relations that earlier segments have filled, by the names
	// of the whole plan's variables. Source names the relation of each.
	Needs []string
	// Gives are the names of the outputs that later segments need.
	Gives []string
	// Resumes are the variables of a resumed loop, of which OldSource and
	// DeltaSource name the relations.
	Resumes []string
	// Again says that the plan computes bags again.
	Again bool

	// Checks maps the constraints of Plan to those of the whole plan.
	Checks map[*queryplan.Check]*queryplan.Check

	places map[string][]int
}

// Source names the relation that holds the tuples of a variable for later
// segments. No predicate is called so.
func Source(variable string) string { return " " + variable }

// added is the place of commands that the whole plan does not have.
const added = -1

// Place returns the index that a command of the segment's plan has in the block
// of the same name of the whole plan. It is negative for a command that the
// whole plan does not have.
func (s *Segment) Place(block string, command int) int {
	if s.places == nil { // it is the whole plan
		return command
	}
	return s.places[block][command]
}

// Needed reports whether a piece, or one behind it, reads a variable.
func (c *Cuts) Needed(variable string, piece int) bool {
	l := c.lives[c.named[variable]]
	return piece < len(c.Pieces) && l != nil && l.read >= c.Pieces[piece].from
}

// Segment returns the plan of pieces from up to, but without, until.
func (c *Cuts) Segment(from, until int) *Segment {
	return c.builder(c.Pieces[from].from, c.Pieces[until-1].until).build()
}

// builder makes the plan of a segment.
type builder struct {
	*Cuts
	from, until int // units
	vars        map[*queryplan.Var]*queryplan.Var
	out         *Segment
	resume      *resume // nil if the segment begins with a piece
}

// builder returns a builder for units from up to, but without, until.
func (c *Cuts) builder(from, until int) *builder {
	return &builder{Cuts: c, from: from, until: until,
		vars: map[*queryplan.Var]*queryplan.Var{},
		out: &Segment{Plan: &queryplan.Plan{}, places: map[string][]int{},
			Checks: map[*queryplan.Check]*queryplan.Check{}}}
}

func (b *builder) build() *Segment {
	b.variables()
	b.blocks()
	return b.out
}

// variables declares the variables that the segment uses, and those outputs
// that nothing fills in the last one.
func (b *builder) variables() {
	used := map[*queryplan.Var]bool{}
	if b.resume != nil {
		used = maps.Clone(b.resume.read)
	}
	for _, u := range b.units[b.from:b.until] {
		for _, x := range u.uses() {
			if _, ok := u.cmd.(*queryplan.Clear); !ok {
				used[x.v] = true
			}
		}
	}
	for _, v := range b.plan.Vars {
		l := b.lives[v]
		unfilled := l == nil || l.filled < 0
		if !used[v] && !(v.Output && unfilled && b.until == len(b.units)) {
			continue
		}
		x := *v
		switch {
		case unfilled:
			x.Output = v.Output && b.until == len(b.units)
		case v.Kind == queryplan.Temp:
		case l.filled < b.from && b.resumes(v):
			b.resume.vars = append(b.resume.vars, v)
			b.out.Resumes = append(b.out.Resumes, v.Name)
			if l.read >= b.until {
				x.Output = true
				b.out.Gives = append(b.out.Gives, v.Name)
			}
		case l.filled < b.from:
			x.Kind, x.Source, x.Output = queryplan.Input, Source(v.Name), false
			if !v.Unique && !v.Checked {
				x.Keys = len(v.Cols)
			}
			x.Unique, x.Checked = false, false
			b.out.Needs = append(b.out.Needs, v.Name)
		case l.read >= b.until:
			x.Output = true
			b.out.Gives = append(b.out.Gives, v.Name)
		}
		if !x.Output || !v.Output {
			x.OrderBy, x.Limit = nil, -1
		}
		b.vars[v] = &x
		b.out.Plan.Vars = append(b.out.Plan.Vars, &x)
	}
}

// blocks copies the blocks of the segment.
func (b *builder) blocks() {
	copies := map[*queryplan.Block]*queryplan.Block{}
	copyOf := func(of *queryplan.Block) *queryplan.Block {
		if copies[of] == nil {
			copies[of] = &queryplan.Block{Name: of.Name, Term: &queryplan.Halt{}}
			b.out.Plan.Blocks = append(b.out.Plan.Blocks, copies[of])
		}
		return copies[of]
	}
	var at *queryplan.Block
	if b.resume != nil {
		at = copyOf(b.units[b.from].block)
		b.begin(at)
	}
	for i, u := range b.units[b.from:b.until] {
		to := copyOf(u.block)
		if at != nil && at != to {
			at.Term = &queryplan.Jump{To: to}
		}
		at = to
		if u.cmd != nil {
			b.command(at, u.at, u.cmd)
			continue
		}
		for _, loop := range u.loops {
			to := copyOf(loop)
			for i, c := range loop.Cmds {
				b.command(to, i, c)
			}
		}
		at = copyOf(u.next)
		for _, from := range append([]*queryplan.Block{u.block}, u.loops...) {
			copies[from].Term = b.term(from.Term, copies)
		}
		if i == 0 && b.resume != nil {
			// The branch into the loop need not test all that the loop's does.
			copies[u.block].Term = &queryplan.Jump{To: copies[u.loops[0]]}
		}
	}
}

// term copies the end of a block before or in loops.
func (b *builder) term(t queryplan.Terminator,
	copies map[*queryplan.Block]*queryplan.Block) queryplan.Terminator {
	switch t := t.(type) {
	case *queryplan.Jump:
		return &queryplan.Jump{To: copies[t.To]}
	case *queryplan.Branch:
		branch := *t
		branch.Vars = list.Map(t.Vars, func(v *queryplan.Var) *queryplan.Var { return b.vars[v] })
		branch.Then, branch.Else = copies[t.Then], copies[t.Else]
		return &branch
	}
	return t
}

// command copies a command, which is at an index of a block of the whole plan.
// The variables of earlier and of later segments are not freed.
func (b *builder) command(to *queryplan.Block, at int, c queryplan.Command) {
	node := func(n queryplan.Node) queryplan.Node { return queryplan.RebindVars(n, b.vars) }
	switch x := c.(type) {
	case *queryplan.Insert:
		c = &queryplan.Insert{Var: b.vars[x.Var], Node: node(x.Node), Span: x.Span}
	case *queryplan.Assign:
		c = &queryplan.Assign{Var: b.vars[x.Var], Node: node(x.Node)}
	case *queryplan.Merge:
		c = &queryplan.Merge{Var: b.vars[x.Var]}
	case *queryplan.Clear:
		v := b.vars[x.Var]
		if v == nil || v.Kind != x.Var.Kind {
			return
		}
		c = &queryplan.Clear{Var: v}
	case *queryplan.Check:
		check := &queryplan.Check{Node: node(x.Node), Text: x.Text, Result: x.Result,
			Span: x.Span}
		b.out.Checks[check] = x
		c = check
	case *queryplan.CheckKey:
		c = &queryplan.CheckKey{Var: b.vars[x.Var], Span: x.Span}
	}
	to.Cmds = append(to.Cmds, c)
	b.out.places[to.Name] = append(b.out.places[to.Name], at)
}
