package prepare

import (
	"context"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// combinations returns every string of at most n of the parts.
func combinations(n int, parts ...string) []string {
	out, last := []string{""}, []string{""}
	for range n {
		var next []string
		for _, w := range last {
			for _, p := range parts {
				next = append(next, w+p)
			}
		}
		out = append(out, next...)
		last = next
	}
	return out
}

// TestLikeTables compares tables of patterns with one match after the other, in
// dictionaries in order and in those with strings behind.
func TestLikeTables(t *testing.T) {
	texts := combinations(5, "a", "b", "é")
	slices.Sort(texts)
	sorted, grown := store.NewDict(texts), store.NewDict(texts[:len(texts)/2])
	for _, s := range texts[len(texts)/2:] {
		grown.Intern(s)
	}
	patterns := append(combinations(4, "a", "é", "%", "_"), "%aab%ba%", "a%b%a", "%bbb", `\a%`,
		"éé%b_a%")
	for _, pattern := range patterns {
		for _, name := range []string{"string:like", "string:notlike"} {
			f := Function{scalar.Lookup(name), scalar.BooleanType,
				[]scalar.Value{{}, scalar.OfString(pattern)}, 0}
			call := f.Call()
			for _, dict := range []*store.Dict{sorted, grown} {
				table, err := f.Table(context.Background(), dict, 2, nil)
				if err != nil {
					t.Fatal(err)
				}
				if table.Present != nil || table.Column.Len() != dict.Len() {
					t.Fatalf("%s %q: a table of %d entries, %v", name, pattern, table.Column.Len(),
						table.Present)
				}
				for code := range dict.Len() {
					s := dict.String(uint32(code))
					if want, _ := call(s); table.Column.Word(code) != int64(want.Bits()) {
						t.Fatalf("%s[%q, %q] is %t", name, s, pattern, !want.Bool())
					}
				}
			}
		}
	}
}

// TestTableStops returns the reason for which a run is over.
func TestTableStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, f := range []Function{
		{scalar.Lookup("string:like"), scalar.BooleanType,
			[]scalar.Value{{}, scalar.OfString("%a%")}, 0},
		{scalar.Lookup("string:length"), scalar.IntType, make([]scalar.Value, 1), 0},
	} {
		if _, err := f.Table(ctx, store.NewDict([]string{"a"}), 2, nil); err != context.Canceled {
			t.Errorf("%s: the error is %v", &f, err)
		}
	}
}
