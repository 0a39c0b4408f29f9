package scalar

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

var allTypes = []Type{
	BooleanType, IntOf(8), IntOf(16), IntOf(32), IntType, UintOf(8), UintOf(16), UintOf(32),
	UintType,
	{Kind: Float, Bits: 32}, FloatType, DecimalOf(0), DecimalOf(2), DecimalType, DecimalOf(18),
	DatetimeType, StringType,
}

// randomValue draws values near the ends of the type's range as often as
// others.
func randomValue(r *rand.Rand, t Type) Value {
	word := uint64(random128(r).Int64())
	switch t.Kind {
	case Boolean:
		return OfBool(word&1 == 1)
	case Float:
		return OfFloat(t, math.Float64frombits(r.Uint64()))
	case Decimal:
		return OfDecimal(t.Scale, int64(word))
	case Datetime:
		return OfDatetime(int64(word))
	case String:
		letters := []string{"a", "\"", "\\", "\n", "\x00", "é", "𝄞", "%", "#", "\u2028", "\x7f"}
		var b strings.Builder
		for range r.IntN(6) {
			b.WriteString(letters[r.IntN(len(letters))])
		}
		return OfString(b.String())
	}
	return OfInt(t, int64(word))
}

func TestTextRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, ty := range allTypes {
		if back, ok := ParseType(ty.String()); !ok || back != ty {
			t.Errorf("ParseType(%s) gives %s", ty, back)
		}
		for range 5_000 {
			v := randomValue(r, ty)
			if back, err := ParseLiteral(Literal(v)); err != nil || back != v {
				t.Fatalf("ParseLiteral(%s) gives %s, %v", Literal(v), Literal(back), err)
			}
			if back, err := ParseText(ty, Format(v)); err != nil || back != v {
				t.Fatalf("ParseText(%s, %s) gives %s, %v", ty, Format(v), Literal(back), err)
			}
			if ty.Kind == String {
				continue
			}
			if word, err := ParseBits(ty, []byte(Format(v))); err != nil || OfBits(ty, word) != v {
				t.Fatalf("ParseBits(%s, %s) gives %x, %v", ty, Format(v), word, err)
			}
		}
	}
}

func TestFormatAgainstStandardLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 20_000 {
		n := random128(r).Int64()
		scale := uint8(r.IntN(MaxScale + 1))
		want := new(big.Rat).SetFrac(big.NewInt(n),
			new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).FloatString(int(scale))
		if got := Format(OfDecimal(scale, n)); got != want {
			t.Fatalf("decimal %d at scale %d is %s, want %s", n, scale, got, want)
		}
		f := math.Float64frombits(r.Uint64())
		if back, err := strconv.ParseFloat(Format(OfFloat(FloatType, f)), 64); f == f &&
			(err != nil || back != f) {
			t.Fatalf("%g is written %s", f, Format(OfFloat(FloatType, f)))
		}
		micros := n >> 10
		layout := "2006-01-02T15:04:05.000000Z"
		switch {
		case micros%MicrosPerDay == 0:
			layout = "2006-01-02"
		case micros%MicrosPerSecond == 0:
			layout = "2006-01-02T15:04:05Z"
		}
		if at := time.UnixMicro(micros).UTC(); at.Year() >= 0 && at.Year() <= 9999 {
			if got := Format(OfDatetime(micros)); got != at.Format(layout) {
				t.Fatalf("%d microseconds are %s, want %s", micros, got, at.Format(layout))
			}
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v             Value
		text, literal string
	}{
		{OfInt(IntType, -12), "-12", "-12"},
		{OfInt(IntOf(8), 300), "44", "44:int[8]"},
		{OfInt(UintType, -1), "18446744073709551615", "18446744073709551615:uint"},
		{OfDecimal(2, -5), "-0.05", "-0.05"},
		{OfDecimal(0, 12), "12", "12d"},
		{OfDecimal(18, math.MinInt64), "-9.223372036854775808", "-9.223372036854775808"},
		{OfInt128(DecimalOf(2), Pow10(30)), "10000000000000000000000000000.00",
			"10000000000000000000000000000.00"},
		{OfFloat(FloatType, 1.5), "1.5", "1.5f"},
		{OfFloat(FloatType, math.Copysign(0, -1)), "0", "0f"},
		{OfFloat(FloatType, 1e21), "1e+21", "1e+21f"},
		{OfFloat(FloatType, 123456789), "123456789", "123456789f"},
		{OfFloat(Type{Kind: Float, Bits: 32}, 0.1), "0.1", "0.1:float[32]"},
		{OfFloat(FloatType, math.Inf(-1)), "-inf", "-inf:float"},
		{OfFloat(FloatType, math.NaN()), "nan", "nan:float"},
		{OfString("a\"\\\n\x01é"), "a\"\\\n\x01é", `"a\"\\\n\u0001é"`},
		{OfBool(true), "true", "true"},
		{OfDatetime(0), "1970-01-01", "#1970-01-01#"},
		{OfDatetime(-1), "1969-12-31T23:59:59.999999Z", "#1969-12-31T23:59:59.999999Z#"},
		{OfDatetime(math.MinInt64), "-290308-12-21T19:59:05.224192Z",
			"#-290308-12-21T19:59:05.224192Z#"},
	} {
		if got := Format(c.v); got != c.text {
			t.Errorf("Format gives %s, want %s", got, c.text)
		}
		if got := Literal(c.v); got != c.literal {
			t.Errorf("Literal gives %s, want %s", got, c.literal)
		}
	}
}

func TestParseLiteral(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"5d", "5d"}, {"1.5d", "1.5"}, {"1e3", "1000f"}, {"1.2E-4", "0.00012f"}, {"1e3f", "1000f"},
		{"0f", "0f"}, {"-0f", "0f"},
		{"12:int", "12"}, {"12:int[64]", "12"}, {`"\u00e9\ud834\udd1e"`, `"é𝄞"`},
		{"#1998-09-02 10:00:00#", "#1998-09-02T10:00:00Z#"},
		{"9223372036854775808",
			`error: expected int, found "9223372036854775808": the range is -9223372036854775808 to 9223372036854775807`},
		{"300:int[8]", `error: expected int[8], found "300": the range is -128 to 127`},
		{"-1:uint", `error: expected uint, found "-1": the range is 0 to 18446744073709551615`},
		{"1.0000000000000000000",
			"error: 1.0000000000000000000 has more than 18 digits after the point"},
		{"12345678901234567890.5",
			`error: expected decimal[18,1], found "12345678901234567890.5": the number has more digits than 64 bits hold`},
		{`"\ud834"`, `error: \ud834 is half of a surrogate pair and no character`},
		{`"\x"`, `error: \x is no escape; there are \" \\ \n \t \r \uXXXX`},
		{`"a`, `error: the string literal "a has no closing quote`},
		{"#1998-02-30#",
			`error: expected datetime, found "1998-02-30": there is no such date or time`},
		{"x", "error: x is no literal"}, {"1 2", "error: 1 2 goes on after the literal 1"},
		{"", "error: expected a literal, found nothing"},
		{"1:string", `error: "string" is no type of a number`},
		{"1.5:int", `error: expected int, found "1.5"`},
		{"1e999f", `error: expected float, found "1e999"`},
	} {
		got := ""
		if v, err := ParseLiteral(c.text); err != nil {
			got = "error: " + err.Error()
		} else {
			got = Literal(v)
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestParseTextRefuses(t *testing.T) {
	for _, c := range []struct {
		t          Type
		text, want string
	}{
		{IntType, "", "expected int, found nothing"},
		{IntType, " 1", `expected int, found " 1"`},
		{IntType, "+1", `expected int, found "+1"`},
		{IntType, "1.0", `expected int, found "1.0"`},
		{IntType, "-", `expected int, found "-"`},
		{IntOf(16), "40000", `expected int[16], found "40000": the range is -32768 to 32767`},
		{UintOf(8), "-1", `expected uint[8], found "-1": the range is 0 to 255`},
		{UintType, "18446744073709551616",
			`expected uint, found "18446744073709551616": the range is 0 to 18446744073709551615`},
		{DecimalOf(2), "1.234",
			`expected decimal[18,2], found "1.234": more than 2 digits after the point`},
		{DecimalOf(1), "1.25",
			`expected decimal[18,1], found "1.25": more than 1 digit after the point`},
		{DecimalOf(2), "1.",
			`expected decimal[18,2], found "1.": write digits, a point and digits`},
		{DecimalOf(2), ".5",
			`expected decimal[18,2], found ".5": write digits, a point and digits`},
		{DecimalOf(2), "1e3",
			`expected decimal[18,2], found "1e3": write digits, a point and digits`},
		{DecimalOf(2), "92233720368547758.08",
			`expected decimal[18,2], found "92233720368547758.08": the number has more digits than 64 bits hold`},
		{FloatType, "0x1p3", `expected float, found "0x1p3"`},
		{FloatType, "1_0", `expected float, found "1_0"`},
		{FloatType, "Infinity", `expected float, found "Infinity"`},
		{BooleanType, "TRUE", `expected boolean, found "TRUE": write true or false`},
		{DatetimeType, "1998-9-2",
			`expected datetime, found "1998-9-2": write 2006-01-02 or 2006-01-02T15:04:05Z`},
		{DatetimeType, "1998-13-02",
			`expected datetime, found "1998-13-02": there is no such date or time`},
		{DatetimeType, "1998-09-02T24:00:00Z",
			`expected datetime, found "1998-09-02T24:00:00Z": there is no such date or time`},
		{DatetimeType, "1998-09-02T10:00:00.1234567Z",
			`expected datetime, found "1998-09-02T10:00:00.1234567Z": the fraction has one to six digits`},
		{StringType, "\xff", "expected string, but the text is not valid UTF-8"},
		{IntType, strings.Repeat("x", 50),
			`expected int, found "` + strings.Repeat("x", 40) + `..."`},
	} {
		_, err := ParseText(c.t, c.text)
		if fmt.Sprint(err) != c.want {
			t.Errorf("%s %q:\n got %v\nwant %s", c.t, c.text, err, c.want)
		}
	}
	for _, c := range []struct {
		t    Type
		text string
		want Value
	}{
		{DecimalOf(2), "1.500", OfDecimal(2, 150)},
		{DecimalOf(2), "-7", OfDecimal(2, -700)},
		{DecimalOf(0), "7.0", OfDecimal(0, 7)},
		{DecimalOf(2), "-92233720368547758.08", OfDecimal(2, math.MinInt64)},
		{DatetimeType, "1998-09-02 10:00:00", OfDatetime(904730400_000_000)},
		{FloatType, "-0", OfFloat(FloatType, 0)},
		{IntType, "007", OfInt(IntType, 7)},
	} {
		if got, err := ParseText(c.t, c.text); err != nil || got != c.want {
			t.Errorf("%s %q: got %s, %v; want %s", c.t, c.text, Literal(got), err, Literal(c.want))
		}
	}
}

func TestParsingDoesNotAllocate(t *testing.T) {
	fields := []struct {
		t    Type
		text []byte
	}{{IntType, []byte("-123456")}, {DecimalOf(2), []byte("901.00")}, {DatetimeType,
		[]byte("1998-09-02")}, {BooleanType, []byte("true")}, {FloatType, []byte("0.125")}}
	buffer := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() {
		for _, f := range fields {
			word, err := ParseBits(f.t, f.text)
			if err != nil {
				t.Fatal(err)
			}
			buffer = AppendBits(buffer[:0], f.t, word)
		}
	}); n != 0 {
		t.Errorf("parsing and formatting five fields allocates %g times", n)
	}
}

func TestCompareIsATotalOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, ty := range allTypes {
		for range 2_000 {
			a, b, c := randomValue(r, ty), randomValue(r, ty), randomValue(r, ty)
			if Compare(a, b) != -Compare(b, a) || (Compare(a, b) == 0) != (a == b) ||
				Compare(a, a) != 0 {
				t.Fatalf("%s and %s are ordered inconsistently", Literal(a), Literal(b))
			}
			if Compare(a, b) <= 0 && Compare(b, c) <= 0 && Compare(a, c) > 0 {
				t.Fatalf("the order of %s, %s, %s is not transitive", Literal(a), Literal(b),
					Literal(c))
			}
		}
	}
}

func FuzzParseLiteral(f *testing.F) {
	for _, seed := range []string{"12", "12:int[8]", "1.50", "12d", "1.5f", "1e3", `"a\u00e9"`,
		"true", "#1998-09-02T10:00:00.5Z#", "inf:float"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := ParseLiteral(s)
		if err != nil {
			return
		}
		if back, err := ParseLiteral(Literal(v)); err != nil || back != v {
			t.Fatalf("%q is read as %s, which is read as %s, %v", s, Literal(v), Literal(back), err)
		}
	})
}

func FuzzParseText(f *testing.F) {
	for i, seed := range []string{"true", "-128", "65535", "1.5", "0.01", "1998-09-02T10:00:00.5Z",
		"é"} {
		f.Add(uint8(i), seed)
	}
	f.Fuzz(func(t *testing.T, which uint8, s string) {
		ty := allTypes[int(which)%len(allTypes)]
		v, err := ParseText(ty, s)
		if err != nil {
			return
		}
		if back, err := ParseText(ty, Format(v)); err != nil || back != v || v.Type != ty {
			t.Fatalf("%q is read as %s, which is written %s and read as %s, %v", s, Literal(v),
				Format(v), Literal(back), err)
		}
	})
}
