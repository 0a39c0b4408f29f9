package recursive

// SolveDoop returns the tuples of the predicates that testdata/recursive/
// doop.logic derives. It moves objects along the edges of a graph of variables
// and fields, with a worklist.
func SolveDoop(f Facts) *DoopSolution {
	s := newDoopSolution(f)
	for _, r := range f["MainMethod"] {
		s.run(r[0])
		if c, ok := s.declarer[r[0]]; ok {
			s.initialize(c)
		}
	}
	for len(s.queue) > 0 {
		next := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		for _, e := range s.edges[next.node] {
			if e.filter == "" || s.subtype(s.typeOf[next.heap], e.filter) {
				s.put(e.to, next.heap)
			}
		}
		for _, use := range s.uses[next.node] {
			use(next.heap)
		}
	}
	return s
}

// DoopSolution is the state of the worklist. Variables, fields, and array
// elements are numbered nodes, and so are the objects.
type DoopSolution struct {
	nodes   map[doopNode]int
	names   []doopNode
	heaps   map[string]int
	sites   []string
	typeOf  []string
	points  []map[int]bool
	edges   [][]doopEdge
	known   map[[2]int]map[string]bool
	uses    [][]func(heap int)
	queue   []doopItem
	runs    map[string]bool
	calls   map[[2]string]bool
	classes map[string]bool // that are initialized
	isClass map[string]bool

	instructions map[string][]func()
	declarer     map[string]string
	above        map[string]string
	initializer  map[string]string
	component    map[string]string
	this         map[string]string
	formals      map[string][][]string
	actuals      map[string][][]string
	returns      map[string][]string
	results      map[string]string
	target       map[string]string
	implemented  map[[3]string]string
	supers       map[string]map[string]bool
	parents      map[string][]string
	isType       map[string]bool
}

// doopNode is something that objects flow to.
type doopNode struct {
	kind byte // v: variable, f: field of an object, s: static field, a: elements of an array
	name string
	heap int
}

type doopEdge struct {
	to     int
	filter string // a type that the object must have; "" for none
}

type doopItem struct{ node, heap int }

func newDoopSolution(f Facts) *DoopSolution {
	s := &DoopSolution{nodes: map[doopNode]int{}, heaps: map[string]int{},
		known: map[[2]int]map[string]bool{}, runs: map[string]bool{},
		calls: map[[2]string]bool{}, classes: map[string]bool{}, isClass: map[string]bool{},
		instructions: map[string][]func(){}, declarer: pairs(f["MethodDeclaration"]),
		above: pairs(f["DirectSuperclass"]), initializer: pairs(f["ClassInitializer"]),
		component: pairs(f["ComponentType"]), this: pairs(f["ThisVar"]),
		formals: map[string][][]string{}, actuals: map[string][][]string{},
		returns: map[string][]string{}, results: pairs(f["AssignReturnValue"]),
		target: pairs(f["Invocation_Method"]), implemented: map[[3]string]string{},
		supers: map[string]map[string]bool{}, parents: map[string][]string{},
		isType: map[string]bool{}}
	for _, r := range f["MethodImplemented"] {
		s.implemented[[3]string(r[:3])] = r[3]
	}
	for _, r := range f["FormalParam"] {
		s.formals[r[1]] = append(s.formals[r[1]], r)
	}
	for _, r := range f["ActualParam"] {
		s.actuals[r[1]] = append(s.actuals[r[1]], r)
	}
	for _, r := range f["ReturnVar"] {
		s.returns[r[1]] = append(s.returns[r[1]], r[0])
	}
	for _, r := range f["Class"] {
		s.isClass[r[0]], s.isType[r[0]] = true, true
	}
	for _, r := range f["Interface"] {
		s.isType[r[0]] = true
	}
	for a := range s.component {
		s.isType[a] = true
	}
	for _, p := range []string{"DirectSuperclass", "DirectSuperinterface"} {
		for _, r := range f[p] {
			s.parents[r[0]] = append(s.parents[r[0]], r[1])
		}
	}
	for _, r := range f["HeapAllocation_Type"] {
		s.heaps[r[0]] = len(s.sites)
		s.sites, s.typeOf = append(s.sites, r[0]), append(s.typeOf, r[1])
	}
	s.addMoves(f)
	s.addMemory(f)
	s.addCalls(f)
	return s
}

func pairs(rows [][]string) map[string]string {
	out := map[string]string{}
	for _, r := range rows {
		out[r[0]] = r[1]
	}
	return out
}

// in adds what an instruction does when its method is reachable.
func (s *DoopSolution) in(method string, do func()) {
	s.instructions[method] = append(s.instructions[method], do)
}

func (s *DoopSolution) node(kind byte, name string, heap int) int {
	key := doopNode{kind, name, heap}
	n, ok := s.nodes[key]
	if !ok {
		n = len(s.names)
		s.nodes[key] = n
		s.names = append(s.names, key)
		s.points = append(s.points, map[int]bool{})
		s.edges, s.uses = append(s.edges, nil), append(s.uses, nil)
	}
	return n
}

func (s *DoopSolution) variable(name string) int { return s.node('v', name, 0) }

// addMoves adds the instructions that move objects between variables.
func (s *DoopSolution) addMoves(f Facts) {
	for _, r := range f["AssignHeapAllocation"] {
		s.in(r[2], func() {
			h := s.heaps[r[0]]
			s.put(s.variable(r[1]), h)
			if s.isClass[s.typeOf[h]] {
				s.initialize(s.typeOf[h])
			}
		})
	}
	for _, r := range f["AssignLocal"] {
		s.in(r[2], func() { s.link(s.variable(r[0]), s.variable(r[1]), "") })
	}
	for _, r := range f["AssignCast"] {
		s.in(r[3], func() { s.link(s.variable(r[1]), s.variable(r[2]), r[0]) })
	}
	classOf := pairs(f["StaticField_Class"])
	for _, r := range f["LoadStaticField"] {
		s.in(r[2], func() {
			s.link(s.node('s', r[0], 0), s.variable(r[1]), "")
			s.initialize(classOf[r[0]])
		})
	}
	for _, r := range f["StoreStaticField"] {
		s.in(r[2], func() {
			s.link(s.variable(r[0]), s.node('s', r[1], 0), "")
			s.initialize(classOf[r[1]])
		})
	}
}

// addMemory adds the instructions that read and write fields and arrays.
func (s *DoopSolution) addMemory(f Facts) {
	for _, r := range f["LoadInstanceField"] {
		s.in(r[3], func() {
			s.use(r[0], func(g int) { s.link(s.node('f', r[1], g), s.variable(r[2]), "") })
		})
	}
	for _, r := range f["StoreInstanceField"] {
		s.in(r[3], func() {
			s.use(r[1], func(g int) { s.link(s.variable(r[0]), s.node('f', r[2], g), "") })
		})
	}
	for _, r := range f["LoadArrayIndex"] {
		s.in(r[2], func() {
			s.use(r[0], func(g int) { s.link(s.node('a', "", g), s.variable(r[1]), "") })
		})
	}
	for _, r := range f["StoreArrayIndex"] {
		s.in(r[2], func() {
			s.use(r[1], func(g int) {
				if element, ok := s.component[s.typeOf[g]]; ok {
					s.link(s.variable(r[0]), s.node('a', "", g), element)
				}
			})
		})
	}
}

// addCalls adds the calls.
func (s *DoopSolution) addCalls(f Facts) {
	methodOf := pairs(f["Instruction_Method"])
	names, descriptors := pairs(f["VirtualInvocation_SimpleName"]),
		pairs(f["VirtualInvocation_Descriptor"])
	for _, r := range f["StaticInvocation"] {
		s.in(methodOf[r[0]], func() {
			to := s.target[r[0]]
			s.call(r[0], to)
			if c, ok := s.declarer[to]; ok {
				s.initialize(c)
			}
		})
	}
	on := func(i, m string, h int) {
		if this, ok := s.this[m]; ok {
			s.call(i, m)
			s.put(s.variable(this), h)
		}
	}
	for _, r := range f["VirtualInvocation_Base"] {
		s.in(methodOf[r[0]], func() {
			s.use(r[1], func(h int) {
				if m, ok := s.lookup(names[r[0]], descriptors[r[0]], s.typeOf[h]); ok {
					on(r[0], m, h)
				}
			})
		})
	}
	for _, r := range f["SpecialInvocation_Base"] {
		s.in(methodOf[r[0]], func() {
			s.use(r[1], func(h int) { on(r[0], s.target[r[0]], h) })
		})
	}
}

// lookup returns the method that a call on an object of a type runs.
func (s *DoopSolution) lookup(name, descriptor, typ string) (string, bool) {
	for {
		if m, ok := s.implemented[[3]string{name, descriptor, typ}]; ok {
			return m, true
		}
		next, ok := s.above[typ]
		if !ok {
			return "", false
		}
		typ = next
	}
}

// subtype reports whether a type is below another one, or is it.
func (s *DoopSolution) subtype(t, u string) bool {
	if a, ok := s.component[t]; ok {
		b, isArray := s.component[u]
		return t == u || u == "Object" || isArray && s.subtype(a, b)
	}
	if s.supers[t] == nil {
		all := map[string]bool{t: s.isType[t]}
		for todo := []string{t}; len(todo) > 0; {
			next := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, p := range s.parents[next] {
				if !all[p] {
					all[p] = true
					todo = append(todo, p)
				}
			}
		}
		s.supers[t] = all
	}
	return s.supers[t][u]
}

func (s *DoopSolution) put(node, heap int) {
	if !s.points[node][heap] {
		s.points[node][heap] = true
		s.queue = append(s.queue, doopItem{node, heap})
	}
}

// link adds an edge, and moves along it what is there.
func (s *DoopSolution) link(from, to int, filter string) {
	key := [2]int{from, to}
	if s.known[key] == nil {
		s.known[key] = map[string]bool{}
	}
	if s.known[key][filter] {
		return
	}
	s.known[key][filter] = true
	s.edges[from] = append(s.edges[from], doopEdge{to, filter})
	for h := range s.points[from] {
		if filter == "" || s.subtype(s.typeOf[h], filter) {
			s.put(to, h)
		}
	}
}

// use calls do with each object of a variable, now and later.
func (s *DoopSolution) use(variable string, do func(heap int)) {
	n := s.variable(variable)
	s.uses[n] = append(s.uses[n], do)
	var now []int
	for h := range s.points[n] {
		now = append(now, h)
	}
	for _, h := range now {
		do(h)
	}
}

func (s *DoopSolution) run(method string) {
	if s.runs[method] {
		return
	}
	s.runs[method] = true
	for _, do := range s.instructions[method] {
		do()
	}
}

func (s *DoopSolution) call(i, m string) {
	edge := [2]string{i, m}
	if s.calls[edge] {
		return
	}
	s.calls[edge] = true
	for _, a := range s.actuals[i] {
		for _, p := range s.formals[m] {
			if a[0] == p[0] {
				s.link(s.variable(a[2]), s.variable(p[2]), "")
			}
		}
	}
	if to, ok := s.results[i]; ok {
		for _, from := range s.returns[m] {
			s.link(s.variable(from), s.variable(to), "")
		}
	}
	s.run(m)
}

func (s *DoopSolution) initialize(class string) {
	for !s.classes[class] {
		s.classes[class] = true
		if m, ok := s.initializer[class]; ok {
			s.run(m)
		}
		next, ok := s.above[class]
		if !ok {
			return
		}
		class = next
	}
}

// Tuples returns the derived tuples in no order, as redfox prints them.
func (s *DoopSolution) Tuples() map[string][]string {
	out := map[string][]string{}
	for n, objects := range s.points {
		at := s.names[n]
		for h := range objects {
			switch at.kind {
			case 'v':
				out["VarPointsTo"] = append(out["VarPointsTo"], s.sites[h]+"\t"+at.name)
			case 'f':
				out["InstanceFieldPointsTo"] = append(out["InstanceFieldPointsTo"],
					s.sites[h]+"\t"+at.name+"\t"+s.sites[at.heap])
			case 's':
				out["StaticFieldPointsTo"] = append(out["StaticFieldPointsTo"],
					s.sites[h]+"\t"+at.name)
			case 'a':
				out["ArrayIndexPointsTo"] = append(out["ArrayIndexPointsTo"],
					s.sites[at.heap]+"\t"+s.sites[h])
			}
		}
	}
	for e := range s.calls {
		out["CallGraphEdge"] = append(out["CallGraphEdge"], e[0]+"\t"+e[1])
	}
	for m := range s.runs {
		out["Reachable"] = append(out["Reachable"], m)
	}
	for c := range s.classes {
		out["InitializedClass"] = append(out["InitializedClass"], c)
	}
	return out
}
