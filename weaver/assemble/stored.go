package assemble

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/rfx"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/weaver/assemble/codecache"
)

// Stored is the code for a GPU that the file of a compiled program holds.
type Stored struct {
	Target
	Graph   string // the text of the kernel graph
	Facts   string // the fingerprint of the facts that the graph is for; "" for all
	Granted abi.Granted
	Code
}

// Code is PTX and its interface.
type Code struct {
	Module *abi.Module
	Text   string
}

// Codes is the code of one compiled program. The zero value is that of a
// program that was compiled here.
type Codes struct {
	List     []*Stored
	Distrust bool // the code must not run
}

// For returns the code that GPUs of a compute capability can run, which may be
// that of an older one, or nil if it is missing or must not run.
func (c Codes) For(sm int) *Stored {
	if c.Distrust {
		return nil
	}
	return c.Any(sm)
}

// Any returns what For returns of code that may run.
func (c Codes) Any(sm int) *Stored {
	var best *Stored
	for _, code := range c.List {
		if code.SM <= sm && (best == nil || code.SM > best.SM) {
			best = code
		}
	}
	return best
}

// Targets lists the GPUs that there is code for.
func (c Codes) Targets() []string {
	var out []string
	for _, code := range c.List {
		out = append(out, code.Name)
	}
	return out
}

// StoredIn returns the code for GPUs that the file of a compiled program holds.
func StoredIn(f *rfx.File) []*Stored {
	var out []*Stored
	for _, c := range f.Code {
		if t, err := ParseTarget(c.Target); err == nil && t.GPU {
			out = append(out, &Stored{Target: t, Graph: c.Graph, Facts: f.Facts,
				Granted: c.Granted, Code: Code{Module: c.Module, Text: c.Text}})
		}
	}
	return out
}

// Shelf holds the code of compiled programs, by the text of their kernel
// graphs. The zero value is empty. It is safe for concurrent use.
type Shelf struct {
	mu    sync.Mutex
	codes map[string][]*Stored
}

// Put adds code.
func (s *Shelf) Put(code *Stored) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.codes == nil {
		s.codes = map[string][]*Stored{}
	}
	list := s.codes[code.Graph]
	if !slices.ContainsFunc(list, func(c *Stored) bool {
		return c == code || c.SM == code.SM && c.Text == code.Text &&
			reflect.DeepEqual(c.Granted, code.Granted)
	}) {
		s.codes[code.Graph] = append(list, code)
	}
}

// of returns the code of a kernel graph.
func (s *Shelf) of(graph *harmony.Program) []*Stored {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.codes) == 0 {
		return nil // the usual case, and the text of a graph is long
	}
	return slices.Clone(s.codes[graph.String()])
}

// Find returns code of a graph for a target whose assumptions hold for what is
// known of the facts. If none does, refused is the reason; it is nil if there
// is no code of the graph.
func (s *Shelf) Find(t Target, graph *harmony.Program,
	k codecache.Knowledge) (code *Stored, refused error) {
	for _, c := range s.of(graph) {
		if c.SM > t.SM {
			continue
		}
		if version := versionOfPTX(c.Text); version > t.PTX {
			refused = &failure.Environment{
				Message: fmt.Sprintf("the compiled program's code is PTX %d.%d, "+
					"and the GPU's driver reads PTX up to %d.%d",
					version/10, version%10, t.PTX/10, t.PTX%10),
				Help: "install a newer driver, or libLLVM to compile it here",
			}
			continue
		}
		wrong := k.Grants(graph, c.Granted)
		if wrong == nil {
			return c, nil
		}
		refused = &failure.Environment{
			Message: fmt.Sprintf("the compiled program's code is for other facts: %v", wrong),
			Help: "compile it without --facts, which serves all, or for these, " +
				"or install libLLVM",
		}
	}
	return nil, refused
}

// PTX returns the code of a graph: that of a compiled program on the shelf, if
// its assumptions hold, and otherwise new code.
func (t *Tools) PTX(s *Shelf, to Target, graph *harmony.Program, k codecache.Knowledge,
	early func(ptx string)) (*Code, error) {
	code, refused := s.Find(to, graph, k)
	if code != nil {
		return &code.Code, nil
	}
	if _, err := t.LLVM(); err != nil && refused != nil {
		return nil, refused
	}
	a, err := t.NewAssembler(to)
	if err != nil {
		return nil, err
	}
	a.Early = early
	made, err := a.Compile(graph, k)
	if err != nil {
		return nil, err
	}
	return codeOf(made)
}

// MadePTX returns what PTX returned before for a graph, if it was compiled in
// this process or an earlier one; nil if there is nothing.
func (t *Tools) MadePTX(to Target, graph *harmony.Program, k codecache.Knowledge) (*Code, error) {
	a, err := t.NewAssembler(to)
	if err != nil {
		return nil, err
	}
	made, err := a.Made(graph, k)
	if made == nil {
		return nil, err
	}
	return codeOf(made)
}

func codeOf(made *codecache.Code) (*Code, error) {
	module, err := made.Module()
	if err != nil {
		return nil, &failure.Internal{Phase: "code generation", Err: err}
	}
	return &Code{Module: module, Text: made.Text}, nil
}

// versionOfPTX returns the version that a text of PTX declares, 78 for 7.8; 0
// if it declares none.
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
