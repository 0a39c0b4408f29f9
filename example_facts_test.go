package redfox_test

import (
	"context"
	"fmt"
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

// A struct stands for a tuple. The tag names a column whose name the field does
// not have.
func ExampleFacts_Structs() {
	type Order struct {
		ID       uint64
		Customer string
		Placed   time.Time
		Amount   redfox.Decimal `redfox:"total"`
	}
	prog := compile("orders.logic", `
order(id, customer, placed, total) ->
    uint(id), string(customer), datetime(placed), decimal[18,2](total).
spent[customer] = s <- agg<<s = total(t)>> order(_, customer, _, t).
`)
	price := func(text string) redfox.Decimal {
		d, err := redfox.ParseDecimal(text)
		if err != nil {
			log.Fatal(err)
		}
		return d
	}
	day := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	res := run(prog, redfox.NewFacts().Structs("order", []Order{
		{1, "ann", day, price("19.99")},
		{2, "bob", day, price("5")},
		{3, "ann", day.AddDate(0, 0, 1), price("0.51")},
	}))
	type Spent struct {
		Customer string
		Amount   redfox.Decimal `redfox:"2"`
	}
	list, err := redfox.Scan[Spent](res, "spent")
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range list {
		fmt.Println(s.Customer, s.Amount)
	}
	// Output:
	// ann 20.50
	// bob 5.00
}

// One slice for each argument is the fastest way for facts in memory.
func ExampleFacts_Columns() {
	prog := compile("prices.logic", `
price[item] = p -> string(item), decimal[18,2](p).
dear(item) <- price[item] > 10.0.
`)
	ink, err := redfox.ParseDecimal("12.25")
	if err != nil {
		log.Fatal(err)
	}
	res := run(prog, redfox.NewFacts().Columns("price",
		[]string{"pen", "ink"}, []redfox.Decimal{redfox.DecimalFromInt(2), ink}))
	dear, err := redfox.Scan[string](res, "dear")
	fmt.Println(dear, err)
	// Output:
	// [ink] <nil>
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
	// ann bob
	// ann cid
	// bob cid
}

func ExampleFacts_Reader() {
	printReach(redfox.NewFacts().Reader("edge", redfox.TSV,
		strings.NewReader("ann\tdee\ndee\teve\n")))
	// Output:
	// ann dee
	// ann eve
	// dee eve
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
	// ann fay
	// ann gil
	// fay gil
}

func printReach(facts *redfox.Facts) {
	for row, err := range run(compile("reach.logic", reach), facts).Rows("reach") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row...)
	}
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
	prog := compile(filepath.Join(dir, "prices.logic"), text)
	res, err := prog.Run(ctx, redfox.NewFacts().Allow(dir), redfox.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	files, err := prog.WriteExports(res,
		redfox.ExportOptions{Dir: filepath.Join(dir, "results")})
	if err != nil {
		log.Fatal(err)
	}
	written, err := os.ReadFile(files[0].Path)
	fmt.Printf("%s: %s%v\n", files[0].Pred, written, err)
	// Output:
	// dear: ink
	// <nil>
}
