package codecache

import (
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
)

// Store keeps bytes under keys, as package kernelcache does. Those that Get
// returns are not changed later.
type Store interface {
	Get(key string) ([]byte, bool)
	Put(key string, object []byte)
}

// Knowledge is what code may take for granted. The answer to a question never
// changes, and the answer to a question about something that the graph lacks
// depends on nothing.
type Knowledge struct {
	// Fix returns the word of a parameter that is constant. With nil, nothing
	// is known of the facts.
	Fix func(entry string, p abi.Param) (int64, bool)
	// Range bounds the words of a register; without a bound a decimal may
	// exceed 64 bits.
	Range func(r *harmony.Reg) (lo, hi int64, ok bool)
	// General, if set, reports the kernels and indexes whose code takes nothing
	// for granted.
	General func(of string) bool
	Domains *domain.Domains // a function of the graph, hence part of no key
}

// Code is what a graph was compiled to.
type Code struct {
	Text   string // PTX
	module string
	asked  questions
}

// NewCode returns code and its interface.
func NewCode(m *abi.Module, text string) *Code { return &Code{Text: text, module: m.String()} }

// Module returns the interface of the code.
func (c *Code) Module() (*abi.Module, error) { return abi.Parse("the cache's code", c.module) }

// Ask asks what was asked when the code of a graph was made, in the same order.
func (c *Code) Ask(graph *harmony.Program, k Knowledge) {
	registers := numberRegisters(graph)
	for _, q := range c.asked {
		q.answer(nil, k, registers)
	}
}

// Compile returns the code of a graph: what the store has, or what compile
// makes, which then goes to the store. The maker names everything that code
// depends on beside the graph and the knowledge. The function compile asks the
// knowledge that it gets and nothing else, from any number of goroutines.
func Compile(s Store, graph *harmony.Program, maker string, k Knowledge,
	compile func(Knowledge) (*Code, error)) (*Code, error) {
	about := strings.Join([]string{"code", maker, strconv.FormatBool(k.Fix == nil), graph.String()},
		"\x00")
	registers := numberRegisters(graph)
	var known questions
	if data, ok := s.Get(about); ok {
		if list, ok := parseQuestions(data); ok && list.areFor(registers, k) {
			known = list
			if data, ok := s.Get(answered(about, known, k, registers)); ok {
				if c, ok := parseCode(data); ok && c.asked.areFor(registers, k) {
					return c, nil
				}
			}
		}
	}
	l := &listener{Knowledge: k, registers: registers}
	heard := Knowledge{Range: l.reg, Domains: k.Domains}
	if k.Fix != nil {
		heard.Fix = l.fix
	}
	c, err := compile(heard)
	if err != nil {
		return nil, err
	}
	c.asked = l.list
	if l.strange {
		return c, nil
	}
	if all := known.with(l.list); len(all) > len(known) {
		known = all
		s.Put(about, known.bytes())
	}
	s.Put(answered(about, known, k, registers), c.bytes())
	return c, nil
}
