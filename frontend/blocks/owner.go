package blocks

import (
	"maps"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// unresolved marks a name that was reported. No name in a program begins like
// this.
const unresolved = "$$"

// resolve finds the predicate that a name refers to in a block. It reports a
// name that refers to none.
func (r *resolver) resolve(b *block, at source.Span, name string) {
	key := predicate{b, name}
	if _, ok := r.found[key]; ok {
		return
	}
	p, ok := r.lookUpName(b, at, name)
	if !ok {
		p = predicate{nil, unresolved + name}
	}
	r.found[key] = p
	if !slices.Contains(r.owners[p.name], p.owner) {
		r.owners[p.name] = append(r.owners[p.name], p.owner)
	}
}

func (r *resolver) lookUpName(b *block, at source.Span, name string) (p predicate, ok bool) {
	program := predicate{nil, name}
	switch {
	case scalar.IsBuiltin(name), scalar.IsPrimitive(name), strings.HasPrefix(name, "lang:"):
		return program, true
	case name[0] == '$':
		return r.explicit(name), true
	}
	if b.named {
		candidates := r.visible(b, name)
		if len(candidates) > 1 {
			r.ambiguous(at, name, candidates)
			return p, false
		}
		if len(candidates) == 1 {
			return candidates[0], true
		}
	}
	p, hidden, ok := r.qualified(b, name)
	_, isOwn := b.defines[name]
	switch {
	case ok:
		return p, true
	case isPrivate(name), isOwn && b.named && !isQuery(name):
		return predicate{b, name}, true
	case hidden.owner != nil:
		// A clause for block:p outside of the block does not make block:p a
		// predicate of the program.
	case isQuery(name), r.inProgram[name]:
		return program, true
	}
	return r.elsewhere(b, hidden, at, name)
}

// explicit returns the predicate that $block:p names. If there is none, it
// keeps the name, which semantic analysis reports.
func (r *resolver) explicit(name string) predicate {
	for prefix, rest := range splits(name[1:]) {
		blocks := r.find(prefix)
		if len(blocks) != 1 || rest == "" {
			continue
		}
		b := blocks[0]
		if at, ok := b.mention(rest); ok && (b.named || isPrivate(rest)) {
			r.resolve(b, at, rest)
			return r.found[predicate{b, rest}]
		}
	}
	return predicate{nil, name}
}

// visible returns the predicates that a name may refer to because a block
// exports it or an alias defines it.
func (r *resolver) visible(b *block, name string) []predicate {
	var out []predicate
	if _, ok := b.exports[name]; ok {
		out = append(out, predicate{b, name})
	}
	for _, ref := range b.all {
		if ref.block == nil {
			continue
		}
		p := predicate{ref.block, name}
		if _, ok := ref.block.exports[name]; ok && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	if ref := b.alias[name]; ref != nil && ref.pred != "" {
		out = append(out, predicate{ref.block, ref.pred})
	}
	return out
}

func (r *resolver) ambiguous(at source.Span, name string, candidates []predicate) {
	d := r.Errorf(diag.AmbiguousName, at, "%s stands for predicates of several blocks", name)
	var ways []string
	for _, p := range candidates {
		d.Label(p.owner.exports[p.name], "block %s exports it here", p.owner.short)
		ways = append(ways, p.owner.short+":"+p.name)
	}
	d.Help("write %s", strings.Join(ways, " or "))
}

// qualified resolves block:p, where block is the name of a block or an alias.
// If it finds nothing, but a block has the predicate and does not export it, it
// returns that predicate as hidden.
func (r *resolver) qualified(b *block, name string) (p predicate, hidden predicate, ok bool) {
	for prefix, rest := range splits(name) {
		var target *block
		if ref := b.alias[prefix]; ref != nil {
			target = ref.block
		} else if blocks := r.find(prefix); len(blocks) == 1 && blocks[0].named {
			target = blocks[0]
		}
		if target == nil || rest == "" {
			continue
		}
		_, exported := target.exports[rest]
		_, defined := target.defines[rest]
		switch {
		case exported, defined && target == b:
			return predicate{target, rest}, hidden, true
		case defined && !target.named:
			return predicate{nil, rest}, hidden, true
		case defined && hidden.owner == nil:
			hidden = predicate{target, rest}
		}
	}
	return p, hidden, false
}

// elsewhere resolves a name that neither its block nor the program defines. It
// is a predicate with facts from outside, unless a block has a predicate of
// that name that is not visible here. Then the name is reported, and resolves
// to that predicate to avoid further messages. A predicate belongs to the block
// if the block declares it as a subtype, or gives its arguments entity types.
func (r *resolver) elsewhere(b *block, hidden predicate, at source.Span, name string) (
	predicate, bool) {
	for _, other := range r.inBlocks[name] {
		if _, exported := other.exports[name]; hidden.owner == nil || exported {
			hidden = predicate{other, name}
		}
	}
	switch {
	case b.named && (b.subtypes[name] || slices.ContainsFunc(b.typings[name], r.isEntity)):
		return predicate{b, name}, true
	case hidden.owner != nil:
	case r.missing(b, at, name):
		return predicate{}, false
	case b.named:
		return predicate{b, name}, true
	default:
		return predicate{nil, name}, true
	}
	r.notExported(b, hidden.owner, at, hidden.name)
	return hidden, true
}

// isEntity reports whether a name, with or without a block as prefix, may be
// the name of an entity type.
func (r *resolver) isEntity(name string) bool {
	name = name[strings.LastIndexByte(name, ':')+1:]
	return slices.ContainsFunc(r.blocks, func(b *block) bool { return b.entities[name] })
}

// missing reports block:p if a block of that name exists and has no predicate
// p. It returns whether it has reported the name.
func (r *resolver) missing(b *block, at source.Span, name string) bool {
	colon := strings.LastIndexByte(name, ':')
	if colon < 0 {
		return false
	}
	prefix, rest := name[:colon], name[colon+1:]
	var target *block
	if ref := b.alias[prefix]; ref != nil {
		if target = ref.block; target == nil {
			return true // reported at the alias
		}
	} else if blocks := r.find(prefix); len(blocks) == 1 && blocks[0].named {
		target = blocks[0]
	}
	if target == nil {
		return false
	}
	d := r.Errorf(diag.UnknownPredicate, at, "block %s has no predicate %s", target.short, rest)
	if s, ok := diag.Suggest(rest, slices.Sorted(maps.Keys(target.exports))); ok {
		d.Help("did you mean %s:%s?", prefix, s)
	}
	return true
}

// notExported reports the use of a predicate that another block does not
// export.
func (r *resolver) notExported(b, other *block, at source.Span, name string) {
	where := "the program"
	if b.named {
		where = "block " + b.short
	}
	exported, ok := other.exports[name]
	if ok {
		d := r.Errorf(diag.NotExported, at, "%s has no predicate %s", where, name)
		d.Label(exported, "block %s has one", other.short)
		d.Help("write %s:%s", other.short, name)
		if b.named {
			d.Help("alias_all(`%s) makes its predicates known by their own names", other.short)
		}
		return
	}
	d := r.Errorf(diag.NotExported, at, "block %s does not export %s", other.short, name)
	d.Label(other.defines[name], "it is here")
	d.Help("declare it in export(`{ ... }) of block %s and write %s:%s, or write $%s:%s",
		other.short, other.short, name, other.short, name)
}

// checkSealed reports the clauses of a block that change a predicate that
// another block seals.
func (r *resolver) checkSealed(b *block) {
	for _, c := range b.clauses {
		if c.Arrow != ast.Rule && c.Arrow != ast.Fact {
			continue
		}
		for _, a := range heads(c.Left) {
			p := r.found[predicate{b, a.Name.Text}]
			if p.owner == nil || p.owner == b || !p.owner.isSealed(p.name) {
				continue
			}
			d := r.Errorf(diag.SealedPredicate, a.Name.Span, "block %s seals %s", p.owner.short,
				p.name)
			d.Label(p.owner.exports[p.name], "only its own clauses may derive it")
			d.Help("move the clause into the block, or export the predicate instead")
		}
	}
}

// isPrivate reports whether the name of a predicate makes it private to its
// file or block.
func isPrivate(name string) bool { return len(name) > 1 && name[0] == '_' && !isQuery(name) }

// isQuery reports whether a predicate is a query, such as _ or _2. Queries
// belong to the program.
func isQuery(name string) bool {
	return name[0] == '_' && strings.Trim(name[1:], "0123456789") == ""
}
