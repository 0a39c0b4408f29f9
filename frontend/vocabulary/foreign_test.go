package vocabulary

import (
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

func TestOfForeign(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range ForeignNames {
		if (f.Here == "") == (f.Help == "") {
			t.Errorf("%v has neither a text nor a sentence, or both", f.Names)
		}
		if name, _, _ := strings.Cut(f.Here, "["); f.Here != "" && !scalar.IsBuiltin(name) {
			t.Errorf("%v: there is no function %s", f.Names, name)
		}
		for _, name := range f.Names {
			if seen[name] || name != strings.ToLower(name) {
				t.Errorf("%s is there twice, or not in lower case", name)
			}
			seen[name] = true
		}
	}
	for _, c := range []struct{ name, help string }{
		{"STRLEN", "write string:length[s]"},
		{"Year", `write datetime:part[s, "year"]`},
		{"upper", "write string:upper[s]"},
		{"cat", `texts are joined by +, as in "a" + s`},
		{"unknown", ""},
	} {
		if help, _ := OfForeign(c.name, "s"); help != c.help {
			t.Errorf("%s: %s", c.name, help)
		}
	}
}
