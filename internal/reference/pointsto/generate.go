package pointsto

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// Facts are the rows of each fact file, without the ending .facts.
type Facts map[string][][]string

// files are the fact files that the analysis reads; some may be empty.
var files = strings.Fields(`Class Superclass Interface Implements Array Method EntryPoint
	StaticField This Formal Returns Allocation StringConstant Assign Cast LoadField StoreField
	LoadStatic StoreStatic LoadArray StoreArray Throw Handler Virtual Special Static Actual
	Result ForName NewInstance`)

// Count returns the number of facts.
func (f Facts) Count() int {
	n := 0
	for _, rows := range f {
		n += len(rows)
	}
	return n
}

// Write writes the fact files into a folder.
func (f Facts) Write(dir string) error {
	for _, name := range files {
		var b strings.Builder
		for _, row := range f[name] {
			b.WriteString(strings.Join(row, "\t"))
			b.WriteByte('\n')
		}
		if err := os.WriteFile(filepath.Join(dir, name+".facts"), []byte(b.String()),
			0o644); err != nil {
			return err
		}
	}
	return nil
}

// Shape of a made-up program: packages of classes that use one another and the
// next package, so that contexts stay as local as they are in real programs.
const (
	classesOfPackage    = 8
	signaturesOfPackage = 6
	fieldsOfPackage     = 12
)

type generator struct {
	*rand.Rand
	facts   Facts
	statics map[int][]string // the static methods of each package
	classes map[int][]string
	most    int // the number of packages
}

// Generate makes a program of about size facts.
func Generate(size int, seed uint64) Facts {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), facts: Facts{},
		statics: map[int][]string{}, classes: map[int][]string{}, most: 1 + size/300}
	for _, c := range []string{"Object", "String", "Class", "Thread", "Throwable"} {
		g.add("Class", c)
		if c != "Object" {
			g.add("Superclass", c, "Object")
		}
	}
	for p := range g.most {
		g.declare(p)
	}
	for p := range g.most {
		g.bodies(p)
	}
	g.add("Class", "Main")
	g.add("Superclass", "Main", "Object")
	g.add("Method", "Main.main", "main()", "Main", "static")
	g.add("EntryPoint", "Main.main")
	for p := range g.most {
		for k, m := range g.statics[p] {
			g.add("Static", fmt.Sprintf("Main.main/call%d.%d", p, k), m, "Main.main")
		}
	}
	return g.facts
}

func (g *generator) add(file string, row ...string) { g.facts[file] = append(g.facts[file], row) }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

// declare makes the types of a package and decides on its static methods.
func (g *generator) declare(p int) {
	iface := fmt.Sprintf("p%d.I", p)
	g.add("Interface", iface)
	g.add("Method", iface+".s0", signature(p, 0), iface, "abstract")
	for k := range classesOfPackage {
		c := fmt.Sprintf("p%d.C%d", p, k)
		g.classes[p] = append(g.classes[p], c)
		g.add("Class", c)
		switch {
		case k == 0:
			g.add("Superclass", c, "Object")
		case k == 6 && p%4 == 0:
			g.add("Superclass", c, "Thread")
		case k == 7:
			g.add("Superclass", c, "Throwable")
		default:
			g.add("Superclass", c, g.classes[p][g.IntN(min(k, 6))])
		}
		if g.chance(30) {
			g.add("Implements", c, iface)
		}
	}
	g.add("Array", fmt.Sprintf("p%d.C0[]", p), fmt.Sprintf("p%d.C0", p))
	g.add("Array", fmt.Sprintf("p%d.I[]", p), iface)
	for k := range 2 {
		g.statics[p] = append(g.statics[p], fmt.Sprintf("p%d.C%d.static", p, k))
	}
	for k := range 3 {
		g.add("StaticField", fmt.Sprintf("p%d.static%d", p, k), g.classes[p][k])
	}
}

func signature(p, k int) string { return fmt.Sprintf("p%d.s%d(Object)", p, k) }

func (g *generator) bodies(p int) {
	for k, c := range g.classes[p] {
		g.method(p, c, "<init>", "<init>()", "")
		if k < len(g.statics[p]) {
			g.method(p, c, "static", fmt.Sprintf("static%d(Object)", k), "static")
		}
		if k == 2 {
			g.method(p, c, "<clinit>", "<clinit>()", "static")
		}
		if k == 6 && p%4 == 0 {
			g.method(p, c, "run", "run()", "")
		}
		for s := range signaturesOfPackage {
			if k == 0 && s < 3 || g.chance(25) {
				g.method(p, c, fmt.Sprintf("s%d", s), signature(p, s), "")
			}
		}
	}
}

// body is a method that instructions are added to.
type body struct {
	*generator
	p, calls int
	name     string
	vars     []string
}

func (b *body) any() string { return pick(b.generator, b.vars) }

func (b *body) field() string { return fmt.Sprintf("p%d.f%d", b.p, b.IntN(fieldsOfPackage)) }

func (b *body) static() string { return fmt.Sprintf("p%d.static%d", b.p, b.IntN(3)) }

func (g *generator) method(p int, class, name, sig, kind string) {
	b := &body{generator: g, p: p, name: class + "." + name}
	g.add("Method", b.name, sig, class, kind)
	for k := range 4 {
		b.vars = append(b.vars, fmt.Sprintf("%s/v%d", b.name, k))
	}
	if kind != "static" {
		this := b.name + "/this"
		g.add("This", b.name, this)
		b.vars = append(b.vars, this)
	}
	if strings.Contains(sig, "Object") {
		formal := b.name + "/p0"
		g.add("Formal", "0", b.name, formal)
		g.add("Returns", b.name, b.vars[0])
		b.vars = append(b.vars, formal)
	}
	if name == "<init>" {
		if g.chance(50) {
			g.add("StoreField", b.any(), b.name+"/this", b.field(), b.name)
		}
		return
	}
	if kind == "static" {
		b.allocate()
		b.allocate()
		b.allocate()
		b.move()
	} else if g.chance(25) {
		b.allocate()
	}
	b.move()
	b.call()
	if g.chance(10) {
		b.reflect()
	}
}

func (b *body) allocate() {
	v := b.any()
	site := fmt.Sprintf("%s/new%d", b.name, b.calls)
	class := pick(b.generator, b.classes[b.p])
	if b.chance(12) {
		class = fmt.Sprintf("p%d.%s[]", b.p, pick(b.generator, []string{"C0", "I"}))
		b.add("StoreArray", b.any(), v, b.name)
		b.add("LoadArray", v, b.any(), b.name)
	}
	b.add("Allocation", site, class, v, b.name)
	b.calls++ // the next site and call have numbers of their own
	if !strings.HasSuffix(class, "]") {
		b.add("Special", fmt.Sprintf("%s/call%d", b.name, b.calls), v, class+".<init>", b.name)
	}
}

// move adds instructions that move objects without calls.
func (b *body) move() {
	for range 1 + b.IntN(2) {
		b.add("Assign", b.any(), b.any(), b.name)
	}
	if b.chance(40) {
		b.add("Cast", pick(b.generator, b.classes[b.p]), b.any(), b.any(), b.name)
	}
	if b.chance(60) {
		b.add("StoreField", b.any(), b.any(), b.field(), b.name)
	}
	if b.chance(60) {
		b.add("LoadField", b.any(), b.field(), b.any(), b.name)
	}
	if b.chance(6) {
		b.add("StoreStatic", b.any(), b.static(), b.name)
	}
	if b.chance(6) {
		b.add("LoadStatic", b.static(), b.any(), b.name)
	}
	if b.chance(20) {
		b.add("Throw", b.any(), b.name)
	}
	if b.chance(25) {
		b.add("Handler", b.name, pick(b.generator, []string{"Throwable", b.classes[b.p][0],
			b.classes[b.p][7]}), b.any())
	}
}

// call adds calls within the package, of threads, and of the next package.
func (b *body) call() {
	finish := func(i string) {
		b.add("Actual", "0", i, b.any())
		if b.chance(70) {
			b.add("Result", i, b.any())
		}
	}
	for range 1 + b.IntN(2) {
		b.calls++
		i := fmt.Sprintf("%s/call%d", b.name, b.calls)
		sig := signature(b.p, b.IntN(signaturesOfPackage))
		if b.chance(8) {
			sig = "start()"
		}
		b.add("Virtual", i, b.any(), sig, b.name)
		finish(i)
	}
	if next := b.p + 1; b.chance(5) && next < b.most {
		b.calls++
		i := fmt.Sprintf("%s/call%d", b.name, b.calls)
		b.add("Static", i, pick(b.generator, b.statics[next]), b.name)
		finish(i)
	}
}

// reflect makes an object of a class that a string names.
func (b *body) reflect() {
	text, class := b.name+"/text", b.name+"/class"
	named := pick(b.generator, b.classes[b.p])
	if b.chance(20) {
		named = "no.such.Class"
	}
	b.add("StringConstant", b.name+"/string", named, text, b.name)
	b.add("ForName", b.name+"/forName", text, class, b.name)
	b.add("NewInstance", b.name+"/newInstance", class, b.any(), b.name)
}
