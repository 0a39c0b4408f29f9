package redfox_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/big"
	"net/netip"
	"os"
	"time"

	"github.com/redfoxdb/redfox"
)

// A predicate of one column scans into values, others into structs.
func ExampleScan() {
	prog := compile("hosts.logic", `
host(name, addr, port, since) -> string(name), string(addr), uint(port), datetime(since).
name(n) <- host(n, _, _, _).
open(name, addr, port, since) <- host(name, addr, port, since).
`)
	res := run(prog, redfox.NewFacts().Rows("host",
		[]any{"web", "10.0.0.7", 443, "2024-03-01"}, []any{"db", "10.0.0.9", 5432, "2023-11-20"}))
	names, err := redfox.Scan[string](res, "name")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(names)

	type Host struct {
		Name  string
		Addr  netip.Addr
		Port  uint16
		Since time.Time
		Owner *string `redfox:",optional"` // the predicate has no such column
	}
	hosts, err := redfox.Scan[Host](res, "open")
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range hosts {
		fmt.Println(h.Name, netip.AddrPortFrom(h.Addr, h.Port), h.Since.Format(time.DateOnly))
	}
	// Output:
	// [db web]
	// db 10.0.0.9:5432 2023-11-20
	// web 10.0.0.7:443 2024-03-01
}

// A function need not have a value for each tuple. A pointer holds its value or
// is nil.
func ExampleScan_missing() {
	res := run(compile("people.logic", `
entry("ann", 31). entry("bob", 27).
mail["bob"] = "bob@example.org".
person(name, age) -> string(name), int(age).
person(name, age) <- entry(name, age).
person:email[name] = m <- mail[name] = m.
`), redfox.NewFacts())
	type Person struct {
		Name  string
		Age   int
		Email *string // person:email
	}
	people, err := redfox.Scan[Person](res, "person")
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range people {
		if p.Email == nil {
			fmt.Println(p.Name, p.Age)
		} else {
			fmt.Println(p.Name, p.Age, *p.Email)
		}
	}
	// Output:
	// ann 31
	// bob 27 bob@example.org
}

// The error of a field that does not fit its column names both.
func ExampleScan_error() {
	res := run(compile("stock.logic", "stock[p] = n -> string(p), int(n).\n"+
		"left(p, n) <- stock[p] = n.\n"), redfox.NewFacts())
	type Stock struct {
		P string
		N string
	}
	_, err := redfox.Scan[Stock](res, "left")
	var mismatch *redfox.EnvironmentError
	if errors.As(err, &mismatch) {
		fmt.Println(mismatch.Message)
	}
	// Output:
	// column n of left is int, and field N of redfox_test.Stock is string
}

func ExampleScanColumn() {
	res := run(compile("prices.logic", `
price["pen"] = 1.50.
price["ink"] = 12.25.
gross[item] = price[item] * 1.19.
`), redfox.NewFacts())
	prices, err := redfox.ScanColumn[redfox.Decimal](res, "gross", "value")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(prices)
	// Output:
	// [14.5775 1.7850]
}

// Decimals are exact. A result has the scale of its column.
func ExampleDecimal() {
	a, err := redfox.ParseDecimal("19.90")
	if err != nil {
		log.Fatal(err)
	}
	b, err := redfox.NewDecimal(199, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a, b, a.Cmp(b) == 0, a == b)

	third, err := redfox.DecimalFromRat(big.NewRat(1, 3), 4)
	if err != nil {
		log.Fatal(err)
	}
	sum := new(big.Rat).Add(third.Rat(), a.Rat())
	fmt.Println(third, sum)

	wide, err := redfox.DecimalFromBig(new(big.Int).Lsh(big.NewInt(1), 100), 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(wide, wide.Unscaled().BitLen())
	// Output:
	// 19.90 19.9 true false
	// 0.3333 202333/10000
	// 12676506002282294014967032053.76 101
}

func ExampleResult_Write() {
	res := run(compile("squares.logic", `
n(1). n(2). n(3).
square[x] = x * x <- n(x).
`), redfox.NewFacts())
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

func ExampleResult_Arrow() {
	res := run(compile("prices.logic", `
price["pen"] = 1.50.
price["ink"] = 12.25.
gross[p] = price[p] * 1.19.
`), redfox.NewFacts())
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

// A result can stay on the GPU that has computed it. Its size is known at once.
func ExampleResult_Fetch() {
	ctx := context.Background()
	facts := redfox.NewFacts().Rows("edge", []any{"ann", "bob"}, []any{"bob", "ann"})
	res, err := compile("reach.logic", reach).Run(ctx, facts, redfox.RunOptions{Resident: true})
	if err != nil {
		log.Fatal(err)
	}
	defer res.Release()
	n, err := res.Len("reach")
	fmt.Println(n, "tuples", err)
	if err := res.Fetch(ctx); err != nil {
		log.Fatal(err)
	}
	targets, err := redfox.ScanColumn[string](res, "reach", "to")
	fmt.Println(targets, err)
	// Output:
	// 4 tuples <nil>
	// [ann bob ann bob] <nil>
}
