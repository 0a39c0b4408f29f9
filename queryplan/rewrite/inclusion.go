package rewrite

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var dropCertainMatches = &Pass{
	Name: "DropCertainMatches",
	Reason: "A stored relation of which a join only asks whether a match is there need not be asked " +
		"if one always is, and what asks for tuples without one is empty: keys that count the rows " +
		"hold every number of their range, a relation has its own tuples, and those that a constraint " +
		"looks up are there or there is no answer. A predicate has what its rules copy whole, and " +
		"others have no more than what their rules read. A constraint between stored relations that " +
		"statistics prove is not checked.",
	Unless: "Something uses what is looked up, a tuple may have several matches and repeated tuples " +
		"matter, or the inclusion is known of the other side after conditions. A check does not stand " +
		"for another one. What is computed of tuples without a match may fail before the constraint " +
		"does: the run has no answer, for another reason.",
	Before: "unique semi join p\n  scan item(o, p)\n  scan part(p, _)\n\n" +
		"check \"item(o, p) -> part[p] = _.\"\n  unique anti join p\n    scan item(o, p)\n" +
		"    scan part(p, _)",
	After: "scan item(o, p)\n\ncheck \"item(o, p) -> part[p] = _.\"\n  unique anti join p\n" +
		"    scan item(o, p)\n    scan part(p, _)",
	Source: "semantic query optimisation by inclusion dependencies: King, VLDB 1981; Chakravarthy, " +
		"Grant, Minker, TODS 1990",
	run: func(p *program) error {
		x := &inclusions{catalog: p.catalog, checked: map[string]bool{},
			contents: contentsOf(p.Plan)}
		for _, c := range p.Commands() {
			if check, ok := c.(*queryplan.Check); ok {
				x.note(check.Node)
			}
		}
		p.rewriteTrees(func(b *queryplan.Block, c queryplan.Command,
			n queryplan.Node) queryplan.Node {
			_, x.checking = c.(*queryplan.Check)
			x.at = site{b, slices.Index(b.Cmds, c)}
			return joins.EachConjunction(n, joins.RootSite(c), x.drop)
		})
		return nil
	},
}

// inclusions holds the relations whose tuples are certain to be in others.
type inclusions struct {
	*contents
	catalog *stats.Catalog
	// checked holds the inclusions that checks of the plan enforce, by the
	// names that enforced gives them.
	checked  map[string]bool
	checking bool // the current conjunction belongs to a check
	at       site // the site of the current conjunction
}

// note records the inclusion that a check enforces: each tuple of a stored
// relation has a match in another one.
func (x *inclusions) note(n queryplan.Node) {
	switch n := n.(type) {
	case *queryplan.Project, *queryplan.Dedup:
		x.note(n.Inputs()[0])
	}
	j, ok := n.(*queryplan.Join)
	if !ok || j.Kind != queryplan.Anti {
		return
	}
	on := j.On()
	from, isWhole := x.stored(j.Left, on, true)
	to, toIsWhole := x.stored(j.Right, on, true)
	if isWhole && toIsWhole && len(on) > 0 {
		x.checked[enforced(from, to)] = true
	}
}

// columnsOfRows are columns of the rows of one stored relation.
type columnsOfRows struct {
	source string // the relation or its table
	at     []int  // the columns
	types  []scalar.Type
}

// enforced returns a name for an inclusion that does not depend on the order of
// columns.
func enforced(from, to columnsOfRows) string {
	pairs := make([]string, len(from.at))
	for i := range pairs {
		pairs[i] = fmt.Sprintf("%d:%d", from.at[i], to.at[i])
	}
	slices.Sort(pairs)
	return from.source + "\x00" + to.source + "\x00" + strings.Join(pairs, " ")
}

// stored returns the stored columns behind columns of a tree, all from one row.
// With whole, the tree must have a tuple for each row. ok is false if there are
// no such columns.
func (x *inclusions) stored(
	n queryplan.Node, cols []string, whole bool,
) (out columnsOfRows, ok bool) {
	switch n := n.(type) {
	case *queryplan.Scan:
		source, at := "input "+n.Var.Source, func(i int) int { return i }
		if t, places := x.catalog.Stored(n.Var); t != nil {
			source, at = "table "+t.Name, func(i int) int { return places[i] }
		} else if n.Var.Kind != queryplan.Input {
			return out, false
		}
		out.source = source
		for _, name := range cols {
			i := slices.Index(n.Names, name)
			if i < 0 {
				return out, false
			}
			out.at = append(out.at, at(i))
			out.types = append(out.types, n.Var.Cols[i].Type)
		}
		return out, true
	case *queryplan.Project:
		if below, ok := belowProject(n, cols); ok {
			return x.stored(n.Input, below, whole)
		}
	case *queryplan.Filter, *queryplan.Map, *queryplan.Dedup, *queryplan.TopK, *queryplan.Seq:
		if !whole {
			return x.stored(n.Inputs()[0], cols, false)
		}
	case *queryplan.Aggregate:
		if !whole && trees.HasAll(n.By, cols) {
			return x.stored(n.Input, cols, false)
		}
	case *queryplan.Join:
		if !whole {
			for _, in := range n.Inputs() {
				if out, ok := x.stored(in, cols, false); ok {
					return out, true
				}
				if n.Kind != queryplan.Inner {
					break
				}
			}
		}
	}
	return out, false
}

// covers reports whether the values of a tree in some columns are certain to
// occur in a relation that is stored, or derived before.
func (x *inclusions) covers(n, relation queryplan.Node, on []string) bool {
	if x.storedCovers(n, on, relation, on) {
		return true
	}
	to, ok := placeOf(relation, on)
	if !ok {
		return false
	}
	w := &within{contents: x.contents}
	if whole, ok := x.valuesOf(to, x.at); ok {
		w.self = to
		w.input = func(n *queryplan.Scan, cols []string) bool {
			p, ok := columnsAt(n, cols)
			return ok && slices.ContainsFunc(whole, p.equal)
		}
	} else if to.v.Kind == queryplan.Input || to.v.Kind == queryplan.Table {
		w.input = func(n *queryplan.Scan, cols []string) bool {
			return x.storedCovers(n, cols, relation, on)
		}
	} else {
		return false
	}
	return w.has(n, on)
}

// storedCovers reports whether the values of a tree in the columns cols are
// among those of a stored relation in the columns on, by what is known of what
// is stored.
func (x *inclusions) storedCovers(
	n queryplan.Node, cols []string, relation queryplan.Node, on []string,
) bool {
	to, ok := x.stored(relation, on, true)
	if !ok {
		return false
	}
	from, ok := x.stored(n, cols, false)
	if ok && slices.Equal(from.types, to.types) {
		if from.source == to.source && slices.Equal(from.at, to.at) || !x.checking &&
			x.checked[enforced(from, to)] {
			return true
		}
	}
	table, ok := strings.CutPrefix(to.source, "table ")
	if !ok || len(on) != 1 || to.types[0].Kind != scalar.Int ||
		!x.catalog.Tables[table].Numbers(to.at[0]) {
		return false
	}
	have, ok := x.catalog.Bounds(n)[cols[0]]
	range_ := x.catalog.Tables[table].Columns[to.at[0]]
	return ok && have.Min.Cmp(big.NewInt(range_.Min)) >= 0 &&
		have.Max.Cmp(big.NewInt(range_.Max)) <= 0
}

// drop removes the relations and semijoins of a conjunction that keep all
// tuples.
func (x *inclusions) drop(n queryplan.Node, at joins.Site) queryplan.Node {
	if !hasJoin(n) {
		return n
	}
	c := joins.Flatten(n)
	c.Restrict(at)
	all := len(c.Rels) + len(c.Semis)
	for i := 0; i < len(c.Semis); i++ {
		s := c.Semis[i]
		on := trees.Columns(s.Right)
		if !slices.ContainsFunc(c.Rels, func(r queryplan.Node) bool {
			return trees.HasAll(trees.Columns(r), on) && x.covers(r, s.Right, on)
		}) {
			continue
		}
		if s.Kind == queryplan.Anti {
			return trees.Nothing(n.Columns())
		}
		c.Semis = slices.Delete(c.Semis, i, i+1)
		i--
	}
	for i := len(c.Rels) - 1; i >= 0 && len(c.Rels) > 1; i-- {
		if x.always(c, i, at.Set) {
			c.Rels = slices.Delete(c.Rels, i, i+1)
		}
	}
	if len(c.Rels)+len(c.Semis) == all {
		return n
	}
	return c.Assemble(joins.LeftDeep(len(c.Rels)), at)
}

// hasJoin reports whether a conjunction has a join. Only then is it worth
// taking apart.
func hasJoin(n queryplan.Node) bool {
	if !joins.InConjunction(n) {
		return false
	}
	_, isJoin := n.(*queryplan.Join)
	return isJoin || slices.ContainsFunc(n.Inputs(), hasJoin)
}

// always reports whether a relation of a conjunction has a match for each tuple
// of the others (exactly one, if repeated tuples matter), and whether nothing
// uses its columns.
func (x *inclusions) always(c *joins.Conjunction, rel int, set bool) bool {
	cols := trees.Columns(c.Rels[rel])
	shared := slices.DeleteFunc(slices.Clone(cols), func(name string) bool {
		for i, r := range c.Rels {
			if _, has := queryplan.ColumnOf(r, name); has && i != rel {
				return false
			}
		}
		return true
	})
	if len(shared) == 0 || !set && !queryplan.IsKey(c.Rels[rel], shared) {
		return false
	}
	for _, name := range cols {
		if !slices.Contains(shared, name) && c.Uses(name) {
			return false
		}
	}
	for i, r := range c.Rels {
		if i != rel && trees.HasAll(trees.Columns(r), shared) && x.covers(r, c.Rels[rel], shared) {
			return true
		}
	}
	return false
}
