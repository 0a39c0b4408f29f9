package woven

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/decompose"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// Program is a kernel graph with the analyses that do not depend on facts.
type Program struct {
	Graph   *harmony.Program
	Domains *domain.Domains
	Lives   *harmony.Lives
	Named   map[string]harmony.Managed // all variables
	// Reach says which blocks can run after a block, itself among them if it is
	// in a loop.
	Reach map[*harmony.Block]map[*harmony.Block]bool
	Loops []*decompose.Loop // that are decomposable

	distinct func(*harmony.Relation) bool
	checks   map[*harmony.Check]int
	writes   map[harmony.Managed][]site // the commands that write a variable
	inserts  map[harmony.Managed][]site // those that insert into it
}

// NewProgram analyses the graph of a plan.
func NewProgram(plan *queryplan.Plan, graph *harmony.Program) *Program {
	p := &Program{
		Graph:    graph,
		Domains:  domain.Find(graph),
		Lives:    harmony.Lifetimes(graph),
		Named:    map[string]harmony.Managed{},
		Reach:    cfg.Reach(graph.Blocks, (*harmony.Block).Successors),
		Loops:    decompose.Find(graph),
		distinct: harmony.Distinct(plan),
		checks:   map[*harmony.Check]int{},
		writes:   map[harmony.Managed][]site{},
		inserts:  map[harmony.Managed][]site{},
	}
	for _, r := range graph.Relations {
		p.Named[r.Name] = r
	}
	for _, x := range graph.Indexes {
		p.Named[x.Name] = x
	}
	for _, g := range graph.Groups {
		p.Named[g.Name] = g
	}
	for _, b := range graph.Blocks {
		for i, c := range b.Cmds {
			if c, ok := c.(*harmony.Check); ok {
				p.checks[c] = len(p.checks)
			}
			for _, v := range harmony.Writes(c) {
				p.writes[v] = append(p.writes[v], site{b, i})
			}
			for _, v := range harmony.Inserts(c) {
				p.inserts[v] = append(p.inserts[v], site{b, i})
			}
		}
	}
	return p
}

// NeedsSet reports whether a tuple may be inserted twice. Relations that
// lowering adds are there to remove duplicates.
func (p *Program) NeedsSet(r *harmony.Relation) bool { return !p.distinct(r) }

// Carried returns the columns by which a loop over a relation is decomposed, or
// nil.
func (p *Program) Carried(r *harmony.Relation) []int {
	for _, l := range p.Loops {
		if l.Rel == r {
			return l.Carried
		}
	}
	return nil
}

// site is command i of a block.
type site struct {
	b *harmony.Block
	i int
}

// WrittenAgain reports whether a command that can run after a place writes a
// variable.
func (p *Program) WrittenAgain(v harmony.Managed, b *harmony.Block, i int) bool {
	return p.later(p.writes[v], b, i)
}

// InsertsAfter reports whether a tuple can be inserted after a place.
func (p *Program) InsertsAfter(r *harmony.Relation, b *harmony.Block, i int) bool {
	return p.later(p.inserts[r], b, i)
}

// later reports whether one of some commands can run after command i of a
// block.
func (p *Program) later(sites []site, b *harmony.Block, i int) bool {
	return slices.ContainsFunc(sites, func(s site) bool {
		return s.b == b && s.i > i || p.Reach[b][s.b]
	})
}

// keptPrograms is the number of plans whose kernel graphs and code an engine
// keeps.
const keptPrograms = 64

// Programs finds the program of a plan, with what an engine keeps beside it,
// such as its code. Rewriting makes a new plan for every run, so that plans are
// the same if their texts are, and the places of the source that they refer to.
// The zero value is empty.
type Programs[K any] struct {
	// Make makes what is kept of a program, and Drop, if set, frees it.
	Make func(*Program) K
	Drop func(K)

	mu   sync.Mutex
	list []*keptProgram[K] // most recently used first
}

type keptProgram[K any] struct {
	key  string
	plan weak.Pointer[queryplan.Plan] // the last one with that key
	once sync.Once
	made atomic.Bool // prog and kept are there
	prog *Program
	kept K
	err  error
}

// Find returns the lowered program of a plan, and what is kept of it.
func (c *Programs[K]) Find(plan *queryplan.Plan,
	lower func(*queryplan.Plan) (*harmony.Program, error)) (*Program, K, error) {
	same := weak.Make(plan)
	c.mu.Lock()
	at := slices.IndexFunc(c.list, func(p *keptProgram[K]) bool { return p.plan == same })
	var key string
	if at < 0 {
		c.mu.Unlock()
		key = planKey(plan)
		c.mu.Lock()
		at = slices.IndexFunc(c.list, func(p *keptProgram[K]) bool { return p.key == key })
	}
	var dropped *keptProgram[K]
	if at < 0 {
		if last := len(c.list) - 1; last+1 == keptPrograms {
			dropped, c.list = c.list[last], c.list[:last]
		}
		at = len(c.list)
		c.list = append(c.list, &keptProgram[K]{key: key})
	}
	p := c.list[at]
	copy(c.list[1:at+1], c.list[:at])
	c.list[0], p.plan = p, same
	c.mu.Unlock()
	if dropped != nil {
		dropped.drop(c.Drop)
	}
	p.once.Do(func() {
		var graph *harmony.Program
		if graph, p.err = lower(plan); p.err == nil {
			p.prog = NewProgram(plan, graph)
			p.kept = c.Make(p.prog)
			p.made.Store(true)
		}
	})
	return p.prog, p.kept, p.err
}

// Each calls f with what is kept of each program.
func (c *Programs[K]) Each(f func(K)) {
	c.mu.Lock()
	list := slices.Clone(c.list)
	c.mu.Unlock()
	for _, p := range list {
		if p.made.Load() {
			f(p.kept)
		}
	}
}

// Close drops what is kept of all programs. None may be running.
func (c *Programs[K]) Close() {
	c.mu.Lock()
	list := c.list
	c.list = nil
	c.mu.Unlock()
	for _, p := range list {
		p.drop(c.Drop)
	}
}

func (p *keptProgram[K]) drop(give func(K)) {
	p.once.Do(func() {})
	if p.prog != nil && give != nil {
		give(p.kept)
	}
}

// planKey returns a text that identifies a plan.
func planKey(plan *queryplan.Plan) string {
	var b strings.Builder
	b.WriteString(plan.String())
	span := func(s source.Span) { fmt.Fprintf(&b, "%p %d %d\n", s.File, s.Start, s.End) }
	for _, v := range plan.Vars {
		span(v.Span)
	}
	for _, block := range plan.Blocks {
		for _, c := range block.Cmds {
			switch c := c.(type) {
			case *queryplan.Insert:
				span(c.Span)
			case *queryplan.Check:
				span(c.Span)
			case *queryplan.CheckKey:
				span(c.Span)
			}
		}
		if t, ok := block.Term.(*queryplan.Branch); ok {
			span(t.Span)
		}
	}
	return b.String()
}
