package hostcode

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/llvm"
)

// sharedIR has two functions of one text, one that differs in a constant, and
// one that calls itself.
const sharedIR = `declare void @llvm.assume(i1 %0) nounwind

define i64 @a(i64 %x, i64 %y) nounwind {
  %z = add i64 %x, 1
  ret i64 %z
}

define i64 @b(i64 %x, i64 %y) nounwind {
  %z = add i64 %x, 1
  ret i64 %z
}

define i64 @c(i64 %x, i64 %y) nounwind {
  %z = add i64 %x, 2
  ret i64 %z
}

define i64 @d(i64 %x, i64 %y) nounwind {
  %z = call i64 @d(i64 %x, i64 %y)
  ret i64 %z
}

define internal i64 @e(i64 %x) nounwind {
  ret i64 %x
}
`

// TestShapes wants functions of one text once, and all else where it can be
// found.
func TestShapes(t *testing.T) {
	all := []string{"a", "b", "c", "d"}
	shapes, rest := shapesOf(sharedIR, all, all)
	var got []string
	for _, s := range shapes {
		got = append(got, fmt.Sprint(s.symbol, s.aliases, s.typ))
	}
	want := []string{"a[b]i64 (i64, i64)", "c[]i64 (i64, i64)", "d[]i64 (i64, i64)"}
	if !slices.Equal(got, want) {
		t.Errorf("shapes %q, want %q", got, want)
	}
	if !strings.Contains(rest, "@llvm.assume") || !strings.Contains(rest, "@e(") ||
		strings.Contains(rest, "@a(") {
		t.Errorf("the rest is\n%s", rest)
	}
	if some, rest := shapesOf(sharedIR, all, all[2:3]); len(some) != 1 || some[0].symbol != "c" ||
		strings.Contains(rest, "@a(") {
		t.Errorf("%d shapes of one function, and\n%s", len(some), rest)
	}
	for cores, want := range map[int]int{1: 1, 2: 2, 64: 3} {
		modules := modulesOf(sharedIR, all, all, cores)
		var symbols []string
		for _, m := range modules {
			symbols = append(symbols, m.symbols...)
		}
		slices.Sort(symbols)
		if len(modules) != want || !slices.Equal(symbols, all) {
			t.Errorf("%d cores: %d modules of %q", cores, len(modules), symbols)
		}
	}
}

// TestSharedCode wants functions of one text under all of their names.
func TestSharedCode(t *testing.T) {
	c, err := Load(Options{Library: open(t)}, sharedIR, []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for symbol, want := range map[string]uintptr{"a": 42, "b": 42, "c": 43} {
		if got := llvm.Call(c.Functions[symbol], 41, 0); got != want {
			t.Errorf("%s gives %d, want %d", symbol, got, want)
		}
	}
	if c.Functions["a"] != c.Functions["b"] {
		t.Error("functions of one text are compiled twice")
	}
}
