package scalar

import (
	"strings"
	"testing"
)

// naiveLike is the definition of string:like, by trying everything.
func naiveLike(s, pattern string) bool {
	if pattern == "" {
		return s == ""
	}
	p, n := decode(pattern)
	rest := pattern[n:]
	switch p {
	case '%':
		for i := 0; ; {
			if naiveLike(s[i:], rest) {
				return true
			}
			if i == len(s) {
				return false
			}
			_, n := decode(s[i:])
			i += n
		}
	case '_':
		if s == "" {
			return false
		}
		_, n := decode(s)
		return naiveLike(s[n:], rest)
	case '\\':
		p, n = decode(rest)
		rest = rest[n:]
	}
	if s == "" {
		return false
	}
	c, n := decode(s)
	return c == p && naiveLike(s[n:], rest)
}

// words returns every string of at most n letters over the alphabet.
func words(n int, alphabet ...string) []string {
	out, last := []string{""}, []string{""}
	for range n {
		var next []string
		for _, w := range last {
			for _, letter := range alphabet {
				next = append(next, w+letter)
			}
		}
		out = append(out, next...)
		last = next
	}
	return out
}

func TestLikeAgainstItsDefinition(t *testing.T) {
	texts := words(4, "a", "b", "é", "%")
	for _, pattern := range words(5, "a", "é", "%", "_", `\%`) {
		l, err := CompileLike(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range texts {
			if got, want := l.Match(s), naiveLike(s, pattern); got != want {
				t.Fatalf("%q like %q is %t, want %t", s, pattern, got, want)
			}
			if l.Match(s) && (!strings.HasPrefix(s, l.Prefix()) || l.Literal() && s != l.Prefix()) {
				t.Fatalf("%q matches %q, whose prefix is said to be %q", s, pattern, l.Prefix())
			}
		}
	}
}

func TestLikeWithLongPatterns(t *testing.T) {
	// More positions than one and than four words of states.
	for _, n := range []int{63, 64, 65, 127, 128, 300} {
		pattern := "%" + strings.Repeat("a_", n/2) + strings.Repeat("b", n%2) + "c%d"
		l, err := CompileLike(pattern)
		if err != nil {
			t.Fatal(err)
		}
		text := "xyz" + strings.Repeat("ax", n/2) + strings.Repeat("b", n%2) + "c---d"
		if !l.Match(text) || l.Match(text+"e") || l.Match(strings.Replace(text, "c", "e", 1)) {
			t.Errorf("a pattern of %d characters matches wrongly", n)
		}
	}
}

func TestLikeIsLinear(t *testing.T) {
	// Backtracking would try about 40,000^10 ways, and never end.
	text := strings.Repeat("a", 40_000)
	for _, pattern := range []string{strings.Repeat("%a_", 10) + "b",
		strings.Repeat("%aa", 10) + "b%"} {
		l, err := CompileLike(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if l.Match(text) {
			t.Errorf("%s matches a run of a", pattern)
		}
	}
}

func FuzzLike(f *testing.F) {
	f.Add("forest green", "%green%")
	f.Add("na\xffve", "na_ve")
	f.Add("\xff\ufffd", "\xff_")
	f.Add("a%b", `a\%_`)
	f.Add("҄", "%\x84")
	f.Fuzz(func(t *testing.T, s, pattern string) {
		if len(s) > 12 || len(pattern) > 8 {
			return
		}
		l, err := CompileLike(pattern)
		if err != nil {
			return
		}
		if got, want := l.Match(s), naiveLike(s, pattern); got != want {
			t.Fatalf("%q like %q is %t, want %t", s, pattern, got, want)
		}
	})
}
