package redfox_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/redfoxdb/redfox"
)

const reach = `
edge(from, to) -> string(from), string(to).
reach(from, to) -> string(from), string(to).
reach(x, y) <- edge(x, y).
reach(x, z) <- reach(x, y), edge(y, z).
`

func Example() {
	type Edge struct {
		From, To string
	}
	ctx := context.Background()
	prog, err := redfox.Compile(ctx, []redfox.Source{redfox.Text("reach.logic", reach)},
		redfox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	facts := redfox.NewFacts().Structs("edge", []Edge{{"ann", "bob"}, {"bob", "cid"}})
	res, err := prog.Run(ctx, facts, redfox.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for pair, err := range redfox.All[Edge](res, "reach") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(pair.From, "reaches", pair.To)
	}
	// Output:
	// ann reaches bob
	// ann reaches cid
	// bob reaches cid
}

// compile compiles the text of one file.
func compile(name, text string) *redfox.Program {
	prog, err := redfox.Compile(context.Background(),
		[]redfox.Source{redfox.Text(name, text)}, redfox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return prog
}

// run runs a program over facts.
func run(prog *redfox.Program, facts *redfox.Facts) *redfox.Result {
	res, err := prog.Run(context.Background(), facts, redfox.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	return res
}

// Diagnostics are values: what is wrong, where, why and what to do.
func ExampleProgramError() {
	program := redfox.Text("pairs.logic", "node(x) -> int(x).\npair(x, y) <- node(x), x < y.\n")
	_, err := redfox.Compile(context.Background(), []redfox.Source{program}, redfox.Options{})
	var wrong *redfox.ProgramError
	if errors.As(err, &wrong) {
		for _, d := range wrong.Diagnostics {
			fmt.Printf("%s %s at %d:%d: %s\n", d.Code, d.Name, d.Place.Line, d.Place.Column,
				d.Message)
		}
	}
	// Output:
	// RF0101 UnboundVariable at 2:9: variable y is not bound by a positive atom
}

// A name that is misspelt is an error, and no empty answer.
func ExampleEnvironmentError() {
	res := run(compile("reach.logic", reach), redfox.NewFacts())
	_, err := res.Len("raech")
	var missing *redfox.EnvironmentError
	if errors.As(err, &missing) {
		fmt.Println(missing.Message)
		fmt.Println(missing.Help)
	}
	// Output:
	// the result does not hold raech
	// did you mean reach?
}

// A context ends a run that takes too long. The answer is never partial.
func ExampleProgram_Run_cancel() {
	prog := compile("count.logic", `
n(0).
n(x + 1) <- n(x), x < 1000000000.
`)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := prog.Run(ctx, redfox.NewFacts(), redfox.RunOptions{})
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output:
	// true
}
