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
// are added, compared or united. It is one of the two, except that decimals
// take the larger scale and the larger width. int and uint of one width have
// none: neither holds the other's values. An integer or decimal with float[32]
// gives float[32].
func Common(a, b Type) (Type, bool) {
	switch {
	case CanWiden(a, b):
		return b, true
	case CanWiden(b, a):
		return a, true
	case a.Kind == Decimal && b.Kind == Decimal:
		return WideDecimalOf(max(a.Scale, b.Scale)), true
	}
	return Type{}, false
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
