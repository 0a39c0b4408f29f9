package vocabulary

// Type describes a primitive type, or the types of one name and several
// widths.
type Type struct {
	Name string
	// Doc says what the values are.
	Doc string
	// Literals are values as a program writes them.
	Literals []string
	// Field is the form of a value in a field of a TSV or CSV file.
	Field string
}

// Types lists the primitive types.
var Types = []Type{
	{
		Name:     "int",
		Doc:      "Whole numbers of 64 bits, two's complement. Arithmetic wraps.",
		Literals: []string{"42", "-7"},
		Field:    "42 or -7",
	},
	{
		Name: "int[8], int[16], int[32], int[64]",
		Doc: "Whole numbers of that many bits. Arithmetic wraps to the width. " +
			"Narrow integers widen to wide ones, and int[64] is int.",
		Literals: []string{"-128"},
		Field:    "as int; a number that does not fit is an error of the file",
	},
	{
		Name:     "uint, uint[8], uint[16], uint[32], uint[64]",
		Doc:      "Whole numbers from 0 up. Arithmetic wraps to the width.",
		Literals: []string{"0", "18446744073709551615"},
		Field:    "as int, without a sign",
	},
	{
		Name: "decimal, decimal[18,2]",
		Doc: "Exact numbers of 64 bits with a fixed number of digits after the point. 18 digits " +
			"always fit. Plain decimal has five digits after the point.",
		Literals: []string{"1.25", "-0.5", "3d"},
		Field:    "1.25 or 3",
	},
	{
		Name: "decimal[38,2]",
		Doc: "Exact numbers of up to 38 digits. A literal of more than 18 digits has such a type. " +
			"Integers and other decimals widen to it.",
		Literals: []string{"12345678901234567890.50"},
		Field:    "as decimal",
	},
	{
		Name:     "float, float[32]",
		Doc:      "IEEE 754 numbers, of double or single precision.",
		Literals: []string{"1.5f", "2f", "1e3", "1.2E-4"},
		Field:    "1.5, 1e3, inf, -inf or nan",
	},
	{
		Name:     "datetime",
		Doc:      "Instants in UTC, to the microsecond.",
		Literals: []string{"#1998-09-02#", "#1998-09-02T12:30:00Z#"},
		Field:    "1998-09-02, 1998-09-02 12:30:00 or 1998-09-02T12:30:00.250Z",
	},
	{
		Name:     "string",
		Doc:      "Text in UTF-8, compared by bytes.",
		Literals: []string{`"red fox"`, `"a\tb"`, `"""a "b" c"""`},
		Field:    "the text; CSV quotes a field with double quotes",
	},
	{
		Name:     "boolean",
		Doc:      "The values true and false. A boolean is a value and not a condition.",
		Literals: []string{"true", "false"},
		Field:    "true or false",
	},
}
