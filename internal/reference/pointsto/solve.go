package pointsto

import (
	"maps"
	"slices"
	"strings"
)

// none is the context of methods that no object is known for, and of objects
// that such methods allocate.
const none = -1

// object is an abstract object: a heap, and the heap on which its method ran.
type object struct{ context, heap int }

// node is something that objects flow to: a variable in a context, a field of
// an object, the elements of an array, a static field, or the exceptions that
// reach or leave a method in a context.
type node struct {
	kind byte // one of "vfasxe"
	at   object
	name string
}

// edge passes objects on that its filter lets through; nil lets all through.
type edge struct {
	to     node
	filter func(heap int) bool
}

// heap is a site, a class object, or an object of reflection.
type heap struct{ term, class string }

type reached struct {
	context object
	method  string
}

type called struct {
	call string
	from object
	reached
}

type solver struct {
	facts       Facts
	hierarchy   *hierarchy
	index       map[string]map[string][][]string // file, value → rows
	heaps       []heap
	heapNumber  map[string]int
	represents  map[int]string
	points      map[node]map[object]bool
	edges       map[node][]edge
	known       map[node]map[node]map[string]bool
	queue       []func()
	runs        map[reached]bool
	calls       map[called]bool
	started     map[called]bool
	initialized map[string]bool
	contexts    map[object]bool
}

var root = object{none, none}

// Solve computes the relations of the analysis: the rows of each, as redfox
// prints them, without order.
func Solve(f Facts) map[string][]string {
	s := &solver{facts: f, index: map[string]map[string][][]string{},
		heapNumber: map[string]int{}, represents: map[int]string{},
		points: map[node]map[object]bool{}, edges: map[node][]edge{},
		known: map[node]map[node]map[string]bool{}, runs: map[reached]bool{},
		calls: map[called]bool{}, started: map[called]bool{}, initialized: map[string]bool{},
		contexts: map[object]bool{root: true}}
	s.hierarchy = newHierarchy(f)
	for file, column := range map[string]int{"Allocation": 3, "StringConstant": 3, "Assign": 2,
		"Cast": 3, "LoadStatic": 2, "StoreStatic": 2, "Throw": 1, "Handler": 0, "Static": 2,
		"LoadField": 0, "StoreField": 1, "LoadArray": 0, "StoreArray": 1, "Virtual": 1,
		"Special": 1, "ForName": 1, "NewInstance": 1, "Formal": 1, "Actual": 1, "Returns": 0} {
		s.index[file] = map[string][][]string{}
		for _, row := range f[file] {
			s.index[file][row[column]] = append(s.index[file][row[column]], row)
		}
	}
	for _, row := range f["EntryPoint"] {
		s.run(root, row[0])
		s.initialize(s.hierarchy.methods[row[0]].class)
	}
	for len(s.queue) > 0 {
		next := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		next()
	}
	return s.relations()
}

func (s *solver) heap(term, class string) int {
	n, ok := s.heapNumber[term]
	if !ok {
		n = len(s.heaps)
		s.heapNumber[term] = n
		s.heaps = append(s.heaps, heap{term, class})
	}
	return n
}

// term prints a constructor over keys as redfox does.
func term(constructor string, keys ...string) string {
	return constructor + `["` + strings.Join(keys, `", "`) + `"]`
}

func variable(c object, v string) node { return node{'v', c, v} }

func (s *solver) put(to node, o object) {
	set := s.points[to]
	if set == nil {
		set = map[object]bool{}
		s.points[to] = set
	}
	if set[o] {
		return
	}
	set[o] = true
	s.queue = append(s.queue, func() {
		for _, e := range s.edges[to] {
			if e.filter == nil || e.filter(o.heap) {
				s.put(e.to, o)
			}
		}
		if to.kind == 'v' {
			s.use(to.at, to.name, o)
		}
	})
}

// link adds an edge, whose filter has a name.
func (s *solver) link(from, to node, filter string, lets func(int) bool) {
	if s.known[from] == nil {
		s.known[from] = map[node]map[string]bool{}
	}
	if s.known[from][to] == nil {
		s.known[from][to] = map[string]bool{}
	}
	if s.known[from][to][filter] {
		return
	}
	s.known[from][to][filter] = true
	s.edges[from] = append(s.edges[from], edge{to, lets})
	for o := range maps.Clone(s.points[from]) {
		if lets == nil || lets(o.heap) {
			s.put(to, o)
		}
	}
}

func (s *solver) below(class string) func(int) bool {
	return func(h int) bool { return s.hierarchy.isSubtype(s.heaps[h].class, class) }
}

// run makes a method run in a context.
func (s *solver) run(c object, m string) {
	if s.runs[reached{c, m}] {
		return
	}
	s.runs[reached{c, m}] = true
	at := func(v string) node { return variable(c, v) }
	for _, r := range s.index["Allocation"][m] {
		s.put(at(r[2]), object{c.heap, s.heap(term("HeapAt", r[0]), r[1])})
		s.initialize(r[1])
	}
	for _, r := range s.index["StringConstant"][m] {
		s.put(at(r[2]), object{none, s.heap(term("HeapAt", r[0]), "String")})
		s.initialize("String")
	}
	for _, r := range s.index["Assign"][m] {
		s.link(at(r[0]), at(r[1]), "", nil)
	}
	for _, r := range s.index["Cast"][m] {
		s.link(at(r[1]), at(r[2]), r[0], s.below(r[0]))
	}
	for _, r := range s.index["LoadStatic"][m] {
		s.link(node{'s', root, r[0]}, at(r[1]), "", nil)
		s.initialize(s.hierarchy.staticFields[r[0]])
	}
	for _, r := range s.index["StoreStatic"][m] {
		s.link(at(r[0]), node{'s', root, r[1]}, "", nil)
		s.initialize(s.hierarchy.staticFields[r[1]])
	}
	thrown := node{'x', c, m}
	for _, r := range s.index["Throw"][m] {
		s.link(at(r[0]), thrown, "", nil)
	}
	handlers := s.index["Handler"][m]
	for _, r := range handlers {
		s.link(thrown, at(r[2]), r[1], s.below(r[1]))
	}
	s.link(thrown, node{'e', c, m}, "unhandled", func(h int) bool {
		return !slices.ContainsFunc(handlers, func(r []string) bool { return s.below(r[1])(h) })
	})
	for _, r := range s.index["Static"][m] {
		s.call(r[0], c, m, c, r[1])
	}
}

// call adds an edge of the call graph.
func (s *solver) call(i string, from object, caller string, c object, m string) {
	edge := called{i, from, reached{c, m}}
	if s.calls[edge] {
		return
	}
	s.calls[edge] = true
	s.run(c, m)
	for _, a := range s.index["Actual"][i] {
		for _, f := range s.index["Formal"][m] {
			if a[0] == f[0] {
				s.link(variable(from, a[2]), variable(c, f[2]), "", nil)
			}
		}
	}
	if to, ok := s.hierarchy.results[i]; ok {
		for _, r := range s.index["Returns"][m] {
			s.link(variable(c, r[1]), variable(from, to), "", nil)
		}
	}
	s.link(node{'e', c, m}, node{'x', from, caller}, "", nil)
	if method := s.hierarchy.methods[m]; method.kind == "static" {
		s.initialize(method.class)
	}
}

// on makes an object the context of a method.
func (s *solver) on(o object, m string) {
	s.contexts[o] = true
	if this, ok := s.hierarchy.this[m]; ok {
		s.put(variable(o, this), o)
	}
}

// use applies the instructions that read a variable to one of its objects.
func (s *solver) use(c object, v string, o object) {
	class := s.heaps[o.heap].class
	for _, r := range s.index["LoadField"][v] {
		s.link(node{'f', o, r[1]}, variable(c, r[2]), "", nil)
	}
	for _, r := range s.index["StoreField"][v] {
		s.link(variable(c, r[0]), node{'f', o, r[2]}, "", nil)
	}
	for _, r := range s.index["LoadArray"][v] {
		s.link(node{'a', o, ""}, variable(c, r[1]), "", nil)
	}
	if element, ok := s.hierarchy.elements[class]; ok {
		for _, r := range s.index["StoreArray"][v] {
			s.link(variable(c, r[0]), node{'a', o, ""}, element, s.below(element))
		}
	}
	for _, r := range s.index["Virtual"][v] {
		if m, ok := s.hierarchy.lookup(r[2], class); ok {
			s.on(o, m)
			s.call(r[0], c, r[3], o, m)
		}
		if r[2] == "start()" && s.hierarchy.isThread(class) {
			if m, ok := s.hierarchy.lookup("run()", class); ok {
				s.on(o, m)
				s.started[called{r[0], c, reached{o, m}}] = true
				s.run(o, m)
			}
		}
	}
	for _, r := range s.index["Special"][v] {
		s.on(o, r[2])
		s.call(r[0], c, r[3], o, r[2])
	}
	for _, r := range s.index["ForName"][v] {
		text, ok := s.hierarchy.texts[s.heaps[o.heap].term]
		if ok && s.hierarchy.isClass[text] {
			h := s.heap(term("ClassObject", text), "Class")
			s.represents[h] = text
			s.put(variable(c, r[2]), object{none, h})
		}
	}
	for _, r := range s.index["NewInstance"][v] {
		if t, ok := s.represents[o.heap]; ok && s.hierarchy.isConcrete(t) {
			made := object{c.heap, s.heap(term("ReflectiveObject", r[0], t), t)}
			s.put(variable(c, r[2]), made)
			s.initialize(t)
			if m, ok := s.hierarchy.declared["<init>()"][t]; ok {
				s.on(made, m)
				s.call(r[0], c, r[3], made, m)
			}
		}
	}
}

func (s *solver) initialize(class string) {
	for ; s.hierarchy.isClass[class] && !s.initialized[class]; class = s.hierarchy.above[class] {
		s.initialized[class] = true
		if m, ok := s.hierarchy.initializers[class]; ok {
			s.run(root, m)
		}
	}
}

func (s *solver) heapContext(h int) string {
	if h == none {
		return "NoHeapContext[]"
	}
	return "AllocatedBy[" + s.heaps[h].term + "]"
}

func (s *solver) context(o object) string {
	if o == root {
		return "NoContext[]"
	}
	return "ObjectContext[" + s.heapContext(o.context) + ", " + s.heaps[o.heap].term + "]"
}

// relations returns what was computed, in the terms of the program in LogiQL.
func (s *solver) relations() map[string][]string {
	out := map[string][]string{}
	add := func(relation string, row ...string) {
		out[relation] = append(out[relation], strings.Join(row, "\t"))
	}
	for n, objects := range s.points {
		for o := range objects {
			h, hc := s.heaps[o.heap].term, s.heapContext(o.context)
			switch n.kind {
			case 'v':
				add("VarPointsTo", hc, h, s.context(n.at), n.name)
			case 'f':
				add("FieldPointsTo", s.heapContext(n.at.context), s.heaps[n.at.heap].term, n.name,
					hc, h)
			case 'a':
				add("ArrayPointsTo", s.heapContext(n.at.context), s.heaps[n.at.heap].term, hc, h)
			case 's':
				add("StaticPointsTo", n.name, hc, h)
			case 'x':
				add("Thrown", hc, h, s.context(n.at), n.name)
			case 'e':
				add("Escapes", hc, h, s.context(n.at), n.name)
			}
		}
	}
	for e := range s.calls {
		add("CallGraph", e.call, s.context(e.from), s.context(e.context), e.method)
	}
	for e := range s.started {
		add("Started", e.call, s.context(e.from), s.context(e.context), e.method)
	}
	for r := range s.runs {
		add("Reachable", s.context(r.context), r.method)
	}
	for c := range s.initialized {
		add("Initialized", c)
	}
	for c := range s.contexts {
		add("Context", s.context(c))
	}
	return out
}
