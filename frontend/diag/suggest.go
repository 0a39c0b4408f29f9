package diag

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Suggest returns the candidate with the least edit distance from name. A swap
// of neighbours counts as one edit, and a difference of case alone as half of
// one. It reports false if every candidate is further away than one edit for
// three letters. Ties go to the first candidate in byte order.
func Suggest(name string, candidates []string) (string, bool) {
	length := utf8.RuneCountInString(name)
	limit := max(1, length/3)
	best, bestDistance := "", 2*limit+1
	for _, c := range candidates {
		if c == name || c == "" {
			continue
		}
		var d int // in half edits, so that a change of case alone is the least
		if strings.EqualFold(c, name) {
			d = 1
		} else {
			// A one-letter name resembles every other one.
			if length < 2 || utf8.RuneCountInString(c) < 2 {
				continue
			}
			d = 2 * editDistance(strings.ToLower(name), strings.ToLower(c), limit)
		}
		if d < bestDistance || d == bestDistance && best != "" && c < best {
			best, bestDistance = c, d
		}
	}
	return best, best != ""
}

// DidYouMean returns the help for a name that is not known: the name that was
// probably meant, or all names.
func DidYouMean(name string, known []string) string {
	if near, ok := Suggest(name, known); ok {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "there are " + strings.Join(known, ", ")
}

// editDistance returns the optimal string alignment distance of a and b
// (Damerau, 1964), or some number above limit if the distance exceeds limit.
func editDistance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d > limit || -d > limit {
		return limit + 1
	}
	beforeLast := make([]int, len(y)+1)
	last := make([]int, len(y)+1)
	row := make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], beforeLast[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		beforeLast, last, row = last, row, beforeLast
	}
	return last[len(y)]
}
