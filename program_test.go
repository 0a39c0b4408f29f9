package redfox

import (
	"bytes"
	"context"
	"reflect"
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
)

// TestReadCompiled runs a program from its compiled file.
func TestReadCompiled(t *testing.T) {
	p := program(t, `
price[item] = p -> string(item), decimal[18,2](p).
dear(item) <- price[item] > 10.0.
_(item, p) <- price[item] = p.
`)
	var file bytes.Buffer
	if _, err := p.program.WriteCompiled(&file, driver.CompiledOptions{Name: "prices",
		Targets: []string{}}); err != nil {
		t.Fatal(err)
	}
	again, err := ReadCompiled("prices.rfx", &file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Predicate{
		{Name: "price", Keys: 1, Columns: []Column{{"item", "string"}, {"p", "decimal[18,2]"}}},
		{Name: "dear", Keys: 1, Columns: []Column{{"item", "string"}}, Derived: true,
			Exported: true},
		{Name: "_", Keys: 2, Columns: []Column{{"item", "string"}, {"p", "decimal[18,2]"}},
			Derived: true, Query: true, Exported: true},
	}
	if got := again.Predicates(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	res, err := again.Run(context.Background(),
		NewFacts().Columns("price", []string{"ink"}, []Decimal{DecimalFromInt(12)}), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Scan[string](res, "dear"); err != nil || len(got) != 1 || got[0] != "ink" {
		t.Errorf("%v, %v", got, err)
	}
	columns, err := res.Columns("_")
	if err != nil || !reflect.DeepEqual(columns, want[2].Columns) {
		t.Errorf("%v, %v", columns, err)
	}
}
