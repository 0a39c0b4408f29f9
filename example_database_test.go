package redfox_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/redfoxdb/redfox"
)

// A database is a workspace in a file. Each transaction is on the disk when
// Exec returns.
func ExampleSession_Open() {
	ctx := context.Background()
	session, err := redfox.OpenSession(redfox.SessionOptions{Engine: redfox.EngineGo})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	dir, err := os.MkdirTemp("", "redfox")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "shop.rfdb")

	program := redfox.Text("shop.logic", `
stock[p] = n -> string(p), int(n).
gone(p) <- stock[p] = 0.
`)
	facts := redfox.NewFacts().Columns("stock", []string{"fig", "pear"}, []int{1, 5})
	shop, err := session.Open(ctx, path, []redfox.Source{program}, facts, redfox.Options{},
		redfox.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	sale := redfox.Transaction{Sources: []redfox.Source{
		redfox.Text("sale.logic", `^stock["fig"] = 0.`)}}
	if _, err := shop.Exec(ctx, sale, redfox.RunOptions{}); err != nil {
		log.Fatal(err)
	}
	if err := shop.Close(); err != nil {
		log.Fatal(err)
	}

	// Another process goes on from there.
	shop, err = session.OpenReadOnly(ctx, path, redfox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	res, err := shop.Read(ctx, redfox.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	gone, err := redfox.ScanColumn[string](res, "gone", "p")
	fmt.Println(gone, err)
	// Output:
	// [fig] <nil>
}

// A program that runs over the same facts again and again reads them from the
// file of a database, which is mapped into memory.
func ExampleProgram_Store() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "redfox")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "graph.rfdb")
	prog := compile("reach.logic", reach)
	edges := redfox.NewFacts().Columns("edge", []string{"ann", "bob"}, []string{"bob", "cid"})
	if _, err := prog.Store(ctx, edges, path, redfox.LoadOptions{}); err != nil {
		log.Fatal(err)
	}
	res, err := prog.Run(ctx, redfox.NewFacts().Dir(path), redfox.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	n, err := res.Len("reach")
	fmt.Println(n, err)
	// Output:
	// 3 <nil>
}
