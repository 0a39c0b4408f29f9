package redfox

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/rfx"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/gpu"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// storedCode is code for GPUs that the file of a compiled program has.
type storedCode struct {
	target
	graph   string // the text of the kernel graph that it is of
	facts   string // the fingerprint of the facts that the graph is for; "" for all
	granted abi.Granted
	gpu.Code
}

// storedCodes returns the code for GPUs that a file has.
func storedCodes(f *rfx.File) []*storedCode {
	var out []*storedCode
	for _, c := range f.Code {
		if t, err := parseTarget(c.Target); err == nil && t.GPU {
			out = append(out, &storedCode{target: t, graph: c.Graph, facts: f.Facts, granted: c.Granted,
				Code: gpu.Code{Module: c.Module, PTX: c.Text}})
		}
	}
	return out
}

// codeFor returns the code that the program has for GPUs of a compute capability: that
// for the latest which is not later. It is nil if there is none, or if it is not trusted.
func (p *Program) codeFor(sm int) *storedCode {
	if p.distrust {
		return nil
	}
	return p.storedFor(sm)
}

// storedFor returns what codeFor does of code that may be run.
func (p *Program) storedFor(sm int) *storedCode {
	var best *storedCode
	for _, c := range p.codes {
		if c.SM <= sm && (best == nil || c.SM > best.SM) {
			best = c
		}
	}
	return best
}

// codeTargets lists the GPUs that the program has code for.
func (p *Program) codeTargets() []string {
	var out []string
	for _, c := range p.codes {
		out = append(out, c.Name)
	}
	return out
}

// planFor returns the plan for a run on a GPU, and the code that the program has of its
// kernels, if it has any. The code of a compiled program is of the plan for what it
// prints if it is told nothing else; other plans need other code.
func (p *Program) planFor(sm int, wanted []string, db *Database) (*queryplan.Plan, *storedCode, error) {
	code := p.codeFor(sm)
	whole := p.wantedByDefault()
	if code == nil || slices.ContainsFunc(wanted, func(name string) bool { return !slices.Contains(whole, name) }) {
		plan, err := p.optimise(wanted, db)
		return plan, nil, err
	}
	facts := db
	if code.facts == "" {
		facts = nil
	}
	plan, err := p.optimise(whole, facts)
	if err != nil {
		return nil, nil, err
	}
	same, err := p.becomes(plan, code)
	switch {
	case err != nil:
		return nil, nil, err
	case same:
		return plan, code, nil
	}
	plan, err = p.optimise(wanted, db)
	return plan, nil, err
}

// becomes reports whether a plan becomes the kernels that code is of.
func (p *Program) becomes(plan *queryplan.Plan, code *storedCode) (bool, error) {
	p.mu.Lock()
	same, known := p.kernels[kernelsKey{plan, code}]
	p.mu.Unlock()
	if known {
		return same, nil
	}
	graph, _, err := kernelsOf(plan, code.target, p.fusing)
	if err != nil {
		return false, err
	}
	same = graph.String() == code.graph
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kernels == nil {
		p.kernels = map[kernelsKey]bool{}
	}
	p.kernels[kernelsKey{plan, code}] = same
	return same, nil
}

// kernelsKey is a plan and code of which it is known whether they fit.
type kernelsKey struct {
	plan *queryplan.Plan
	code *storedCode
}

// otherPlan says that code which a program has is of no use for a run.
func (p *Program) otherPlan(wanted []string) error {
	whole := p.wantedByDefault()
	for _, name := range wanted {
		if !slices.Contains(whole, name) {
			return &EnvironmentError{
				Message: "the compiled program has code for what it prints by default, which is " + strings.Join(whole, ", ") + ", and not for " + name,
				Help:    "install libLLVM, or use --engine go",
			}
		}
	}
	return &EnvironmentError{
		Message: "the compiled program has code for another plan than these facts and options ask for",
		Help:    "compile it without --facts, which serves all, or for these, or install libLLVM, or use --engine go",
	}
}

// offer lets the gpu engine use code of a compiled program.
func (s *engines) offer(code *storedCode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.codes == nil {
		s.codes = map[string][]*storedCode{}
	}
	list := s.codes[code.graph]
	if !slices.ContainsFunc(list, func(c *storedCode) bool {
		return c == code || c.SM == code.SM && c.PTX == code.PTX && reflect.DeepEqual(c.granted, code.granted)
	}) {
		s.codes[code.graph] = append(list, code)
	}
}

// codesOf returns the code of compiled programs for a kernel graph.
func (s *engines) codesOf(graph *harmony.Program) []*storedCode {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.codes) == 0 {
		return nil // most programs are not compiled, and the text of a graph is long
	}
	return slices.Clone(s.codes[graph.String()])
}

// stored returns code of a compiled program for kernels, if there is any for a target
// that takes nothing for granted but what is known of the facts. If there is none,
// refused says why what there is can not be used, nil if there is nothing.
func (s *engines) stored(t target, graph *harmony.Program, k woven.Knowledge) (code *gpu.Code, refused error) {
	list := s.codesOf(graph)
	for _, c := range list {
		if c.SM > t.SM {
			continue
		}
		if version := versionOfPTX(c.PTX); version > t.ptx {
			refused = &EnvironmentError{
				Message: fmt.Sprintf("the compiled program's code is PTX %d.%d, and the GPU's driver reads PTX up to %d.%d", version/10, version%10, t.ptx/10, t.ptx%10),
				Help:    "install a newer driver, or libLLVM to compile it here",
			}
			continue
		}
		wrong := k.Grants(graph, c.granted)
		if wrong == nil {
			return &c.Code, nil
		}
		refused = &EnvironmentError{
			Message: fmt.Sprintf("the compiled program's code is for other facts: %v", wrong),
			Help:    "compile it without --facts, which serves all, or for these, or install libLLVM",
		}
	}
	return nil, refused
}

// versionOfPTX returns the version that a text of PTX says it is of, 78 being 7.8; 0 if
// it says none.
func versionOfPTX(text string) int {
	_, rest, found := strings.Cut(text, "\n.version ")
	if !found {
		rest, found = strings.CutPrefix(text, ".version ")
	}
	var major, minor int
	if n, err := fmt.Sscanf(rest, "%d.%d", &major, &minor); !found || n < 2 || err != nil {
		return 0
	}
	return 10*major + minor
}
