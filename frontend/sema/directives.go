package sema

import (
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/frontend/vocabulary"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// directive is one `lang:` directive as written.
type directive struct {
	span  source.Span
	name  string // without `lang:`
	at    source.Span
	pred  *ast.PredRef // nil if it is about no predicate
	value ast.Node     // nil for lang:x(`p)
	arity int
}

// rewrittenDirectives have done their work when the checker reads them.
var rewrittenDirectives = map[string]bool{
	"pulse": true, "ordered": true, "defaultValue": true, "default": true,
}

// entityDirectives are read by readEntities.
var entityDirectives = map[string]bool{
	"entity": true, "isEntity": true, "constructor": true, "skolem": true, "autoNumbered": true,
}

// knownDirectives are offered for a misspelt one.
var knownDirectives = append(vocabulary.DirectiveNames(), "lang:ordered", "lang:defaultValue")

func (c *checker) readDirective(cl *clause, item ast.Node) {
	a, value := headAtom(item)
	if a == nil || cl.Node.Right != nil || cl.Node.Arrow == ast.Constraint {
		d := c.Errorf(diag.BadDirective, item.Pos(), "a directive is a clause of its own")
		d.Help("write it as a fact: lang:derivationType[`p] = \"Extensional\".")
		return
	}
	d := &directive{
		span: item.Pos(), at: a.Name.Span, value: value, arity: len(a.Args),
		name: strings.TrimPrefix(a.Name.Text, "lang:"),
	}
	if len(a.Args) > 0 {
		d.pred, _ = ast.Unparen(a.Args[0]).(*ast.PredRef)
	}
	c.directives = append(c.directives, d)
}

// readDirectives acts on the directives that change how the rest is read:
// warnings and refused features. applyBindings acts on the others.
func (c *checker) readDirectives() {
	for _, d := range c.directives {
		switch {
		case strings.HasPrefix(d.name, "compiler:"):
			c.compilerDirective(d)
		case entityDirectives[d.name]:
			c.checkEntityDirective(d)
		case strings.HasPrefix(d.name, "solve:"):
			c.refuseForGood(d.at, "lang:"+d.name,
				"redfox evaluates rules; it does not solve linear programs")
		}
	}
}

// saysPlainRelation reports whether the directive is lang:isEntity[`p] = false.
func (d *directive) saysPlainRelation() bool {
	if d.name != "isEntity" || d.value == nil {
		return false
	}
	lit, ok := ast.Unparen(d.value).(*ast.Literal)
	return ok && lit.Value.Type.Kind == scalar.Boolean && !lit.Value.Bool()
}

// compilerDirective sets the level of a warning: `lang:compiler:warning:X[] =
// false`.
func (c *checker) compilerDirective(d *directive) {
	parts := strings.Split(d.name, ":")
	if len(parts) != 3 {
		c.unknownDirective(d)
		return
	}
	on := true
	if d.value != nil {
		lit, ok := ast.Unparen(d.value).(*ast.Literal)
		if !ok || lit.Value.Type.Kind != scalar.Boolean {
			e := c.Errorf(diag.BadDirective, d.value.Pos(), "lang:%s takes true or false", d.name)
			e.Help("write lang:%s[] = true.", d.name)
			return
		}
		on = lit.Value.Bool()
	}
	var to diag.Level
	switch parts[1] {
	case "warning":
		to = diag.LevelOff
		if on {
			to = diag.LevelWarning
		}
	case "disableWarning":
		to = diag.LevelWarning
		if on {
			to = diag.LevelOff
		}
	case "error":
		to = diag.LevelWarning
		if on {
			to = diag.LevelError
		}
	case "disableError":
		if parts[2] == "NEGATION_RECURSION" && on {
			c.Add(&diag.Diagnostic{
				Severity: diag.Note, Code: diag.NegationNotDisabled, Span: d.span,
				Message: "recursion through negation stays an error",
				Notes: []string{"without strata a program has no least model, so that its answer would " +
					"depend on the order of evaluation"},
			})
			return
		}
		to = diag.LevelWarning
	default:
		c.unknownDirective(d)
		return
	}
	code := vocabulary.WarningOf(parts[2])
	if code == nil {
		c.noteIgnored(d, "redfox has no warning "+parts[2]+"; it has "+
			strings.Join(vocabulary.WarningNames(), ", "))
		return
	}
	c.Levels[code] = to
}

func (c *checker) noteIgnored(d *directive, why string) {
	c.Add(&diag.Diagnostic{
		Severity: diag.Note, Code: diag.IgnoredDirective, Span: d.at,
		Message: "lang:" + d.name + " has no effect", Notes: []string{why},
	})
}

// misspelt reports whether the name of a directive that has no effect is like
// that of one that has.
func (c *checker) misspelt(d *directive) bool {
	if ignoredPhysical[strings.TrimPrefix(d.name, "physical:")] {
		return false
	}
	s, ok := diag.Suggest("lang:"+d.name, knownDirectives)
	return ok && strings.HasPrefix(s, "lang:physical:")
}

// ignoredPhysical has the storage directives of LogicBlox that redfox ignores.
var ignoredPhysical = map[string]bool{"capacity": true, "storageModel": true}

func (c *checker) unknownDirective(d *directive) {
	e := c.Errorf(diag.UnknownDirective, d.at, "there is no directive lang:%s", d.name)
	if s, ok := diag.Suggest("lang:"+d.name, knownDirectives); ok {
		e.Help("did you mean %s?", s)
		e.Replace(d.at, s)
	}
}

// applyBindings acts on the directives about predicates.
func (c *checker) applyBindings() {
	for _, d := range c.directives {
		if strings.HasPrefix(d.name, "compiler:") || strings.HasPrefix(d.name, "solve:") ||
			entityDirectives[d.name] || rewrittenDirectives[d.name] {
			continue
		}
		handler := c.predicateDirective(d.name)
		if handler == nil {
			switch {
			case d.name == "physical:storageModel" && d.saysDelimitedFile():
			case strings.HasPrefix(d.name, "physical:") && !c.misspelt(d):
				c.noteIgnored(d, "redfox chooses storage itself")
			default:
				c.unknownDirective(d)
			}
			continue
		}
		if d.pred == nil || d.value == nil && keeps[d.name] == core.KeepAll {
			if keeps[d.name] != core.KeepAll {
				e := c.Errorf(diag.BadDirective, d.span, "lang:%s needs a predicate", d.name)
				e.Help("write lang:%s(`p).", d.name)
				continue
			}
			e := c.Errorf(diag.BadDirective, d.span, "lang:%s needs a predicate and a value",
				d.name)
			e.Help("write lang:%s[`p] = ...", d.name)
			continue
		}
		p := c.preds[d.pred.Name]
		if p == nil {
			e := c.Errorf(diag.UnknownPredicate, d.pred.Span, "there is no predicate %s",
				d.pred.Name)
			var names []string
			for _, q := range c.order {
				names = append(names, q.Name)
			}
			if s, ok := diag.Suggest(d.pred.Name, names); ok {
				e.Help("did you mean `%s?", s)
				e.Replace(d.pred.Span, "`"+s)
			}
			continue
		}
		handler(d, p)
	}
	c.checkIterations()
	c.checkSources()
}

// predicateDirective returns the function for a directive, nil if it is
// unknown.
func (c *checker) predicateDirective(name string) func(*directive, *pred) {
	switch name {
	case "derivationType":
		return c.derivationType
	case "output:orderBy":
		return c.orderBy
	case "output:limit":
		return c.limit
	case "recursiveMin", "recursiveMax", "recursiveAny":
		return c.keepBest
	case "iterate":
		return c.iterate
	case "iterateUntil":
		return c.iterateUntil
	case "physical:filePath":
		return func(d *directive, p *pred) {
			if s, ok := c.stringValue(d); ok {
				p.binding(d).Path = s
				p.File.Span = d.span
			}
		}
	case "physical:fileMode":
		return c.fileMode
	case "physical:delimiter":
		return func(d *directive, p *pred) {
			s, ok := c.stringValue(d)
			if ok && len(s) != 1 {
				c.Errorf(diag.BadDirective, d.value.Pos(),
					"a delimiter is one character, not %d bytes", len(s))
				return
			}
			p.binding(d).Delimiter = s
		}
	case "physical:hasColumnNames":
		return func(d *directive, p *pred) {
			lit, ok := ast.Unparen(d.value).(*ast.Literal)
			if !ok || lit.Value.Type.Kind != scalar.Boolean {
				c.Errorf(diag.BadDirective, d.value.Pos(), "lang:%s takes true or false", d.name)
				return
			}
			b := lit.Value.Bool()
			p.binding(d).Header = &b
		}
	case "physical:columnNames":
		return func(d *directive, p *pred) {
			s, ok := c.stringValue(d)
			if !ok {
				return
			}
			split := ","
			for _, sep := range []string{"\t", "|", ";"} {
				if strings.Contains(s, sep) {
					split = sep
					break
				}
			}
			p.binding(d).Columns = strings.Split(s, split)
		}
	}
	return nil
}

func (p *pred) binding(d *directive) *core.FileBinding {
	if p.File == nil {
		p.File = &core.FileBinding{Span: d.span}
	}
	return p.File
}

// saysDelimitedFile reports whether a storage model is that of a file, which
// LB3 writes beside the path.
func (d *directive) saysDelimitedFile() bool {
	lit, ok := ast.Unparen(d.value).(*ast.Literal)
	return ok && lit.Value.Type.Kind == scalar.String && lit.Value.Str() == "DelimitedFile"
}

func (c *checker) stringValue(d *directive) (string, bool) {
	lit, ok := ast.Unparen(d.value).(*ast.Literal)
	if !ok || lit.Value.Type.Kind != scalar.String {
		c.Errorf(diag.BadDirective, d.value.Pos(), "lang:%s takes a string", d.name)
		return "", false
	}
	return lit.Value.Str(), true
}

func (c *checker) derivationType(d *directive, p *pred) {
	s, ok := c.stringValue(d)
	if !ok {
		return
	}
	switch s {
	case "Derived", "OnDemand":
		p.View = true
	case "DerivedAndStored":
	case "Extensional":
		p.extensional = d.span
	default:
		e := c.Errorf(diag.BadDirective, d.value.Pos(), "there is no derivation type %q", s)
		e.Help("the derivation types are \"Extensional\", \"DerivedAndStored\" and \"Derived\"")
	}
}

func (c *checker) fileMode(d *directive, p *pred) {
	s, ok := c.stringValue(d)
	if !ok {
		return
	}
	switch s {
	case "import":
		p.binding(d).Export = false
		p.fileMode = true
	case "export":
		p.binding(d).Export = true
		p.fileMode = true
	case "import_detailed":
		c.refuse(d.value.Pos(), "detailed import", "use \"import\"")
	default:
		e := c.Errorf(diag.BadDirective, d.value.Pos(), "there is no file mode %q", s)
		e.Help("the file modes are \"import\" and \"export\"")
	}
}

func (c *checker) limit(d *directive, p *pred) {
	lit, ok := ast.Unparen(d.value).(*ast.Literal)
	if !ok || lit.Value.Type.Kind != scalar.Int || lit.Value.Int() < 0 {
		c.Errorf(diag.BadDirective, d.value.Pos(), "a limit is a number of tuples, 0 or more")
		return
	}
	p.Limit = lit.Value.Int()
}

// orderBy reads "revenue desc, o_date": names of arguments, or numbers counted
// from 1, each with asc or desc.
func (c *checker) orderBy(d *directive, p *pred) {
	s, ok := c.stringValue(d)
	if !ok {
		return
	}
	c.nameArguments(p)
	p.OrderBy = nil
	for _, item := range strings.Split(s, ",") {
		words := strings.Fields(item)
		if len(words) == 0 || len(words) > 2 {
			e := c.Errorf(diag.BadDirective, d.value.Pos(),
				"an order is a list of arguments, each with "+
					"asc or desc")
			e.Help("write for example \"%s desc\"", orderExample(p))
			return
		}
		key := core.OrderKey{Arg: -1}
		for i, name := range p.ArgNames {
			if name == words[0] {
				key.Arg = i
			}
		}
		if key.Arg < 0 {
			e := c.Errorf(diag.BadDirective, d.value.Pos(), "%s has no argument %s", p.Name,
				words[0])
			e.Note("its arguments are %s", strings.Join(p.ArgNames, ", "))
			if near, ok := diag.Suggest(words[0], p.ArgNames); ok {
				e.Help("did you mean %s?", near)
			}
			e.Label(p.Span, "%s is here", p.Name)
			return
		}
		if len(words) == 2 {
			switch strings.ToLower(words[1]) {
			case "desc":
				key.Desc = true
			case "asc":
			default:
				e := c.Errorf(diag.BadDirective, d.value.Pos(),
					"an argument is ordered asc or desc, not %s",
					words[1])
				e.Help("write \"%s desc\"", words[0])
				return
			}
		}
		p.OrderBy = append(p.OrderBy, key)
	}
}

func orderExample(p *pred) string {
	if len(p.ArgNames) > 0 {
		return p.ArgNames[0]
	}
	return "x"
}

// checkSources checks where the tuples of each predicate come from. Files and
// facts from outside fill extensional predicates only.
func (c *checker) checkSources() {
	for _, p := range c.order {
		f := p.File
		if f != nil && f.Path == "" {
			e := c.Errorf(diag.BadDirective, f.Span, "%s has no file path", p.Name)
			e.Help("add lang:physical:filePath[`%s] = \"file.csv\".", p.Name)
		}
		if f != nil {
			if !p.fileMode {
				f.Export = p.Rules+p.Loads > 0
			}
			f.Offset = p.split && p.Keys == 1 || p.Keys == 1 && p.Arity > 1 &&
				len(p.ArgNames) > 0 &&
				p.ArgNames[0] == "offset"
			if !f.Export && p.Rules > 0 {
				e := c.Errorf(diag.DerivedFromOutside, f.Span,
					"%s is derived by rules and cannot also be read from a file", p.Name)
				e.Label(p.ruleSpan, "it is derived here")
				e.Help("read the file into a predicate of its own and derive %s from it, or set "+
					"lang:physical:fileMode[`%s] = \"export\" to write it", p.Name, p.Name)
			}
			if f.Columns != nil {
				want := p.Arity
				if f.Offset {
					want--
				}
				if len(f.Columns) != want {
					c.Errorf(diag.BadDirective, f.Span,
						"%s has %d columns, but lang:physical:columnNames names %d", p.Name, want,
						len(f.Columns))
				}
			}
		}
		if p.Given && p.Rules > 0 {
			e := c.Errorf(diag.DerivedFromOutside, p.Span,
				"%s is derived by rules and cannot also be given facts from outside", p.Name)
			e.Label(p.ruleSpan, "it is derived here")
			e.Help("bind the facts to a predicate of its own and derive %s from it", p.Name)
		}
		c.checkLoads(p)
		if p.extensional.IsValid() && p.Rules > 0 {
			e := c.Errorf(diag.RuleOnExtensional, p.ruleSpan,
				"%s is declared extensional, but a rule derives it", p.Name)
			e.Label(p.extensional, "declared extensional here")
			e.Help("remove the directive, or derive another predicate")
		}
	}
}

// checkLoads refuses a predicate that rules derive and delta rules change.
func (c *checker) checkLoads(p *pred) {
	if !p.loadSpan.IsValid() || p.Rules == 0 {
		return
	}
	d := c.Errorf(diag.DeltaOnDerived, p.loadSpan,
		"%s is derived by rules, so a delta rule cannot add to it", p.Name)
	d.Label(p.ruleSpan, "it is derived here")
	d.Help("write both as rules, without +; or add to a predicate of its own and derive %s from it",
		p.Name)
}
