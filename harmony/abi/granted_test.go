package abi

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestGranted sends what code takes for granted through JSON, and texts that
// are no parameter.
func TestGranted(t *testing.T) {
	want := Granted{
		Words: []GrantedWord{
			{Param{ColumnWidth, "edge", 1}, 4}, {Param{Kind: ValuesBase}, 0},
			{Param{Kind: SetForm, Var: "block"}, 2},
			{Param{Kind: GroupSize, Var: "odd name\n"}, -1 << 63},
		},
		Ranges: []GrantedRange{{"k0_k1", 3, -5, 1 << 62}},
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Granted
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s becomes %v, %v", text, got, err)
	}
	for _, text := range []string{"", "nothing edge", "column_width edge 1 2", "column_width\nedge",
		"column_width edge -1"} {
		var p Param
		if err := p.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken for %v", text, p)
		}
	}
}
