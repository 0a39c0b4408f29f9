package bitcodegen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// The numbers of things that a fact may be about, beside the instructions.
const (
	types         = 300
	perFunction   = 45  // instructions
	perVariable   = 1.5 // instructions
	calledBy      = 3   // functions that a function calls
	localOperands = 30  // the variables near an instruction, from which it reads
)

// Instructions is the number of instructions whose facts are about 370,000.
const Instructions = 82_000

// Facts returns the files that Program names. A quarter of the kinds have no
// instructions; the others have fewer by rank.
func Facts(kinds, instructions int, seed uint64) []File {
	g := &generator{rand: rand.New(rand.NewPCG(seed, 0)), files: map[string]*strings.Builder{},
		functions: max(instructions/perFunction, 2),
		variables: max(int(float64(instructions)/perVariable), 2)}
	g.shared()
	weights, sum := make([]float64, kinds), 0.0
	for i := range weights {
		if i%4 == 3 && i > 4 || i%16 == 9 {
			continue // a kind that the bitcode does not have
		}
		weights[i] = 1 / math.Pow(float64(i+1), 0.9)
		sum += weights[i]
	}
	number := 0
	for i, w := range weights {
		n := int(w / sum * float64(instructions))
		g.kind(kind(i), number, n)
		number += n
	}
	out := make([]File, len(g.order))
	for i, name := range g.order {
		out[i] = File{"facts/" + name + ".tsv", g.files[name].String()}
	}
	return out
}

// generator makes facts.
type generator struct {
	rand                 *rand.Rand
	files                map[string]*strings.Builder
	order                []string
	functions, variables int
}

// file adds an empty file.
func (g *generator) file(name string) *strings.Builder {
	g.order = append(g.order, name)
	g.files[name] = &strings.Builder{}
	return g.files[name]
}

// function names a function.
func (g *generator) function(i int) string {
	if i == 0 {
		return "main"
	}
	return fmt.Sprintf("<a.bc>:f%d", i)
}

// variable names a variable. Variables with near numbers are in one function.
func (g *generator) variable(i int) string {
	return fmt.Sprintf("%s:%%v%d", g.function(g.functionOf(i)), i)
}

func (g *generator) functionOf(variable int) int {
	return variable * g.functions / g.variables
}

// typeName names a type. Every second one is a pointer.
func typeName(i int) string {
	if i%2 == 0 {
		return fmt.Sprintf("%%t%d*", i)
	}
	return fmt.Sprintf("%%t%d", i)
}

// typeOf draws a type; few of them are frequent.
func (g *generator) typeOf() string {
	r := g.rand.Float64()
	return typeName(int(r * r * r * types))
}

// shared makes the files that belong to no kind.
func (g *generator) shared() {
	functions, typeFile := g.file("function"), g.file("type")
	variables, calls := g.file("variable"), g.file("call")
	for i := range g.functions {
		fmt.Fprintln(functions, g.function(i))
		for range g.rand.IntN(2 * calledBy) {
			fmt.Fprintf(calls, "%s\t%s\n", g.function(i), g.function(g.rand.IntN(g.functions)))
		}
	}
	for i := range types {
		fmt.Fprintf(typeFile, "%s\t%d\n", typeName(i), 1-i%2)
	}
	for i := range g.variables {
		fmt.Fprintf(variables, "%s\t%s\t%s\n", g.variable(i), g.function(g.functionOf(i)),
			g.typeOf())
	}
}

// kind makes the files of a kind with n instructions.
func (g *generator) kind(k string, first, n int) {
	ids, operands := g.file(k), g.file(k+"_operand")
	typeFile, flags := g.file(k+"_type"), g.file(k+"_flag")
	for i := range n {
		to := g.rand.IntN(g.variables)
		x := fmt.Sprintf("<a.bc>:%s:%d", k, first+i)
		fmt.Fprintf(ids, "%s\t%s\t%s\n", x, g.function(g.functionOf(to)), g.variable(to))
		for pos := range 1 + g.rand.IntN(2) {
			near := min(max(to+g.rand.IntN(localOperands)-localOperands/2, 0), g.variables-1)
			fmt.Fprintf(operands, "%s\t%d\t%s\n", x, pos, g.variable(near))
		}
		fmt.Fprintf(typeFile, "%s\t%s\n", x, g.typeOf())
		if g.rand.IntN(8) == 0 {
			flag := []string{"volatile", "atomic volatile", "inbounds", "nsw"}[g.rand.IntN(4)]
			fmt.Fprintf(flags, "%s\t%s\n", x, flag)
		}
	}
}
