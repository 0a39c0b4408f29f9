package native

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/queryplan"
)

// program is a kernel graph with what is known of it whatever the facts.
type program struct {
	graph   *harmony.Program
	domains *domain.Domains
	lives   *harmony.Lives
	named   map[string]harmony.Managed
	reach   map[*harmony.Block]map[*harmony.Block]bool
	sets    map[string]bool // plan variables whose tuples may come twice
	checks  map[*harmony.Check]int

	mu       sync.Mutex
	compiled []*compiled // most recently used first
}

func newProgram(plan *queryplan.Plan, graph *harmony.Program) *program {
	p := &program{
		graph:   graph,
		domains: domain.Find(graph),
		lives:   harmony.Lifetimes(graph),
		named:   map[string]harmony.Managed{},
		reach:   queryplan.Reach(graph.Blocks, (*harmony.Block).Successors),
		sets:    map[string]bool{},
		checks:  map[*harmony.Check]int{},
	}
	for _, r := range graph.Relations {
		p.named[r.Name] = r
	}
	for _, x := range graph.Indexes {
		p.named[x.Name] = x
	}
	for _, g := range graph.Groups {
		p.named[g.Name] = g
	}
	flow := queryplan.NewFlow(plan)
	for _, v := range plan.Vars {
		p.sets[v.Name] = flow.NeedsSet(v)
	}
	for _, b := range graph.Blocks {
		for _, c := range b.Cmds {
			if c, ok := c.(*harmony.Check); ok {
				p.checks[c] = len(p.checks)
			}
		}
	}
	return p
}

// needsSet reports whether a tuple may be inserted twice. Relations that lowering
// adds are there to remove duplicates.
func (p *program) needsSet(r *harmony.Relation) bool {
	needs, ok := p.sets[r.Name]
	return needs || !ok
}

// writtenAgain reports whether a command that can run after a place writes a
// variable.
func (p *program) writtenAgain(v harmony.Managed, b *harmony.Block, i int) bool {
	return p.later(b, i, func(c harmony.Command) bool {
		for _, w := range harmony.Writes(c) {
			if w == v {
				return true
			}
		}
		return false
	})
}

// insertsAfter reports whether a tuple can be inserted after a place.
func (p *program) insertsAfter(r *harmony.Relation, b *harmony.Block, i int) bool {
	return p.later(b, i, func(c harmony.Command) bool {
		run, ok := c.(*harmony.Run)
		if !ok {
			return false
		}
		for _, s := range run.Kernel.Sinks {
			if harmony.SinkTarget(s) == harmony.Managed(r) {
				return true
			}
		}
		return false
	})
}

// later reports whether a command that can run after command i of a block is one
// that is looked for.
func (p *program) later(b *harmony.Block, i int, is func(harmony.Command) bool) bool {
	for _, c := range b.Cmds[i+1:] {
		if is(c) {
			return true
		}
	}
	for _, other := range p.graph.Blocks {
		if p.reach[b][other] {
			for _, c := range other.Cmds {
				if is(c) {
					return true
				}
			}
		}
	}
	return false
}

// keptPrograms is how many plans an engine keeps the kernel graphs and the code
// of, and keptCode of how many layouts of facts for each.
const (
	keptPrograms = 64
	keptCode     = 4
)

// programCache finds the program of a plan. Rewriting makes a new plan for every
// run, so that plans are the same if their texts are, and the places of the source
// that they refer to.
type programCache struct {
	mu   sync.Mutex
	list []*cachedProgram // most recently used first
}

type cachedProgram struct {
	key  string
	once sync.Once
	prog *program
	err  error
}

func (c *programCache) find(plan *queryplan.Plan, lower func(*queryplan.Plan) (*harmony.Program, error)) (*program, error) {
	key := planKey(plan)
	c.mu.Lock()
	var dropped *cachedProgram
	at := slices.IndexFunc(c.list, func(p *cachedProgram) bool { return p.key == key })
	if at < 0 {
		if last := len(c.list) - 1; last+1 == keptPrograms {
			dropped, c.list = c.list[last], c.list[:last]
		}
		at = len(c.list)
		c.list = append(c.list, &cachedProgram{key: key})
	}
	p := c.list[at]
	copy(c.list[1:at+1], c.list[:at])
	c.list[0] = p
	c.mu.Unlock()
	if dropped != nil {
		dropped.once.Do(func() {})
		if dropped.prog != nil {
			dropped.prog.forget()
		}
	}
	p.once.Do(func() {
		var graph *harmony.Program
		if graph, p.err = lower(plan); p.err == nil {
			p.prog = newProgram(plan, graph)
		}
	})
	return p.prog, p.err
}

// planKey tells plans apart.
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
	}
	return b.String()
}
