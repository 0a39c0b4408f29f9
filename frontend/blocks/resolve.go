package blocks

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// Names has the blocks of files, and the names that their predicates have been
// given. Files that are resolved later neither change these names nor use them
// for other predicates. The zero value has no blocks.
type Names struct {
	blocks []*block
	// given has the name of each predicate in the resolved files.
	given map[predicate]string
}

// predicate identifies a predicate by its owner and its own name. A predicate
// of the program has no owner.
type predicate struct {
	owner *block
	name  string
}

// Resolve returns files in which each predicate has one name, and n extended by
// the names of the files.
func (n Names) Resolve(files []*ast.File, diags *diag.List) ([]*ast.File, Names) {
	r := newResolver(n, diags)
	for _, f := range files {
		r.added = append(r.added, r.blocksOf(f)...)
	}
	r.index()
	for _, b := range r.added {
		b.eachName(func(at source.Span, name string) { r.resolve(b, at, name) })
		r.checkSealed(b)
	}
	// From here on, the owner of each predicate is known.

	r.nameAll()
	out := make([]*ast.File, len(files))
	for i, f := range files {
		out[i] = r.file(f)
	}
	return out, Names{r.blocks, r.given}
}

// Mention is a predicate that a part of a block names: export(`p), or the first
// argument of an alias.
type Mention struct {
	Span source.Span // of the predicate literal
	Name string      // the name that Resolve has given it
}

// Mentions lists the predicates that parts of blocks name, ordered by file and
// position.
func (n Names) Mentions() []Mention {
	var out []Mention
	add := func(at source.Span, p predicate) {
		if name, ok := n.given[p]; ok && strings.HasPrefix(at.Text(), "`") {
			out = append(out, Mention{at, name})
		}
	}
	for _, b := range n.blocks {
		for name, at := range b.exports {
			add(at, predicate{b, name})
		}
		for _, ref := range b.alias {
			if ref.pred != "" {
				add(ref.at, predicate{ref.block, ref.pred})
			}
		}
	}
	slices.SortFunc(out, func(a, b Mention) int {
		return cmp.Or(strings.Compare(a.Span.File.Name, b.Span.File.Name),
			cmp.Compare(a.Span.Start, b.Span.Start))
	})
	return out
}

// Paths returns, for each predicate of a block, the path of the block and its
// own name, such as model:stock:price. The keys are the names that Resolve
// gives.
func (n Names) Paths() map[string]string {
	out := map[string]string{}
	for p, name := range n.given {
		if p.owner != nil {
			out[name] = p.owner.name() + ":" + p.name
		}
	}
	return out
}

// resolver is the state of one Resolve.
type resolver struct {
	*diag.Reporter
	blocks   []*block // including those of earlier files
	added    []*block
	bySuffix map[string][]*block // by each suffix of their paths
	// inProgram has the names that are defined outside of block clauses.
	// inBlocks has the blocks that define a name.
	inProgram map[string]bool
	inBlocks  map[string][]*block
	found     map[predicate]predicate // by a name and the block that uses it
	owners    map[string][]*block     // of the predicates with a name
	given     map[predicate]string
	renaming  map[*block]bool // blocks in which some name changes
}

func newResolver(n Names, diags *diag.List) *resolver {
	r := &resolver{
		Reporter: diag.NewReporter(diags), blocks: slices.Clone(n.blocks),
		bySuffix: map[string][]*block{}, inProgram: map[string]bool{},
		inBlocks: map[string][]*block{}, found: map[predicate]predicate{},
		owners: map[string][]*block{}, given: maps.Clone(n.given), renaming: map[*block]bool{},
	}
	if r.given == nil {
		r.given = map[predicate]string{}
	}
	for p := range r.given {
		r.owners[p.name] = append(r.owners[p.name], p.owner)
	}
	return r
}

// index enters the new blocks and their definitions, and looks up the blocks
// that aliases name.
func (r *resolver) index() {
	r.blocks = append(r.blocks, r.added...)
	shorten(r.blocks, r.added)
	for _, b := range r.blocks {
		for depth := 1; depth <= len(b.path); depth++ {
			r.bySuffix[b.suffix(depth)] = append(r.bySuffix[b.suffix(depth)], b)
		}
		for name := range b.defines {
			if b.named {
				r.inBlocks[name] = append(r.inBlocks[name], b)
			} else {
				r.inProgram[name] = true
			}
		}
	}
	for i, b := range r.added {
		same := func(x *block) bool { return x.named && slices.Equal(x.path, b.path) }
		if first := slices.IndexFunc(r.blocks, same); b.named && r.blocks[first] != b &&
			!slices.Contains(r.added[:i], b) {
			d := r.Errorf(diag.BadBlock, b.at, "there are two blocks %s", b.name())
			d.Label(r.blocks[first].at, "the other one")
			d.Help("give one of them another name")
		}
		for _, ref := range b.all {
			r.lookUp(ref, false)
		}
		for _, name := range slices.Sorted(maps.Keys(b.alias)) {
			r.lookUp(b.alias[name], true)
		}
	}
}

// lookUp resolves a reference to a block or, if orPredicate is set, to an
// exported predicate.
func (r *resolver) lookUp(ref *reference, orPredicate bool) {
	blocks := r.find(ref.name)
	if len(blocks) == 1 {
		ref.block = blocks[0]
		return
	}
	if len(blocks) > 1 {
		d := r.Errorf(diag.UnknownBlock, ref.at, "%s may be one of several blocks", ref.name)
		d.Help("write %s", names(blocks))
		return
	}
	for prefix, rest := range splits(ref.name) {
		for _, b := range r.find(prefix) {
			if _, ok := b.exports[rest]; ok && orPredicate {
				ref.block, ref.pred = b, rest
				return
			} else if at, ok := b.defines[rest]; ok && orPredicate && b.named {
				d := r.Errorf(diag.NotExported, ref.at, "block %s does not export %s", b.short, rest)
				d.Label(at, "it is here")
				d.Help("declare it in export(`{ ... }) of block %s", b.short)
				return
			}
		}
	}
	d := r.Errorf(diag.UnknownBlock, ref.at, "there is no block %s", ref.name)
	var known []string
	for _, b := range r.blocks {
		if b.named {
			known = append(known, b.short, b.name())
		}
	}
	if s, ok := diag.Suggest(ref.name, known); ok {
		d.Help("did you mean `%s?", s)
	} else {
		d.Help("add its file to the program")
	}
}

// names returns a list of the paths of blocks for messages.
func names(blocks []*block) string {
	var out []string
	for _, b := range blocks {
		out = append(out, b.name())
	}
	return strings.Join(out, " or ")
}

// splits yields the parts before and after each colon of a name, the last colon
// first.
func splits(name string) func(func(prefix, rest string) bool) {
	return func(yield func(prefix, rest string) bool) {
		for at := len(name); ; {
			at = strings.LastIndexByte(name[:at], ':')
			if at < 0 || !yield(name[:at], name[at+1:]) {
				return
			}
		}
	}
}

// eachName calls visit for the names of predicates in the clauses of a block.
func (b *block) eachName(visit func(at source.Span, name string)) {
	for _, c := range b.clauses {
		ast.EachName(c, visit)
	}
}

// mention returns the first place in the block that uses a name.
func (b *block) mention(name string) (at source.Span, ok bool) {
	b.eachName(func(place source.Span, x string) {
		if x == name && !ok {
			at, ok = place, true
		}
	})
	return at, ok
}

// nameAll gives names to the predicates that have none yet: their own name if
// no other predicate has it, or else their own name with that of the block as
// prefix.
func (r *resolver) nameAll() {
	taken := map[string]bool{}
	for _, name := range r.given {
		taken[name] = true
	}
	for _, p := range r.found {
		if p.owner == nil {
			r.given[p], taken[p.name] = p.name, true
		}
	}
	for _, p := range r.unnamed() {
		name := p.name
		if len(r.owners[p.name]) > 1 || taken[name] {
			name = p.owner.short + ":" + p.name
		}
		for taken[name] {
			name = p.owner.name() + ":" + name
		}
		r.given[p], taken[name] = name, true
	}
	for written, p := range r.found {
		if r.given[p] != written.name {
			r.renaming[written.owner] = true
		}
	}
}

// unnamed returns the predicates of blocks that have no name yet, sorted.
func (r *resolver) unnamed() []predicate {
	var out []predicate
	for name, owners := range r.owners {
		for _, b := range owners {
			if _, ok := r.given[predicate{b, name}]; !ok && b != nil {
				out = append(out, predicate{b, name})
			}
		}
	}
	slices.SortFunc(out, func(a, b predicate) int {
		return cmp.Or(strings.Compare(a.owner.short, b.owner.short),
			strings.Compare(a.name, b.name))
	})
	return out
}

// file returns a file without block clauses, in which predicates have their
// given names. It returns f itself if nothing changes.
func (r *resolver) file(f *ast.File) *ast.File {
	changed := false
	var clauses []*ast.Clause
	for _, b := range r.added {
		if b.file != f {
			continue
		}
		changed = changed || b.named || r.renaming[b]
		if !r.renaming[b] {
			clauses = append(clauses, b.clauses...)
			continue
		}
		for _, c := range b.clauses {
			clauses = append(clauses, ast.Rename(c, func(_ source.Span, name string) string {
				return r.given[r.found[predicate{b, name}]]
			}))
		}
	}
	if !changed {
		return f
	}
	out := *f
	out.Clauses = clauses
	slices.SortStableFunc(out.Clauses, func(a, b *ast.Clause) int {
		return a.Span.Start - b.Span.Start
	})
	return &out
}
