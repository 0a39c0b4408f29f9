package scalar

// Func is one function of the language with all its overloads. Funcs are
// unique: compare pointers.
//
// The operators have the names add sub mul div neg, eq ne lt le gt ge, and or
// not; `convert` changes a value's type to the call's result type; `holds` is a
// boolean that is false where its boolean argument has no value. The built-ins
// have LogiQL's names, such as "string:length"; an alias such as "int64:string:convert" or
// "int:add" resolves to the same Func as its canonical name.
type Func struct {
	Name string
	// Partial says that the function has no value for some arguments (division
	// by zero, a failed conversion); the enclosing atom is then false.
	Partial bool
	// Volatile says that equal arguments may give different results (datetime:now),
	// so that calls are not folded.
	Volatile bool

	overload func(args []Type) (params []Type, result Type, ok bool)
	eval     func(result Type, args []Value) (Value, bool)
}

// Signature is a resolved overload.
type Signature struct {
	Func   *Func
	Params []Type // arguments are widened to these first
	Result Type
}

// Eval applies the function to values of the signature's parameter types; the
// second result is false where the function has no value. A decimal result may
// not fit its type (see Value.Fits) as long as it is an intermediate.
func (f *Func) Eval(result Type, args []Value) (Value, bool) { return f.eval(result, args) }
