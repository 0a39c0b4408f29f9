package harmony

import (
	"fmt"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// Verify checks that a program is well formed. Names are unique, used variables
// belong to the program and have the right types, every register is defined
// before its use, and sinks match their variables. Control flow stays within
// the program and reaches every block. On every path, variables are filled
// before they are read, indexes are built after the last change of their
// relations, and inserts are merged before the end. The error names block,
// command and stage.
func Verify(p *Program) error {
	v := verifier{vars: map[Managed]bool{}, regs: map[*Reg]string{}, kernels: map[string]bool{}}
	if err := v.variables(p); err != nil {
		return err
	}
	if err := cfg.Verify("program", p.Blocks, CommandString, v.command, v.branch); err != nil {
		return err
	}
	return verifyFlow(p)
}

type verifier struct {
	vars    map[Managed]bool
	regs    map[*Reg]string // the kernel that defines a register
	kernels map[string]bool // by name
}

func (v *verifier) variables(p *Program) error {
	names := map[string]bool{}
	add := func(m Managed, what string, err error) error {
		if err != nil {
			return fmt.Errorf("%s %s: %w", what, m.ManagedName(), err)
		}
		if names[m.ManagedName()] {
			return fmt.Errorf("two variables are named %s", m.ManagedName())
		}
		names[m.ManagedName()], v.vars[m] = true, true
		return nil
	}
	for _, r := range p.Relations {
		if err := add(r, "relation",
			queryplan.VerifyDecl((*queryplan.Var)(r), "relations")); err != nil {
			return err
		}
	}
	for _, x := range p.Indexes {
		if err := add(x, "index", v.index(x)); err != nil {
			return err
		}
	}
	for _, g := range p.Groups {
		if err := add(g, "groups", verifyGroups(g)); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) index(x *Index) error {
	switch {
	case x.Kind > Exists:
		return fmt.Errorf("unknown kind %d", x.Kind)
	case x.Busy && x.Kind != Exists:
		return fmt.Errorf("it is busy and %s: only exists is", x.Kind)
	case !v.vars[x.Of]:
		return fmt.Errorf("its relation is not one of the program")
	}
	if x.Version == Last {
		ok := x.Kind == Unique && x.Of.Kind == queryplan.Derived && x.Of.Keys < len(x.Of.Cols) &&
			len(x.Key) == x.Of.Keys
		for i, col := range x.Key {
			ok = ok && col == i
		}
		if !ok {
			return fmt.Errorf("an index over last is unique, by the key of a derived relation")
		}
		return nil
	}
	if err := versionExists(x.Of, x.Version); err != nil {
		return err
	}
	if !x.ByPosition() {
		return columnsExist(x.Of.Cols, x.Key)
	}
	switch {
	case x.Of.Kind != queryplan.Derived:
		return fmt.Errorf("%s is %s: only rows of derived relations have a position", x.Of.Name,
			x.Of.Kind)
	case x.Kind == Multi:
		return fmt.Errorf("an index by position is unique or exists")
	case x.Version == Delta:
		return fmt.Errorf("an index by position is over full or old, whose rows count from 0")
	}
	return nil
}

func verifyGroups(g *Groups) error {
	if err := queryplan.DistinctColumns(g.Columns()); err != nil {
		return err
	}
	for i, a := range g.Accs {
		if owner := g.Owner(i); owner != i {
			if owner >= len(g.Accs) {
				return fmt.Errorf("%s shares the cells of no accumulator", a.Out.Name)
			}
			o := g.Accs[owner]
			if !a.Fn.IsTotal() || !o.Fn.IsTotal() || o.Shares > 0 || a.In != o.In ||
				a.Fn == queryplan.Avg && o.Fn != queryplan.Avg {
				return fmt.Errorf("%s cannot share the cells of %s", a.Out.Name, o.Out.Name)
			}
		}
		if (a.Fn == queryplan.Count) != (a.In.Kind == scalar.Invalid) {
			return fmt.Errorf("accumulators, except counts, have an operand")
		}
		if !a.Fn.Gives(a.In, a.Out.Type) {
			return fmt.Errorf("%s of %s does not give %s", a.Fn, a.In, a.Out.Type)
		}
	}
	return nil
}

func versionExists(r *Relation, version Version) error {
	if version > Old || version != Full && r.Kind != queryplan.Derived {
		return fmt.Errorf("%s is %s and has no version %s", r.Name, r.Kind, version)
	}
	return nil
}

// columnsExist checks that all positions in lists exist, and that none occurs
// twice.
func columnsExist(cols []Column, lists ...[]int) error {
	seen := map[int]bool{}
	for _, list := range lists {
		for _, at := range list {
			switch {
			case at < 0 || at >= len(cols):
				return fmt.Errorf("there is no column %d of %d", at, len(cols))
			case seen[at]:
				return fmt.Errorf("column %s stands twice", cols[at].Name)
			}
			seen[at] = true
		}
	}
	return nil
}

func (v *verifier) command(c Command) error {
	for _, m := range append(Reads(c), Writes(c)...) {
		if !v.vars[m] {
			return fmt.Errorf("a variable is not one of the program")
		}
	}
	switch c := c.(type) {
	case *Run:
		if err := v.kernel(c.Kernel); err != nil {
			return err
		}
		if v.kernels[c.Kernel.Name] {
			return fmt.Errorf("two kernels are named %s", c.Kernel.Name)
		}
		v.kernels[c.Kernel.Name] = true
		return nil
	case *Build:
		if x := c.Index; c.Before &&
			(x.Version != Full || x.Of.Kind != queryplan.Derived || x.ByPosition()) {
			return fmt.Errorf("index %s cannot be of old rows: it is not over full columns of a "+
				"derived relation", x.Name)
		}
		return nil
	case *Number:
		if err := columnsExist(c.From.Cols, c.Group); err != nil {
			return err
		}
		if err := queryplan.VerifyOrder(c.Order, c.From.Cols); err != nil {
			return err
		}
		return takes(c.To, c.From, c.Cols, true)
	case *TopK:
		if err := columnsExist(c.From.Cols, c.Group); err != nil {
			return err
		}
		if c.Limit < 0 {
			return fmt.Errorf("the limit %d is negative", c.Limit)
		}
		if err := queryplan.VerifyOrder(c.By, c.From.Cols); err != nil {
			return err
		}
		return takes(c.To, c.From, c.Cols, false)
	case *Merge:
		return isKind(c.Rel, queryplan.Derived)
	case *Clear:
		r, ok := c.Var.(*Relation)
		switch {
		case !ok:
			if _, index := c.Var.(*Index); index {
				return fmt.Errorf("an index is not cleared but built again")
			}
		case r.Kind == queryplan.Input || r.Kind == queryplan.Table:
			return fmt.Errorf("%s is %s and never written", r.Name, r.Kind)
		case r.Output:
			return fmt.Errorf("%s is an output", r.Name)
		}
		return nil
	case *Check:
		return isKind(c.Rel, queryplan.Temp)
	case *CheckKey:
		return isKind(c.Rel, queryplan.Derived)
	}
	return fmt.Errorf("unknown command")
}

// takes checks that the columns of a temp or derived relation have the types of
// the taken columns of another one, or of numbers if numbered is set.
func takes(to, from *Relation, cols []int, numbered bool) error {
	if to.Kind != queryplan.Temp && to.Kind != queryplan.Derived {
		return fmt.Errorf("%s is %s, not temp or derived", to.Name, to.Kind)
	}
	if to == from {
		return fmt.Errorf("%s is filled from itself", to.Name)
	}
	fits := len(cols) == len(to.Cols)
	for i, at := range cols {
		switch {
		case at == Numbered && numbered:
			fits = fits && to.Cols[i].Type == scalar.IntType
		case at < 0 || at >= len(from.Cols):
			return fmt.Errorf("there is no column %d of %d", at, len(from.Cols))
		default:
			fits = fits && to.Cols[i].Type == from.Cols[at].Type
		}
	}
	if !fits {
		return fmt.Errorf("the columns of %s do not match those of %s", to.Name, from.Name)
	}
	return nil
}

func isKind(r *Relation, want queryplan.VarKind) error {
	if r.Kind != want {
		return fmt.Errorf("%s is %s, not %s", r.Name, r.Kind, want)
	}
	return nil
}

// branch checks a relation that a branch tests.
func (v *verifier) branch(r *Relation) error {
	if !v.vars[r] {
		return fmt.Errorf("a variable is not one of the program")
	}
	return isKind(r, queryplan.Derived)
}
