package sema

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// declaration is a constraint that declares the predicate of its one left atom:
// `p(x, y) -> int(x), string(y).` Further conjuncts on its right side are
// checked like those of any constraint.
type declaration struct {
	apply *ast.Apply
	vars  []*ast.Var // of all arguments, the value last
	types []typeAtom // on its variables
	// strict is set if a primitive type was written, so that this clause
	// decides the shape of the predicate. `sub(x) -> person(x).` is not strict:
	// it types x, but may be only a constraint.
	strict bool
	// plain is set if its right side has only types of its variables.
	plain bool
}

// typeAtom is `int(x)` on the column with the given number.
type typeAtom struct {
	column int
	node   *ast.Apply
}

// declarationOf returns the declaration that a constraint is, or nil.
func declarationOf(left, right ast.Node, isType func(string) bool) *declaration {
	a, value := headAtom(left)
	if a == nil || isReserved(a) {
		return nil
	}
	d := &declaration{apply: a}
	args := a.Args
	if value != nil {
		args = append(args[:len(args):len(args)], value)
	} else if a.Square {
		return nil
	}
	column := func(v *ast.Var) int {
		return slices.IndexFunc(d.vars, func(x *ast.Var) bool { return x.Name == v.Name })
	}
	d.vars = make([]*ast.Var, 0, len(args))
	for _, arg := range args {
		v, ok := ast.Unparen(arg).(*ast.Var)
		if !ok || column(v) >= 0 {
			return nil
		}
		d.vars = append(d.vars, v)
	}
	if right == nil {
		if len(args) == 0 {
			d.strict = true
			return d
		}
		return nil
	}
	covered := make([]bool, len(args))
	pure := true
	items := conjuncts(right)
	for _, item := range items {
		x, ok := ast.Unparen(item).(*ast.Apply)
		if !ok || x.Square || len(x.Args) != 1 || x.Delta != "" || x.Stage != "" {
			pure = false
			continue
		}
		v, ok := ast.Unparen(x.Args[0]).(*ast.Var)
		if !ok {
			pure = false
			continue
		}
		i := column(v)
		if i < 0 {
			pure = false
			continue
		}
		covered[i] = true
		if isType(x.Name.Text) {
			d.types = append(d.types, typeAtom{i, x})
			d.strict = true
		}
	}
	if d.strict {
		d.plain = len(d.types) == len(items)
		return d
	}
	for _, ok := range covered {
		pure = pure && ok
	}
	if pure && len(args) > 0 {
		return d
	}
	return nil
}

// conjuncts returns the items of a conjunction, without parentheses. The list
// may be that of the tree.
func conjuncts(n ast.Node) []ast.Node {
	switch n := ast.Unparen(n).(type) {
	case nil:
		return nil
	case *ast.Conj:
		isNested := func(x ast.Node) bool {
			switch x.(type) {
			case *ast.Conj, *ast.Paren:
				return true
			}
			return false
		}
		if !slices.ContainsFunc(n.Items, isNested) {
			return slices.Clip(n.Items)
		}
		var out []ast.Node
		for _, x := range n.Items {
			out = append(out, conjuncts(x)...)
		}
		return out
	default:
		return []ast.Node{n}
	}
}

// declare enters the names and types of a declaration.
func (c *checker) declare(cl *clause) {
	d := cl.decl
	p := c.preds[d.apply.Name.Text]
	if p == nil || !c.fits(d.apply, p) {
		cl.Broken = true
		return
	}
	if p.decl == nil || d.strict && !p.decl.strict {
		p.decl = d
		p.ArgNames = nil
		for _, v := range d.vars {
			p.ArgNames = append(p.ArgNames, normal.PlainName(v.Name))
		}
	}
	for _, t := range d.types {
		typ, ok := scalar.Type{}, true
		entity := c.entities[t.node.Name.Text]
		if entity != nil {
			typ = entity.Family.Type
			if p.EntityTypes[t.column] == nil {
				p.EntityTypes[t.column] = &entity.Pred
			}
		} else {
			typ, ok = c.typeNamed(t.node)
		}
		if !ok {
			cl.Broken = true
			p.Poisoned = true
			continue
		}
		if p.Declared[t.column].Kind == scalar.Invalid {
			p.Declared[t.column] = normal.DeclaredType{Type: typ, Span: t.node.Span}
		}
		c.types.Declare(p.Columns[t.column], typ, t.node.Span)
	}
}

// primitiveTypes are the names of types in atoms.
var primitiveTypes = map[string]scalar.Type{
	"int": scalar.IntType, "uint": scalar.UintType, "float": scalar.FloatType,
	"decimal": scalar.DecimalType, "datetime": scalar.DatetimeType,
	"boolean": scalar.BooleanType, "string": scalar.StringType,
}

func isTypeName(name string) bool {
	_, ok := primitiveTypes[name]
	return ok || name == "int128"
}

// typeNamed returns the type of a type atom, `int[32](x)`.
func (c *checker) typeNamed(a *ast.Apply) (scalar.Type, bool) {
	name := a.Name.Text
	t, ok := primitiveTypes[name]
	if !ok {
		c.refuse(a.Name.Span, "128-bit numbers ("+name+")",
			"use int, or decimal[38,0] where 64 bits do not do")
		return t, false
	}
	if a.Index == "" {
		return t, true
	}
	bad := func(allowed string) (scalar.Type, bool) {
		d := c.Errorf(diag.BadTypeParameter, typeSpan(a), "there is no type %s[%s]", name, a.Index)
		d.Help("%s", allowed)
		return t, false
	}
	parts := strings.Split(a.Index, ",")
	numbers := make([]int, len(parts))
	for i, s := range parts {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil {
			return bad("a type parameter is a number, as in int[32] and decimal[18,2]")
		}
		numbers[i] = n
	}
	first := numbers[0]
	switch t.Kind {
	case scalar.Int, scalar.Uint:
		if len(numbers) == 1 && (first == 8 || first == 16 || first == 32 || first == 64) {
			t.Bits = uint8(first)
			return t, true
		}
		if len(numbers) == 1 && first == 128 {
			c.refuse(typeSpan(a), "128-bit numbers ("+name+"[128])",
				"use "+name+", or decimal[38,0] where 64 bits do not do")
			return t, false
		}
		return bad(name + " has the widths 8, 16, 32 and 64")
	case scalar.Float:
		if len(numbers) == 1 && (first == 32 || first == 64) {
			t.Bits = uint8(first)
			return t, true
		}
		return bad("float has the widths 32 and 64")
	case scalar.Decimal:
		switch {
		case len(numbers) == 1 && first == 64:
			return t, true
		case len(numbers) == 1 && first == 128:
			return scalar.WideDecimalOf(t.Scale), true
		case len(numbers) == 2 && 1 <= first && first <= scalar.MaxWideScale && 0 <= numbers[1] &&
			numbers[1] <= first:
			if first > scalar.MaxScale {
				return scalar.WideDecimalOf(uint8(numbers[1])), true
			}
			return scalar.DecimalOf(uint8(numbers[1])), true
		}
		return bad("decimal[p,s] has p of at most 38 digits, s of them after the point")
	}
	return bad(name + " takes no parameter")
}

// typeSpan is the place of `int[32]` in `int[32](x)`.
func typeSpan(a *ast.Apply) source.Span {
	s := a.Span
	if i := strings.IndexByte(s.Text(), '('); i > 0 {
		s.End = s.Start + i
	}
	return s
}

// synonyms are the names of LogiQL's types in other languages.
var synonyms = map[string]string{
	"integer": "int", "long": "int", "bigint": "int", "number": "int", "int64": "int",
	"int32": "int[32]", "int16": "int[16]", "int8": "int[8]", "byte": "uint[8]",
	"uint64": "uint", "uint32": "uint[32]", "symbol": "string", "str": "string",
	"text": "string", "varchar": "string", "char": "string", "bool": "boolean",
	"double": "float", "real": "float", "float64": "float", "float32": "float[32]",
	"numeric": "decimal", "money": "decimal", "date": "datetime", "time": "datetime",
	"timestamp": "datetime", "unsigned": "uint",
}

// unknownType reports a declaration's unary atom that is neither type nor
// predicate.
func (c *checker) unknownType(p *pred, near *neighbours) {
	p.Poisoned = true
	d := c.Errorf(diag.UnknownType, p.Span, "there is no type and no predicate %s", p.Name)
	if s, ok := synonyms[strings.ToLower(p.Name)]; ok {
		d.Help("LogiQL calls it %s", s)
		d.Replace(p.Span, s)
		return
	}
	names := slices.Sorted(maps.Keys(primitiveTypes))
	if s, ok := diag.Suggest(p.Name, names); ok {
		d.Help("did you mean %s?", s)
		d.Replace(p.Span, s)
		return
	}
	if s, ok := near.suggest(p.Name); ok {
		d.Help("did you mean %s?", s)
		d.Replace(p.Span, s)
		return
	}
	d.Help("the types are %s; a unary predicate serves as a type when it is declared too",
		strings.Join(names, ", "))
}
