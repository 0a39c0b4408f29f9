package redfox_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/redfoxdb/redfox"
)

// A session loads facts once and keeps engines, plans, code and, on a GPU, the
// facts. Only the first run of a program plans it.
func ExampleSession() {
	ctx := context.Background()
	session, err := redfox.OpenSession(redfox.SessionOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	prog := compile("reach.logic", reach)
	db, err := session.Load(ctx, prog,
		redfox.NewFacts().Columns("edge", []string{"ann", "bob"}, []string{"bob", "cid"}),
		redfox.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, pred := range []string{"reach", "edge"} {
		res, err := session.Run(ctx, prog, db, redfox.RunOptions{Outputs: []string{pred}})
		if err != nil {
			log.Fatal(err)
		}
		n, err := res.Len(pred)
		fmt.Println(pred, n, err)
	}
	// Output:
	// reach 3 <nil>
	// edge 2 <nil>
}

// A workspace holds what predicates contain, and transactions change it. One
// that violates a constraint changes nothing.
func ExampleWorkspace() {
	ctx := context.Background()
	session, err := redfox.OpenSession(redfox.SessionOptions{Engine: redfox.EngineGo})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	program := redfox.Text("stock.logic", `
stock[p] = n -> string(p), int(n).
stock[p] = n -> n >= 0.
sold(p, n) -> string(p), int(n).
lang:pulse(`+"`sold"+`).
^stock[p] = m - n <- +sold(p, n), stock@prev[p] = m.
left(product, count) <- stock[product] = count.
`)
	facts := redfox.NewFacts().Columns("stock", []string{"fig", "pear"}, []int{1, 5})
	w, err := session.OpenWorkspace(ctx, []redfox.Source{program}, facts, redfox.Options{},
		redfox.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{`+sold("pear", 2).`, `+sold("fig", 3).`} {
		sale := redfox.Transaction{Sources: []redfox.Source{redfox.Text("sale.logic", text)}}
		_, err := w.Exec(ctx, sale, redfox.RunOptions{})
		var wrong *redfox.ProgramError
		fmt.Println(text, "refused:", errors.As(err, &wrong))
	}
	res, err := w.Read(ctx, redfox.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	type Stock struct {
		Product string
		Count   int
	}
	left, err := redfox.Scan[Stock](res, "left")
	fmt.Println(left, err)
	why, err := w.Why(ctx, `left("pear", 3)`, 0, redfox.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(why)
	// Output:
	// +sold("pear", 2). refused: false
	// +sold("fig", 3). refused: true
	// [{fig 1} {pear 3}] <nil>
	// left("pear", 3)  by stock.logic:7
	// └─ stock["pear"] = 3  a fact
	//
	// stock.logic:7: left(product, count) <- stock[product] = count.
}
