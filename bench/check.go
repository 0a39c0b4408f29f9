package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// benchCheck runs the command line, a process each time.
func benchCheck(ctx context.Context, c config) error {
	bin, remove, err := buildCommand(ctx)
	if err != nil {
		return err
	}
	defer remove()
	text := programOfLines(5000)
	file := filepath.Join(filepath.Dir(bin), "large.logic")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	var rows []table.Row
	for _, command := range []string{"check", "compile"} {
		times, err := repeatTimed(c.repeat, func() error {
			if out, err := exec.CommandContext(ctx, bin, command,
				file).CombinedOutput(); err != nil {
				return fmt.Errorf("redfox %s: %w\n%s", command, err, out)
			}
			return nil
		})
		if err != nil {
			return err
		}
		rows = append(rows,
			table.Row{"redfox " + command, strings.Count(text, "\n"), len(text),
				seconds(median(times))})
	}
	report("a large program, a process each time", table.Row{"command", "lines", "bytes", "time"},
		rows)
	return nil
}

// buildCommand builds redfox into a folder of its own, which remove removes.
func buildCommand(ctx context.Context) (bin string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "redfox-bench")
	if err != nil {
		return "", nil, err
	}
	bin = filepath.Join(dir, "redfox")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", bin,
		"./cmd/redfox").CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		return "", nil, fmt.Errorf("building redfox: %w\n%s", err, out)
	}
	return bin, func() { os.RemoveAll(dir) }, nil
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
		fmt.Fprintf(&b, "cost%d[x, y] = w + %d <- weight%d[x, y] = w, (light%d(x, y) ; x = y).\n",
			i, i%7, p, i)
		fmt.Fprintf(&b, "degree%d[x] = n <- agg<<n = count()>> light%d(x, _).\n", i, i)
		fmt.Fprintf(&b, "most%d[] = m <- agg<<m = max(n)>> degree%d[x] = n.\n", i, i)
		fmt.Fprintf(&b, "edge%d(x, y) <- light%d(x, y), degree%d[x] <= most%d[].\n", i, i, i, i)
		fmt.Fprintf(&b, "weight%d[x, y] = w <- cost%d[x, y] = w, edge%d(x, y).\n", i, i, i)
	}
	return b.String()
}
