package frontend

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/blocks"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/delta"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/project"
	"github.com/redfoxdb/redfox/frontend/sema"
	"github.com/redfoxdb/redfox/frontend/source"
)

// Workspace is what transactions have installed: clauses, and the types of
// predicates.
type Workspace struct {
	delta.Workspace
	names blocks.Names // of the installed predicates
	// inactive are the blocks of the program that only transactions run.
	inactive []*source.File
}

// Inactive returns the file of the inactive block with a name, or nil, and the
// names of all.
func (w *Workspace) Inactive(name string) (file *source.File, names []string) {
	for _, f := range w.inactive {
		for _, b := range blocks.Of(read(f, &diag.List{})) {
			names = append(names, b)
			if b == name || strings.HasSuffix(b, ":"+name) {
				file = f
			}
		}
	}
	return file, names
}

// Clone returns a copy, which transactions change by themselves.
func (w *Workspace) Clone() Workspace {
	return Workspace{Workspace: w.Workspace.Clone(), names: w.names,
		inactive: slices.Clip(w.inactive)}
}

// Deriving returns a copy in which no derived predicate is stored, so that a
// transaction derives those that it reads by their rules. Those with entities
// stay: their numbers are the stored ones.
func (w *Workspace) Deriving() Workspace {
	c := w.Clone()
	c.Restore(slices.DeleteFunc(c.StoredNames(), func(name string) bool {
		p := w.Stored(name)
		return p != nil && w.Derives(name) && p.Numbers == nil && p.Makes == nil &&
			!slices.ContainsFunc(p.Args, func(a core.Arg) bool { return a.Family != nil })
	}))
	return c
}

// installed returns the workspace of a checked program.
func installed(files []*ast.File, names blocks.Names, program *core.Program) *Workspace {
	w := &Workspace{names: names}
	t := w.Transaction(files, Whole, &diag.List{})
	w.Workspace.Commit(files, Whole, t, program, append(t.Changed, t.Kept...))
	return w
}

// Kind is what becomes of the files of a transaction.
type Kind = delta.Kind

// The kinds of transactions.
const (
	Whole     = delta.Program
	Addition  = delta.Addition
	Execution = delta.Execution
	Reading   = delta.Reading
)

// Step is a checked transaction of a workspace.
type Step struct {
	*delta.Transaction
	Program *core.Program // nil if there are errors
	Trees   []*ast.File   // of the transaction's files
	kind    Kind
	files   []*ast.File // Trees with the names that predicates have in the workspace
	names   blocks.Names

	inactive []*source.File
}

// CompileStep compiles the files of a transaction, with what the workspace has
// installed. The diagnostics are about these files, but for errors. Where
// something is wrong as part of a transaction, nothing else is said of it.
func CompileStep(w *Workspace, files []*source.File, kind Kind,
	opts Options) (*Step, []*diag.Diagnostic) {
	var list diag.List
	step, told := &Step{kind: kind}, files
	if kind == Whole || kind == Addition {
		files, step.inactive = project.Split(files, &list)
	}
	for _, f := range files {
		step.Trees = append(step.Trees, read(f, &list))
	}
	step.files, step.names = w.names.Resolve(step.Trees, &list)
	var wrong diag.List
	step.Transaction = w.Transaction(step.files, kind, &wrong)
	for _, d := range wrong.All() {
		list.Add(d)
	}
	opts.Made = w.made()
	read := opts.Held
	opts.Held = func(name string) bool {
		return w.Stored(name) != nil || w.Derives(name) || read != nil && read(name)
	}
	step.Program = sema.Check(step.Files, opts, &list)
	addPaths(step.Program, step.names)
	if step.Program != nil && !step.keepsEntities(w, diag.NewReporter(&list)) {
		step.Program = nil
	}
	if step.Program != nil {
		for _, name := range step.Program.Naming {
			if !slices.Contains(step.Changed, name) {
				step.Changed = append(step.Changed, name)
			}
		}
	}
	found := slices.DeleteFunc(list.All(), func(d *diag.Diagnostic) bool {
		return d.Severity != diag.Error && !slices.Contains(told, d.Span.File) ||
			slices.ContainsFunc(wrong.All(), func(first *diag.Diagnostic) bool {
				return first != d && first.Severity == diag.Error && first.Span == d.Span
			})
	})
	return step, found
}

// Commit enters a step that has succeeded into the workspace. Stored are the
// predicates whose tuples are stored from now on.
func (s *Step) Commit(w *Workspace, stored []string) {
	w.Workspace.Commit(s.files, s.kind, s.Transaction, s.Program, stored)
	if s.kind != Execution {
		w.names = s.names
		w.inactive = append(w.inactive, s.inactive...)
	}
}

// made names the stored predicates that have the numbers of entities.
func (w *Workspace) made() map[string]bool {
	out := map[string]bool{}
	for _, name := range w.StoredNames() {
		if strings.HasSuffix(name, core.MadeSuffix) || strings.HasSuffix(name, core.NamedSuffix) {
			out[name] = true
		}
	}
	return out
}

// keepsEntities leaves predicates of entities that exist within one transaction
// to be derived in each, and reports whether none of them has to be stored:
// their numbers mean nothing to another transaction.
func (s *Step) keepsEntities(w *Workspace, report *diag.Reporter) bool {
	ok := true
	was := map[string]string{} // the family that another one was before, by name
	for _, p := range s.Program.Preds {
		if stored, f := w.Stored(p.Name), p.Family(); stored != nil && f != nil {
			joined := p.Makes != nil && cmp.Or(was[f.Name], w.Family(p.Name)) != w.Family(p.Name)
			if stored.Family() == nil || !f.Lasting || joined {
				s.changesIdentity(w, p, report)
				return false
			}
			if p.Makes != nil {
				was[f.Name] = w.Family(p.Name)
			}
		}
		isPassing := p.Numbers != nil && p.Makes != nil || slices.ContainsFunc(p.Args,
			func(a core.Arg) bool { return a.Family != nil && !a.Family.Lasting })
		if !isPassing {
			continue
		}
		if slices.Contains(s.Changed, p.Name) {
			ok = false
			d := report.Errorf(diag.NumberedEntities, p.Span,
				"%s would have to keep entities that no refmode or constructor identifies", p.Name)
			d.Note("an entity without a name exists within one transaction")
			d.Help("create the entities with a constructor, or derive %s by rules without +", p.Name)
		}
		s.Kept = slices.DeleteFunc(s.Kept, func(name string) bool { return name == p.Name })
	}
	return ok
}

// changesIdentity refuses a declaration that changes what identifies the
// entities in a stored predicate.
func (s *Step) changesIdentity(w *Workspace, p *core.Pred, report *diag.Reporter) {
	f, at := p.Family(), p.Span
	for _, m := range f.Makers {
		if !w.Knows(m.Makes.Name) {
			at = m.Span
		}
	}
	d := report.Errorf(diag.NumberedEntities, at,
		"this changes what identifies the entities of %s, and there are some", f.Name)
	d.Note("%s holds entities that earlier transactions have identified", p.Name)
	d.Help("declare the constructors and subtypes of %s before the first entity", f.Name)
}
