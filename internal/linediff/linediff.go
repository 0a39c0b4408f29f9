package linediff

import (
	"slices"
	"strings"
)

// context is the number of unchanged lines around a change.
const context = 2

// Diff returns the change from one text to another as lines that start with a
// blank, "-" or "+", with two lines of context and "..." where lines are left
// out. It is "" if the texts are equal. Diff finds a shortest edit script
// (Myers, 1986).
func Diff(before, after string) string {
	if before == after {
		return ""
	}
	a, b := splitLines(before), splitLines(after)
	edits := editScript(a, b)
	show := make([]bool, len(edits))
	for i, e := range edits {
		if e.op != ' ' {
			for j := max(0, i-context); j <= min(len(edits)-1, i+context); j++ {
				show[j] = true
			}
		}
	}
	var out strings.Builder
	for i, e := range edits {
		switch {
		case show[i]:
			out.WriteByte(e.op)
			out.WriteByte(' ')
			out.WriteString(e.line)
			out.WriteByte('\n')
		case i == 0 || show[i-1]:
			out.WriteString("...\n")
		}
	}
	return out.String()
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

type edit struct {
	op   byte
	line string
}

// maxEdits bounds the search for a shortest script: its cost is quadratic in
// the number of edits. Texts that differ more are shown as one replacement.
const maxEdits = 2000

func editScript(a, b []string) []edit {
	var head, tail []edit
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, edit{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append(tail, edit{' ', a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	out := append(head, middle(a, b)...)
	for i := len(tail) - 1; i >= 0; i-- {
		out = append(out, tail[i])
	}
	return out
}

// middle is Myers' greedy algorithm: reach[d] has, for each diagonal k = x - y,
// the furthest line x of a that d edits reach; the script is read off
// backwards.
func middle(a, b []string) []edit {
	n, m := len(a), len(b)
	var reach [][]int
	at := func(d, k int) int {
		if k < -d || k > d {
			return -1
		}
		return reach[d][k+d]
	}
	// step returns where edit d starts its diagonal, and whether it inserts.
	step := func(d, k int) (x int, inserts bool) {
		if left, right := at(d-1, k-1), at(d-1, k+1); left < right {
			return right, true
		} else {
			return left + 1, false
		}
	}
	found := -1
	for d := 0; d <= min(n+m, maxEdits) && found < 0; d++ {
		reach = append(reach, make([]int, 2*d+1))
		for k := -d; k <= d; k += 2 {
			x := 0
			if d > 0 {
				x, _ = step(d, k)
			}
			for x < n && x-k < m && a[x] == b[x-k] {
				x++
			}
			reach[d][k+d] = x
			if x >= n && x-k >= m {
				found = d
				break
			}
		}
	}
	if found < 0 {
		return replacement(a, b)
	}
	var out []edit
	x, y := n, m
	for d := found; d >= 0; d-- {
		start, inserts := 0, false
		if d > 0 {
			start, inserts = step(d, x-y)
		}
		for x > start {
			x, y = x-1, y-1
			out = append(out, edit{' ', a[x]})
		}
		switch {
		case d == 0:
		case inserts:
			y--
			out = append(out, edit{'+', b[y]})
		default:
			x--
			out = append(out, edit{'-', a[x]})
		}
	}
	slices.Reverse(out)
	return out
}

func replacement(a, b []string) []edit {
	var out []edit
	for _, s := range a {
		out = append(out, edit{'-', s})
	}
	for _, s := range b {
		out = append(out, edit{'+', s})
	}
	return out
}
