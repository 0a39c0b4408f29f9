package queryplan

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestKeys runs testdata/keys: "keys" prints the keys of the operator under
// each check; "determines from=(x, y) to=(z)" prints whether the one follows
// from the other, and "keeps var=f" whether f needs no check of its key, and
// whether its tuples may repeat, so that it needs a set.
func TestKeys(t *testing.T) {
	header := ""
	datadriven.RunTest(t, "testdata/keys", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "vars" {
			header = d.Input + "\n"
			return ""
		}
		if d.Cmd == "keeps" {
			return keeps(t, d, header+d.Input)
		}
		vars, err := Parse("vars.plan", header)
		if err != nil {
			t.Fatal(err)
		}
		n, err := ParseNode("test.plan", d.Input, vars.Vars)
		if err == nil {
			_, err = VerifyNode(n)
		}
		if err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		if d.Cmd == "determines" {
			var from, to []string
			for _, arg := range d.CmdArgs {
				if arg.Key == "from" {
					from = arg.Vals
				} else {
					to = arg.Vals
				}
			}
			return fmt.Sprintln(Determines(n, from, to))
		}
		keys := Keys(n)
		if keys == nil {
			return "may repeat\n"
		}
		return fmt.Sprintln(keys)
	})
}

func keeps(t *testing.T, d *datadriven.TestData, text string) string {
	p, err := Parse("test.plan", text)
	if err == nil {
		err = Verify(p)
	}
	if err != nil {
		t.Fatalf("%s: %v", d.Pos, err)
	}
	var name string
	d.ScanArgs(t, "var", &name)
	for _, v := range p.Vars {
		if v.Name == name {
			return fmt.Sprintf("%t, needs a set: %t\n", KeepsKey(p, v), NewFlow(p).NeedsSet(v))
		}
	}
	t.Fatalf("%s: no variable %s", d.Pos, name)
	return ""
}
