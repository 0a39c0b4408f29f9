package codecache

import (
	"encoding/binary"
	"sync"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

// question asks for a parameter of an entry or, where register is not 0, for
// the bounds of the register of that number.
type question struct {
	entry    string
	param    abi.Param
	register int
}

// questions are in the order in which they were first asked, without doubles.
type questions []question

// registers are those of a graph, by number from 1; registers of the same
// number in equal texts of graphs are the same.
type registers struct {
	list   []*harmony.Reg
	number map[*harmony.Reg]int
}

func numberRegisters(graph *harmony.Program) *registers {
	r := &registers{number: map[*harmony.Reg]int{}}
	for _, k := range graph.Kernels() {
		for _, s := range k.Stages {
			if d := harmony.Def(s); d != nil && r.number[d] == 0 {
				r.list = append(r.list, d)
				r.number[d] = len(r.list)
			}
		}
	}
	return r
}

// areFor reports whether questions can be asked.
func (q questions) areFor(r *registers, k Knowledge) bool {
	for _, one := range q {
		if one.register > len(r.list) || one.register == 0 && k.Fix == nil {
			return false
		}
	}
	return true
}

// with returns the questions and after them those of another list that are not
// among them.
func (q questions) with(others questions) questions {
	seen := map[question]bool{}
	for _, one := range q {
		seen[one] = true
	}
	out := q[:len(q):len(q)]
	for _, one := range others {
		if !seen[one] {
			out = append(out, one)
		}
	}
	return out
}

// bytes writes questions so that parseQuestions reads them.
func (q questions) bytes() []byte {
	var b []byte
	for _, one := range q {
		b = binary.AppendUvarint(b, uint64(one.register))
		if one.register == 0 {
			b = appendText(b, one.entry)
			b = append(b, byte(one.param.Kind))
			b = appendText(b, one.param.Var)
			b = binary.AppendUvarint(b, uint64(one.param.Index))
		}
	}
	return b
}

func parseQuestions(data []byte) (questions, bool) {
	var out questions
	r := reader{data}
	for len(r.rest) > 0 {
		one := question{register: int(r.number())}
		if one.register == 0 {
			one.entry = r.text()
			one.param = abi.Param{Kind: abi.Kind(r.byte()), Var: r.text(), Index: int(r.number())}
		}
		out = append(out, one)
	}
	return out, r.rest != nil || len(data) == 0
}

// answered is the key of code: what it is about, questions, and their answers.
func answered(about string, list questions, k Knowledge, r *registers) string {
	b := append([]byte(about), 0)
	b = append(b, list.bytes()...)
	for _, one := range list {
		b = one.answer(b, k, r)
	}
	return string(b)
}

// answer appends the answer to a question. An answer that says nothing has no
// number.
func (q question) answer(b []byte, k Knowledge, r *registers) []byte {
	if q.register == 0 {
		word, ok := k.Fix(q.entry, q.param)
		if !ok {
			return append(b, 0)
		}
		return binary.AppendVarint(append(b, 1), word)
	}
	lo, hi, ok := k.Range(r.list[q.register-1])
	if !ok {
		return append(b, 0)
	}
	return binary.AppendVarint(binary.AppendVarint(append(b, 1), lo), hi)
}

// listener passes questions on, and keeps each once.
type listener struct {
	Knowledge
	registers *registers

	mu      sync.Mutex
	seen    map[question]bool
	list    questions
	strange bool // one was about a register that the graph does not have, and was answered
}

func (l *listener) hear(q question) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen[q] {
		return
	}
	if l.seen == nil {
		l.seen = map[question]bool{}
	}
	l.seen[q] = true
	l.list = append(l.list, q)
}

func (l *listener) fix(entry string, p abi.Param) (int64, bool) {
	l.hear(question{entry: entry, param: p})
	word, ok := l.Knowledge.Fix(entry, p)
	if !ok {
		return 0, false // that is all that the key says of the answer
	}
	return word, true
}

func (l *listener) reg(r *harmony.Reg) (lo, hi int64, ok bool) {
	n := l.registers.number[r]
	if n > 0 {
		l.hear(question{register: n})
	}
	lo, hi, ok = l.Knowledge.Range(r)
	if !ok {
		return 0, 0, false
	}
	if n == 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.strange = true
	}
	return lo, hi, true
}
