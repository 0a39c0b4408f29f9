package hostcode

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// shape is a function of IR, and the others whose text is the same but for the
// name.
type shape struct {
	symbol  string
	text    string
	typ     string   // of the function, as an alias needs it
	aliases []string // the symbols of the others
	calls   []string // those of the entries that it calls
}

// header is the first line of a function that can be shared: plain parameters,
// and nothing but nounwind about the function.
var header = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^define (\w+) @([\w.$-]+)\(((?:\w+ %\w+(?:, )?)*)\) nounwind \{$`)
})

// shapesOf divides IR into the functions of some of all symbols and what they
// need. Each shape stands where its first function stood.
func shapesOf(ir string, all, some []string) (shapes []*shape, rest string) {
	wanted := map[string]bool{} // and false for the other symbols
	for _, s := range all {
		wanted[s] = false
	}
	for _, s := range some {
		wanted[s] = true
	}
	type key struct{ typ, body string }
	found := map[key]*shape{}
	var others strings.Builder
	const begin, end = "define ", "\n}\n"
	for ir != "" {
		at := 0
		if !strings.HasPrefix(ir, begin) {
			if at = strings.Index(ir, "\n"+begin) + 1; at == 0 {
				at = len(ir)
			}
			others.WriteString(ir[:at])
			ir = ir[at:]
			continue
		}
		size := strings.Index(ir, end) + len(end)
		if size < len(end) {
			size = len(ir)
		}
		text := ir[:size]
		ir = ir[size:]
		line, body, _ := strings.Cut(text, "\n")
		is := header().FindStringSubmatch(line)
		if is == nil {
			others.WriteString(text)
			continue
		}
		if want, entry := wanted[is[2]]; !want {
			if !entry {
				others.WriteString(text)
			}
			continue
		}
		f := &shape{symbol: is[2], text: text, typ: typeOf(is[1], is[3]),
			calls: calls(body, wanted)}
		// A function that names itself, or variables of its own, stays apart.
		k := key{is[1] + is[3], body}
		if strings.Contains(body, "@"+f.symbol) {
			k.body = text
		}
		if same := found[k]; same != nil {
			same.aliases = append(same.aliases, f.symbol)
			continue
		}
		found[k] = f
		shapes = append(shapes, f)
	}
	return shapes, others.String()
}

// calls returns the symbols of entries that a function calls, each once.
func calls(body string, entries map[string]bool) (list []string) {
	const call = "call i64 @"
	for {
		at := strings.Index(body, call)
		if at < 0 {
			return list
		}
		body = body[at+len(call):]
		symbol, _, _ := strings.Cut(body[:min(len(body), 1<<10)], "(")
		if _, ok := entries[symbol]; ok && !slices.Contains(list, symbol) {
			list = append(list, symbol)
		}
	}
}

// typeOf returns the type of a function.
func typeOf(result, parameters string) string {
	var types []string
	for p := range strings.SplitSeq(parameters, ", ") {
		t, _, _ := strings.Cut(p, " ")
		types = append(types, t)
	}
	return fmt.Sprintf("%s (%s)", result, strings.Join(types, ", "))
}

// partBytes is the size of IR that is compiled as one module. Modules that are
// much larger take more than proportionally long.
const partBytes = 64 << 10

// module is IR that is compiled by itself, and its symbols.
type module struct {
	ir      string
	symbols []string
	calls   []string // entries that they call, here or in another module
	size    int
}

// modulesOf divides the functions of some of all symbols into modules of about
// the same size, the largest first: at least one for each core, if there are so
// many functions. Functions that differ in nothing but their names become one.
func modulesOf(ir string, all, some []string, cores int) []*module {
	shapes, rest := shapesOf(ir, all, some)
	if len(shapes) == 0 {
		return []*module{{ir: ir, symbols: some}}
	}
	total := 0
	for _, s := range shapes {
		total += len(s.text)
	}
	modules := make([]*module, min(max(cores, total/partBytes), len(shapes)))
	texts := make([]strings.Builder, len(modules))
	for i := range modules {
		modules[i] = &module{}
		texts[i].WriteString(rest)
	}
	slices.SortStableFunc(shapes, func(a, b *shape) int { return len(b.text) - len(a.text) })
	for _, s := range shapes {
		at := 0
		for i, m := range modules {
			if m.size < modules[at].size {
				at = i
			}
		}
		m := modules[at]
		m.size += len(s.text)
		m.symbols = append(append(m.symbols, s.symbol), s.aliases...)
		for _, symbol := range s.calls {
			if !slices.Contains(m.calls, symbol) {
				m.calls = append(m.calls, symbol)
			}
		}
		texts[at].WriteString(s.text)
		for _, a := range s.aliases {
			fmt.Fprintf(&texts[at], "@%s = alias %s, ptr @%s\n", a, s.typ, s.symbol)
		}
	}
	for i, m := range modules {
		for _, symbol := range m.calls {
			if !slices.Contains(m.symbols, symbol) {
				fmt.Fprintf(&texts[i], "declare i64 @%s(ptr, ptr)\n", symbol)
			}
		}
		m.ir = texts[i].String()
	}
	slices.SortStableFunc(modules, func(a, b *module) int { return cmp.Compare(b.size, a.size) })
	return modules
}
