package scalar

// MaxScale is the largest number of digits after the point of a decimal of one
// word, MaxWideScale that of a wide one. They are also the digits that such
// decimals always have. One word holds some numbers of 19 digits: its range is
// that of 64 bits.
const (
	MaxScale     = 18
	MaxWideScale = 38
)

// CanWiden reports whether a value of type from is implicitly taken as one of
// type to. An integer type widens to one that holds all its values, every
// integer to every decimal and float, a decimal to one of no smaller scale that
// is as wide and to every float, float[32] to float.
func CanWiden(from, to Type) bool {
	if from == to {
		return true
	}
	switch to.Kind {
	case Int:
		return from.Kind == Int && from.Bits <= to.Bits || from.Kind == Uint && from.Bits < to.Bits
	case Uint:
		return from.Kind == Uint && from.Bits <= to.Bits
	case Decimal:
		return from.Kind == Int || from.Kind == Uint || from.Kind == Decimal &&
			from.Scale <= to.Scale && from.Bits <= to.Bits
	case Float:
		return from.Kind == Int || from.Kind == Uint || from.Kind == Decimal ||
			from.Kind == Float && from.Bits <= to.Bits
	}
	return false
}

// Common returns the type that values of both types are widened to when they
// are compared or united: the least that holds them all. It is one of the two,
// except that decimals take the larger scale and the larger width, and that a
// signed and an unsigned integer may need twice the bits of the unsigned one.
// int and uint need decimal[38,0]. An integer or decimal with float[32] gives
// float[32].
func Common(a, b Type) (Type, bool) {
	switch {
	case CanWiden(a, b):
		return b, true
	case CanWiden(b, a):
		return a, true
	case a.Kind == Decimal && b.Kind == Decimal:
		return WideDecimalOf(max(a.Scale, b.Scale)), true
	case isInteger(a) && isInteger(b):
		if bits := max(a.Bits, b.Bits); bits < 64 {
			return IntOf(2 * bits), true
		}
		return WideDecimalOf(0), true
	}
	return Type{}, false
}

// operand returns the type in which arithmetic computes with values of both
// types. It is their common type, except that int and uint give int: there, an
// operand that does not fit has no value.
func operand(a, b Type) (Type, bool) {
	t, ok := Common(a, b)
	if ok && t.Kind == Decimal && isInteger(a) && isInteger(b) {
		t = IntType
	}
	return t, ok
}

// accepts reports whether a function of the language takes an argument of type
// from where it has a parameter of type to: as it widens, or as an int. A uint
// that is no int has no value there.
func accepts(from, to Type) bool {
	return CanWiden(from, to) || from.Kind == Uint && to == IntType
}

// CanConvert reports whether X:Y:convert exists for the two types. Numbers
// convert to one another, everything to and from string, and booleans to
// integers.
func CanConvert(from, to Type) bool {
	switch {
	case from.Kind == Invalid || to.Kind == Invalid:
		return false
	case from == to:
		return true
	case from.Kind == Entity || to.Kind == Entity:
		return false
	case from.Kind == String, to.Kind == String:
		return true
	case from.Kind == Boolean:
		return to.Kind == Int || to.Kind == Uint
	}
	return from.IsNumeric() && to.IsNumeric()
}
