package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox"
)

func benchLoad(ctx context.Context, c config) error {
	dir, err := os.MkdirTemp("", "redfox-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tsv := filepath.Join(dir, "pairs.tsv")
	if err := writePairs(tsv, 15_000_000); err != nil {
		return err
	}
	version := ""
	var rows []table.Row
	for _, w := range []struct {
		name, only, figure, file string
		peer                     peerWork
		program                  []string
		facts                    *redfox.Facts
	}{
		{"TSV, two int columns", "tsv-load", "tsv", tsv, peerTSV, nil,
			redfox.NewFacts().File("edge", tsv)},
		{"Parquet, 9 columns of lineitem", "tpch-load", "parquet", c.tpch, peerParquet,
			[]string{testFile("tpch", "schema.logic"), testFile("tpch", "q01.logic")},
			redfox.NewFacts().Dir(c.tpch)},
	} {
		if !c.wants(w.only, true) {
			continue
		}
		var prog *redfox.Program
		size := w.file
		if w.program == nil {
			prog, err = redfox.Compile(ctx, []redfox.Source{redfox.Text("edge.logic",
				"edge(x, y) -> int(x), int(y).\n_[] = n <- agg<<n = count()>> edge(_, _).\n")},
				redfox.Options{})
		} else {
			prog, err = compile(ctx, w.program...)
			size = filepath.Join(w.file, "lineitem.parquet")
		}
		if err != nil {
			return err
		}
		info, err := os.Stat(size)
		if err != nil {
			return err
		}
		times, err := repeatTimed(3, func() error {
			_, err := prog.Load(ctx, w.facts, redfox.LoadOptions{Threads: c.threads})
			return err
		})
		if err != nil {
			return err
		}
		peer, err := duckdb(ctx, c, 3, w.peer, w.file)
		if err != nil {
			return err
		}
		version = peer.version
		ours := median(times)
		err = c.record("load/"+w.figure, map[string]time.Duration{"go": ours, "DuckDB": peer.time},
			nil)
		if err != nil {
			return err
		}
		rows = append(rows,
			table.Row{w.name, fmt.Sprintf("%.0f MB", float64(info.Size())/1e6), seconds(ours),
				fmt.Sprintf("%.0f MB/s",
					float64(info.Size())/1e6/ours.Seconds()/float64(c.threads)),
				seconds(peer.time), ratio(ours, peer.time)})
	}
	report(fmt.Sprintf("loading, beside DuckDB %s, %d threads", version, c.threads),
		table.Row{"what", "file", "redfox", "a thread", "DuckDB", "redfox/DuckDB"}, rows)
	return nil
}

// writePairs writes n pseudo-random pairs of ints, without repeats in the first
// column.
func writePairs(file string, n int) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	random := rand.New(rand.NewPCG(1, 2))
	var line []byte
	for i := range n {
		line = strconv.AppendInt(line[:0], int64(i)*7, 10)
		line = append(line, '\t')
		line = strconv.AppendInt(line, random.Int64N(100_000_000), 10)
		line = append(line, '\n')
		w.Write(line) // an error stays with w until Flush
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
