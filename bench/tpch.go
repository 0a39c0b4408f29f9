package main

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox"
)

func benchTPCH(ctx context.Context, c config) error {
	engines := c.measured()
	var rows []table.Row
	version := ""
	for _, q := range []string{"q1", "q3", "q6"} {
		if !c.wants(q, true) {
			continue
		}
		prog, err := compile(ctx, testFile("tpch", q+".logic"))
		if err != nil {
			return err
		}
		start := time.Now()
		db, err := prog.Load(ctx, redfox.NewFacts().Dir(c.tpch), redfox.LoadOptions{Threads: c.threads})
		if err != nil {
			return err
		}
		load := time.Since(start)
		peer, err := duckdb(ctx, c, c.repeat, q, c.tpch)
		if err != nil {
			return err
		}
		version = peer.Version
		var ours []time.Duration
		for _, engine := range engines {
			times, res, err := timeRuns(ctx, c, engine, c.repeat, prog, db)
			if err == nil {
				err = sameRows(res, peer.Rows)
			}
			if err != nil {
				return fmt.Errorf("%s, engine %s: %w", q, engine, err)
			}
			ours = append(ours, median(times))
		}
		row := append(table.Row{q, len(peer.Rows), seconds(load)}, engineCells(ours, peer.runTime())...)
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		report(fmt.Sprintf("TPC-H from loaded columns beside DuckDB %s, %d threads, answers equal", version, c.threads),
			engineHeader(engines, "query", "rows", "load"), rows)
	}
	return nil
}

// sameRows compares the answer `_` with the peer's rows. Exact numbers must be
// equal to the last digit; the peer's averages are binary floats, and ours must
// round to them.
func sameRows(res *redfox.Result, want [][]string) error {
	i := 0
	for row := range res.Rows("_") {
		if i >= len(want) {
			return fmt.Errorf("more than the peer's %d rows", len(want))
		}
		for j, v := range row {
			if got := fmt.Sprint(v); !sameField(got, want[i][j]) {
				return fmt.Errorf("row %d, column %d: %s, the peer has %s", i+1, j+1, got, want[i][j])
			}
		}
		i++
	}
	if i != len(want) {
		return fmt.Errorf("%d rows, the peer has %d", i, len(want))
	}
	return nil
}

func sameField(got, want string) bool {
	if got == want || strings.HasPrefix(got, want+" ") {
		return true // the second is a day beside a time of day
	}
	g, ok1 := new(big.Rat).SetString(got)
	w, ok2 := new(big.Rat).SetString(want)
	if !ok1 || !ok2 {
		return false
	}
	if g.Cmp(w) == 0 {
		return true
	}
	_, fraction, _ := strings.Cut(got, ".")
	if decimals := len(want) - strings.IndexByte(want, '.') - 1; decimals <= len(fraction) {
		return false // the peer shows no more digits than we do: they must be equal
	}
	return w.FloatString(len(fraction)) == got
}
