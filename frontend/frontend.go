package frontend

import (
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/blocks"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/delta"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/imports"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/project"
	"github.com/redfoxdb/redfox/frontend/sema"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
)

// Options holds what the front end cannot see in the text.
type Options = sema.Options

// NormalForm prints the rules and constraints of a program in normal form,
// before they have types.
func NormalForm(trees []*ast.File) string {
	files, _ := blocks.Names{}.Resolve(trees, &diag.List{})
	return normal.Text(sema.NormalForm(delta.Rewrite(files, &diag.List{})))
}

// read parses a file by the extension of its name.
func read(f *source.File, diags *diag.List) *ast.File {
	if strings.HasSuffix(f.Name, imports.Extension) {
		return imports.File(f, diags)
	}
	return parse.File(f, diags)
}

// Compile turns the files of one program into a core program. The diagnostics
// are sorted; the program is nil if one of them is an error.
func Compile(files []*source.File, opts Options) (*core.Program, []*diag.Diagnostic) {
	program, _, found := CompileTrees(files, opts)
	return program, found
}

// CompileTrees is Compile that also returns the syntax trees, one for each
// file, which are complete as far as the files could be read. A project file
// has no tree; the blocks that it calls inactive are checked and left out of
// the program.
func CompileTrees(
	files []*source.File, opts Options,
) (*core.Program, []*ast.File, []*diag.Diagnostic) {
	var list diag.List
	active, inactive := project.Split(files, &list)
	trees := make([]*ast.File, len(active))
	for i, f := range active {
		trees[i] = read(f, &list)
	}
	resolved, names := blocks.Names{}.Resolve(trees, &list)
	// From here on each predicate has one name.

	program := sema.Check(delta.Rewrite(resolved, &list), opts, &list)
	if len(inactive) == 0 {
		return program, trees, list.All()
	}
	if program == nil {
		for _, f := range inactive {
			trees = append(trees, read(f, &list))
		}
		return nil, trees, list.All()
	}
	w := installed(resolved, names, program)
	for _, f := range inactive {
		step, found := CompileStep(w, []*source.File{f}, Execution, opts)
		trees = append(trees, step.Trees...)
		for _, d := range found {
			list.Add(d)
		}
	}
	if list.HasErrors() {
		program = nil
	}
	return program, trees, list.All()
}
