package delta

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Kind is what becomes of the files of a transaction.
type Kind uint8

// The kinds of transactions.
const (
	Program   Kind = iota // a whole program, which is one transaction
	Addition              // the files are installed
	Execution             // their rules last as long as the transaction
	Reading               // no files; what the installed rules derive
)

// Workspace is what transactions have installed, and what is known of the
// predicates. The zero Workspace is empty.
type Workspace struct {
	files  []*ast.File
	preds  map[string]*core.Pred
	pulses map[string]bool
	// stored has the predicates whose tuples are stored.
	stored map[string]bool
	// families has the family of the numbered entities of a predicate.
	families map[string]string
}

// Knows reports whether a predicate belongs to the workspace.
func (w *Workspace) Knows(name string) bool { return w.preds[name] != nil }

// Stored returns a predicate whose tuples are stored; nil for another one.
func (w *Workspace) Stored(name string) *core.Pred {
	if !w.stored[name] {
		return nil
	}
	return w.preds[name]
}

// Derives reports whether rules of the workspace derive a predicate.
func (w *Workspace) Derives(name string) bool { return w.Knows(name) && w.preds[name].Derived }

// Family returns the name that the family of a predicate's entities had in the
// latest transaction with the predicate.
func (w *Workspace) Family(name string) string { return w.families[name] }

// holds reports whether the tuples of an extensional predicate are stored.
func (w *Workspace) holds(name string) bool {
	return w.stored[name] && w.Knows(name) && !w.preds[name].Derived
}

// Transaction makes the program of a transaction.
func (w *Workspace) Transaction(files []*ast.File, kind Kind, diags *diag.List) *Transaction {
	t := &transaction{
		Reporter: diag.NewReporter(diags),
		model:    model{preds: map[string]*pred{}, pulses: map[string]bool{}},
		ws:       w, kind: kind, changed: map[string]bool{}, affected: map[string]bool{},
		fired: map[string]bool{}, included: map[string]bool{}, derives: map[string]bool{},
		kept: map[string]bool{}, atStart: map[string]bool{}, framed: map[string]bool{},
	}
	for name := range w.pulses {
		t.pulses[name] = true
	}
	t.files = append(t.files, w.files...)
	t.files = append(t.files, files...)
	for _, f := range files {
		t.addPulses(f)
	}
	for i, f := range t.files {
		for _, node := range f.Clauses {
			t.add(node, i, i >= len(w.files))
		}
	}
	t.readEntities()
	for name, known := range w.preds {
		if p := t.preds[name]; p != nil {
			p.arity, p.keys = len(known.Args), known.Keys
		}
	}
	return t.build()
}

// Commit enters a transaction that has succeeded. Program is what its files
// became; stored are the predicates whose tuples are stored from now on.
func (w *Workspace) Commit(files []*ast.File, kind Kind, t *Transaction, program *core.Program,
	stored []string) {
	if w.preds == nil {
		w.preds, w.stored, w.pulses = map[string]*core.Pred{}, map[string]bool{}, map[string]bool{}
		w.families = map[string]string{}
	}
	install := kind == Program || kind == Addition
	m := model{preds: map[string]*pred{}, pulses: w.pulses}
	if install {
		w.files = append(w.files, files...)
		for _, f := range files {
			m.addPulses(f)
		}
	}
	for _, name := range t.Stale {
		delete(w.stored, name)
	}
	for _, name := range stored {
		w.stored[name] = true
	}
	for _, p := range program.Preds {
		if f := p.Family(); f != nil {
			w.families[p.Name] = f.Name
		}
		// A predicate that an executed rule derives is gone.
		isShown := !p.Hidden && !p.Query && (install || w.stored[p.Name])
		hasNumbers := p.Makes != nil || strings.HasSuffix(p.Name, core.NamedSuffix)
		if w.preds[p.Name] == nil && (isShown || hasNumbers && w.stored[p.Name]) {
			w.preds[p.Name] = p
		}
	}
}

// Clone returns a copy, which transactions change by themselves.
func (w *Workspace) Clone() Workspace {
	return Workspace{files: slices.Clip(w.files), preds: maps.Clone(w.preds),
		pulses: maps.Clone(w.pulses), stored: maps.Clone(w.stored),
		families: maps.Clone(w.families)}
}

// Restore sets the names of the predicates whose tuples are stored.
func (w *Workspace) Restore(stored []string) {
	w.stored = map[string]bool{}
	for _, name := range stored {
		w.stored[name] = true
	}
}

// HasTypesOf reports whether a workspace that this one has become knows the
// same predicates, with the same entities.
func (w *Workspace) HasTypesOf(later *Workspace) bool {
	return len(w.preds) == len(later.preds) && maps.Equal(w.families, later.families)
}

// StoredNames lists the predicates whose tuples are stored, sorted.
func (w *Workspace) StoredNames() []string { return slices.Sorted(maps.Keys(w.stored)) }

// declarations declares the predicates of earlier transactions that no clause
// of the program gives types.
func (t *transaction) declarations() *ast.File {
	declared := map[string]bool{}
	for _, c := range t.clauses {
		if c.live && t.isDeclaration(c) {
			for _, r := range c.reads {
				declared[r.name()] = true
				if _, ok := atomOf(c.node.Left); ok {
					break
				}
			}
		}
	}
	var text strings.Builder
	for _, p := range t.order {
		known := t.ws.preds[p.name]
		if known == nil || !t.included[p.name] || declared[p.name] {
			continue
		}
		names, types := make([]string, len(known.Args)), make([]string, len(known.Args))
		for i, a := range known.Args {
			names[i], types[i] = a.Name, cmp.Or(a.Entity, a.Type.String())+"("+a.Name+")"
		}
		text.WriteString(core.AtomText(p.name, known.Keys, names) + " -> " +
			strings.Join(types, ", ") + ".\n")
	}
	if text.Len() == 0 {
		return nil
	}
	f := parse.File(source.NewFile("<workspace>", text.String()), t.List)
	for _, c := range f.Clauses {
		// Messages show the predicate where the program first has it.
		if a, ok := atomOf(c.Left); ok {
			at := t.ws.preds[a.apply.Name.Text].Span
			a.apply.Span, a.apply.Name.Span = at, at
		}
	}
	return f
}

// isDeclaration reports whether a constraint only gives a predicate types.
func (t *transaction) isDeclaration(c *clause) bool {
	if c.kind != constraint || len(c.reads) == 0 || c.node.Arrow != ast.Constraint {
		return false
	}
	rest := c.reads[1:]
	if _, ok := atomOf(c.node.Left); !ok {
		// E(x), E:id(x:v) -> string(v).
		if len(rest) == 0 || !t.types[c.reads[0].name()] ||
			len(t.parts[c.reads[0].name()]) == 0 {
			return false
		}
		rest = rest[1:]
	}
	for _, r := range rest {
		if !scalar.IsPrimitive(r.name()) && !t.types[r.name()] {
			return false
		}
	}
	return true
}

// isOfEntities reports whether a declaration is about entities. Those are part
// of every program: they decide what stands for an entity.
func (t *transaction) isOfEntities(c *clause) bool {
	return len(t.types) > 0 && t.isDeclaration(c) &&
		slices.ContainsFunc(c.reads, func(r read) bool { return t.types[r.name()] })
}

// describe includes the declarations and directives of what is included.
func (t *transaction) describe() {
	for _, c := range t.clauses {
		switch {
		case c.live:
		case c.kind == directive:
			c.live = true
			for _, name := range c.about {
				c.live = c.live && t.included[name]
			}
		case t.isDeclaration(c):
			c.live = t.included[c.reads[0].name()]
		}
	}
}
