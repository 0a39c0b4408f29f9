package pointsto

import "slices"

type method struct{ class, signature, kind string }

// hierarchy holds the types and methods of a program.
type hierarchy struct {
	above        map[string]string
	supers       map[string][]string // the class above and the interfaces
	elements     map[string]string   // of array types
	isClass      map[string]bool
	isInterface  map[string]bool
	methods      map[string]method
	declared     map[string]map[string]string // signature, class → method with a body
	initializers map[string]string
	staticFields map[string]string // → class
	this         map[string]string
	results      map[string]string // call → variable
	texts        map[string]string // heap of a string constant → text
	subtype      map[[2]string]bool
	concrete     map[string]bool
}

func newHierarchy(f Facts) *hierarchy {
	h := &hierarchy{map[string]string{}, map[string][]string{}, map[string]string{},
		map[string]bool{}, map[string]bool{}, map[string]method{}, map[string]map[string]string{},
		map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{},
		map[string]string{}, map[[2]string]bool{}, map[string]bool{}}
	for _, r := range f["Class"] {
		h.isClass[r[0]] = true
	}
	for _, r := range f["Interface"] {
		h.isInterface[r[0]] = true
		h.supers[r[0]] = append(h.supers[r[0]], "Object")
	}
	for _, r := range f["Superclass"] {
		h.above[r[0]] = r[1]
	}
	for _, file := range []string{"Superclass", "Implements"} {
		for _, r := range f[file] {
			h.supers[r[0]] = append(h.supers[r[0]], r[1])
		}
	}
	for _, r := range f["Array"] {
		h.elements[r[0]] = r[1]
	}
	for _, r := range f["Method"] {
		h.methods[r[0]] = method{r[2], r[1], r[3]}
		if r[1] == "<clinit>()" {
			h.initializers[r[2]] = r[0]
		}
		if r[3] == "" {
			if h.declared[r[1]] == nil {
				h.declared[r[1]] = map[string]string{}
			}
			h.declared[r[1]][r[2]] = r[0]
		}
	}
	for _, r := range f["StaticField"] {
		h.staticFields[r[0]] = r[1]
	}
	for _, r := range f["This"] {
		h.this[r[0]] = r[1]
	}
	for _, r := range f["Result"] {
		h.results[r[0]] = r[1]
	}
	for _, r := range f["StringConstant"] {
		h.texts[term("HeapAt", r[0])] = r[1]
	}
	bodiless := map[string][]string{}
	for _, r := range f["Method"] {
		if r[3] == "abstract" || h.isInterface[r[2]] {
			bodiless[r[2]] = append(bodiless[r[2]], r[1])
		}
	}
	for class := range h.isClass {
		h.concrete[class] = h.hasBodies(bodiless, class)
	}
	return h
}

// hasBodies reports whether a class has a body for each method of its
// interfaces, and no abstract method itself. Bodiless has the signatures of the
// methods without one, and those of interfaces, by the type that declares them.
func (h *hierarchy) hasBodies(bodiless map[string][]string, class string) bool {
	if len(bodiless[class]) > 0 {
		return false
	}
	seen := map[string]bool{}
	var allFound func(t string) bool
	allFound = func(t string) bool {
		if seen[t] {
			return true
		}
		seen[t] = true
		for _, signature := range bodiless[t] {
			if _, found := h.lookup(signature, class); h.isInterface[t] && !found {
				return false
			}
		}
		return !slices.ContainsFunc(h.supers[t], func(u string) bool { return !allFound(u) })
	}
	return allFound(class)
}

func (h *hierarchy) isConcrete(class string) bool { return h.concrete[class] }

func (h *hierarchy) lookup(signature, class string) (string, bool) {
	for ; class != ""; class = h.above[class] {
		if m, ok := h.declared[signature][class]; ok {
			return m, true
		}
	}
	return "", false
}

func (h *hierarchy) isThread(class string) bool {
	return class != "Thread" && h.isClass[class] && h.isSubtype(class, "Thread")
}

func (h *hierarchy) isSubtype(t, u string) bool {
	key := [2]string{t, u}
	is, ok := h.subtype[key]
	if !ok {
		is = h.computeSubtype(t, u)
		h.subtype[key] = is
	}
	return is
}

func (h *hierarchy) computeSubtype(t, u string) bool {
	if t == u {
		return true
	}
	if element, ok := h.elements[t]; ok {
		above, isArray := h.elements[u]
		return u == "Object" || isArray && h.isSubtype(element, above)
	}
	return slices.ContainsFunc(h.supers[t], func(s string) bool { return h.isSubtype(s, u) })
}
