package recursive

import (
	"fmt"
	"math/rand/v2"
)

// Shape of a made-up Java program: packages of classes whose objects mostly
// stay in their package. All packages share the names and descriptors of their
// methods, as the methods of java.lang.Object and of collections are shared.
const (
	packageClasses = 8
	sharedNames    = 10
	packageFields  = 12
	someDescriptor = "Object(Object)"
)

// javaMaker makes the facts of one package, or those of none.
type javaMaker struct {
	*rand.Rand
	facts    Facts
	packages int
	calls    int
}

// Doop makes a Java program of a number of packages. A package has about 850
// facts, from which 2,000 to 2,300 tuples of VarPointsTo follow.
func Doop(packages int, seed uint64) Facts {
	facts := doopMain(packages)
	for p := range packages {
		for predicate, rows := range doopPackage(p, packages, seed) {
			facts[predicate] = append(facts[predicate], rows...)
		}
	}
	return facts
}

// doopMain makes what belongs to no package: the method that calls all.
func doopMain(packages int) Facts {
	g := &javaMaker{facts: Facts{}, packages: packages}
	g.facts.add("Class", "Object")
	g.facts.add("Class", "Main")
	g.facts.add("DirectSuperclass", "Main", "Object")
	g.facts.add("MethodDeclaration", "Main.main", "Main")
	g.facts.add("MainMethod", "Main.main")
	for p := range packages {
		i := g.invocation("Main.main")
		g.facts.add("StaticInvocation", i)
		g.facts.add("Invocation_Method", i, startOf(p))
	}
	return g.facts
}

// doopPackage makes a package, which depends on no other one.
func doopPackage(p, packages int, seed uint64) Facts {
	g := &javaMaker{Rand: rand.New(rand.NewPCG(seed, 2+uint64(p)<<8)), facts: Facts{},
		packages: packages}
	g.declare(p)
	g.bodies(p)
	return g.facts
}

// doopPart is how many packages are made and written at once.
const doopPart = 64

// WriteDoop writes the facts of Doop into a folder, on all cores, without
// holding them.
func WriteDoop(dir string, packages int, seed uint64) error {
	return writeAll(dir, 1+(packages+doopPart-1)/doopPart, func(i int) Facts {
		if i == 0 {
			return doopMain(packages)
		}
		facts := Facts{}
		for p := (i - 1) * doopPart; p < min(i*doopPart, packages); p++ {
			for predicate, rows := range doopPackage(p, packages, seed) {
				facts[predicate] = append(facts[predicate], rows...)
			}
		}
		return facts
	})
}

func startOf(p int) string { return fmt.Sprintf("p%d.C0.start", p) }

func className(p, k int) string { return fmt.Sprintf("p%d.C%d", p, k) }

func (g *javaMaker) chance(percent int) bool { return g.IntN(100) < percent }

// declare makes the types of a package.
func (g *javaMaker) declare(p int) {
	iface := fmt.Sprintf("p%d.I", p)
	g.facts.add("Interface", iface)
	for k := range packageClasses {
		c := className(p, k)
		g.facts.add("Class", c)
		super := "Object"
		if k > 0 {
			super = className(p, g.IntN(k))
		}
		g.facts.add("DirectSuperclass", c, super)
		if g.chance(30) {
			g.facts.add("DirectSuperinterface", c, iface)
		}
	}
	g.facts.add("ComponentType", className(p, 0)+"[]", className(p, 0))
	g.facts.add("ComponentType", iface+"[]", iface)
	for k := range 3 {
		g.facts.add("StaticField_Class", fmt.Sprintf("p%d.static%d", p, k), className(p, k))
	}
}

// bodies makes the methods of a package.
func (g *javaMaker) bodies(p int) {
	g.method(p, className(p, 0), "start", true)
	g.method(p, className(p, 1), "<clinit>", true)
	g.facts.add("ClassInitializer", className(p, 1), className(p, 1)+".<clinit>")
	for k := range packageClasses {
		c := className(p, k)
		g.method(p, c, "<init>", false)
		for n := range sharedNames {
			if k == 0 || g.chance(25) {
				name := fmt.Sprintf("name%d", n)
				g.facts.add("MethodImplemented", name, someDescriptor, c, c+"."+name)
				g.method(p, c, name, false)
			}
		}
	}
}

// javaBody is a method that instructions are added to.
type javaBody struct {
	*javaMaker
	p    int
	name string
	vars []string
}

func (b *javaBody) any() string { return b.vars[b.IntN(len(b.vars))] }

// source returns a variable that an instruction reads: often a parameter, as
// variables that nothing is assigned to hold no object.
func (b *javaBody) source() string {
	if len(b.vars) > 4 && b.chance(60) {
		return b.vars[4+b.IntN(len(b.vars)-4)]
	}
	return b.any()
}

func (b *javaBody) field() string { return fmt.Sprintf("p%d.f%d", b.p, b.IntN(packageFields)) }

func (b *javaBody) static() string { return fmt.Sprintf("p%d.static%d", b.p, b.IntN(3)) }

func (g *javaMaker) method(p int, class, name string, static bool) {
	b := &javaBody{javaMaker: g, p: p, name: class + "." + name}
	g.facts.add("MethodDeclaration", b.name, class)
	for k := range 4 {
		b.vars = append(b.vars, fmt.Sprintf("%s/v%d", b.name, k))
	}
	if !static {
		b.vars = append(b.vars, b.name+"/this")
		g.facts.add("ThisVar", b.name, b.name+"/this")
	}
	if name != "<clinit>" {
		g.facts.add("FormalParam", "0", b.name, b.name+"/p0")
		g.facts.add("ReturnVar", b.vars[0], b.name)
		b.vars = append(b.vars, b.name+"/p0")
	}
	allocations := 0
	switch {
	case static:
		allocations = 3
	case g.chance(30):
		allocations = 1
	}
	for range allocations {
		b.allocate()
	}
	b.move()
	if name != "<init>" {
		b.call()
	}
}

// invocation makes a call within a method.
func (g *javaMaker) invocation(method string) string {
	g.calls++
	i := fmt.Sprintf("%s/call%d", method, g.calls)
	g.facts.add("Instruction_Method", i, method)
	return i
}

func (b *javaBody) allocate() {
	v := b.any()
	class := className(b.p, b.IntN(packageClasses))
	b.calls++
	site := fmt.Sprintf("%s/new%d", b.name, b.calls)
	if b.chance(12) {
		class = fmt.Sprintf("p%d.%s[]", b.p, []string{"C0", "I"}[b.IntN(2)])
		b.facts.add("StoreArrayIndex", b.source(), v, b.name)
		b.facts.add("LoadArrayIndex", v, b.any(), b.name)
	} else {
		i := b.invocation(b.name)
		b.facts.add("SpecialInvocation_Base", i, v)
		b.facts.add("Invocation_Method", i, class+".<init>")
		b.facts.add("ActualParam", "0", i, b.source())
	}
	b.facts.add("HeapAllocation_Type", site, class)
	b.facts.add("AssignHeapAllocation", site, v, b.name)
}

// move adds instructions that move objects without calls.
func (b *javaBody) move() {
	for range 1 + b.IntN(2) {
		b.facts.add("AssignLocal", b.source(), b.any(), b.name)
	}
	if b.chance(40) {
		b.facts.add("AssignCast", className(b.p, b.IntN(packageClasses)), b.source(),
			b.any(), b.name)
	}
	if b.chance(60) {
		b.facts.add("StoreInstanceField", b.source(), b.source(), b.field(), b.name)
	}
	if b.chance(60) {
		b.facts.add("LoadInstanceField", b.source(), b.field(), b.any(), b.name)
	}
	if b.chance(6) {
		b.facts.add("StoreStaticField", b.source(), b.static(), b.name)
	}
	if b.chance(6) {
		b.facts.add("LoadStaticField", b.static(), b.any(), b.name)
	}
}

// call adds calls on objects, and seldom one of the next package.
func (b *javaBody) call() {
	finish := func(i string) {
		b.facts.add("ActualParam", "0", i, b.source())
		if b.chance(70) {
			b.facts.add("AssignReturnValue", i, b.any())
		}
	}
	for range 2 + b.IntN(3) {
		i := b.invocation(b.name)
		b.facts.add("VirtualInvocation_Base", i, b.source())
		b.facts.add("VirtualInvocation_SimpleName", i, fmt.Sprintf("name%d", b.IntN(sharedNames)))
		b.facts.add("VirtualInvocation_Descriptor", i, someDescriptor)
		finish(i)
	}
	if next := b.p + 1; next < b.packages && b.chance(5) {
		i := b.invocation(b.name)
		b.facts.add("StaticInvocation", i)
		b.facts.add("Invocation_Method", i, startOf(next))
		finish(i)
	}
}
