package scalar

import (
	"fmt"
	"unique"
)

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
	// Entity is the kind of the types that programs declare. It exists in the
	// front end only: a checked program has the representation instead.
	Entity
)

// Type is a primitive type of LogiQL, or an entity type. Types are compared
// with ==.
type Type struct {
	Kind  Kind
	Bits  uint8 // Int, Uint: 8, 16, 32, 64; Float: 32, 64; wide Decimal: 128; else 0
	Scale uint8 // Decimal: digits after the point, 0 to MaxScale; of a wide one, to MaxWideScale
	// Word says that the type is one of the two words that hold a wide decimal.
	Word Word
	// Name is the name of an Entity.
	Name unique.Handle[string]
}

// Word tells the words of a wide decimal apart. A decimal of more than 18
// digits takes two words wherever values are stored, so that nothing that
// moves, compares, hashes or sorts words has to know of it: High is the upper
// half of the unscaled number, Low the lower half less 2^63. As signed numbers,
// pairs of words then order as the decimals do.
type Word uint8

// The words. Whole is the type of a value that is no part of another.
const (
	Whole Word = iota
	High
	Low
)

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

// IsPrimitive reports whether a name is that of a primitive type without its
// parameters.
func IsPrimitive(name string) bool {
	switch name {
	case "int", "uint", "float", "decimal", "datetime", "boolean", "string":
		return true
	}
	return false
}

// IntOf and UintOf return the sized integer types; DecimalOf the decimal type
// of a scale.
func IntOf(bits uint8) Type { return Type{Kind: Int, Bits: bits} }

// UintOf returns the unsigned integer type of 8, 16, 32 or 64 bits.
func UintOf(bits uint8) Type { return Type{Kind: Uint, Bits: bits} }

// DecimalOf returns the 64-bit decimal type with the given digits after the
// point.
func DecimalOf(scale uint8) Type { return Type{Kind: Decimal, Scale: scale} }

// WideDecimalOf returns the decimal type of 38 digits with the given digits
// after the point.
func WideDecimalOf(scale uint8) Type { return Type{Kind: Decimal, Bits: 128, Scale: scale} }

// EntityOf returns the entity type of a name.
func EntityOf(name string) Type { return Type{Kind: Entity, Name: unique.Make(name)} }

// IsWide reports whether values of the type take two words.
func (t Type) IsWide() bool { return t.Kind == Decimal && t.Bits == 128 }

// Digits returns how many digits a decimal type has.
func (t Type) Digits() int {
	if t.IsWide() {
		return MaxWideScale
	}
	return MaxScale
}

// WordOf returns the type of one word of a wide decimal.
func (t Type) WordOf(w Word) Type { return Type{Kind: Decimal, Scale: t.Scale, Word: w} }

// Joined returns the wide type of which t is a word, or else t itself.
func (t Type) Joined() Type {
	if t.Word == Whole {
		return t
	}
	return WideDecimalOf(t.Scale)
}

// IsNumeric reports whether arithmetic applies to the type.
func (t Type) IsNumeric() bool {
	return t.Kind == Int || t.Kind == Uint || t.Kind == Float || t.Kind == Decimal
}

// String returns the type as LogiQL writes it: "int", "int[8]",
// "decimal[18,2]". Plans call the words of decimal[38,2] high[2] and low[2].
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
		switch {
		case t == DecimalType:
			return "decimal"
		case t.Word == High:
			return fmt.Sprintf("high[%d]", t.Scale)
		case t.Word == Low:
			return fmt.Sprintf("low[%d]", t.Scale)
		case t.IsWide():
			return fmt.Sprintf("decimal[38,%d]", t.Scale)
		}
		return fmt.Sprintf("decimal[18,%d]", t.Scale)
	case Datetime:
		return "datetime"
	case String:
		return "string"
	case Entity:
		return t.Name.Value()
	}
	return "?"
}
