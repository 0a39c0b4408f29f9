package driver_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"

	"github.com/redfoxdb/redfox/internal/driver"
)

// The plan of a program is text, which compiles again.
func ExampleProgram_Emit() {
	ctx := context.Background()
	prog, err := driver.Compile(ctx,
		[]driver.Source{driver.Text("p.logic", "n(1). n(7).\n_(x) <- n(x), x > 3.\n")},
		driver.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var plan bytes.Buffer
	if err := prog.Emit(&plan, driver.StagePlan, driver.EmitOptions{}); err != nil {
		log.Fatal(err)
	}
	again, err := driver.ParsePlan(driver.Text("p.plan", plan.String()), driver.Options{})
	if err != nil {
		log.Fatal(err)
	}
	res, err := again.Run(ctx, driver.NewFacts(), driver.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for row := range res.Rows("_") {
		fmt.Println(row...)
	}
	// Output:
	// 7
}

// Perfetto and Chrome show the trace of a run.
func ExampleTracer() {
	ctx := context.Background()
	prog, err := driver.Compile(ctx,
		[]driver.Source{driver.Text("p.logic", "n(1). n(7).\n_(x) <- n(x), x > 3.\n")},
		driver.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var tracer driver.Tracer
	if _, err := prog.Run(ctx, driver.NewFacts(),
		driver.RunOptions{Engine: "go", Trace: tracer.Add}); err != nil {
		log.Fatal(err)
	}
	for _, span := range tracer.Spans() {
		fmt.Println(span.Track, span.Name)
	}
	if err := tracer.Write(io.Discard); err != nil { // into a file, mostly
		log.Fatal(err)
	}
	// Output:
	// redfox plan
	// redfox run on go
	// host insert _
	// host merge _
}
