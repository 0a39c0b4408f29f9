package delta

import (
	"maps"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Transaction is one transaction as a program without delta logic.
type Transaction struct {
	Files []*ast.File
	// Changed lists the extensional predicates whose contents the program
	// computes anew, Kept the derived ones that it reads and that it does not
	// affect, so that their tuples can be kept for later transactions. Stale
	// are derived predicates that it affects.
	Changed, Kept, Stale []string
	// Pulses are predicates that are empty after the transaction.
	Pulses []string
	// Grown lists the relations R that get the tuples of +R and do not change
	// otherwise.
	Grown []string
}

// transaction is the making of a Transaction.
type transaction struct {
	model
	*diag.Reporter
	ws    *Workspace
	kind  Kind
	files []*ast.File // installed, then new

	changed  map[string]bool // extensional predicates that may change
	affected map[string]bool // derived predicates that depend on them
	fired    map[string]bool // events that may happen: a delta before a name

	included map[string]bool // predicates that the program mentions
	derives  map[string]bool // derived predicates whose rules it has
	kept     map[string]bool
	atStart  map[string]bool // derived predicates whose rules it has for the start
	queue    []string        // of atStart, to be written
	framed   map[string]bool // predicates whose events are predicates

	made  []*ast.Clause // frame rules and their like
	grown []string
}

// Rewrite returns a program as the one transaction that it is. A program whose
// delta rules only insert, or that has none, is returned as it is.
func Rewrite(files []*ast.File, diags *diag.List) []*ast.File {
	if !needed(files) {
		return files
	}
	return (&Workspace{}).Transaction(files, Program, diags).Files
}

// needed reports whether files have delta logic beyond insertion.
func needed(files []*ast.File) bool {
	found := false
	body := func(n ast.Node) bool {
		if a, ok := n.(*ast.Apply); ok {
			found = found || a.Delta != "" || a.Stage != ""
		}
		return !found
	}
	for _, f := range files {
		for _, c := range f.Clauses {
			ast.Inspect(c.Right, body)
			if c.Arrow == ast.Constraint {
				ast.Inspect(c.Left, body)
			}
			if c.P2P != nil {
				for _, s := range c.P2P.Specs {
					ast.Inspect(s.In, body)
				}
			}
			for _, item := range items(c.Left) {
				a, ok := atomOf(item)
				if !ok {
					continue
				}
				d := a.apply.Delta
				found = found || d == "-" || d == "^" || a.apply.Stage != "" ||
					a.apply.Name.Text == "lang:pulse"
			}
			if found {
				return true
			}
		}
	}
	return false
}

// build makes the program of a transaction.
func (t *transaction) build() *Transaction {
	t.check()
	if t.kind == Reading {
		t.chooseAll()
	} else {
		t.choose()
	}
	// From here on it is fixed which clauses belong to the program.

	t.frame()
	out := &Transaction{Grown: t.grown}
	for i, f := range t.files {
		g := &ast.File{Source: f.Source, Comments: f.Comments}
		for _, c := range t.clauses {
			if c.file == i && c.live && !t.left(c) {
				g.Clauses = append(g.Clauses, t.rewrite(c)...)
			}
		}
		out.Files = append(out.Files, g)
	}
	for len(t.queue) > 0 {
		name := t.queue[0]
		t.queue = t.queue[1:]
		t.copyAtStart(t.preds[name])
	}
	if len(t.made) > 0 {
		out.Files = append(out.Files, &ast.File{Source: source.NewFile("<transaction>", ""),
			Clauses: t.made})
	}
	if f := t.declarations(); f != nil {
		out.Files = append(out.Files, f)
	}
	for _, p := range t.order {
		switch {
		case p.pulse:
			out.Pulses = append(out.Pulses, p.name)
		case slices.Contains(t.grown, p.name):
		case t.changed[p.name] && !t.isLocal(p):
			out.Changed = append(out.Changed, p.name)
		case t.kept[p.name]:
			out.Kept = append(out.Kept, p.name)
		case t.affected[p.name]:
			out.Stale = append(out.Stale, p.name)
		}
	}
	return out
}

// left reports whether a directive has done its work, or belongs to results
// that the transaction does not present.
func (t *transaction) left(c *clause) bool {
	if c.pulse {
		return true
	}
	if c.kind != directive || c.isNew || t.kind == Reading {
		return false
	}
	a, _ := atomOf(items(c.node.Left)[0])
	return strings.HasPrefix(a.apply.Name.Text, "lang:output:")
}

// isLocal reports whether a predicate lives as long as the transaction: rules
// of a query derive it.
func (t *transaction) isLocal(p *pred) bool {
	return t.kind == Execution && len(p.changes) == 0 && !t.ws.Knows(p.name)
}

// check refuses what has no meaning in the transaction.
func (t *transaction) check() {
	told := map[string]bool{}
	for _, c := range t.clauses {
		if !c.isNew || c.kind != rule && c.kind != constraint {
			continue
		}
		for _, h := range c.heads {
			t.checkHead(c, h)
		}
		for _, r := range c.reads {
			a := r.apply
			if !told[a.Name.Text] {
				told[a.Name.Text] = true
				t.checkRead(a)
			}
			if _, ok := stages[a.Stage]; a.Stage == "" || ok {
				continue
			}
			d := t.Errorf(diag.UnknownStage, a.Span, "there is no stage %s", a.Stage)
			if s, ok := diag.Suggest(a.Stage, []string{"start", "prev", "previous", "initial",
				"final"}); ok {
				d.Help("did you mean %s@%s?", a.Name.Text, s)
			} else {
				d.Help("%s@start and %s@prev are what it held before the transaction, %s@final "+
					"and %s what it holds after", a.Name.Text, a.Name.Text, a.Name.Text,
					a.Name.Text)
			}
		}
	}
}

func (t *transaction) checkHead(c *clause, h atom) {
	name := h.apply.Name.Text
	p := t.preds[name]
	switch {
	case h.apply.Stage != "":
		d := t.Errorf(diag.BadHead, h.apply.Span, "a head cannot have a stage")
		d.Help("write %s without @%s: a rule derives what holds after the transaction", name,
			h.apply.Stage)
	case h.apply.Delta == "^" && t.makers[name]:
		at := h.apply.Span
		if h.value != nil {
			at = at.To(h.value.Pos())
		}
		d := t.Errorf(diag.NumberedEntities, at,
			"%s is a constructor, and the entity of a key never changes", name)
		d.Help("insert with +%s, or keep the entity of a key in a predicate of its own", name)
	case h.apply.Delta != "":
		t.checkChange(h, p)
	case name == "_" || t.isLocal(p):
	case t.kind == Execution:
		d := t.Errorf(diag.RuleInExecution, h.apply.Span,
			"%s is a predicate of the program, and rules that are executed last one transaction",
			name)
		d.Help("insert with +%s, or add the file with --add", name)
	case t.kind == Addition && !c.isFact() && (len(p.changes) > 0 || t.ws.holds(name)):
		d := t.Errorf(diag.DeltaOnDerived, h.apply.Span,
			"%s holds what transactions insert, so a rule cannot derive it", name)
		d.Help("insert with +%s, or derive a predicate of its own from it", name)
	case c.hasEvents():
		d := t.Errorf(diag.EventInRule, h.apply.Span,
			"%s is derived, and what is derived cannot depend on an event", name)
		for _, r := range c.reads {
			if r.apply.Delta != "" || r.before() {
				d.Label(r.apply.Span, "this holds during one transaction")
				if a := r.apply; a.Square && a.Delta != "" && a.Delta != "^" {
					d.Help("for a number with a sign, write (%s)", a.Span.Text())
				}
				break
			}
		}
		d.Help("write +%s(...) to store it, or lang:pulse(`%s) if it lasts one transaction", name,
			name)
	}
}

// checkRead refuses a predicate that is probably misspelt: nothing defines it,
// and the workspace has one of about the name.
func (t *transaction) checkRead(a *ast.Apply) {
	p := t.preds[a.Name.Text]
	if t.kind != Execution || t.ws.Knows(p.name) || len(p.rules) > 0 || len(p.changes) > 0 ||
		strings.Contains(p.name, ":") || scalar.IsPrimitive(p.name) {
		return
	}
	if s, ok := diag.Suggest(p.name, t.known()); ok {
		d := t.Errorf(diag.UnknownPredicate, a.Name.Span, "there is no predicate %s", p.name)
		d.Help("did you mean %s? If %s is another predicate, declare it in a file that --add installs",
			s, p.name)
	}
}

// known lists the predicates of the workspace, sorted.
func (t *transaction) known() []string { return slices.Sorted(maps.Keys(t.ws.preds)) }

// checkChange refuses a change of a predicate that rules derive, or that is
// probably misspelt.
func (t *transaction) checkChange(h atom, p *pred) {
	if t.kind == Program {
		return // semantic analysis sees all rules
	}
	if p.derived {
		d := t.Errorf(diag.DeltaOnDerived, h.apply.Span,
			"%s is derived by rules, so a transaction cannot change it", p.name)
		for _, c := range p.rules {
			if !c.isFact() {
				d.Label(c.node.Left.Pos(), "it is derived here")
				break
			}
		}
		d.Help("change what it is derived from")
		return
	}
	if t.kind == Addition || t.ws.Knows(p.name) || len(p.rules) > 0 {
		return
	}
	if s, ok := diag.Suggest(p.name, t.known()); ok {
		d := t.Errorf(diag.UnknownPredicate, h.apply.Name.Span, "there is no predicate %s", p.name)
		d.Help("did you mean %s? If %s is another predicate, declare it in a file that --add installs",
			s, p.name)
	}
}

// choose finds the clauses that belong to a transaction: new ones, delta rules
// that react, constraints on what changes, and what these need.
func (t *transaction) choose() {
	readers := map[string][]*clause{}
	for _, c := range t.clauses {
		for _, r := range c.reads {
			readers[r.name()] = append(readers[r.name()], c)
		}
		if c.isNew {
			c.live = true
			t.changes(c)
		}
	}
	for again := true; again; {
		again = false
		t.spread(readers)
		for _, c := range t.clauses {
			if !c.live && c.kind == rule && c.reactsIn(t) {
				c.live, again = true, true
				t.changes(c)
			}
		}
	}
	for _, c := range t.clauses {
		switch {
		case c.kind == other:
			c.live = true
		case t.isOfEntities(c):
			c.live = true
			for _, r := range c.reads {
				t.included[r.name()] = true
			}
		case c.kind == constraint && !c.live:
			c.live = slices.ContainsFunc(c.reads,
				func(r read) bool { return t.changed[r.name()] || t.affected[r.name()] })
		}
	}
	isRoot := func(c *clause) bool {
		return c.kind == constraint || c.kind == rule && (c.isNew && t.kind == Execution ||
			len(c.heads) > 0 && c.heads[0].apply.Delta != "")
	}
	for _, c := range t.clauses {
		if c.live && isRoot(c) {
			t.need(c, true)
		}
	}
	for _, c := range t.clauses {
		if c.live {
			t.need(c, false)
		}
	}
	t.describe()
}

// chooseAll is choose for the program itself, which changes nothing: all rules
// without delta.
func (t *transaction) chooseAll() {
	for _, c := range t.clauses {
		isDelta := func(a atom) bool { return a.apply.Delta != "" }
		c.live = c.kind != rule || !slices.ContainsFunc(c.heads, isDelta)
		if c.kind == constraint {
			c.live = t.isDeclaration(c)
		}
		if c.kind == rule && c.isFact() {
			c.live = slices.ContainsFunc(c.heads, func(a atom) bool { return !t.holds(a) })
		}
		if c.live && c.kind == rule {
			for _, h := range c.heads {
				t.derives[h.apply.Name.Text] = true
			}
		}
		for _, h := range c.heads {
			t.included[h.apply.Name.Text] = true
		}
		for _, r := range c.reads {
			t.included[r.name()] = true
		}
	}
}

// holds reports whether the workspace holds the tuples of an extensional
// predicate, its facts included.
func (t *transaction) holds(a atom) bool {
	name := a.apply.Name.Text
	return t.ws.stored[name] && !t.preds[name].derived
}

// changes enters the predicates that a rule changes.
func (t *transaction) changes(c *clause) {
	for _, h := range c.heads {
		name := h.apply.Name.Text
		if h.apply.Delta != "" {
			t.fired[h.apply.Delta+name] = true
		}
		if h.apply.Delta != "" || name != "_" && !t.preds[name].derived { // by a fact
			t.changed[name] = true
			t.changedWith(name, func(part string) {
				switch p := t.preds[part]; {
				case p == nil:
				case p.derived:
					t.affected[part] = true
				default:
					t.changed[part] = true
				}
			})
		} else if name != "_" {
			t.affected[name] = true // by another rule
		}
	}
}

// happens reports whether an event may happen. What is derived has events when
// something that it depends on changes.
func (t *transaction) happens(delta, name string) bool {
	return t.fired[delta+name] || t.fired["^"+name] ||
		delta != "^" && t.preds[name].derived && t.affected[name]
}

// reactsIn reports whether an installed delta rule may do something: all events
// that it needs may happen, and it reads an event, an earlier state or a
// predicate that changes. Other delta rules have done their work in the
// transaction that installed them.
func (c *clause) reactsIn(t *transaction) bool {
	if len(c.heads) == 0 || c.heads[0].apply.Delta == "" {
		return false
	}
	reacts := false
	for _, r := range c.reads {
		delta, name := r.apply.Delta, r.name()
		if delta == "" && t.preds[name].pulse && !r.before() {
			delta = "+"
		}
		if delta != "" && r.sure && !t.happens(delta, name) {
			return false
		}
		reacts = reacts || delta != "" || r.before() || t.changed[name] || t.affected[name]
	}
	return reacts
}

// spread finds the derived predicates that changes affect.
func (t *transaction) spread(readers map[string][]*clause) {
	var queue []string
	for name := range t.changed {
		queue = append(queue, name)
	}
	for name := range t.affected {
		queue = append(queue, name)
	}
	for len(queue) > 0 {
		name := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, c := range readers[name] {
			for _, h := range c.heads {
				head := h.apply.Name.Text
				if h.apply.Delta == "" && t.preds[head].derived && !t.affected[head] {
					t.affected[head] = true
					queue = append(queue, head)
				}
			}
		}
	}
}

// need includes what a live clause reads. Active says that the transaction
// evaluates it.
func (t *transaction) need(c *clause, active bool) {
	if c.seen {
		return
	}
	c.seen, c.live = true, true
	for _, h := range c.heads {
		name := h.apply.Name.Text
		t.included[name] = true
		if h.apply.Delta == "" && c.isNew && name != "_" {
			t.needRules(t.preds[name], active)
		}
	}
	for _, r := range c.reads {
		t.needPred(r.name(), active)
	}
}

// needPred includes a predicate. Active says that a rule which the transaction
// evaluates anew reads it.
func (t *transaction) needPred(name string, active bool) {
	p := t.preds[name]
	t.included[name] = true
	if !p.derived {
		return
	}
	if t.affected[name] || t.isLocal(p) {
		t.needRules(p, active)
		return
	}
	if t.ws.stored[name] {
		return
	}
	t.kept[name] = t.kept[name] || active
	t.needRules(p, false)
}

// needRules includes the rules of a derived predicate.
func (t *transaction) needRules(p *pred, active bool) {
	if !p.derived {
		return
	}
	t.derives[p.name] = true
	for _, c := range p.rules {
		t.need(c, active)
		for _, h := range c.heads {
			name := h.apply.Name.Text
			if h.apply.Delta == "" && t.isMaker(h) && !t.derives[name] {
				t.needPred(name, active)
			}
		}
	}
}
