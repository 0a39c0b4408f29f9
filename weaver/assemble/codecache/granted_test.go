package codecache

import (
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

// TestGrantsLists has code for all facts refuse facts whose groups are lists,
// which only code that was made for lists can fill.
func TestGrantsLists(t *testing.T) {
	graph, err := harmony.Parse("test.harmony", `relation e(x: int) input "e"
groups g(x: int; n: int = count())
block b:
  run k
    rows e
    v0: int = load x
    group g [v0] count()
  halt
`)
	if err != nil {
		t.Fatal(err)
	}
	form := abi.Param{Kind: abi.GroupForm, Var: "g"}
	for _, is := range []abi.Form{abi.Hash, abi.Ordered} {
		k := Knowledge{Fix: func(_ string, p abi.Param) (int64, bool) {
			return int64(is), p == form
		}}
		made := abi.Granted{Words: []abi.GrantedWord{{Param: form, Word: int64(is)}}}
		if err := k.Grants(graph, made); err != nil {
			t.Errorf("code for %v: %v", is, err)
		}
		if err := k.Grants(graph, abi.Granted{}); (err != nil) != (is == abi.Ordered) {
			t.Errorf("code for all facts where the form is %v: %v", is, err)
		}
	}
}
