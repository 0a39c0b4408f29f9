package infer

import (
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// A difference of datetimes is a number of days, and a datetime plus or minus
// an integer is that many days later or earlier. Both are calls of the
// functions that compute with units of time.

// inDays turns a sum or difference with a datetime into such a call. It reports
// whether it is one.
func inDays(e *normal.Call, types []scalar.Type) bool {
	isDate := func(i int) bool { return types[i].Kind == scalar.Datetime }
	if e.Binds != nil || e.Name != "add" && e.Name != "sub" {
		return false
	}
	x, y := e.Args[0], e.Args[1]
	days := &normal.Const{Value: scalar.OfString("days"), Span: e.Span}
	switch {
	case e.Name == "sub" && isDate(0) && isDate(1):
		e.Name, e.Args = "datetime:subtract", []normal.Expr{x, y, days}
		return true
	case e.Name == "add" && normal.IsInteger(types[0]) && isDate(1):
		x, y = y, x
	case !isDate(0) || !normal.IsInteger(types[1]):
		return false
	case e.Name == "sub":
		// A narrow integer has no negative of its least value.
		zero := &normal.Const{Value: scalar.OfInt(scalar.IntType, 0), Span: y.Pos()}
		y = &normal.Call{Span: y.Pos(), Name: "int64:subtract", Args: []normal.Expr{zero, y}}
	}
	e.Name, e.Args = "datetime:add", []normal.Expr{x, y, days}
	return true
}

// wrongDates reports a sum or difference with a datetime that has no meaning.
// It reports whether the call is one.
func (s *solver) wrongDates(e *normal.Call, types []scalar.Type) bool {
	if e.Name != "add" && e.Name != "sub" ||
		types[0].Kind != scalar.Datetime && types[1].Kind != scalar.Datetime {
		return false
	}
	x, y := e.Args[0].Pos().Text(), e.Args[1].Pos().Text()
	d := s.Errorf(diag.WrongArgumentTypes, e.Span, "")
	switch {
	case types[0] == types[1]:
		d.Message = "two datetimes cannot be added"
		d.Help("the days between them are %s - %s", y, x)
	case types[0].Kind != scalar.Datetime && e.Name == "sub":
		d.Message = "a datetime cannot be subtracted from " + types[0].String()
		d.Help("the days between two datetimes are d2 - d1, and n days before d are d - n")
	default:
		n, date, t := y, x, types[1]
		if types[0].Kind != scalar.Datetime {
			n, date, t = x, y, types[0]
		}
		d.Message = "a datetime moves by a number of days, which is an int, not " + t.String()
		if t.IsNumeric() {
			d.Help("convert it: %s[%s], or give the unit: datetime:add[%s, n, \"hours\"]",
				conversionName(t, scalar.IntType), n, date)
		}
	}
	for i, a := range e.Args {
		d.Label(a.Pos(), "%s is %s", a.Pos().Text(), types[i])
		if r, ok := a.(normal.Ref); ok {
			s.explainType(d, r.Var.Node)
		}
	}
	return true
}
