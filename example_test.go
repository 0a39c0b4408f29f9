package redfox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/redfoxdb/redfox"
)

const reach = `
edge(x, y) -> string(x), string(y).
reach(x, y) <- edge(x, y).
reach(x, z) <- reach(x, y), edge(y, z).
_(y) <- reach("ann", y).
`

func Example() {
	ctx := context.Background()
	prog, err := redfox.Compile(ctx, []redfox.Source{redfox.Text("reach.logic", reach)},
		redfox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	facts := redfox.NewFacts().Rows("edge",
		[]any{"ann", "bob"}, []any{"bob", "cid"}, []any{"dee", "ann"})
	res, err := prog.Run(ctx, facts, redfox.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for row := range res.Rows("_") {
		fmt.Println(row...)
	}
	// Output:
	// bob
	// cid
}

// Diagnostics are values: what is wrong, where, why and what to do.
func ExampleProgramError() {
	program := redfox.Text("pairs.logic", "node(x) -> int(x).\npair(x, y) <- node(x), x < y.\n")
	_, err := redfox.Compile(context.Background(), []redfox.Source{program}, redfox.Options{})
	var wrong *redfox.ProgramError
	if errors.As(err, &wrong) {
		for _, d := range wrong.Diagnostics {
			at := d.Span.Position()
			fmt.Printf("%s %s at %d:%d: %s\n", d.Code.ID, d.Code.Name, at.Line, at.Column,
				d.Message)
		}
	}
	// Output:
	// RF0101 UnboundVariable at 2:9: variable y is not bound by a positive atom
}

func ExampleFacts_File() {
	dir, err := os.MkdirTemp("", "facts")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "friends.csv")
	if err := os.WriteFile(file, []byte("ann,bob\nbob,cid\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	printReach(redfox.NewFacts().File("edge", file))
	// Output:
	// bob
	// cid
}

// A program that names files reads and writes them below the folders that it is
// given, and nowhere else.
func ExampleFacts_Allow() {
	const text = `
price[item] = p -> string(item), int(p).
lang:physical:filePath[` + "`" + `price] = "price.csv".
dear(item) <- price[item] > 10.
lang:physical:filePath[` + "`" + `dear] = "dear.csv".
`
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "prices")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "price.csv"), []byte("pen,2\nink,12\n"),
		0o644); err != nil {
		log.Fatal(err)
	}
	source := redfox.Text(filepath.Join(dir, "prices.logic"), text)
	prog, err := redfox.Compile(ctx, []redfox.Source{source}, redfox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	res, err := prog.Run(ctx, redfox.NewFacts().Allow(dir), redfox.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	results := filepath.Join(dir, "results")
	exports, err := prog.ResolveExports(redfox.ExportOptions{Dir: results})
	if err != nil {
		log.Fatal(err)
	}
	for _, x := range exports {
		if err := prog.WriteExport(res, x); err != nil {
			log.Fatal(err)
		}
	}
	written, err := os.ReadFile(filepath.Join(results, "dear.csv"))
	fmt.Printf("%s%v\n", written, err)
	// Output:
	// ink
	// <nil>
}

func ExampleFacts_Reader() {
	printReach(redfox.NewFacts().Reader("edge", redfox.TSVFacts,
		strings.NewReader("ann\tdee\ndee\teve\n")))
	// Output:
	// dee
	// eve
}

func ExampleFacts_Arrow() {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "from", Type: arrow.BinaryTypes.String},
		{Name: "to", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.StringBuilder).AppendValues([]string{"ann", "fay"}, nil)
	b.Field(1).(*array.StringBuilder).AppendValues([]string{"fay", "gil"}, nil)
	record := b.NewRecordBatch()
	defer record.Release()
	printReach(redfox.NewFacts().Arrow("edge", record))
	// Output:
	// fay
	// gil
}

func printReach(facts *redfox.Facts) {
	ctx := context.Background()
	prog, err := redfox.Compile(ctx, []redfox.Source{redfox.Text("reach.logic", reach)},
		redfox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	res, err := prog.Run(ctx, facts, redfox.RunOptions{Outputs: []string{"_"}})
	if err != nil {
		log.Fatal(err)
	}
	for row := range res.Rows("_") {
		fmt.Println(row...)
	}
}

// A database is loaded once and serves many runs.
func ExampleProgram_Load() {
	ctx := context.Background()
	prog, err := redfox.Compile(ctx, []redfox.Source{redfox.Text("reach.logic", reach)},
		redfox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	db, err := prog.Load(ctx,
		redfox.NewFacts().Rows("edge", []any{"ann", "bob"}, []any{"bob", "ann"}),
		redfox.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, pred := range []string{"reach", "edge"} {
		res, err := prog.RunOn(ctx, db, redfox.RunOptions{Outputs: []string{pred}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(pred, res.Len(pred))
	}
	// Output:
	// reach 4
	// edge 2
}

func ExampleResult_Arrow() {
	ctx := context.Background()
	prog, err := redfox.Compile(ctx, []redfox.Source{redfox.Text("prices.logic", `
price["pen"] = 1.50.
price["ink"] = 12.25.
gross[p] = price[p] * 1.19.
`)}, redfox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	res, err := prog.Run(ctx, redfox.NewFacts(), redfox.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	record, err := res.Arrow("gross")
	if err != nil {
		log.Fatal(err)
	}
	defer record.Release()
	for i, field := range record.Schema().Fields() {
		fmt.Println(field.Name, field.Type, record.Column(i))
	}
	// Output:
	// p utf8 ["ink" "pen"]
	// value decimal(19, 4) [14.5775 1.785]
}

func ExampleResult_Write() {
	ctx := context.Background()
	prog, err := redfox.Compile(ctx, []redfox.Source{redfox.Text("squares.logic", `
n(1). n(2). n(3).
square[x] = x * x <- n(x).
`)}, redfox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	res, err := prog.Run(ctx, redfox.NewFacts(), redfox.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if err := res.Write(os.Stdout, "square", redfox.CSV,
		redfox.WriteOptions{Header: true}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// x,value
	// 1,1
	// 2,4
	// 3,9
}

// A context ends a run that takes too long. The answer is never partial.
func ExampleProgram_Run_cancel() {
	prog, err := redfox.Compile(context.Background(), []redfox.Source{redfox.Text("count.logic", `
n(0).
n(x + 1) <- n(x), x < 1000000000.
`)}, redfox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err = prog.Run(ctx, redfox.NewFacts(), redfox.RunOptions{})
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output:
	// true
}

// The plan of a program is text, which compiles again.
func ExampleProgram_Emit() {
	ctx := context.Background()
	prog, err := redfox.Compile(ctx,
		[]redfox.Source{redfox.Text("p.logic", "n(1). n(7).\n_(x) <- n(x), x > 3.\n")},
		redfox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var plan bytes.Buffer
	if err := prog.Emit(&plan, redfox.StagePlan, redfox.EmitOptions{}); err != nil {
		log.Fatal(err)
	}
	again, err := redfox.ParsePlan(redfox.Text("p.plan", plan.String()), redfox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	res, err := again.Run(ctx, redfox.NewFacts(), redfox.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for row := range res.Rows("_") {
		fmt.Println(row...)
	}
	// Output:
	// 7
}

// A session keeps engines, code and, on a GPU, facts. A prepared program does
// nothing but run.
func ExampleSession() {
	ctx := context.Background()
	session, err := redfox.OpenSession(redfox.SessionOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	prog, err := redfox.Compile(ctx, []redfox.Source{redfox.Text("reach.logic", reach)},
		redfox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	db, err := session.Load(ctx, prog,
		redfox.NewFacts().Rows("edge", []any{"ann", "bob"}, []any{"bob", "cid"}),
		redfox.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	query, err := session.Prepare(ctx, prog, db, redfox.RunOptions{Outputs: []string{"_"}})
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		res, err := query.Run(ctx, redfox.RunOptions{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(res.Len("_"))
	}
	// Output:
	// 2
	// 2
	// 2
}

// A result can stay on the GPU that has computed it. Its size is known at once.
// A workspace holds what predicates contain, and transactions change it. One
// that violates a constraint changes nothing.
func ExampleSession_Exec() {
	ctx := context.Background()
	session, err := redfox.OpenSession(redfox.SessionOptions{Engine: redfox.EngineGo})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	w, err := session.OpenWorkspace(ctx, []redfox.Source{redfox.Text("stock.logic", `
stock[p] = n -> string(p), int(n).
stock[p] = n -> n >= 0.
sold(p, n) -> string(p), int(n).
lang:pulse(`+"`sold"+`).
^stock[p] = m - n <- +sold(p, n), stock@prev[p] = m.
_(p, n) <- stock[p] = n.
`)}, redfox.NewFacts().Rows("stock", []any{"fig", 1}, []any{"pear", 5}), redfox.Options{},
		redfox.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{`+sold("pear", 2).`, `+sold("fig", 3).`} {
		_, err := session.Exec(ctx, w,
			redfox.Transaction{Sources: []redfox.Source{redfox.Text("sale.logic", text)}},
			redfox.RunOptions{})
		fmt.Println(text, err == nil)
	}
	res, err := session.Read(ctx, w, redfox.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for row := range res.Rows("_") {
		fmt.Println(row...)
	}
	// Output:
	// +sold("pear", 2). true
	// +sold("fig", 3). false
	// fig 1
	// pear 3
}

func ExampleResult_Fetch() {
	ctx := context.Background()
	prog, err := redfox.Compile(ctx, []redfox.Source{redfox.Text("reach.logic", reach)},
		redfox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	facts := redfox.NewFacts().Rows("edge", []any{"ann", "bob"}, []any{"bob", "ann"})
	res, err := prog.Run(ctx, facts, redfox.RunOptions{Resident: true})
	if err != nil {
		log.Fatal(err)
	}
	defer res.Release()
	fmt.Println(res.Len("reach"), "tuples")
	if err := res.Fetch(ctx); err != nil {
		log.Fatal(err)
	}
	for row := range res.Rows("_") {
		fmt.Println(row...)
	}
	// Output:
	// 4 tuples
	// ann
	// bob
}

// Perfetto and Chrome show the trace of a run.
func ExampleTracer() {
	ctx := context.Background()
	prog, err := redfox.Compile(ctx,
		[]redfox.Source{redfox.Text("p.logic", "n(1). n(7).\n_(x) <- n(x), x > 3.\n")},
		redfox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var tracer redfox.Tracer
	if _, err := prog.Run(ctx, redfox.NewFacts(),
		redfox.RunOptions{Engine: "go", Trace: tracer.Add}); err != nil {
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
