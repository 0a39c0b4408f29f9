package scalar

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestTemplates compares templates with those of package regexp, which agree
// where each part is in braces.
func TestTemplates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int, words ...string) string {
		var b strings.Builder
		for range rng.IntN(n) {
			b.WriteString(words[rng.IntN(len(words))])
		}
		return b.String()
	}
	patterns := []string{"a", "", "(a)(b)?", "(?P<x>a+)|(b)", "^", "$", "(é)|a*", "b*"}
	for range 5000 {
		re := regexp.MustCompile(patterns[rng.IntN(len(patterns))])
		parts := []string{"${0}", "$$", "-", "x", "é", "1"}
		parts = append(parts, []string{"${1}", "${2}"}[:re.NumSubexp()]...)
		if re.SubexpIndex("x") > 0 {
			parts = append(parts, "${x}")
		}
		text, template := random(9, "a", "b", "é", "\n"), random(5, parts...)
		got, ok := replaceMatches(re, text, template)
		if want := re.ReplaceAllString(text, template); !ok || got != want {
			t.Fatalf("%q in %q by %q: got %q, %v, want %q", re, text, template, got, ok, want)
		}
	}
	for _, c := range []struct {
		template, want string
		ok             bool
	}{
		{"$2_$1", "v_k", true},
		{"$1x", "kx", true},
		{"$1é${2}0", "ké" + "v0", true},
		{"$$1", "$1", true},
		{"$", "", false},
		{"a$b", "", false},
		{"$3", "", false},
		{"$10", "", false},
		{"${1", "", false},
		{"${}", "", false},
		{"${name}", "", false},
		{"$99999999999999999999", "", false},
	} {
		got, ok := replaceMatches(regexp.MustCompile("(.*)=(.*)"), "k=v", c.template)
		if got != c.want || ok != c.ok {
			t.Errorf("%q: got %q, %v, want %q, %v", c.template, got, ok, c.want, c.ok)
		}
	}
}
