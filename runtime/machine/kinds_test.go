package machine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/weaver/target"
)

// TestKinds holds the list of engines against the packages and targets that it
// names.
func TestKinds(t *testing.T) {
	for _, k := range append(slices.Clone(Kinds), Joint) {
		if _, err := os.Stat(filepath.Join("..", "..", k.Package, "doc.go")); err != nil {
			t.Errorf("engine %s: %v", k.Name, err)
		}
		if _, ok := target.Parse(k.Target); k.Target != "" && !ok {
			t.Errorf("engine %s: there is no target %q", k.Name, k.Target)
		}
		if err := CheckEngine(k.Name); err != nil {
			t.Error(err)
		}
	}
	if err := CheckEngine("cpi"); err == nil ||
		err.Error() != `no engine is called "cpi"; did you mean cpu?` {
		t.Errorf("got %v", err)
	}
}
