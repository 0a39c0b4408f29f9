package lint

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestNestedModule wants the nested module of gorgonia.org/cu, which few build,
// to require the modules that redfox-selftest is built from, in the versions of
// this module.
func TestNestedModule(t *testing.T) {
	const nested = "internal/cuda/gorgonia"
	required, err := os.ReadFile(root + "/" + nested + "/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("go", "list", "-deps",
		"-f", "{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}{{end}}{{end}}",
		"./cmd/redfox-selftest")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "" {
			modules[line] = true
		}
	}
	if len(modules) < 10 {
		t.Fatalf("redfox-selftest is built from %d modules only", len(modules))
	}
	for m := range modules {
		if !strings.Contains(string(required), "\t"+m+" ") {
			t.Errorf("%s/go.mod does not require %s; go mod tidy there adds it", nested, m)
		}
	}
}
