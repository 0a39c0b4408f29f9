package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/redfoxdb/redfox/internal/driver"
)

// sales is a program whose facts have a column of each common kind, salesAnswer
// copies them, and salesTotal reads them.
const (
	sales = `sale(id, customer, price, rate, day, kind, name) -> int(id), int(customer),
	decimal[18,2](price), float(rate), datetime(day), string(kind), string(name).
`
	salesAnswer = `out(id, customer, price, rate, day, kind, name) <-
	sale(id, customer, price, rate, day, kind, name).
`
	salesTotal = `_[] = n <- agg<<n = count()>> sale(_, _, _, _, _, _, _).
`
)

// salesRows is the number of rows in the files of benchFormats.
const salesRows = 1_000_000

// peerTypes declares the columns of sales for DuckDB's readers.
const peerTypes = `{'id': 'BIGINT', 'customer': 'BIGINT', 'price': 'DECIMAL(18,2)',
	'rate': 'DOUBLE', 'day': 'TIMESTAMP', 'kind': 'VARCHAR', 'name': 'VARCHAR'}`

// benchFormats measures the reading of the same rows in each format, with one
// thread and with all.
func benchFormats(ctx context.Context, c config, dir string) error {
	if err := writeSales(ctx, dir); err != nil {
		return err
	}
	threads := []int{1}
	if c.threads > 1 {
		threads = append(threads, c.threads)
	}
	for _, n := range threads {
		c.threads = n
		t := comparison{title: fmt.Sprintf("the same %d rows in each format", salesRows),
			labels: []string{"what", "file", "rate of a thread"}, systems: []string{driver.EngineGo}}
		for _, w := range []struct {
			file string
			peer peerWork // may be empty
		}{
			{"sale.csv", peerWork{query: `create or replace table t as
				from read_csv('{file}', header=true, columns=` + peerTypes + `)`}},
			{"sale.jsonl", peerWork{query: `create or replace table t as
				from read_json('{file}', format='newline_delimited', columns=` + peerTypes + `)`}},
			{"sale.parquet", peerWork{query: `create or replace table t as from '{file}'`}},
			{"sale.arrow", peerWork{}},
			{"sale.sqlite", peerWork{}},
		} {
			path := filepath.Join(dir, w.file)
			t.works = append(t.works, work{name: w.file, run: func() (*entry, error) {
				return c.loadSales(ctx, path, w.peer)
			}})
		}
		if err := c.compare(t); err != nil {
			return err
		}
	}
	return nil
}

// loadSales measures the load of a file, and that of the peer if it has work.
func (c config) loadSales(ctx context.Context, path string, peer peerWork) (*entry, error) {
	prog, err := driver.Compile(ctx, []driver.Source{driver.Text("sales.logic", sales+salesTotal)},
		driver.Options{})
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	facts := driver.NewFacts().File("sale", path)
	took, err := repeat(c.repeat, func() error {
		db, err := prog.Load(ctx, facts, driver.LoadOptions{Threads: c.threads, Header: true})
		if err == nil && db.Report().Files[0].Rows != salesRows {
			err = fmt.Errorf("%s: %d rows are loaded", path, db.Report().Files[0].Rows)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	mb := float64(info.Size()) / 1e6
	e := &entry{times: []float64{took}, labels: []any{fmt.Sprintf("%.0f MB", mb),
		fmt.Sprintf("%.0f MB/s", mb/took/float64(c.threads))}}
	if peer.query == "" {
		return e, nil
	}
	return e, e.askPeer(ctx, c, c.repeat, peer, path, -1)
}

// writeSales writes the files.
func writeSales(ctx context.Context, dir string) error {
	random := rand.New(rand.NewPCG(3, 4))
	ids, customers := make([]int, salesRows), make([]int, salesRows)
	prices, rates := make([]int, salesRows), make([]float64, salesRows)
	days, kinds := make([]time.Time, salesRows), make([]string, salesRows)
	names := make([]string, salesRows)
	for i := range salesRows {
		ids[i], customers[i] = i, random.IntN(100_000)
		prices[i], rates[i] = random.IntN(10_000), float64(random.IntN(1000))/8
		days[i] = time.Date(2020, 1, 1+random.IntN(2000), 0, 0, 0, 0, time.UTC)
		kinds[i] = []string{"new", "used", "leased"}[random.IntN(3)]
		names[i] = fmt.Sprintf("customer %d of the north", customers[i])
	}
	prog, err := driver.Compile(ctx, []driver.Source{driver.Text("sales.logic", sales+salesAnswer)},
		driver.Options{})
	if err != nil {
		return err
	}
	db, err := prog.Load(ctx, driver.NewFacts().Columns("sale", ids, customers, prices, rates, days,
		kinds, names), driver.LoadOptions{})
	if err != nil {
		return err
	}
	res, err := prog.RunOn(ctx, db, driver.RunOptions{Engine: driver.EngineGo})
	if err != nil {
		return err
	}
	for _, format := range []driver.Format{driver.CSV, driver.JSONLines, driver.Parquet,
		driver.Arrow} {
		path := filepath.Join(dir, "sale."+format.String())
		if err := res.WriteFile(path, "out", format, driver.WriteOptions{Header: true}); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, "sale.sqlite")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		return err
	}
	return res.WriteDatabase(ctx, path, []string{"out"}, []string{"sale"})
}
