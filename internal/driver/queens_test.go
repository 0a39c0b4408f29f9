package driver

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/short"
)

// queensProgram places queens row by row: q3(a, b, c) are the placements of
// three queens in the first three rows in which none attacks another.
func queensProgram(size, rows int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "col(c) <- int:range(1, %d, 1, c).\nq1(a) <- col(a).\n", size)
	for k := 2; k <= rows; k++ {
		var names []string
		for i := range k {
			names = append(names, string(rune('a'+i)))
		}
		last := names[k-1]
		fmt.Fprintf(&text, "q%d(%s) <- q%d(%s), col(%s)", k, strings.Join(names, ", "), k-1,
			strings.Join(names[:k-1], ", "), last)
		for i, x := range names[:k-1] {
			fmt.Fprintf(&text, ", %s != %s, %s - %s != %d, %s - %s != %d", x, last, x, last, k-1-i,
				last, x, k-1-i)
		}
		text.WriteString(".\n")
	}
	for k := 1; k <= rows; k++ {
		fmt.Fprintf(&text, "n%d[] = n <- agg<<n = count()>> q%d(%s).\n", k, k,
			strings.Join(strings.Split(strings.Repeat("_", k), ""), ", "))
	}
	// Eight columns joined with eight: the placements that a mirror keeps.
	if rows == 8 {
		fmt.Fprintf(&text, "mirrored[] = n <- agg<<n = count()>> q8(a, b, c, d, e, f, g, h), "+
			"q8(%[1]d - a, %[1]d - b, %[1]d - c, %[1]d - d, %[1]d - e, %[1]d - f, %[1]d - g, "+
			"%[1]d - h).\n", size+1)
	}
	return text.String()
}

// placements counts the safe placements of k queens in the first k rows, by
// backtracking.
func placements(size, rows int) []int64 {
	counts := make([]int64, rows)
	board := make([]int, 0, rows)
	var place func()
	place = func() {
		row := len(board)
		if row == rows {
			return
		}
	columns:
		for c := range size {
			for r, other := range board {
				if d := row - r; other == c || other-c == d || c-other == d {
					continue columns
				}
			}
			counts[row]++
			board = append(board, c)
			place()
			board = board[:row]
		}
	}
	place()
	return counts
}

// TestQueens counts placements with predicates of up to eight columns, more
// than two million tuples of them where every case runs.
func TestQueens(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		size := 6
		switch {
		case short.Every() && engine != EngineGPU:
			size = 14
		case !testing.Short():
			size = 8
		}
		rows := min(size, 8)
		want := placements(size, rows)
		if size == 8 && want[7] != 92 {
			t.Fatalf("backtracking counts %d solutions of eight queens", want[7])
		}
		p := compileText(t, queensProgram(size, rows), Options{})
		outputs := []string{}
		for k := range rows {
			outputs = append(outputs, fmt.Sprintf("n%d", k+1))
		}
		if rows == 8 {
			outputs = append(outputs, "mirrored")
			want = append(want, want[7])
		}
		res, err := p.Run(context.Background(), nil, RunOptions{Engine: engine, Outputs: outputs})
		if err != nil {
			t.Fatal(err)
		}
		total := int64(0)
		for k, name := range outputs {
			for row := range res.Rows(name) {
				if row[0] != want[k] {
					t.Errorf("%s of %d queens is %v, want %d", name, size, row[0], want[k])
				}
			}
			if res.Len(name) != 1 {
				t.Errorf("%s has %d values", name, res.Len(name))
			}
			total += want[k]
		}
		t.Logf("%d tuples", total)
	})
}
