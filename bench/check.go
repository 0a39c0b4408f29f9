package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox"
)

func benchCheck(ctx context.Context, c config) error {
	text := programOfLines(5000)
	var rows []table.Row
	for _, w := range []struct {
		name string
		run  func() error
	}{
		{"check", func() error {
			ds, err := redfox.Check(ctx, []redfox.Source{redfox.Text("large.logic", text)}, redfox.Options{})
			if err == nil && len(ds) > 0 {
				err = &redfox.ProgramError{Diagnostics: ds}
			}
			return err
		}},
		{"compile", func() error {
			_, err := redfox.Compile(ctx, []redfox.Source{redfox.Text("large.logic", text)}, redfox.Options{})
			return err
		}},
	} {
		times, err := repeatTimed(c.repeat, w.run)
		if err != nil {
			return err
		}
		rows = append(rows, table.Row{w.name, strings.Count(text, "\n"), len(text), fmt.Sprintf("%.0f ms", float64(median(times))/float64(time.Millisecond))})
	}
	report("front end", table.Row{"phase", "lines", "bytes", "time"}, rows)
	return nil
}

// programOfLines returns a program of about n lines: groups of declarations,
// recursive rules, negation, functional predicates and aggregates, each group
// over the one before it.
func programOfLines(n int) string {
	var b strings.Builder
	b.WriteString("edge0(x, y) -> int(x), int(y).\nweight0[x, y] = w -> int(x), int(y), int(w).\n")
	for i, lines := 1, 2; lines < n; i, lines = i+1, lines+10 {
		p := i - 1
		fmt.Fprintf(&b, "// group %d\n", i)
		fmt.Fprintf(&b, "reach%d(x, y) <- edge%d(x, y).\n", i, p)
		fmt.Fprintf(&b, "reach%d(x, z) <- reach%d(x, y), edge%d(y, z), x != z.\n", i, i, p)
		fmt.Fprintf(&b, "heavy%d(x, y) <- reach%d(x, y), weight%d[x, y] > %d.\n", i, i, p, i%100)
		fmt.Fprintf(&b, "light%d(x, y) <- edge%d(x, y), !heavy%d(x, y).\n", i, p, i)
		fmt.Fprintf(&b, "cost%d[x, y] = w + %d <- weight%d[x, y] = w, (light%d(x, y) ; x = y).\n", i, i%7, p, i)
		fmt.Fprintf(&b, "degree%d[x] = n <- agg<<n = count()>> light%d(x, _).\n", i, i)
		fmt.Fprintf(&b, "most%d[] = m <- agg<<m = max(n)>> degree%d[x] = n.\n", i, i)
		fmt.Fprintf(&b, "edge%d(x, y) <- light%d(x, y), degree%d[x] <= most%d[].\n", i, i, i, i)
		fmt.Fprintf(&b, "weight%d[x, y] = w <- cost%d[x, y] = w, edge%d(x, y).\n", i, i, i)
	}
	return b.String()
}
