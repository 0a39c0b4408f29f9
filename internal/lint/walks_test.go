package lint

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostSteps bounds the steps of a walk before its last one.
const mostSteps = 12

// walkStep finds a step: "3. `runtime/pool` `Pool.With` keeps the engine...".
// The root package is `redfox`.
var walkStep = regexp.MustCompile("(?m)^([0-9]+)\\. `([a-z/-]+)` `([A-Za-z0-9_.]+)`")

// walks returns the text below each heading of the section Walks.
func walks(t *testing.T) map[string]string {
	t.Helper()
	_, section, found := strings.Cut(string(read(t, "ARCHITECTURE.md")), "\n## Walks\n")
	if !found {
		t.Fatal("ARCHITECTURE.md has no section Walks")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	out := map[string]string{}
	for _, walk := range strings.Split(section, "\n### ")[1:] {
		heading, text, _ := strings.Cut(walk, "\n")
		out[heading] = text
	}
	return out
}

// TestWalks holds every function that a walk of ARCHITECTURE.md names against
// the code.
func TestWalks(t *testing.T) {
	declared := map[string]bool{}
	for _, f := range goFiles(t) {
		if !f.Test() {
			for _, name := range declarations(f.Syntax) {
				declared[f.Package()+" "+name] = true
			}
		}
	}
	for heading, text := range walks(t) {
		steps := walkStep.FindAllStringSubmatch(text, -1)
		if numbered := regexp.MustCompile(`(?m)^[0-9]+\. `).FindAllString(text,
			-1); len(numbered) != len(steps) || len(steps) == 0 {
			t.Errorf("%s: %d of %d steps begin with a package and a function", heading, len(steps),
				len(numbered))
		}
		if len(steps) > mostSteps+1 {
			t.Errorf("%s: %d steps, at most %d", heading, len(steps), mostSteps+1)
		}
		for _, s := range steps {
			pkg := s[2]
			if pkg == "redfox" {
				pkg = "."
			}
			if !declared[pkg+" "+s[3]] {
				t.Errorf("%s, step %s: package %s has no function %s", heading, s[1], s[2], s[3])
			}
		}
	}
}

// declarations lists the functions of a file, and its methods as Type.Method,
// those of interfaces too.
func declarations(file *ast.File) []string {
	var out []string
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiver(d.Recv.List[0].Type) + "." + name
			}
			out = append(out, name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				spec, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				if i, ok := spec.Type.(*ast.InterfaceType); ok {
					for _, m := range i.Methods.List {
						for _, n := range m.Names {
							out = append(out, spec.Name.Name+"."+n.Name)
						}
					}
				}
			}
		}
	}
	return out
}

// receiver returns the name of the type of a receiver.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestDeclarations finds what the walks may name.
func TestDeclarations(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.Path != "runtime/woven/codes.go" {
			continue
		}
		if got := declarations(f.Syntax); !slices.Contains(got, "Codes.Use") {
			t.Errorf("%s declares %v", f.Path, got)
		}
		return
	}
	t.Error("runtime/woven/codes.go is not in the tree")
}
