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
	a := Read(files)
	a.Check(opts)
	return a.Program, a.Trees, a.Found
}

// Analysis is what the front end finds out about the files of a program.
type Analysis struct {
	// Trees has the files as they are written, Resolved the same files with
	// one name for each predicate and without block clauses. Check adds those
	// of inactive blocks and changes no tree.
	Trees, Resolved []*ast.File
	// Program is nil if there are errors. Found is sorted. Check sets both.
	Program *core.Program
	Found   []*diag.Diagnostic

	list     diag.List
	names    blocks.Names
	inactive []*source.File
}

// Mentions lists the predicates that parts of block clauses name. The trees in
// Resolved have no block clauses.
func (a *Analysis) Mentions() []blocks.Mention { return a.names.Mentions() }

// Blocks lists the places that name blocks.
func (a *Analysis) Blocks() []blocks.BlockMention { return a.names.Blocks() }

// Read parses the files of a program and finds out which predicate each name
// stands for.
func Read(files []*source.File) *Analysis {
	a := &Analysis{}
	active, inactive := project.Split(files, &a.list)
	a.inactive = inactive
	a.Trees = make([]*ast.File, len(active))
	for i, f := range active {
		a.Trees[i] = read(f, &a.list)
	}
	a.Resolved, a.names = blocks.Names{}.Resolve(a.Trees, &a.list)
	return a
}

// Check turns what was read into a core program.
func (a *Analysis) Check(opts Options) {
	resolved := a.Resolved
	a.Program = sema.Check(delta.Rewrite(resolved, &a.list), opts, &a.list)
	if a.Program != nil && len(a.inactive) > 0 {
		a.steps(installed(resolved, a.names, a.Program), opts)
	} else {
		for _, f := range a.inactive {
			tree := read(f, &a.list)
			a.Trees, a.Resolved = append(a.Trees, tree), append(a.Resolved, tree)
		}
	}
	if a.list.HasErrors() {
		a.Program = nil
	}
	addPaths(a.Program, a.names)
	a.Found = a.list.All()
}

// addPaths gives the predicates of a program the paths of their blocks.
func addPaths(program *core.Program, names blocks.Names) {
	if program == nil {
		return
	}
	paths := names.Paths()
	for _, p := range program.Preds {
		p.Path = paths[p.Name]
	}
}

// steps checks the inactive blocks of a program as transactions.
func (a *Analysis) steps(w *Workspace, opts Options) {
	opts.Names = nil
	for _, f := range a.inactive {
		step, found := CompileStep(w, []*source.File{f}, Execution, opts)
		a.Trees = append(a.Trees, step.Trees...)
		a.Resolved = append(a.Resolved, step.files...)
		for _, d := range found {
			a.list.Add(d)
		}
	}
}
