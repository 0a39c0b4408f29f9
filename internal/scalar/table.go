package scalar

import (
	"math"
	"slices"
)

// Families of types for which a function has text forms.
var (
	numbers  = []Kind{Int, Uint, Float, Decimal}
	integers = []Kind{Int, Uint}
	ordered  = []Kind{Int, Uint, Float, Decimal, Datetime, String}
	every    = []Kind{Boolean, Int, Uint, Float, Decimal, Datetime, String}
)

// notYet holds the names of LogiQL's built-ins that are refused, and why.
var notYet = map[string]string{
	"datetime:partTZ":   "datetimes are in UTC only; use datetime:part",
	"datetime:formatTZ": "datetimes are in UTC only; use datetime:format",
	"datetime:offset":   "datetimes are in UTC only; add hours with datetime:add",
}

// funcMul and funcConvert are referred to by name resolution.
var (
	funcMul = &Func{
		Name: "mul", Doc: "Product; integers wrap to their width, decimals add their scales.",
		Forms: []string{"number, number"}, arity: 2, Partial: true,
		families: numbers, textForms: []string{"multiply", "mul"},
		Examples: [][2]string{
			{"mul[6, 7]", "42"}, {"mul[100:int[8], 2:int[8]]", "-56:int[8]"},
			{"mul[1.50, 0.5]", "0.750"},
			{"mul[2, 1.5f]", "3f"}, {"mul[3, 0.25]", "0.75"},
			{"decimal:int:multiply[0.25, 3]", "0.75"},
		},
		overload: productForm, eval: evalMul,
	}
	funcConvert = &Func{
		Name:  "convert",
		Doc:   "Changes the type of a value; no value where the target type has none for it.",
		Forms: []string{"any"}, arity: 1, Partial: true,
		Examples: [][2]string{
			{`int:string:convert[-5]`, `"-5"`}, {`int64:string:convert[5]`, `"5"`},
			{`string:int32:convert["12"]`, `12:int[32]`},
			{`string:int:convert["12 "]`, ``}, {`string:int8:convert["200"]`, ``},
			{`int:decimal:convert[3]`, `3.00000`},
			{`int:float:convert[3]`, `3f`}, {`float:int:convert[2.5f]`, `3`},
			{`float:int:convert[-2.5f]`, `-3`}, {`float:int:convert[1e19f]`, ``},
			{`decimal:int:convert[-2.50]`, `-3`}, {`decimal:float:convert[0.1]`, `0.1f`},
			{`float:decimal:convert[0.285f]`, `0.28500`},
			{`float:string:convert[0.1f]`, `"0.1"`}, {`decimal:string:convert[1.50]`, `"1.50"`},
			{`string:decimal:convert["1.5"]`, `1.50000`},
			{`string:datetime:convert["1998-09-02 10:00:00"]`, `#1998-09-02T10:00:00Z#`},
			{`string:datetime:convert["1998-02-30"]`, ``},
			{`datetime:string:convert[#1998-09-02#]`, `"1998-09-02"`},
			{`boolean:string:convert[true]`, `"true"`},
			{`string:boolean:convert["no"]`, ``}, {`boolean:int:convert[true]`, `1`},
			{`int:uint:convert[-1]`, ``}, {`int:int8:convert[127]`, `127:int[8]`},
			{`decimal:decimal128:convert[1.50]`, `1.50:decimal[38,2]`},
			{`decimal128:decimal:convert[1.50:decimal[38,2]]`, `1.50`},
			{`decimal:int:convert[99999999999999999999.5:decimal[38,1]]`, ``},
			{`int:decimal128:convert[3]`, `3.00000:decimal[38,5]`},
			{`string:decimal128:convert["-123456789012345678901234567890.5"]`,
				`-123456789012345678901234567890.50000:decimal[38,5]`},
			{`string:decimal128:convert["1234567890123456789012345678901234"]`, ``},
			{`float:decimal128:convert[2.5e14f]`, `250000000000000.00000:decimal[38,5]`},
			{`float:decimal128:convert[-0.000005f]`, `-0.00001:decimal[38,5]`},
			{`float:decimal128:convert[1e34f]`, ``},
			{`decimal128:string:convert[-0.05:decimal[38,2]]`, `"-0.05"`},
			{`decimal:string:convert[12345678901234567890.5:decimal[38,1]]`,
				`"12345678901234567890.5"`},
			{`string:float:convert["1e3"]`, `1000f`},
			{`uint:int:convert[18446744073709551615:uint]`, ``},
		},
		overload: anyForm, eval: evalConvert,
	}
)

// table holds every function of the language.
var table = []*Func{
	{
		Name:  "add",
		Doc:   "Sum, or the concatenation of strings; integers wrap to their width, decimals take the larger scale.",
		Forms: []string{"number, number", "string, string"}, arity: 2, Partial: true,
		families: append(slices.Clone(numbers), String), textForms: []string{"add"},
		Examples: [][2]string{
			{"add[1, 2]", "3"}, {"add[9223372036854775807, 1]", "-9223372036854775808"},
			{"add[1.5, 0.25]", "1.75"},
			{"add[200:uint[8], 100:uint[8]]", "44:uint[8]"}, {"int:add[1, 2]", "3"},
			{`string:add["re", "d"]`, `"red"`}, {"add[1, 0.5f]", "1.5f"},
		},
		overload: sumForm(true), eval: evalAdd,
	},
	{
		Name:  "sub",
		Doc:   "Difference; integers wrap to their width, decimals take the larger scale.",
		Forms: []string{"number, number"}, arity: 2, Partial: true,
		families: numbers, textForms: []string{"subtract", "sub"},
		Examples: [][2]string{
			{"sub[1, 2]", "-1"}, {"decimal:subtract[1d, 0.05]", "0.95"},
			{"sub[0:uint, 1:uint]", "18446744073709551615:uint"},
		},
		overload: sumForm(false), eval: evalSub,
	},
	funcMul,
	{
		Name:  "div",
		Doc:   "Quotient: truncated for integers, of scale max(6, operands) and rounded half away from zero for decimals; no value for a divisor of zero.",
		Forms: []string{"number, number"}, arity: 2, Partial: true,
		families: numbers, textForms: []string{"divide", "div"},
		Examples: [][2]string{
			{"div[5, 2]", "2"}, {"div[-7, 2]", "-3"}, {"div[5, 0]", ""}, {"div[1d, 3d]", "0.333333"},
			{"div[2d, 3d]", "0.666667"}, {"div[-2d, 3]", "-0.666667"},
			{"div[1f, 4f]", "0.25f"}, {"div[1f, 0f]", ""},
			{"div[-9223372036854775808, -1]", "-9223372036854775808"},
		},
		overload: quotientForm, eval: evalDiv, check: checkDivisor,
	},
	{
		Name:  "mod",
		Doc:   "Remainder of the truncated quotient, with the sign of the dividend; no value for a divisor of zero.",
		Forms: []string{"int, int", "uint, uint"}, arity: 2, Partial: true,
		families: integers, textForms: []string{"mod"},
		Examples: [][2]string{{"int:mod[7, 3]", "1"}, {"int:mod[-7, 3]", "-1"},
			{"int:mod[7, 0]", ""}, {"uint:mod[7:uint, 4:uint]", "3:uint"}},
		overload: integerForm, eval: evalMod, check: checkDivisor,
	},
	{
		Name: "neg", Doc: "The number with the other sign.",
		Forms: []string{"int", "decimal", "float"}, arity: 1, Partial: true,
		families: []Kind{Int, Float, Decimal}, textForms: []string{"negate", "neg"},
		Examples: [][2]string{{"neg[5]", "-5"}, {"neg[-128:int[8]]", "-128:int[8]"},
			{"neg[0f]", "0f"}, {"neg[1.50]", "-1.50"}},
		overload: signedForm, eval: evalNeg,
	},
	{
		Name:  "abs",
		Doc:   "The number without its sign; the least integer of a width stays as it is.",
		Forms: []string{"number"}, arity: 1, Partial: true,
		families: numbers, textForms: []string{"abs"},
		Examples: [][2]string{{"int:abs[-5]", "5"}, {"float:abs[-1.5f]", "1.5f"},
			{"decimal:abs[-1.50]", "1.50"}, {"uint:abs[5:uint]", "5:uint"},
			{"int8:abs[-128:int[8]]", "-128:int[8]"}},
		overload: func(args []Type) ([]Type, Type, error) {
			return commonNumber(args)
		}, eval: evalAbs,
	},
	{
		Name: "min", Doc: "The smaller of two values of one type.",
		Forms: []string{"any, any"}, arity: 2, families: ordered, textForms: []string{"min"},
		Examples: [][2]string{{"int:min[3, 2]", "2"}, {`string:min["b", "a"]`, `"a"`},
			{"float:min[nan:float, 1f]", "1f"}, {"decimal:min[1.5, 1.25]", "1.25"}},
		overload: orderedForm, eval: evalMin,
	},
	{
		Name: "max", Doc: "The greater of two values of one type.",
		Forms: []string{"any, any"}, arity: 2, families: ordered, textForms: []string{"max"},
		Examples: [][2]string{{"int:max[3, 2]", "3"},
			{"datetime:max[#1998-09-02#, #1998-09-03#]", "#1998-09-03#"},
			{"decimal:max[1, 0.25]", "1.00"}},
		overload: orderedForm, eval: evalMax,
	},

	{
		Name: "eq", Doc: "Whether two values are equal; NaN equals NaN.",
		Forms: []string{"any, any"}, arity: 2, families: every,
		textForms: []string{"eq", "eq_2", "eq_3"},
		Examples: [][2]string{{"eq[1, 1.0]", "true"}, {"int:eq_3[1, 2]", "false"},
			{"eq[nan:float, nan:float]", "true"}, {`string:eq["a", "a"]`, "true"}},
		overload: equalForm, eval: comparison(func(c int) bool { return c == 0 }),
	},
	{
		Name: "ne", Doc: "Whether two values differ.",
		Forms: []string{"any, any"}, arity: 2, families: every,
		textForms: []string{"ne", "ne_2", "ne_3"},
		Examples:  [][2]string{{"int:ne_3[1, 2]", "true"}, {"boolean:ne[true, true]", "false"}},
		overload:  equalForm, eval: comparison(func(c int) bool { return c != 0 }),
	},
	{
		Name: "lt", Doc: "Whether the first value comes before the second.",
		Forms: []string{"any, any"}, arity: 2, families: every,
		textForms: []string{"lt", "lt_2", "lt_3"},
		Examples: [][2]string{{"lt[1, 2]", "true"}, {`string:lt["Z", "a"]`, "true"},
			{"lt[inf:float, nan:float]", "true"}, {"lt[1.5, 1.49]", "false"}},
		overload: compareForm, eval: comparison(func(c int) bool { return c < 0 }),
	},
	{
		Name: "le", Doc: "Whether the first value does not come after the second.",
		Forms: []string{"any, any"}, arity: 2, families: every,
		textForms: []string{"le", "le_2", "le_3"},
		Examples: [][2]string{{"le[2, 2]", "true"},
			{"datetime:le_3[#1998-09-03#, #1998-09-02#]", "false"}},
		overload: compareForm, eval: comparison(func(c int) bool { return c <= 0 }),
	},
	{
		Name: "gt", Doc: "Whether the first value comes after the second.",
		Forms: []string{"any, any"}, arity: 2, families: every,
		textForms: []string{"gt", "gt_2", "gt_3"},
		Examples: [][2]string{{"gt[2, 1]", "true"},
			{"uint:gt[18446744073709551615:uint, 1:uint]", "true"}},
		overload: compareForm, eval: comparison(func(c int) bool { return c > 0 }),
	},
	{
		Name: "ge", Doc: "Whether the first value does not come before the second.",
		Forms: []string{"any, any"}, arity: 2, families: every,
		textForms: []string{"ge", "ge_2", "ge_3"},
		Examples:  [][2]string{{"ge[1, 2]", "false"}, {"boolean:ge[true, false]", "true"}},
		overload:  compareForm, eval: comparison(func(c int) bool { return c >= 0 }),
	},

	{
		Name: "and", Doc: "True where both are true.",
		Forms: []string{"boolean, boolean"}, arity: 2, families: []Kind{Boolean},
		textForms: []string{"and"},
		Examples:  [][2]string{{"boolean:and[true, false]", "false"}},
		overload: fixed(BooleanType, BooleanType,
			BooleanType), eval: truthFunc(func(a, b bool) bool {
			return a && b
		}),
	},
	{
		Name: "or", Doc: "True where one or both are true.",
		Forms: []string{"boolean, boolean"}, arity: 2, families: []Kind{Boolean},
		textForms: []string{"or"},
		Examples:  [][2]string{{"boolean:or[true, false]", "true"}},
		overload: fixed(BooleanType, BooleanType,
			BooleanType), eval: truthFunc(func(a, b bool) bool {
			return a || b
		}),
	},
	{
		Name: "xor", Doc: "True where exactly one is true.",
		Forms: []string{"boolean, boolean"}, arity: 2, families: []Kind{Boolean},
		textForms: []string{"xor"},
		Examples:  [][2]string{{"boolean:xor[true, true]", "false"}},
		overload: fixed(BooleanType, BooleanType,
			BooleanType), eval: truthFunc(func(a, b bool) bool {
			return a != b
		}),
	},
	{
		Name: "not", Doc: "True where the argument is false.",
		Forms: []string{"boolean"}, arity: 1, families: []Kind{Boolean}, textForms: []string{"not"},
		Examples: [][2]string{{"boolean:not[true]", "false"}},
		overload: fixed(BooleanType, BooleanType),
		eval:     func(_ Type, args []Value) (Value, bool) { return OfBool(!args[0].Bool()), true },
	},
	{
		Name:  "holds",
		Doc:   "True where the argument has a value and it is true; false otherwise. The caller sees to arguments without a value.",
		Forms: []string{"boolean"}, arity: 1,
		Examples: [][2]string{{"holds[true]", "true"}, {"holds[false]", "false"}},
		overload: fixed(BooleanType, BooleanType),
		eval:     func(_ Type, args []Value) (Value, bool) { return args[0], true },
	},
	funcConvert,
	{
		Name: "wide", Doc: "The decimal of 38 digits that two words hold; it need not fit one.",
		Forms: []string{"high, low"}, arity: 2, Partial: true,
		Examples: [][2]string{{"wide[0:high[2], -9223372036854775658:low[2]]",
			"1.50:decimal[38,2]"},
			{"wide[-1:high[0], 9223372036854775807:low[0]]", "-1:decimal[38,0]"}},
		overload: wideForm,
		eval: func(result Type, args []Value) (Value, bool) {
			return JoinWords(result.Scale, args[0].Int(), args[1].Int()), true
		},
	},
	{
		Name:  "high",
		Doc:   "The upper word of a decimal of 38 digits; it does not fit where the decimal has more.",
		Forms: []string{"decimal[38]"}, arity: 1, Partial: true,
		Examples: [][2]string{{"high[1.50:decimal[38,2]]", "0:high[2]"},
			{"high[-1:decimal[38,0]]", "-1:high[0]"}},
		overload: wordForm(High), eval: evalHigh,
	},
	{
		Name: "low", Doc: "The lower word of a decimal of 38 digits.",
		Forms: []string{"decimal[38]"}, arity: 1,
		Examples: [][2]string{{"low[1.50:decimal[38,2]]", "-9223372036854775658:low[2]"},
			{"low[-1:decimal[38,0]]", "9223372036854775807:low[0]"}},
		overload: wordForm(Low),
		eval: func(result Type, args []Value) (Value, bool) {
			return OfBits(result, uint64(args[0].Int128().LowWord())), true
		},
	},
	{
		Name:  "mean",
		Doc:   "The mean of n decimals of 38 digits, of which the sums of the upper and of the lower words are given; no value where it does not fit 128 bits.",
		Forms: []string{"decimal[38], decimal[38], int"}, arity: 3, Partial: true,
		Examples: [][2]string{
			{"mean[0:decimal[38,0], -18446744073709551611:decimal[38,0], 2]",
				"2.500000:decimal[38,6]"},
			{"mean[-0.000001:decimal[38,6], 9223372036854.775807:decimal[38,6], 1]",
				"-0.000001:decimal[38,6]"},
			{"mean[0:decimal[38,0], 0:decimal[38,0], 0]", ""},
		},
		overload: meanForm, eval: evalMean,
	},
	{
		Name:  "float_exponent",
		Doc:   "The e for which a float is a whole number below 2^53 of 2^(e-1075), and 2047 of infinities; 0 has none.",
		Forms: []string{"float"}, arity: 1, Partial: true,
		Examples: [][2]string{{"float_exponent[1f]", "1023"}, {"float_exponent[-0.75f]", "1022"},
			{"float_exponent[5e-324f]", "1"}, {"float_exponent[0f]", ""}},
		overload: fixed(IntType, FloatType), eval: evalFloatExponent,
	},
	{
		Name:  "float_digit",
		Doc:   "Digit k of a float that is a number of 2^(e-1075), in base 2^40, with the sign of the float; 0 where there is none.",
		Forms: []string{"float, e, k"}, arity: 3,
		Examples: [][2]string{{"float_digit[1f, 1023, 1]", "4096"},
			{"float_digit[-1.5f, 1000, 2]", "0"}, {"float_digit[-3f, 1022, 1]", "-24576"},
			{"float_digit[1f, 1024, 1]", "0"}, {"float_digit[1f, 970, 1]", "0"}},
		overload: fixed(IntType, FloatType, IntType, IntType), eval: evalFloatDigit,
	},
	{
		Name:  "float_of_digits",
		Doc:   "The float that is nearest to three digits, or sums of digits, in units of 2^(e-1075).",
		Forms: []string{"digit 0, digit 1, digit 2, e"}, arity: 4,
		Examples: [][2]string{{"float_of_digits[0, 4096, 0, 1023]", "1f"},
			{"float_of_digits[0, -24576, 0, 1022]", "-3f"}},
		overload: fixed(FloatType, IntType, IntType, IntType, IntType), eval: evalFloatOfDigits,
	},

	{
		Name: "bitand", Doc: "Bitwise conjunction.",
		Forms: []string{"int, int", "uint, uint"}, arity: 2, families: integers,
		textForms: []string{"bitand"},
		Examples:  [][2]string{{"int:bitand[12, 10]", "8"}, {"int:bitand[-1, 255]", "255"}},
		overload:  integerForm, eval: bitwise(func(a, b uint64) uint64 { return a & b }),
	},
	{
		Name: "bitor", Doc: "Bitwise disjunction.",
		Forms: []string{"int, int", "uint, uint"}, arity: 2, families: integers,
		textForms: []string{"bitor"},
		Examples:  [][2]string{{"int:bitor[12, 10]", "14"}},
		overload:  integerForm, eval: bitwise(func(a, b uint64) uint64 { return a | b }),
	},
	{
		Name: "bitxor", Doc: "Bitwise exclusive disjunction.",
		Forms: []string{"int, int", "uint, uint"}, arity: 2, families: integers,
		textForms: []string{"bitxor"},
		Examples: [][2]string{{"int:bitxor[12, 10]", "6"},
			{"int8:bitxor[-1:int[8], 1:int[8]]", "-2:int[8]"}},
		overload: integerForm, eval: bitwise(func(a, b uint64) uint64 { return a ^ b }),
	},
	{
		Name: "bitnot", Doc: "Bitwise complement.",
		Forms: []string{"int", "uint"}, arity: 1, families: integers, textForms: []string{"bitnot"},
		Examples: [][2]string{{"int:bitnot[0]", "-1"}, {"uint8:bitnot[1:uint[8]]", "254:uint[8]"}},
		overload: integerForm,
		eval: func(t Type, args []Value) (Value, bool) {
			return OfInt(t, ^args[0].Int()), true
		},
	},
	{
		Name:  "shl",
		Doc:   "Bits moved up; those beyond the width are lost. No value for a negative count.",
		Forms: []string{"int, int", "uint, int"}, arity: 2, Partial: true, families: integers,
		textForms: []string{"shl"}, ownArgs: 1,
		Examples: [][2]string{{"int:shl[1, 10]", "1024"}, {"int8:shl[1:int[8], 7]", "-128:int[8]"},
			{"int:shl[1, 64]", "0"}, {"int:shl[1, -1]", ""}},
		overload: shiftForm, eval: evalShl, check: checkShift,
	},
	{
		Name:  "shr",
		Doc:   "Bits moved down; the sign moves in from above. No value for a negative count.",
		Forms: []string{"int, int", "uint, int"}, arity: 2, Partial: true, families: integers,
		textForms: []string{"shr"}, ownArgs: 1,
		Examples: [][2]string{{"int:shr[-8, 1]", "-4"}, {"int:shr[-8, 99]", "-1"},
			{"uint:shr[18446744073709551615:uint, 63]", "1:uint"}, {"int:shr[8, -1]", ""}},
		overload: shiftForm, eval: evalShr, check: checkShift,
	},

	float1("float:floor", "The greatest whole number that is not greater.", math.Floor, "-1.5f",
		"-2f"),
	float1("float:ceil", "The least whole number that is not less.", math.Ceil, "1.2f", "2f"),
	float1("float:truncate", "The whole number that is left without the fraction.", math.Trunc,
		"-1.7f", "-1f"),
	float1("float:sqrt", "Square root; NaN for a negative number.", math.Sqrt, "9f", "3f"),
	float1("float:exp", "e to the power of the argument.", math.Exp, "0f", "1f"),
	float1("float:log", "Natural logarithm; -inf for 0, NaN for a negative number.", math.Log, "1f",
		"0f"),
	float1("float:log10", "Logarithm to base ten.", math.Log10, "1000f", "3f"),
	float1("float:sin", "Sine of an angle in radians.", math.Sin, "0f", "0f"),
	float1("float:cos", "Cosine of an angle in radians.", math.Cos, "0f", "1f"),
	float1("float:tan", "Tangent of an angle in radians.", math.Tan, "0f", "0f"),
	float1("float:arcsin", "Inverse sine in radians; NaN outside of -1 to 1.", math.Asin, "0f",
		"0f"),
	float1("float:arccos", "Inverse cosine in radians; NaN outside of -1 to 1.", math.Acos, "1f",
		"0f"),
	float1("float:arctan", "Inverse tangent in radians.", math.Atan, "0f", "0f"),
	{
		Name: "float:pow", Doc: "The first argument to the power of the second.",
		Forms: []string{"float, float"}, arity: 2,
		Examples: [][2]string{{"float:pow[2f, 10]", "1024f"},
			{"float:pow[-1f, 0.5f]", "nan:float"}},
		overload: floatForm, eval: evalPow,
	},
	{
		Name: "round", Doc: "The nearest whole number, of the same type, halves away from zero.",
		Forms: []string{"float", "decimal"}, arity: 1, Partial: true,
		families: []Kind{Float, Decimal}, textForms: []string{"round"},
		Examples: [][2]string{{"float:round[2.5f]", "3f"}, {"decimal:round[-2.50]", "-3.00"},
			{"decimal:round[2.49]", "2.00"}},
		overload: roundForm, eval: evalRound,
	},
	{
		Name:  "decimal:round2",
		Doc:   "The decimal rounded to a number of digits after the point, halves away from zero; its type stays.",
		Forms: []string{"decimal, int"}, arity: 2, Partial: true,
		Examples: [][2]string{
			{"decimal:round2[1.25500, 2]", "1.26000"}, {"decimal:round2[-1.255, 2]", "-1.260"},
			{"decimal:round2[155.0, -1]", "160.0"}, {"decimal:round2[1.5, 9]", "1.5"},
			{"decimal:round2[1.5, -9223372036854775808]", "0.0"},
		},
		overload: round2Form, eval: evalRound2,
	},

	{
		Name:  "string:like",
		Doc:   "Whether the text matches a pattern: % any run, _ one character, a backslash takes the next character literally.",
		Forms: []string{"string, string"}, arity: 2, Partial: true,
		Examples: [][2]string{
			{`string:like["forest green", "%green%"]`, "true"},
			{`string:like["PROMO", "PROMO_"]`, "false"}, {`string:like["naïve", "na_ve"]`, "true"},
			{`string:like["100%", "100\\%"]`, "true"}, {`string:like["", "%"]`, "true"},
			{`string:like["a", "a\\"]`, ""},
		},
		overload: fixed(BooleanType, StringType, StringType), eval: evalLike, check: checkLike,
	},
	{
		Name: "string:notlike", Doc: "Whether the text does not match a pattern of string:like.",
		Forms: []string{"string, string"}, arity: 2, Partial: true,
		Examples: [][2]string{{`string:notlike["abc", "a%"]`, "false"}},
		overload: fixed(BooleanType, StringType, StringType), eval: evalNotLike, check: checkLike,
	},
	{
		Name: "string:matches",
		Doc: "Whether a part of the text matches a regular expression of RE2; ^ and $ stand for the " +
			"ends of the text. An extension of LogiQL.",
		Forms: []string{"string, string"}, arity: 2, Partial: true,
		Examples: [][2]string{{`string:matches["order 66", "[0-9]+"]`, "true"},
			{`string:matches["order 66", "^[0-9]+$"]`, "false"},
			{`string:matches["Naïve", "(?i)^n.ï"]`, "true"}},
		overload: fixed(BooleanType, StringType, StringType), eval: evalMatches,
		check: checkPattern,
	},
	{
		Name: "string:captures",
		Doc: "What a part in parentheses of a regular expression has in the first match: 0 is the " +
			"whole match, 1 the first part; no value without a match. An extension of LogiQL.",
		Forms: []string{"string, string, int"}, arity: 3, Partial: true,
		Examples: [][2]string{{`string:captures["k=v", "(.*)=(.*)", 2]`, `"v"`},
			{`string:captures["a 12 b 7", "[0-9]+", 0]`, `"12"`},
			{`string:captures["a", "(b)?a", 1]`, ""}, {`string:captures["a", "(b)", 1]`, ""}},
		overload: fixed(StringType, StringType, StringType, IntType), eval: evalCaptures,
		check: checkCaptures,
	},
	{
		Name: "string:replacematches",
		Doc: "The text with each match of a regular expression replaced. In the third argument, $1 " +
			"or ${1} is the first part in parentheses, ${name} a part with a name, and $$ a dollar. " +
			"An extension of LogiQL.",
		Forms: []string{"string, string, string"}, arity: 3, Partial: true,
		Examples: [][2]string{
			{`string:replacematches["2024-01-31", "(\\d+)-(\\d+)-(\\d+)", "$3.$2.$1"]`,
				`"31.01.2024"`},
			{`string:replacematches["a  b", " +", " "]`, `"a b"`},
			{`string:replacematches["k=v", "(.*)=(.*)", "$2_$1"]`, `"v_k"`},
			{`string:replacematches["5 EUR", "(?P<n>\\d+) EUR", "$$${n}"]`, `"$5"`}},
		overload: fixed(StringType, StringType, StringType, StringType), eval: evalReplaceMatches,
		check: checkReplacement,
	},
	{
		Name: "string:length", Doc: "The number of code points.",
		Forms: []string{"string"}, arity: 1,
		Examples: [][2]string{{`string:length["naïve"]`, "5"}, {`string:length[""]`, "0"}},
		overload: fixed(IntType, StringType), eval: evalLength,
	},
	{
		Name:  "string:substring",
		Doc:   "The code points from a start, counted from 0, for a length; what lies outside of the text is left out.",
		Forms: []string{"string, int, int"}, arity: 3,
		Examples: [][2]string{
			{`string:substring["25-989-741-2988", 0, 2]`, `"25"`},
			{`string:substring["naïve", 2, 2]`, `"ïv"`},
			{`string:substring["abc", 2, 9]`, `"c"`}, {`string:substring["abc", -1, 2]`, `"a"`},
			{`string:substring["abc", 3, 1]`, `""`},
		},
		overload: fixed(StringType, StringType, IntType, IntType), eval: evalSubstring,
	},
	{
		Name: "string:upper", Doc: "The text in upper case, by Unicode's simple mapping.",
		Forms: []string{"string"}, arity: 1,
		Examples: [][2]string{{`string:upper["naïve"]`, `"NAÏVE"`}},
		overload: fixed(StringType, StringType), eval: evalUpper,
	},
	{
		Name: "string:lower", Doc: "The text in lower case, by Unicode's simple mapping.",
		Forms: []string{"string"}, arity: 1,
		Examples: [][2]string{{`string:lower["ÉTÉ"]`, `"été"`}},
		overload: fixed(StringType, StringType), eval: evalLower,
	},
	{
		Name: "string:trim", Doc: "The text without white space at its ends.",
		Forms: []string{"string"}, arity: 1,
		Examples: [][2]string{{`string:trim[" a b\t"]`, `"a b"`}},
		overload: fixed(StringType, StringType), eval: evalTrim,
	},
	{
		Name:  "string:replace",
		Doc:   "The text with each occurrence of the second argument, from the left, replaced by the third; an empty one occurs nowhere.",
		Forms: []string{"string, string, string"}, arity: 3,
		Examples: [][2]string{{`string:replace["aaa", "aa", "b"]`, `"ba"`},
			{`string:replace["abc", "", "x"]`, `"abc"`}},
		overload: fixed(StringType, StringType, StringType, StringType), eval: evalReplace,
	},
	{
		Name:  "string:indexof",
		Doc:   "The index in code points, from 0, of the first occurrence of the second argument; -1 if there is none.",
		Forms: []string{"string, string"}, arity: 2,
		Examples: [][2]string{{`string:indexof["naïve", "v"]`, "3"},
			{`string:indexof["abc", "x"]`, "-1"}, {`string:indexof["abc", ""]`, "0"}},
		overload: fixed(IntType, StringType, StringType), eval: evalIndexOf,
	},
	{
		Name: "string:chr", Doc: "The character of a code point; no value where there is none.",
		Forms: []string{"int"}, arity: 1, Partial: true,
		Examples: [][2]string{{"string:chr[233]", `"é"`}, {"string:chr[55296]", ""}},
		overload: fixed(StringType, IntType), eval: evalChr,
	},
	{
		Name:  "string:split",
		Doc:   "The part of that index, from 0, of a text cut at each delimiter; no value beyond the last part or for an empty delimiter.",
		Forms: []string{"string, string, int"}, arity: 3, Partial: true,
		Examples: [][2]string{{`string:split["a.b.c", ".", 1]`, `"b"`},
			{`string:split["a.b.c", ".", 3]`, ""}, {`string:split["", ".", 0]`, `""`},
			{`string:split["a", "", 0]`, ""}},
		overload: fixed(StringType, StringType, StringType, IntType), eval: evalSplit,
	},
	{
		Name:  "string:hash",
		Doc:   "The 64-bit FNV-1a hash of the UTF-8 bytes: the same everywhere and always.",
		Forms: []string{"string"}, arity: 1,
		Examples: [][2]string{{`string:hash[""]`, "-3750763034362895579"},
			{`string:hash["a"]`, "-5808556873153909620"}},
		overload: fixed(IntType, StringType), eval: evalHash,
	},

	{
		Name: "datetime:now", Doc: "The time of the evaluation.",
		arity: 0, Forms: []string{""}, Volatile: true,
		overload: fixed(DatetimeType), eval: evalNow,
	},
	{
		Name:  "datetime:parse",
		Doc:   "Reads a datetime by a format such as %Y-%m-%d; no value where the text does not match.",
		Forms: []string{"string, string"}, arity: 2, Partial: true,
		Examples: [][2]string{
			{`datetime:parse["1998-09-02", "%Y-%m-%d"]`, "#1998-09-02#"},
			{`datetime:parse["2 Sep 98 3:04 PM", "%d %b %y %I:%M %p"]`, "#1998-09-02T15:04:00Z#"},
			{`datetime:parse["1998-02-30", "%Y-%m-%d"]`, ""},
			{`datetime:parse["1998-09-02 01:00:00.5+02:00", "%Y-%m-%d %H:%M:%S%F%Q"]`,
				"#1998-09-01T23:00:00.500000Z#"},
		},
		overload: fixed(DatetimeType, StringType, StringType), eval: evalParse, check: checkFormat,
	},
	{
		Name: "datetime:format", Doc: "Writes a datetime by a format such as %Y-%m-%d.",
		Forms: []string{"datetime, string"}, arity: 2, Partial: true,
		Examples: [][2]string{
			{`datetime:format[#1998-09-02T15:04:05.25Z#, "%a %d %B %Y %I:%M:%S%F %p day %j%%"]`,
				`"Wed 02 September 1998 03:04:05.250000 PM day 245%"`},
			{`datetime:format[#1998-09-02#, "%y/%m/%d %H:%M:%s%Q"]`,
				`"98/09/02 00:00:00.000000+00:00"`},
		},
		overload: fixed(StringType, DatetimeType, StringType), eval: evalFormat, check: checkFormat,
	},
	{
		Name:  "datetime:create",
		Doc:   "The datetime of a year, month, day, hour, minute and second in UTC; no value where there is none.",
		Forms: []string{"int, int, int, int, int, int"}, arity: 6, Partial: true,
		Examples: [][2]string{{"datetime:create[1996, 2, 29, 23, 59, 59]",
			"#1996-02-29T23:59:59Z#"}, {"datetime:create[1997, 2, 29, 0, 0, 0]", ""}},
		overload: fixed(DatetimeType, IntType, IntType, IntType, IntType, IntType, IntType),
		eval:     evalCreate,
	},
	{
		Name:  "datetime:part",
		Doc:   "A field of a datetime: year, quarter, month, day, hour, minute, second, millisecond, microsecond, dayofweek (0 is Sunday) or dayofyear.",
		Forms: []string{"datetime, string"}, arity: 2, Partial: true,
		Examples: [][2]string{
			{`datetime:part[#1998-09-02#, "year"]`, "1998"},
			{`datetime:part[#1998-09-02#, "month"]`, "9"},
			{`datetime:part[#1998-09-02#, "dayofweek"]`, "3"},
			{`datetime:part[#1998-09-02T15:04:05Z#, "hour"]`, "15"},
			{`datetime:part[#1998-09-02#, "era"]`, ""},
		},
		overload: fixed(IntType, DatetimeType, StringType), eval: evalPart,
		check: checkUnit(1, false),
	},
	{
		Name:  "datetime:add",
		Doc:   "The datetime moved by a number of units; months and longer ones end at the month's last day at the latest. d + n and d - n count in days.",
		Forms: []string{"datetime, int, string"}, arity: 3, Partial: true,
		Examples: [][2]string{
			{`datetime:add[#1996-01-31#, 1, "months"]`, "#1996-02-29#"},
			{`datetime:add[#1998-12-01#, -90, "days"]`, "#1998-09-02#"},
			{`datetime:add[#1996-02-29#, 1, "year"]`, "#1997-02-28#"},
			{`datetime:add[#1998-09-02#, 90, "seconds"]`, "#1998-09-02T00:01:30Z#"},
		},
		overload: fixed(DatetimeType, DatetimeType, IntType, StringType), eval: evalDatetimeAdd,
		check: checkUnit(2, true),
	},
	{
		Name:  "datetime:subtract",
		Doc:   "The whole units from the second datetime to the first, truncated toward zero. d2 - d1 is the number of days.",
		Forms: []string{"datetime, datetime, string"}, arity: 3, Partial: true,
		Examples: [][2]string{
			{`datetime:subtract[#1998-12-01#, #1998-09-02#, "days"]`, "90"},
			{`datetime:subtract[#1998-09-02#, #1998-12-01#, "months"]`, "-2"},
			{`datetime:subtract[#1998-02-28#, #1998-01-31#, "months"]`, "1"},
		},
		overload: fixed(IntType, DatetimeType, DatetimeType, StringType),
		eval:     evalDatetimeSubtract, check: checkUnit(2, true),
	},
}

// float1 is the entry of a function of one float.
func float1(name, doc string, f func(float64) float64, argument, result string) *Func {
	return &Func{
		Name: name, Doc: doc, Forms: []string{"float"}, arity: 1,
		Examples: [][2]string{{name + "[" + argument + "]", result}},
		overload: floatForm, eval: floatFunc(f),
	}
}
