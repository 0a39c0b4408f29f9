package harmony

import (
	"fmt"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// kernelVerifier follows the registers of one kernel.
type kernelVerifier struct {
	names   regNames
	defined map[*Reg]bool
	present map[*Reg]bool
}

// Present returns the registers of a kernel that are known to have a fitting
// value at its sinks: those of loads and gathers, those of functions that
// always have a value, and those that the kernel needs.
func Present(k *Kernel) map[*Reg]bool {
	kv := kernelVerifier{present: map[*Reg]bool{}}
	for _, s := range k.Stages {
		kv.learn(s)
	}
	return kv.present
}

// learn records the registers that are present after a stage.
func (kv *kernelVerifier) learn(s Stage) {
	switch s := s.(type) {
	case *Load:
		kv.present[s.Out] = true
	case *Gather:
		kv.present[s.Out] = true
	case *Need:
		kv.present[s.Reg] = true
	case *Map:
		types := make([]scalar.Type, len(s.Args))
		ok := true
		for i, a := range s.Args {
			types[i] = a.Type()
			ok = ok && kv.isPresent(a)
		}
		kv.present[s.Out] = s.Func.Name == "holds" || ok && !s.Func.MayFail(s.Out.Type, types)
	}
}

func (kv *kernelVerifier) isPresent(o Operand) bool { return o.Reg == nil || kv.present[o.Reg] }

func (v *verifier) kernel(k *Kernel) error {
	if k.Name == "" {
		return fmt.Errorf("the kernel has no name")
	}
	if err := v.source(k.Source); err != nil {
		return err
	}
	kv := kernelVerifier{names: registerNames(k), defined: map[*Reg]bool{},
		present: map[*Reg]bool{}}
	for _, s := range k.Stages {
		if err := kv.stage(k, s); err != nil {
			return fmt.Errorf("%s: %w", kv.names.stage(k, s), err)
		}
		if r := Def(s); r != nil {
			if other, taken := v.regs[r]; taken {
				return fmt.Errorf("%s: the register is defined in kernel %s already",
					kv.names.stage(k, s), other)
			}
			v.regs[r] = k.Name
			kv.defined[r] = true
		}
		kv.learn(s)
	}
	if len(k.Sinks) == 0 {
		return fmt.Errorf("the kernel has no sink")
	}
	if k.Host {
		if err := verifyHost(k, kv.names); err != nil {
			return err
		}
	}
	for _, s := range k.Sinks {
		if err := kv.sink(s); err != nil {
			return fmt.Errorf("%s: %w", kv.names.sink(s), err)
		}
	}
	return verifyApart(k)
}

// verifyHost checks that a kernel has only parts that the host can evaluate.
func verifyHost(k *Kernel, names regNames) error {
	if rows, ok := k.Source.(*Rows); !ok || rows.Version != Full {
		return fmt.Errorf("a kernel on the host takes the merged rows of a relation, not %s",
			SourceString(k.Source))
	}
	for _, s := range k.Stages {
		switch s.(type) {
		case *Load, *Map, *Filter, *Need:
		default:
			return fmt.Errorf("%s: a kernel on the host has no probes", names.stage(k, s))
		}
	}
	for _, s := range k.Sinks {
		if _, ok := s.(*Store); !ok {
			return fmt.Errorf("%s: a kernel on the host only stores", names.sink(s))
		}
	}
	return nil
}

// verifyApart checks that a kernel has no side effect on itself: what it reads
// stays as it is while it runs.
func verifyApart(k *Kernel) error {
	reads := map[Managed]bool{}
	for _, m := range k.Reads() {
		reads[m] = true
	}
	for _, m := range k.Writes() {
		r, ok := m.(*Relation)
		if reads[m] && !(ok && r.Kind == queryplan.Derived) {
			return fmt.Errorf("the kernel reads %s while it fills it", m.ManagedName())
		}
	}
	return nil
}

func (v *verifier) source(s Source) error {
	switch s := s.(type) {
	case *Rows:
		return versionExists(s.Rel, s.Version)
	case *GroupRows:
		return nil
	case *Values:
		if err := queryplan.DistinctColumns(s.Cols); err != nil {
			return err
		}
		for _, row := range s.Rows {
			if len(row) != len(s.Cols) {
				return fmt.Errorf("a row has %d values for %d columns", len(row), len(s.Cols))
			}
			for i, x := range row {
				if x.Type != s.Cols[i].Type {
					return fmt.Errorf("%s is %s, but column %s is %s", scalar.Literal(x), x.Type,
						s.Cols[i].Name, s.Cols[i].Type)
				}
			}
		}
		return nil
	}
	return fmt.Errorf("the kernel has no source")
}

func (kv *kernelVerifier) stage(k *Kernel, s Stage) error {
	for _, r := range Uses(s) {
		if !kv.defined[r] {
			return fmt.Errorf("a register is not defined before")
		}
	}
	switch s := s.(type) {
	case *Load:
		if r := k.PositionOf(s); r != nil {
			return definesPosition(s.Out, r)
		}
		return defines(s.Out, k.Source.Columns(), s.Col)
	case *Map:
		return verifyMap(s)
	case *Filter:
		if t := s.Cond.Type(); t != scalar.BooleanType {
			return fmt.Errorf("the condition is %s, not boolean", t)
		}
		return nil
	case *Need:
		if s.Reg.Row != nil {
			return fmt.Errorf("the register is a row")
		}
		return nil
	case *Probe:
		return kv.probe(s)
	case *Gather:
		if s.Row.Row == nil {
			return fmt.Errorf("the register is a value, not a row")
		}
		if r := k.PositionOf(s); r != nil {
			return definesPosition(s.Out, r)
		}
		return defines(s.Out, s.Row.Row.Cols, s.Col)
	}
	return fmt.Errorf("unknown stage")
}

// defines checks the register that a column is loaded into.
func defines(r *Reg, cols []Column, at int) error {
	switch {
	case at < 0 || at >= len(cols):
		return fmt.Errorf("there is no column %d of %d", at, len(cols))
	case r.Row != nil || r.Type != cols[at].Type:
		return fmt.Errorf("the column is %s", cols[at].Type)
	}
	return nil
}

// definesPosition checks the register that the position of a row is loaded
// into.
func definesPosition(out *Reg, r *Relation) error {
	switch {
	case r.Kind != queryplan.Derived:
		return fmt.Errorf("%s is %s: only rows of derived relations have a position", r.Name, r.Kind)
	case out.Row != nil || out.Type != scalar.IntType:
		return fmt.Errorf("a position is int")
	}
	return nil
}

func verifyMap(s *Map) error {
	types := make([]scalar.Type, len(s.Args))
	for i, a := range s.Args {
		if types[i] = a.Type(); a.Reg != nil && a.Reg.Row != nil {
			return fmt.Errorf("argument %d is a row", i+1)
		}
	}
	if s.Out.Row != nil {
		return fmt.Errorf("a function gives no row")
	}
	if s.Func.Name == "convert" {
		if len(types) != 1 || !scalar.CanConvert(types[0], s.Out.Type) {
			return fmt.Errorf("there is no such conversion")
		}
		if types[0].Kind == scalar.String && s.Out.Type.IsWide() {
			return fmt.Errorf("a string is converted to the words of a decimal of 38 digits, each by itself")
		}
		return nil
	}
	sig, err := scalar.Resolve(s.Func.Name, types)
	if err != nil {
		return err
	}
	for i, t := range sig.Params {
		if t != types[i] {
			return fmt.Errorf("argument %d is %s and has to be converted to %s", i+1, types[i], t)
		}
	}
	if sig.Result != s.Out.Type {
		return fmt.Errorf("the result is %s", sig.Result)
	}
	return nil
}

func (kv *kernelVerifier) probe(s *Probe) error {
	switch {
	case s.Kind > ProbeAbsent:
		return fmt.Errorf("unknown kind %d", s.Kind)
	case s.Kind == ProbeUnique && s.Index.Kind != Unique, s.Kind == ProbeMulti &&
		s.Index.Kind != Multi:
		return fmt.Errorf("the index is %s", s.Index.Kind)
	case s.Kind.Finds() != (s.Out != nil):
		return fmt.Errorf("unique and multi probes, and no others, define a row")
	case s.Out != nil && s.Out.Row != s.Index.Of:
		return fmt.Errorf("the row is of another relation than the index")
	}
	if s.Index.ByPosition() {
		return kv.fills(s.Key, []Column{{Name: "position", Type: scalar.IntType}})
	}
	cols := list.Map(s.Index.Key, func(at int) Column { return s.Index.Of.Cols[at] })
	return kv.fills(s.Key, cols)
}

// fills checks operands against the columns that they fill.
func (kv *kernelVerifier) fills(operands []Operand, cols []Column) error {
	if len(operands) != len(cols) {
		return fmt.Errorf("%d operands for %d columns", len(operands), len(cols))
	}
	for i, o := range operands {
		if err := kv.fits(o, cols[i].Type); err != nil {
			return fmt.Errorf("column %s: %w", cols[i].Name, err)
		}
	}
	return nil
}

// fits checks an operand of a key or a sink.
func (kv *kernelVerifier) fits(o Operand, want scalar.Type) error {
	switch {
	case o.Reg != nil && !kv.defined[o.Reg]:
		return fmt.Errorf("the register is not defined")
	case o.Reg != nil && o.Reg.Row != nil:
		return fmt.Errorf("%s is a row", kv.names.operand(o))
	case o.Type() != want:
		return fmt.Errorf("%s is %s, not %s", kv.names.operand(o), o.Type(), want)
	case !kv.isPresent(o):
		return fmt.Errorf("%s may be absent or not fit; it has to be needed before",
			kv.names.operand(o))
	}
	return nil
}

func (kv *kernelVerifier) sink(s Sink) error {
	switch s := s.(type) {
	case *Store:
		if err := isKind(s.To, queryplan.Temp); err != nil {
			return err
		}
		return kv.fills(s.Vals, s.To.Cols)
	case *Insert:
		if err := isKind(s.To, queryplan.Derived); err != nil {
			return err
		}
		return kv.fills(s.Vals, s.To.Cols)
	case *Group:
		if err := kv.fills(s.Key, s.To.Keys); err != nil {
			return err
		}
		if len(s.Vals) != len(s.To.Accs) {
			return fmt.Errorf("%d operands for %d accumulators", len(s.Vals), len(s.To.Accs))
		}
		for i, a := range s.To.Accs {
			if a.Fn == queryplan.Count {
				if s.Vals[i].Reg != nil || s.Vals[i].Const.Type.Kind != scalar.Invalid {
					return fmt.Errorf("a count has no operand")
				}
				continue
			}
			if err := kv.fits(s.Vals[i], a.In); err != nil {
				return fmt.Errorf("%s: %w", a.Out.Name, err)
			}
			if owner := s.To.Owner(i); s.Vals[i] != s.Vals[owner] {
				return fmt.Errorf("%s and %s share cells, but have different operands", a.Out.Name,
					s.To.Accs[owner].Out.Name)
			}
		}
		return nil
	}
	return fmt.Errorf("unknown sink")
}
