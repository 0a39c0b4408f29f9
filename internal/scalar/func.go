package scalar

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/internal/list"
)

// Func is one function of the language with all its overloads. Funcs are
// unique: compare pointers.
//
// The operators have the names add sub mul div neg, eq ne lt le gt ge, and or
// not xor; `convert` changes a value's type to the call's result type; `holds`
// is a boolean that is false where its boolean argument has no value. A
// function over several types has its bare name (min, mod, bitand); programs
// call it by an alias that says the type, such as "int:min". A function of one
// type has LogiQL's name, such as "string:length". An alias such as
// "int64:string:convert" or "int:add" resolves to the same Func as its
// canonical name.
type Func struct {
	Name string
	// Partial says that the function has no value for some arguments (division
	// by zero, a failed conversion); the enclosing atom is then false. MayFail
	// tells more finely.
	Partial bool
	// Volatile says that equal arguments may give different results
	// (datetime:now), so that calls are not folded.
	Volatile bool
	// Doc is one sentence, and Forms the overloads in LogiQL's words.
	Doc   string
	Forms []string
	// Examples are calls with literal arguments and the literal they give, or
	// "" for no value: {`int:mod[7, 2]`, `1`}.
	Examples [][2]string

	arity int
	// textForms are the words that, after the name of one of the families, make
	// an alias: families {Int}, words {"add"} is int:add.
	families  []Kind
	textForms []string
	// ownArgs is the number of leading arguments that an alias's type prefix
	// speaks of; 0 means all.
	ownArgs  int
	overload func(args []Type) (params []Type, result Type, err error)
	eval     func(result Type, args []Value) (Value, bool)
	check    func(constants []*Value) error
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

// Arity returns the number of arguments, the result not counted.
func (f *Func) Arity() int { return f.arity }

// MayFail reports whether a call with these types can be without a value.
// Unlike Partial it knows that integer and float addition always have one.
func (f *Func) MayFail(result Type, args []Type) bool {
	switch {
	case !f.Partial:
		return false
	case f == funcConvert:
		return result.Kind == Decimal || !CanWiden(args[0], result) && result.Kind != String
	case totalUnlessDecimal[f.Name]:
		return result.Kind == Decimal
	}
	return true
}

var totalUnlessDecimal = map[string]bool{"add": true, "sub": true, "mul": true, "neg": true,
	"abs": true, "round": true}

// Check looks at the constant arguments of a call, nil for the others, and says
// what makes the call be without a value always: an unknown unit, a broken
// pattern or format, a divisor of zero.
func (f *Func) Check(constants []*Value) error {
	if f.check == nil {
		return nil
	}
	return f.check(constants)
}

// ArgumentError is an error of Check about one argument.
type ArgumentError struct {
	Arg           int
	Message, Help string
}

// Error returns the message.
func (e *ArgumentError) Error() string { return e.Message }

// errNoForm is returned by an overload that does not take the arguments;
// Resolve words the message.
var errNoForm = errors.New("no such form")

// entry is what one written name means.
type entry struct {
	fn *Func
	// exact is the type of a prefix such as int32; its zero value means any
	// type of the family, or no prefix at all if that is Invalid too.
	exact  Type
	family Kind
}

var names = sync.OnceValue(func() map[string]entry {
	m := map[string]entry{}
	add := func(name string, e entry) {
		if _, twice := m[name]; twice {
			panic("internal/scalar: two functions are named " + name)
		}
		m[name] = e
	}
	for _, f := range table {
		add(f.Name, entry{fn: f})
		for _, word := range f.textForms {
			for _, prefix := range prefixes {
				if slices.Contains(f.families, prefix.Kind) {
					e := entry{fn: f, family: prefix.Kind}
					if prefix.sized {
						e.exact = prefix.Type
					}
					add(prefix.name+":"+word, e)
				}
			}
		}
	}
	add("decimal:int:multiply", entry{fn: funcMul, family: Decimal})
	return m
})

// prefix is a type name that starts a built-in's name; the sized ones are
// LB3's.
type prefix struct {
	name string
	Type
	sized bool
}

var prefixes = []prefix{
	{"boolean", BooleanType, false},
	{"int", IntType, false}, {"int8", IntOf(8), true}, {"int16", IntOf(16), true},
	{"int32", IntOf(32), true}, {"int64", IntType, true},
	{"uint", UintType, false}, {"uint8", UintOf(8), true}, {"uint16", UintOf(16), true},
	{"uint32", UintOf(32), true}, {"uint64", UintType, true},
	{"float", FloatType, false}, {"float32", Type{Kind: Float, Bits: 32}, true},
	{"float64", FloatType, true},
	{"decimal", DecimalType, false}, {"decimal64", DecimalType, true},
	{"decimal128", WideDecimalOf(DecimalType.Scale), true},
	{"datetime", DatetimeType, false}, {"string", StringType, false},
}

// Lookup returns the function of that name or alias, or nil. Names without a
// colon are for the compiler: a program that writes min(x, y) means a predicate
// of its own.
func Lookup(name string) *Func {
	if e, ok := names()[name]; ok {
		return e.fn
	}
	if _, _, ok := conversion(name); ok {
		return funcConvert
	}
	return nil
}

// IsBuiltin reports whether a program that writes the name means a function of
// this table, also one that is not supported yet, or int:range, which has
// several values.
func IsBuiltin(name string) bool {
	_, later := notYet[name]
	return IsRange(name) || strings.Contains(name, ":") && (later || Lookup(name) != nil)
}

// IsRange reports whether a name is int:range, or the same of integers of a
// width or without a sign, as in uint32:range.
func IsRange(name string) bool {
	of, ok := strings.CutSuffix(name, ":range")
	return ok && slices.ContainsFunc(prefixes, func(p prefix) bool {
		return p.name == of && isInteger(p.Type)
	})
}

// Names returns the names that programs may call, sorted; of aliases that
// differ only in the width of their type the plain one.
func Names() []string { return slices.Clone(callable()) }

// WithLastName returns the names that programs may call whose last part is the
// name: int:abs, decimal:abs and float:abs for abs.
func WithLastName(name string) []string {
	var out []string
	for _, f := range callable() {
		if strings.HasSuffix(f, ":"+name) {
			out = append(out, f)
		}
	}
	return out
}

var callable = sync.OnceValue(func() []string {
	sized := map[string]bool{}
	for _, p := range prefixes {
		sized[p.name] = p.sized
	}
	out := map[string]bool{}
	for name := range names() {
		if prefix, _, ok := strings.Cut(name, ":"); ok && !sized[prefix] {
			out[name] = true
		}
	}
	for _, from := range prefixes {
		for _, to := range prefixes {
			if !from.sized && !to.sized && from.Type != to.Type && CanConvert(from.Type, to.Type) {
				out[from.name+":"+to.name+":convert"] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(out))
})

// Funcs returns every function, sorted by canonical name.
func Funcs() []*Func {
	out := slices.Clone(table)
	slices.SortFunc(out, func(a, b *Func) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Aliases returns the names other than its own by which programs may call the
// function, sorted. Those of convert are left out: there is one for each two
// types.
func (f *Func) Aliases() []string {
	var out []string
	for _, name := range callable() {
		if e, ok := names()[name]; ok && e.fn == f && name != f.Name {
			out = append(out, name)
		}
	}
	return out
}

// conversion splits a name such as "int64:string:convert".
func conversion(name string) (from, to Type, ok bool) {
	rest, ok := strings.CutSuffix(name, ":convert")
	if !ok {
		return from, to, false
	}
	x, y, ok := strings.Cut(rest, ":")
	if !ok {
		return from, to, false
	}
	for _, p := range prefixes {
		if p.name == x {
			from = p.Type
		}
		if p.name == y {
			to = p.Type
		}
	}
	return from, to, CanConvert(from, to)
}

// Resolve finds the overload of a function, by name or alias, for arguments of
// the given types. Arguments are widened implicitly from integers to decimals
// to floats, and from narrow integers to wide ones (see CanWiden); integer
// literals are given the type that suits them by the caller first. The error
// says which overloads there are.
func Resolve(name string, args []Type) (Signature, error) {
	if why, ok := notYet[name]; ok {
		return Signature{}, fmt.Errorf("%s is not supported yet: %s", name, why)
	}
	if from, to, ok := conversion(name); ok {
		return resolveConversion(name, from, to, args)
	}
	e, ok := names()[name]
	if !ok {
		return Signature{}, fmt.Errorf("there is no function %s", name)
	}
	f := e.fn
	if len(args) != f.arity {
		return Signature{}, fmt.Errorf("%s takes %s, not %d: %s", f.spoken(name),
			plural(f.arity, "argument"), len(args), f.forms(name))
	}
	given := args
	args, ok = e.restrict(args)
	if !ok {
		return Signature{}, f.noForm(name, given)
	}
	params, result, err := f.overload(args)
	if err == errNoForm {
		return Signature{}, f.noForm(name, given)
	}
	if err != nil {
		return Signature{}, err
	}
	return Signature{Func: f, Params: params, Result: result}, nil
}

func resolveConversion(name string, from, to Type, args []Type) (Signature, error) {
	if len(args) != 1 {
		return Signature{}, fmt.Errorf("%s takes 1 argument, not %d", name, len(args))
	}
	// A plain decimal or integer in the name stands for every scale and width,
	// so that nothing is lost on the way in.
	plain := from == DecimalType || from.IsWide() || from == IntType || from == UintType ||
		from == FloatType
	switch {
	case plain && args[0].Kind == from.Kind:
		from = args[0]
	case !CanWiden(args[0], from):
		return Signature{}, fmt.Errorf("%s takes %s, not %s", name, from, args[0])
	case from.Kind == Decimal && args[0].Kind != Decimal:
		from = DecimalOf(0)
	}
	if from.Kind == Decimal && to.Kind == Decimal && from.IsWide() != to.IsWide() {
		// Only the width changes.
		if to.Scale = from.Scale; int(to.Scale) > to.Digits() {
			return Signature{},
				fmt.Errorf("%s of %s has no type: %s has at most %d digits after the point", name,
					from, prefixOf(DecimalType), MaxScale)
		}
	}
	return Signature{Func: funcConvert, Params: []Type{from}, Result: to}, nil
}

// restrict widens arguments to what the prefix of an alias asks for.
func (e entry) restrict(args []Type) ([]Type, bool) {
	if e.family == Invalid {
		return args, true
	}
	out := slices.Clone(args)
	n := len(args)
	if e.fn.ownArgs > 0 {
		n = e.fn.ownArgs
	}
	for i, t := range out[:n] {
		want := t
		switch {
		case e.exact != Type{}:
			want = e.exact
		case t.Kind == e.family:
		case e.family == Int:
			want = IntType
		case e.family == Float:
			want = FloatType
		case e.family == Decimal:
			want = DecimalOf(0)
		default:
			return nil, false
		}
		if !accepts(t, want) {
			return nil, false
		}
		out[i] = want
	}
	return out, true
}

// symbols are the operators as programs write them.
var symbols = map[string]string{
	"add": "+", "sub": "-", "mul": "*", "div": "/", "neg": "-",
	"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}

// spoken returns how an error calls the function.
func (f *Func) spoken(name string) string {
	if symbol, ok := symbols[name]; ok {
		return symbol
	}
	return name
}

// forms words the overloads: as operators where that is how the function was
// called, with the type of an alias's prefix, or as calls.
func (f *Func) forms(name string) string {
	var out []string
	symbol, operator := symbols[name]
	e := names()[name]
	for _, form := range f.Forms {
		words := strings.Split(form, ", ")
		switch {
		case operator && len(words) == 1:
			out = append(out, symbol+form)
			continue
		case operator:
			out = append(out, words[0]+" "+symbol+" "+words[1])
			continue
		case e.family != Invalid:
			prefix, _, _ := strings.Cut(name, ":")
			for i, word := range words {
				if word == "number" || word == "any" || word == familyNames[e.family] &&
					(e.fn.ownArgs == 0 || i < e.fn.ownArgs) {
					words[i] = prefix
				}
			}
			if words[0] != prefix {
				continue
			}
		}
		out = append(out, name+"["+strings.Join(words, ", ")+"]")
	}
	return "it has " + strings.Join(out, " and ")
}

var familyNames = map[Kind]string{
	Boolean: "boolean", Int: "int", Uint: "uint", Float: "float", Decimal: "decimal",
	Datetime: "datetime", String: "string",
}

func (f *Func) noForm(name string, args []Type) error {
	spelled := list.Map(args, Type.String)
	return fmt.Errorf("%s has no form for %s; %s", f.spoken(name), strings.Join(spelled, " and "),
		f.forms(name))
}

// prefixOf returns the type's name as built-ins' names have it: int32 for
// int[32].
func prefixOf(t Type) string {
	for _, p := range prefixes {
		if p.Type == t {
			return p.name
		}
	}
	return t.String()
}

func isInteger(t Type) bool { return t.Kind == Int || t.Kind == Uint }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
