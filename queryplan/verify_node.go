package queryplan

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// VerifyNode checks one operator tree and returns its columns. The variables
// that it scans are taken as part of the plan.
func VerifyNode(n Node) ([]Column, error) {
	v := verifier{vars: map[*Var]bool{}}
	for _, s := range Scans(n) {
		v.vars[s.Var] = true
	}
	return v.node(n)
}

// node checks an operator and its inputs and returns its columns. It computes
// them itself: those of a broken operator are not to be asked for.
func (v *verifier) node(n Node) ([]Column, error) {
	if n == nil {
		return nil, fmt.Errorf("an operator is missing")
	}
	var nodes [2]Node
	var room [2][]Column
	inputs := room[:0]
	for _, in := range AppendInputs(nodes[:0], n) {
		cols, err := v.node(in)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, cols)
	}
	cols, err := v.operator(n, inputs)
	if err == nil {
		err = DistinctColumns(cols)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", operatorName(n), err)
	}
	return cols, nil
}

// operatorName names an operator in an error.
func operatorName(n Node) string {
	switch n := n.(type) {
	case *Scan:
		if n.Var != nil {
			return "scan " + QuoteName(n.Var.Name)
		}
		return "scan"
	case *Project:
		return NodeHead(n)
	case *Filter:
		return "filter"
	case *Map:
		return "map"
	case *Values:
		return "values"
	case *Dedup:
		return "dedup"
	case *Join:
		if n.Kind <= Anti {
			return n.Kind.String() + " join"
		}
		return "join"
	case *Aggregate:
		return "aggregate"
	case *Union:
		return "union"
	case *MultiJoin:
		return "multijoin"
	case *Seq:
		return "seq"
	case *TopK:
		return "topk"
	}
	return fmt.Sprintf("%T", n)
}

func (v *verifier) operator(n Node, inputs [][]Column) ([]Column, error) {
	switch n := n.(type) {
	case *Scan:
		switch {
		case !v.vars[n.Var]:
			return nil, fmt.Errorf("the variable is not one of the plan")
		case len(n.Names) != len(n.Var.Cols):
			return nil, fmt.Errorf("%d names for %d columns", len(n.Names), len(n.Var.Cols))
		case n.Version > Last:
			return nil, fmt.Errorf("unknown version %d", n.Version)
		case n.Version != Full && n.Var.Kind != Derived:
			return nil, fmt.Errorf("only derived variables have a %s version", n.Version)
		case n.Version == Last && (n.Var.Keys == len(n.Var.Cols) || n.Position != ""):
			return nil, fmt.Errorf("the last version is of a variable with a key, without positions")
		case n.Position != "" && n.Var.Kind != Derived:
			return nil, fmt.Errorf("only tuples of derived variables have a position")
		}
		return n.Columns(), nil
	case *Values:
		return n.Cols, verifyRows(n)
	case *Filter:
		if err := verifyExpr(n.Cond, inputs[0]); err != nil {
			return nil, err
		}
		if t := n.Cond.Type(); t != scalar.BooleanType {
			return nil, fmt.Errorf("the condition is %s, not boolean", t)
		}
		return inputs[0], nil
	case *Map:
		out := slices.Clone(inputs[0])
		for _, e := range n.Exprs {
			if err := verifyExpr(e.Expr, inputs[0]); err != nil {
				return nil, err
			}
			out = append(out, Column{e.Name, e.Expr.Type()})
		}
		return out, nil
	case *Project:
		var out []Column
		for _, r := range n.Cols {
			c, ok := FindColumn(inputs[0], r.From)
			if !ok {
				return nil, fmt.Errorf("%s", noColumn(r.From, inputs[0]))
			}
			out = append(out, Column{r.To, c.Type})
		}
		return out, nil
	case *Dedup:
		return inputs[0], nil
	case *Join:
		return verifyJoin(n, inputs[0], inputs[1])
	case *Aggregate:
		return verifyAggregate(n, inputs[0])
	case *Union:
		return verifyUnion(inputs)
	case *MultiJoin:
		return verifyMultiJoin(n, inputs)
	case *Seq:
		if err := columnsExist(inputs[0], n.Group, OrderColumns(n.Order)); err != nil {
			return nil, err
		}
		return append(slices.Clone(inputs[0]), Column{n.Index, scalar.IntType}), nil
	case *TopK:
		if n.Limit < 0 {
			return nil, fmt.Errorf("the limit is %d", n.Limit)
		}
		if err := columnsExist(inputs[0], n.Group); err != nil {
			return nil, err
		}
		return inputs[0], VerifyOrder(n.By, inputs[0])
	}
	return nil, fmt.Errorf("unknown operator")
}

func verifyRows(n *Values) error {
	for i, row := range n.Rows {
		if len(row) != len(n.Cols) {
			return fmt.Errorf("row %d has %d values for %d columns", i, len(row), len(n.Cols))
		}
		for j, val := range row {
			if val.Type != n.Cols[j].Type || !val.FitsWord() {
				return fmt.Errorf("row %d: %s is no value of column %s, %s", i, scalar.Literal(val),
					n.Cols[j].Name, n.Cols[j].Type)
			}
		}
	}
	return nil
}

func verifyJoin(n *Join, left, right []Column) ([]Column, error) {
	if n.Kind > Anti {
		return nil, fmt.Errorf("unknown kind %d", n.Kind)
	}
	out := slices.Clone(left)
	for _, c := range right {
		l, ok := FindColumn(left, c.Name)
		switch {
		case ok && l.Type != c.Type:
			return nil, fmt.Errorf("column %s is %s on the left and %s on the right", c.Name,
				l.Type, c.Type)
		case !ok && n.Kind == Inner:
			out = append(out, c)
		}
	}
	return out, nil
}

func verifyAggregate(n *Aggregate, in []Column) ([]Column, error) {
	if err := columnsExist(in, n.By); err != nil {
		return nil, err
	}
	var out []Column
	for _, name := range n.By {
		c, _ := FindColumn(in, name)
		out = append(out, c)
	}
	for _, a := range n.Aggs {
		var from scalar.Type
		if a.Fn != Count {
			c, ok := FindColumn(in, a.In)
			if !ok {
				return nil, fmt.Errorf("%s", noColumn(a.In, in))
			}
			from = c.Type
		}
		if !a.Fn.Gives(from, a.Out.Type) {
			return nil, fmt.Errorf("%s of %s cannot be %s", a.Fn, from, a.Out.Type)
		}
		out = append(out, a.Out)
	}
	return out, nil
}

// Gives reports whether the function over values of type from can give type to;
// Count ignores from.
func (f AggFn) Gives(from, to scalar.Type) bool {
	switch f {
	case Count:
		return to == scalar.IntType
	case Total:
		return from.IsNumeric() && to == from
	case Min, Max:
		return to == from
	case TotalHigh, TotalLow:
		word := scalar.High
		if f == TotalLow {
			word = scalar.Low
		}
		return from.IsNumeric() && from.Kind != scalar.Float &&
			to == scalar.WideDecimalOf(from.Scale).WordOf(word)
	case Avg:
		if from.Kind == scalar.Float {
			return to == from || to == scalar.FloatType
		}
		return from.IsNumeric() && to.Kind == scalar.Decimal
	}
	return false
}

func verifyUnion(inputs [][]Column) ([]Column, error) {
	if len(inputs) == 0 {
		return nil, fmt.Errorf("it has no input")
	}
	first := inputs[0]
	for i, in := range inputs[1:] {
		if len(in) != len(first) {
			return nil, fmt.Errorf("input %d has %d columns, the first has %d", i+1, len(in),
				len(first))
		}
		for _, c := range in {
			if f, ok := FindColumn(first, c.Name); !ok || f.Type != c.Type {
				return nil,
					fmt.Errorf("input %d has a column %s: %s, which the first has not", i+1, c.Name,
						c.Type)
			}
		}
	}
	return first, nil
}

func verifyExpr(e Expr, in []Column) error {
	switch e := e.(type) {
	case *ColRef:
		c, ok := FindColumn(in, e.Col.Name)
		if !ok {
			return fmt.Errorf("%s", noColumn(e.Col.Name, in))
		}
		if c.Type != e.Col.Type {
			return fmt.Errorf("column %s is used as %s, but is %s", c.Name, e.Col.Type, c.Type)
		}
		return nil
	case *Const:
		return nil
	case *Call:
		for _, a := range e.Args {
			if err := verifyExpr(a, in); err != nil {
				return err
			}
		}
		return verifyCall(e)
	}
	return fmt.Errorf("an expression is missing")
}

func verifyCall(e *Call) error {
	args := exprTypes(e.Args)
	if e.Func == nil {
		return fmt.Errorf("a call has no function")
	}
	if e.Func.Name == "convert" {
		if len(args) != 1 || !scalar.CanConvert(args[0], e.Result) {
			return fmt.Errorf("%s: there is no such conversion", ExprString(e))
		}
		if args[0].Kind == scalar.String && e.Result.IsWide() {
			return fmt.Errorf("%s: a string is converted to the words of a decimal of 38 digits, each by "+
				"itself", ExprString(e))
		}
		return nil
	}
	sig, err := scalar.Resolve(e.Func.Name, args)
	if err != nil {
		return fmt.Errorf("%s: %w", ExprString(e), err)
	}
	for i, t := range sig.Params {
		if t != args[i] {
			return fmt.Errorf("%s: argument %d is %s and has to be converted to %s", ExprString(e),
				i+1,
				args[i], t)
		}
	}
	if sig.Result != e.Result {
		return fmt.Errorf("%s: the result is %s, not %s", ExprString(e), sig.Result, e.Result)
	}
	return nil
}

// columnsExist checks lists of columns that are to be there, none twice in all.
func columnsExist(in []Column, lists ...[]string) error {
	seen := map[string]bool{}
	for _, names := range lists {
		for _, name := range names {
			if _, ok := FindColumn(in, name); !ok {
				return fmt.Errorf("%s", noColumn(name, in))
			}
			if seen[name] {
				return fmt.Errorf("column %s is listed twice", name)
			}
			seen[name] = true
		}
	}
	return nil
}

// VerifyOrder checks that an ordering is by columns that are there, none twice.
func VerifyOrder(keys []OrderKey, in []Column) error {
	names := OrderColumns(keys)
	return columnsExist(in, names)
}
