package codecache

import (
	"strings"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

// Store keeps bytes under keys, as package kernelcache does.
type Store interface {
	Get(key string) ([]byte, bool)
	Put(key string, object []byte)
}

// Knowledge is what generation may ask. The answer to a question is the same however
// often it is asked, and one about what a graph does not have depends on nothing.
type Knowledge struct {
	// Fix gives the word of a parameter that is always the same.
	Fix func(entry string, p abi.Param) (int64, bool)
	// Range bounds the words of a register.
	Range func(r *harmony.Reg) (lo, hi int64, ok bool)
}

// Code is what a graph was compiled to.
type Code struct {
	module string
	Text   string // PTX
}

// NewCode returns code and its interface.
func NewCode(m *abi.Module, text string) *Code { return &Code{m.String(), text} }

// Module returns the interface of the code.
func (c *Code) Module() (*abi.Module, error) { return abi.Parse("the cache's code", c.module) }

// Compile returns the code of a graph: what the store has, or what compile makes,
// which then goes to the store. The maker names everything that decides on the code
// beside the graph and the knowledge. Compile asks the knowledge that it gets and
// nothing else, from any number of goroutines.
func Compile(s Store, graph *harmony.Program, maker string, k Knowledge, compile func(Knowledge) (*Code, error)) (*Code, error) {
	about := strings.Join([]string{"code", maker, graph.String()}, "\x00")
	registers := numberRegisters(graph)
	var known questions
	if data, ok := s.Get(about); ok {
		if list, ok := parseQuestions(data); ok && list.areOf(registers) {
			known = list
			if data, ok := s.Get(answered(about, known, k, registers)); ok {
				if c, ok := parseCode(data); ok {
					return c, nil
				}
			}
		}
	}
	asked := newListener(known, k, registers)
	c, err := compile(Knowledge{Fix: asked.fix, Range: asked.reg})
	if err != nil || asked.strange {
		return c, err
	}
	if asked.more {
		known = asked.list
		s.Put(about, known.bytes())
	}
	s.Put(answered(about, known, k, registers), c.bytes())
	return c, nil
}
