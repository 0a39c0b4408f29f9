package scalar

import (
	"slices"
	"strings"
	"testing"
)

// call evaluates "name[literal, ...]" and returns the literal of the result, ""
// where there is none.
func call(t *testing.T, text string) string {
	t.Helper()
	name, rest, _ := strings.Cut(text, "[")
	var args []Value
	for rest = strings.TrimPrefix(rest, " "); rest != "]"; {
		v, n, err := ScanLiteral(rest)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		args = append(args, v)
		rest = strings.TrimPrefix(rest[n:], ", ")
	}
	types := make([]Type, len(args))
	for i, a := range args {
		types[i] = a.Type
	}
	sig, err := Resolve(name, types)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for i, p := range sig.Params {
		if types[i] == p {
			continue
		}
		if !CanWiden(types[i], p) {
			t.Fatalf("%s: argument %d of type %s does not widen to %s", text, i, types[i], p)
		}
		var ok bool
		if args[i], ok = funcConvert.Eval(p, args[i:i+1]); !ok {
			return ""
		}
		types[i] = p
	}
	v, ok := sig.Func.Eval(sig.Result, args)
	if !ok {
		if !sig.Func.MayFail(sig.Result, types) {
			t.Errorf("%s has no value, but MayFail says that it always has", text)
		}
		return ""
	}
	if v.Type != sig.Result {
		t.Errorf("%s is of type %s, but resolution says %s", text, v.Type, sig.Result)
	}
	return Literal(v)
}

func TestExamples(t *testing.T) {
	for _, f := range Funcs() {
		if f.Doc == "" || !strings.HasSuffix(f.Doc, ".") || len(f.Examples) == 0 && !f.Volatile ||
			len(f.Forms) == 0 {
			t.Errorf("%s lacks a sentence, a form or an example", f.Name)
		}
		for _, form := range f.Forms {
			if form != "" && len(strings.Split(form, ", ")) != f.arity {
				t.Errorf("%s: the form %s does not have %d arguments", f.Name, form, f.arity)
			}
		}
		for _, example := range f.Examples {
			if Lookup(strings.Split(example[0], "[")[0]) != f {
				t.Errorf("%s is no example of %s", example[0], f.Name)
			}
			if got := call(t, example[0]); got != example[1] {
				t.Errorf("%s = %s, want %s", example[0], got, example[1])
			}
		}
	}
}

func TestNames(t *testing.T) {
	names := Names()
	if !slices.IsSorted(names) {
		t.Error("the names are not sorted")
	}
	for _, name := range names {
		if Lookup(name) == nil || !IsBuiltin(name) {
			t.Errorf("%s is listed but not found", name)
		}
	}
	for _, name := range []string{"int:add", "int:mod", "float:max", "string:like",
		"int:string:convert", "datetime:part", "boolean:xor"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not listed", name)
		}
	}
	for _, name := range []string{"add", "int8:add", "int64:string:convert"} {
		if slices.Contains(names, name) {
			t.Errorf("%s is listed", name)
		}
		if Lookup(name) == nil {
			t.Errorf("%s is not found", name)
		}
	}
	if IsBuiltin("min") || IsBuiltin("int:frobnicate") || !IsBuiltin("int:range") {
		t.Error("IsBuiltin is wrong about min, int:frobnicate or int:range")
	}
}

func TestResolve(t *testing.T) {
	parse := func(list string) (out []Type) {
		for name := range strings.FieldsSeq(list) {
			ty, ok := ParseType(name)
			if !ok {
				t.Fatalf("no type %s", name)
			}
			out = append(out, ty)
		}
		return out
	}
	for _, c := range []struct{ name, args, want string }{
		{"add", "int int", "int int = int"},
		{"add", "int[8] int[32]", "int[32] int[32] = int[32]"},
		{"add", "uint[8] int[16]", "int[16] int[16] = int[16]"},
		{"add", "uint[32] int", "int int = int"},
		{"add", "uint int", "int int = int"},
		{"mul", "uint[8] int[8]", "int[16] int[16] = int[16]"},
		{"div", "int[32] uint[32]", "int int = int"},
		{"lt", "uint int[8]", "decimal[38,0] decimal[38,0] = boolean"},
		{"lt", "uint[32] int[32]", "int int = boolean"},
		{"eq", "int uint", "decimal[38,0] decimal[38,0] = boolean"},
		{"int:min", "int uint", "int int = int"},
		{"max", "uint int", "int int = int"},
		{"bitand", "uint int[8]", "int int = int"},
		{"shl", "int[8] uint", "int[8] int = int[8]"},
		{"string:chr", "uint", "int = string"},
		{"add", "string int",
			"error: + has no form for string and int; it has number + number and string + string"},
		{"add", "int decimal[18,2]", "decimal[18,2] decimal[18,2] = decimal[18,2]"},
		{"add", "decimal[18,4] decimal[18,2]", "decimal[18,4] decimal[18,4] = decimal[18,4]"},
		{"mul", "decimal[18,4] decimal[18,2]", "decimal[18,4] decimal[18,2] = decimal[18,6]"},
		{"mul", "int decimal[18,2]", "decimal[18,0] decimal[18,2] = decimal[18,2]"},
		{"mul", "decimal[18,10] decimal[18,9]",
			"error: the result of decimal[18,10] * decimal[18,9] would have 19 digits after the point; a decimal has at most 18"},
		{"div", "decimal[18,2] decimal[18,8]", "decimal[18,2] decimal[18,8] = decimal[18,8]"},
		{"div", "decimal[18,2] int", "decimal[18,2] decimal[18,0] = decimal[18,6]"},
		{"div", "int int", "int int = int"},
		{"div", "decimal[18,2] float", "float float = float"},
		{"div", "boolean int", "error: / has no form for boolean and int; it has number / number"},
		{"mul", "float[32] int", "float[32] float[32] = float[32]"},
		{"mul", "float[32] float", "float float = float"},
		{"lt", "int decimal[18,2]", "decimal[18,2] decimal[18,2] = boolean"},
		{"lt", "string int", "error: < has no form for string and int; it has any < any"},
		{"eq", "boolean boolean", "boolean boolean = boolean"},
		{"neg", "uint", "error: - has no form for uint; it has -int and -decimal and -float"},
		{"int:mod", "int decimal[18,2]",
			"error: int:mod has no form for int and decimal[18,2]; it has int:mod[int, int]"},
		{"int32:add", "int[8] int[16]", "int[32] int[32] = int[32]"},
		{"int32:add", "int int",
			"error: int32:add has no form for int and int; it has int32:add[int32, int32]"},
		{"float:add", "int int", "float float = float"},
		{"decimal:add", "int decimal[18,2]", "decimal[18,2] decimal[18,2] = decimal[18,2]"},
		{"decimal:int:multiply", "decimal[18,2] int",
			"decimal[18,2] decimal[18,0] = decimal[18,2]"},
		{"float:sqrt", "int", "float = float"},
		{"float:sqrt", "float[32]", "float[32] = float[32]"},
		{"float:pow", "float decimal", "float float = float"},
		{"float:sqrt", "string",
			"error: float:sqrt has no form for string; it has float:sqrt[float]"},
		{"string:length", "string string",
			"error: string:length takes 1 argument, not 2: it has string:length[string]"},
		{"int:shl", "int[8] int", "int[8] int = int[8]"},
		{"datetime:part", "datetime string", "datetime string = int"},
		{"int:string:convert", "int[8]", "int[8] = string"},
		{"int32:string:convert", "int", "error: int32:string:convert takes int[32], not int"},
		{"string:int32:convert", "string", "string = int[32]"},
		{"decimal:float:convert", "decimal[18,2]", "decimal[18,2] = float"},
		{"decimal:float:convert", "int", "decimal[18,0] = float"},
		{"string:int:convert", "int", "error: string:int:convert takes string, not int"},
		{"int:frobnicate", "int", "error: there is no function int:frobnicate"},
	} {
		got := ""
		sig, err := Resolve(c.name, parse(c.args))
		if err != nil {
			got = "error: " + err.Error()
		} else {
			for _, p := range sig.Params {
				got += p.String() + " "
			}
			got += "= " + sig.Result.String()
		}
		if got != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.name, c.args, got, c.want)
		}
	}
}

func TestCheckFindsCertainFailures(t *testing.T) {
	text := func(s string) *Value { v := OfString(s); return &v }
	num := func(n int64) *Value { v := OfInt(IntType, n); return &v }
	for _, c := range []struct {
		name string
		args []*Value
		want string
	}{
		{"div", []*Value{nil, num(0)}, "division by zero has no value"},
		{"div", []*Value{num(0), num(1)}, ""},
		{"div", []*Value{num(0), nil}, ""},
		{"datetime:part", []*Value{nil, text("yeer")},
			`"yeer" is no part of a datetime; use year, quarter, month, day, hour, minute, second, millisecond, microsecond, dayofweek or dayofyear`},
		{"datetime:add", []*Value{nil, nil, text("fortnights")},
			`"fortnights" is no unit of time; use years, quarters, months, weeks, days, hours, minutes, seconds, milliseconds or microseconds`},
		{"datetime:add", []*Value{nil, nil, text("months")}, ""},
		{"datetime:format", []*Value{nil, text("%Z")},
			"%Z is no directive of a datetime's format; there are %Y %y %m %b %B %d %a %A %H %I %M %S %p %j %Q %s %F %f %%"},
		{"string:like", []*Value{nil, text(`a\`)},
			`the pattern ends in a lone backslash; write \\ for a backslash`},
		{"int:shl", []*Value{nil, num(-1)},
			"a shift by -1 has no value; the count must not be negative"},
	} {
		got := ""
		if err := Lookup(c.name).Check(c.args); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
