package lint

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// mostNames bounds the names that the root package exports: what its godoc
// lists on two screens.
const mostNames = 61

// TestAPI wants the documentation of the root package to be complete by itself:
// its exported declarations mention no type of another package of this module,
// as an alias, in a field or in a signature.
func TestAPI(t *testing.T) {
	names := 0
	for _, f := range ownFiles(t) {
		if f.Package() != "." || f.Test() {
			continue
		}
		own := map[string]bool{}
		for _, imported := range f.Imports() {
			if _, ok := ownPackage(imported); ok {
				own[imported[strings.LastIndex(imported, "/")+1:]] = true
			}
		}
		foreign := func(at string, n ast.Node) {
			ast.Inspect(n, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := s.X.(*ast.Ident); ok && own[x.Name] {
					t.Errorf("%s: exported %s mentions %s.%s", f.Path, at, x.Name, s.Sel.Name)
				}
				return true
			})
		}
		for _, d := range f.Syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				exported := d.Name.IsExported()
				if d.Recv != nil {
					exported = exported && ast.IsExported(receiver(d.Recv.List[0].Type))
				} else if exported {
					names++
				}
				if exported {
					foreign(d.Name.Name, d.Type)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					names += exportedSpec(spec, foreign)
				}
			}
		}
	}
	if names == 0 || names > mostNames {
		t.Errorf("the root package exports %d names, at most %d", names, mostNames)
	}
}

// exportedSpec calls check with what a specification exports, and returns how
// many names these are.
func exportedSpec(spec ast.Spec, check func(string, ast.Node)) int {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if !spec.Name.IsExported() {
			return 0
		}
		fields, ok := spec.Type.(*ast.StructType)
		if !ok {
			check(spec.Name.Name, spec.Type)
			return 1
		}
		for _, f := range fields.Fields.List {
			if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
				check(spec.Name.Name, f.Type)
			}
		}
		return 1
	case *ast.ValueSpec:
		n := 0
		for _, name := range spec.Names {
			if name.IsExported() {
				check(name.Name, spec)
				n++
			}
		}
		return n
	}
	return 0
}
