package codecache

import (
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

// Store keeps bytes under keys, as package kernelcache does. Those that Get returns are
// not changed later.
type Store interface {
	Get(key string) ([]byte, bool)
	Put(key string, object []byte)
}

// Knowledge is what generation may ask. The answer to a question is the same however
// often it is asked, and one about what a graph does not have depends on nothing.
type Knowledge struct {
	// Fix gives the word of a parameter that is always the same. Nil says that nothing
	// is known of the facts.
	Fix func(entry string, p abi.Param) (int64, bool)
	// Range bounds the words of a register.
	Range func(r *harmony.Reg) (lo, hi int64, ok bool)
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

// Compile returns the code of a graph: what the store has, or what compile makes,
// which then goes to the store. The maker names everything that decides on the code
// beside the graph and the knowledge. Compile asks the knowledge that it gets and
// nothing else, from any number of goroutines.
func Compile(s Store, graph *harmony.Program, maker string, k Knowledge, compile func(Knowledge) (*Code, error)) (*Code, error) {
	about := strings.Join([]string{"code", maker, strconv.FormatBool(k.Fix == nil), graph.String()}, "\x00")
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
	heard := Knowledge{Range: l.reg}
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
