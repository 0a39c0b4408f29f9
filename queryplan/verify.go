package queryplan

import (
	"fmt"
	"maps"

	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// Verify checks that a plan means something: names are unique, what is used
// exists and has the right type, control flow stays within the plan and reaches
// every block, and variables are written and read in an order that the engines
// support. The error names block, command and operator.
func Verify(p *Plan) error {
	v := verifier{vars: map[*Var]bool{}}
	if err := v.variables(p.Vars); err != nil {
		return err
	}
	derived := func(x *Var) error { return v.isKind(x, Derived) }
	if err := cfg.Verify("plan", p.Blocks, CommandString, v.command, derived); err != nil {
		return err
	}
	return verifyFlow(p)
}

type verifier struct {
	vars map[*Var]bool
}

func (v *verifier) variables(vars []*Var) error {
	names := map[string]bool{}
	for _, x := range vars {
		if names[x.Name] {
			return fmt.Errorf("two variables are named %s", x.Name)
		}
		names[x.Name], v.vars[x] = true, true
		if err := VerifyDecl(x, "variables"); err != nil {
			return fmt.Errorf("variable %s: %w", x.Name, err)
		}
	}
	return nil
}

func (v *verifier) command(c Command) error {
	switch c := c.(type) {
	case *Insert:
		if err := v.isKind(c.Var, Derived); err != nil {
			return err
		}
		return v.fills(c.Var, c.Node)
	case *Assign:
		if err := v.isKind(c.Var, Temp); err != nil {
			return err
		}
		return v.fills(c.Var, c.Node)
	case *Merge:
		return v.isKind(c.Var, Derived)
	case *Clear:
		if !v.vars[c.Var] {
			return fmt.Errorf("the variable is not one of the plan")
		}
		return nil
	case *Check:
		_, err := v.node(c.Node)
		return err
	case *CheckKey:
		return v.isKind(c.Var, Derived)
	}
	return fmt.Errorf("unknown command")
}

func (v *verifier) isKind(x *Var, want VarKind) error {
	switch {
	case !v.vars[x]:
		return fmt.Errorf("the variable is not one of the plan")
	case x.Kind != want:
		return fmt.Errorf("%s is %s, not %s", x.Name, x.Kind, want)
	}
	return nil
}

// fills checks that a node's columns match a variable's by position.
func (v *verifier) fills(x *Var, n Node) error {
	cols, err := v.node(n)
	if err != nil {
		return err
	}
	if len(cols) != len(x.Cols) {
		return fmt.Errorf("%d columns for the %d of %s", len(cols), len(x.Cols), x.Name)
	}
	for i, c := range cols {
		if c.Type != x.Cols[i].Type {
			return fmt.Errorf("column %s is %s, but %s of %s is %s", c.Name, c.Type, x.Cols[i].Name,
				x.Name,
				x.Cols[i].Type)
		}
	}
	return nil
}

// flow is what holds of the variables at a point of the control flow.
type flow struct {
	assigned map[*Var]bool // Temps that have contents on every path
	cleared  map[*Var]bool // variables that are cleared on some path
	unmerged map[*Var]bool // variables with tuples inserted since the last Merge on some path
}

func (f flow) clone() flow {
	return flow{maps.Clone(f.assigned), maps.Clone(f.cleared), maps.Clone(f.unmerged)}
}

// meet joins the state of another path into f and reports whether f changed.
func (f flow) meet(g flow) bool {
	before := len(f.assigned) - len(f.cleared) - len(f.unmerged)
	maps.DeleteFunc(f.assigned, func(x *Var, _ bool) bool { return !g.assigned[x] })
	maps.Copy(f.cleared, g.cleared)
	maps.Copy(f.unmerged, g.unmerged)
	return before != len(f.assigned)-len(f.cleared)-len(f.unmerged)
}

// verifyFlow follows all paths from the entry: a Temp is assigned before it is
// used, nothing is used after Clear, every inserted tuple is merged before the
// halt, and every block is reached.
func verifyFlow(p *Plan) error {
	entry := flow{map[*Var]bool{}, map[*Var]bool{}, map[*Var]bool{}}
	at, err := cfg.Forward(p.Blocks, entry, flow.clone, flow.meet,
		func(b *Block, state flow) error {
			for _, c := range b.Cmds {
				if err := state.step(c); err != nil {
					return fmt.Errorf("block %s, %s: %w", b.Name, CommandString(c), err)
				}
			}
			if err := state.atEnd(p, b); err != nil {
				return fmt.Errorf("block %s: %w", b.Name, err)
			}
			return nil
		})
	if err != nil {
		return err
	}
	return cfg.Reached(p.Blocks, at)
}

func (f flow) step(c Command) error {
	if n := CommandNode(c); n != nil {
		for _, s := range Scans(n) {
			if err := f.readable(s.Var); err != nil {
				return err
			}
		}
	}
	switch c := c.(type) {
	case *Insert:
		if f.cleared[c.Var] {
			return fmt.Errorf("%s is cleared before", c.Var.Name)
		}
		f.unmerged[c.Var] = true
	case *Assign:
		f.assigned[c.Var] = true
		delete(f.cleared, c.Var)
	case *Merge:
		delete(f.unmerged, c.Var)
		return f.readable(c.Var)
	case *CheckKey:
		return f.readable(c.Var)
	case *Clear:
		if c.Var.Output {
			return fmt.Errorf("%s is an output", c.Var.Name)
		}
		f.cleared[c.Var] = true
		delete(f.assigned, c.Var)
	}
	return nil
}

func (f flow) readable(x *Var) error {
	switch {
	case f.cleared[x]:
		return fmt.Errorf("%s is cleared before", x.Name)
	case x.Kind == Temp && !f.assigned[x]:
		return fmt.Errorf("%s is not assigned before on every path", x.Name)
	}
	return nil
}

func (f flow) atEnd(p *Plan, b *Block) error {
	switch t := b.Term.(type) {
	case *Branch:
		for _, x := range t.Vars {
			if err := f.readable(x); err != nil {
				return fmt.Errorf("branch: %w", err)
			}
		}
	case *Halt:
		for _, x := range p.Vars {
			if f.unmerged[x] {
				return fmt.Errorf("the plan halts before %s is merged", x.Name)
			}
		}
	}
	return nil
}
