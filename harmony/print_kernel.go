package harmony

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/irtext"
)

func (w *printer) kernel(k *Kernel) {
	names := registerNames(k)
	w.Line(2, SourceString(k.Source))
	if v, ok := k.Source.(*Values); ok {
		for _, row := range v.Rows {
			w.Line(3, "("+strings.Join(list.Map(row, scalar.Literal), ", ")+")")
		}
	}
	for _, s := range k.Stages {
		w.Line(2, names.stage(k, s))
	}
	for _, s := range k.Sinks {
		w.Line(2, names.sink(s))
	}
}

// SourceString returns the line of a source.
func SourceString(s Source) string {
	switch s := s.(type) {
	case *Rows:
		return "rows " + versionText(s.Rel, s.Version)
	case *GroupRows:
		return "groups " + irtext.QuoteName(s.Groups.Name)
	case *Values:
		return "values (" + queryplan.KeyedText(s.Cols, len(s.Cols)) + ")"
	}
	return fmt.Sprintf("%T", s)
}

// regNames names the registers of a kernel.
type regNames map[*Reg]string

// registerNames numbers registers in the order of their definition.
func registerNames(k *Kernel) regNames {
	names := regNames{}
	for _, s := range k.Stages {
		if r := Def(s); r != nil && names[r] == "" {
			names[r] = "v" + strconv.Itoa(len(names))
		}
	}
	return names
}

// reg returns the register's name. The name of an undefined register shows
// that, for messages.
func (n regNames) reg(r *Reg) string {
	if name := n[r]; name != "" {
		return name
	}
	return "v?"
}

func (n regNames) operand(o Operand) string {
	if o.Reg != nil {
		return n.reg(o.Reg)
	}
	return scalar.Literal(o.Const)
}

func (n regNames) operands(of []Operand) string {
	return strings.Join(list.Map(of, n.operand), ", ")
}

// define writes a register with its type and the equals sign.
func (n regNames) define(r *Reg) string {
	if r.Row != nil {
		return n.reg(r) + ": row = "
	}
	return n.reg(r) + ": " + r.Type.String() + " = "
}

func (n regNames) stage(k *Kernel, s Stage) string {
	switch s := s.(type) {
	case *Load:
		if k.PositionOf(s) != nil {
			return n.define(s.Out) + "position"
		}
		return n.define(s.Out) + "load " + columnAt(k.Source.Columns(), s.Col)
	case *Map:
		return n.define(s.Out) + "map " + s.Func.Name + "(" + n.operands(s.Args) + ")"
	case *Filter:
		return "filter " + n.operand(s.Cond)
	case *Need:
		return "need " + n.reg(s.Reg)
	case *Probe:
		text := "probe " + s.Kind.String() + " " + irtext.QuoteName(s.Index.Name) + "(" +
			n.operands(s.Key) + ")"
		if s.Out != nil {
			return n.define(s.Out) + text
		}
		return text
	case *Gather:
		var cols []Column
		if s.Row.Row != nil {
			cols = s.Row.Row.Cols
		}
		if k.PositionOf(s) != nil {
			return n.define(s.Out) + "position " + n.reg(s.Row)
		}
		return n.define(s.Out) + "gather " + columnAt(cols, s.Col) + "[" + n.reg(s.Row) + "]"
	}
	return fmt.Sprintf("%T", s)
}

func (n regNames) sink(s Sink) string {
	switch s := s.(type) {
	case *Store:
		return "store " + irtext.QuoteName(s.To.Name) + "(" + n.operands(s.Vals) + ")"
	case *Insert:
		return "insert " + irtext.QuoteName(s.To.Name) + "(" + n.operands(s.Vals) + ")"
	case *Group:
		text := "group " + irtext.QuoteName(s.To.Name) + " [" + n.operands(s.Key) + "]"
		for i, a := range s.To.Accs {
			if i > 0 {
				text += ","
			}
			in := ""
			if a.Fn != queryplan.Count && i < len(s.Vals) {
				in = n.operand(s.Vals[i])
			}
			text += " " + a.Fn.String() + "(" + in + ")"
		}
		return text
	}
	return fmt.Sprintf("%T", s)
}
