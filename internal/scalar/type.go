package scalar

import "fmt"

// Kind is the family of a type.
type Kind uint8

// The kinds. Invalid is the type of a poisoned expression.
const (
	Invalid Kind = iota
	Boolean
	Int
	Uint
	Float
	Decimal
	Datetime
	String
)

// Type is a primitive type of LogiQL. Types are compared with ==.
type Type struct {
	Kind  Kind
	Bits  uint8 // Int, Uint: 8, 16, 32, 64; Float: 32, 64; else 0
	Scale uint8 // Decimal: digits after the point, 0 to 18
}

// The types that need no parameter. Plain `int` is 64 bits wide and plain
// `decimal` has five digits after the point.
var (
	BooleanType  = Type{Kind: Boolean}
	IntType      = Type{Kind: Int, Bits: 64}
	UintType     = Type{Kind: Uint, Bits: 64}
	FloatType    = Type{Kind: Float, Bits: 64}
	DatetimeType = Type{Kind: Datetime}
	StringType   = Type{Kind: String}
	DecimalType  = DecimalOf(5)
)

// IntOf and UintOf return the sized integer types; DecimalOf the decimal type
// of a scale.
func IntOf(bits uint8) Type { return Type{Kind: Int, Bits: bits} }

// UintOf returns the unsigned integer type of 8, 16, 32 or 64 bits.
func UintOf(bits uint8) Type { return Type{Kind: Uint, Bits: bits} }

// DecimalOf returns the 64-bit decimal type with the given digits after the point.
func DecimalOf(scale uint8) Type { return Type{Kind: Decimal, Scale: scale} }

// IsNumeric reports whether arithmetic applies to the type.
func (t Type) IsNumeric() bool {
	return t.Kind == Int || t.Kind == Uint || t.Kind == Float || t.Kind == Decimal
}

// String returns the type as LogiQL writes it: "int", "int[8]", "decimal[18,2]".
func (t Type) String() string {
	switch t.Kind {
	case Boolean:
		return "boolean"
	case Int, Uint, Float:
		name := map[Kind]string{Int: "int", Uint: "uint", Float: "float"}[t.Kind]
		if t.Bits == 64 {
			return name
		}
		return fmt.Sprintf("%s[%d]", name, t.Bits)
	case Decimal:
		if t == DecimalType {
			return "decimal"
		}
		return fmt.Sprintf("decimal[18,%d]", t.Scale)
	case Datetime:
		return "datetime"
	case String:
		return "string"
	}
	return "?"
}
