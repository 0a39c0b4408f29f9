package harmony

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// TestText runs testdata/text: a program parses, verifies and is printed, with
// its lifetimes if that is asked for. Its plain text has to parse to the same
// program again.
func TestText(t *testing.T) {
	datadriven.RunTest(t, "testdata/text", func(t *testing.T, d *datadriven.TestData) string {
		p, err := Parse("test.harmony", d.Input)
		if err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		if err := Verify(p); err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		text := p.String()
		again, err := Parse("again.harmony", text)
		if err != nil {
			t.Fatalf("the printed text does not parse: %v\n%s", err, text)
		}
		if !equal(p, again) || again.String() != text {
			t.Errorf("the program changes when it is printed and parsed:\n%s\n%s", text, again)
		}
		if c := Clone(p); !equal(p, c) || Verify(c) != nil {
			t.Errorf("the clone differs:\n%s\n%s", text, c)
		}
		return p.Format(FormatOptions{Lifetimes: d.HasArg("lifetimes")})
	})
}

// TestErrors runs testdata/errors: each program fails, in parsing or in
// verification.
func TestErrors(t *testing.T) {
	datadriven.RunTest(t, "testdata/errors", func(t *testing.T, d *datadriven.TestData) string {
		p, err := Parse("test.harmony", d.Input)
		if err == nil {
			err = Verify(p)
		}
		if err == nil {
			t.Fatalf("%s: no error", d.Pos)
		}
		return err.Error() + "\n"
	})
}

// equal compares programs by structure: pointers have to lead to equal things,
// and the same pointer of one program always to the same of the other. Spans
// are left out, also where they differ in a nil file.
func equal(p, q *Program) bool {
	pairs := map[[2]uintptr]bool{}
	left, right := map[uintptr]uintptr{}, map[uintptr]uintptr{}
	var same func(a, b reflect.Value) bool
	same = func(a, b reflect.Value) bool {
		if a.Kind() != b.Kind() || a.Type() != b.Type() {
			return false
		}
		if a.Type() == reflect.TypeFor[source.Span]() {
			return true
		}
		switch a.Kind() {
		case reflect.Pointer:
			if a.IsNil() || b.IsNil() {
				return a.IsNil() == b.IsNil()
			}
			x, y := a.Pointer(), b.Pointer()
			if a.Elem().Type().PkgPath() == reflect.TypeFor[scalar.Func]().PkgPath() {
				return x == y // a function of package scalar
			}
			if a.Elem().Type().Size() > 0 {
				if to, ok := left[x]; ok && to != y {
					return false
				}
				if to, ok := right[y]; ok && to != x {
					return false
				}
				left[x], right[y] = y, x
			}
			if pairs[[2]uintptr{x, y}] {
				return true
			}
			pairs[[2]uintptr{x, y}] = true
			return same(a.Elem(), b.Elem())
		case reflect.Interface:
			return a.IsNil() == b.IsNil() && (a.IsNil() || same(a.Elem(), b.Elem()))
		case reflect.Slice:
			if a.Len() != b.Len() {
				return false
			}
			for i := range a.Len() {
				if !same(a.Index(i), b.Index(i)) {
					return false
				}
			}
			return true
		case reflect.Struct:
			for i := range a.NumField() {
				switch a.Type().Field(i).Name {
				case "Ops", "Makes", "places": // not in the text
					continue
				}
				if !same(a.Field(i), b.Field(i)) {
					return false
				}
			}
			return true
		}
		return a.Equal(b)
	}
	return same(reflect.ValueOf(p), reflect.ValueOf(q))
}

// FuzzParse holds that no text makes the parser or the verifier panic and that
// what parses is printed to text that parses to the same.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"testdata/text", "testdata/errors"} {
		datadriven.RunTestAny(f, file, func(_ testing.TB, d *datadriven.TestData) string {
			f.Add(d.Input)
			return d.Expected
		})
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse("fuzz.harmony", text)
		if err != nil {
			if _, ok := err.(*SyntaxError); !ok ||
				!strings.HasPrefix(err.Error(), "fuzz.harmony:") {
				t.Fatalf("not a syntax error: %v", err)
			}
			return
		}
		valid := Verify(p) == nil
		printed := p.String()
		again, err := Parse("printed.harmony", printed)
		if err != nil {
			t.Fatalf("%v\n%s", err, printed)
		}
		if !equal(p, again) {
			t.Fatalf("changed:\n%s\n%s", printed, again)
		}
		if (Verify(again) == nil) != valid {
			t.Fatalf("verification changed:\n%s", printed)
		}
		if valid {
			_ = p.Format(FormatOptions{Lifetimes: true})
		}
	})
}
