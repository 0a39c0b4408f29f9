package source

import (
	"strings"
	"testing"
)

func TestPosition(t *testing.T) {
	f := NewFile("f", "ab\nçd\r\n\nx")
	for _, test := range []struct{ offset, line, column int }{
		{0, 1, 1}, {2, 1, 3}, {3, 2, 1}, {5, 2, 2}, {6, 2, 3}, {8, 3, 1}, {9, 4, 1}, {10, 4, 2},
	} {
		if p := f.Position(test.offset); p != (Position{"f", test.line, test.column}) {
			t.Errorf("offset %d is at %d:%d, want %d:%d", test.offset, p.Line, p.Column, test.line,
				test.column)
		}
	}
	for i, want := range []string{"ab", "çd", "", "x"} {
		if got := f.Line(i + 1); got != want {
			t.Errorf("line %d is %q, want %q", i+1, got, want)
		}
		if p := f.Position(f.LineStart(i + 1)); p.Line != i+1 || p.Column != 1 {
			t.Errorf("line %d starts at %d:%d", i+1, p.Line, p.Column)
		}
	}
	if f.Lines() != 4 {
		t.Errorf("%d lines, want 4", f.Lines())
	}
}

func TestLinesOfFilesThatEndInALineBreak(t *testing.T) {
	for text, want := range map[string]int{"": 1, "a": 1, "a\n": 2, "\n\n": 3} {
		f := NewFile("f", text)
		if f.Lines() != want {
			t.Errorf("%q has %d lines, want %d", text, f.Lines(), want)
		}
		if f.Line(f.Lines()) != text[f.LineStart(f.Lines()):] {
			t.Errorf("last line of %q is %q", text, f.Line(f.Lines()))
		}
	}
}

func TestSpan(t *testing.T) {
	f, g := NewFile("f", "hello world"), NewFile("g", "hello")
	hello, world := Span{f, 0, 5}, Span{f, 6, 11}
	for _, test := range []struct {
		name      string
		got, want Span
	}{
		{"forward", hello.To(world), Span{f, 0, 11}},
		{"backward", world.To(hello), Span{f, 0, 11}},
		{"from nowhere", Span{}.To(world), world},
		{"to nowhere", hello.To(Span{}), hello},
		{"to another file", hello.To(Span{g, 0, 1}), hello},
	} {
		if test.got != test.want {
			t.Errorf("%s: %v, want %v", test.name, test.got, test.want)
		}
	}
	if world.Text() != "world" || (Span{}).Text() != "" {
		t.Error("Text is wrong")
	}
	if !hello.IsValid() || (Span{}).IsValid() || (Span{}).Position() != (Position{}) {
		t.Error("the zero span points somewhere")
	}
}

// TestLineMarkers follows the line markers of the C preprocessor.
func TestLineMarkers(t *testing.T) {
	text := "one\n# 1 \"x.logic\" 1\ntwo\nthree\n  #line 20\nfour\n# 7 \"y z.logic\"\n" +
		"five\n# no marker\nsix"
	f := NewFile("f", text)
	for _, test := range []struct {
		word string
		want Position
	}{
		{"one", Position{"f", 1, 1}}, {"two", Position{"x.logic", 1, 1}},
		{"three", Position{"x.logic", 2, 1}}, {"four", Position{"x.logic", 20, 1}},
		{"five", Position{"y z.logic", 7, 1}}, {"six", Position{"y z.logic", 9, 1}},
	} {
		if p := f.Position(strings.Index(text, test.word)); p != test.want {
			t.Errorf("%s is at %v, want %v", test.word, p, test.want)
		}
	}
}
