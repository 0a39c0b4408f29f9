package lsp

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// rule is a rule of a TextMate grammar. The patterns are of the syntax that
// Oniguruma, which editors use, and Go's regexp share.
type rule struct {
	Name, ContentName          string
	Match, Begin, End, Include string
	Captures                   map[string]struct{ Name string }
	BeginCaptures, EndCaptures map[string]struct{ Name string }
	Patterns                   []*rule
	Repository                 map[string]*rule

	match, end *regexp.Regexp
}

// grammar is a TextMate grammar.
type grammar struct{ rule }

func readGrammar(t *testing.T, name string) *grammar {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	g := &grammar{}
	if err := json.Unmarshal(text, g); err != nil {
		t.Fatal(err)
	}
	g.compile(&g.rule)
	for _, r := range g.Repository {
		g.compile(r)
	}
	return g
}

func (g *grammar) compile(r *rule) {
	if r.Match+r.Begin != "" {
		r.match = regexp.MustCompile(r.Match + r.Begin)
	}
	if r.End != "" {
		r.end = regexp.MustCompile(r.End)
	}
	for _, x := range r.Patterns {
		g.compile(x)
	}
}

// scopes returns the innermost scope of each byte of a text. As editors do, it
// goes from line to line, and takes the first match, of several that begin at
// one place the one whose rule comes first.
func (g *grammar) scopes(text string) []string {
	out := make([]string, len(text))
	stack := []*rule{&g.rule}
	offset := 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		body := strings.TrimRight(line, "\r\n")
		for at := 0; at <= len(body); {
			top := stack[len(stack)-1]
			found, where, ends := g.next(top, body, at)
			inside := top.ContentName
			if inside == "" {
				inside = top.Name
			}
			stop := len(body)
			if where != nil {
				stop = where[0]
			}
			fill(out[offset+at:offset+stop], inside)
			if where == nil {
				break
			}
			captures, name := found.Captures, found.Name
			switch {
			case ends:
				captures, name = top.EndCaptures, top.Name
				stack = stack[:len(stack)-1]
			case found.Begin != "":
				captures = found.BeginCaptures
				stack = append(stack, found)
			}
			fill(out[offset+where[0]:offset+where[1]], name)
			for i := 0; 2*i < len(where); i++ {
				if c, ok := captures[strconv.Itoa(i)]; ok && where[2*i] >= 0 {
					fill(out[offset+where[2*i]:offset+where[2*i+1]], c.Name)
				}
			}
			at = where[1]
			if where[0] == where[1] && !ends {
				at++
			}
		}
		offset += len(line)
	}
	return out
}

func fill(scopes []string, name string) {
	for i := range scopes {
		scopes[i] = name
	}
}

// next finds the rule below top that matches first, and where. The end of top
// goes before rules that match at the same place.
func (g *grammar) next(top *rule, line string, at int) (found *rule, where []int, ends bool) {
	try := func(r *rule, x *regexp.Regexp, end bool) {
		if m := find(x, line, at); m != nil && (where == nil || m[0] < where[0]) {
			found, where, ends = r, m, end
		}
	}
	if top.end != nil {
		try(top, top.end, true)
	}
	for _, r := range g.flat(top.Patterns) {
		try(r, r.match, false)
	}
	return found, where, ends
}

// find matches from an offset of a line on. The byte before it counts for \b.
func find(x *regexp.Regexp, line string, at int) []int {
	for _, m := range x.FindAllStringSubmatchIndex(line, -1) {
		if m[0] >= at {
			return m
		}
	}
	// A match that begins before the offset may hide one behind it.
	m := x.FindStringSubmatchIndex(line[at:])
	for i := range m {
		if m[i] >= 0 {
			m[i] += at
		}
	}
	return m
}

// flat returns the rules that match something, without includes and groups.
func (g *grammar) flat(patterns []*rule) (out []*rule) {
	for _, r := range patterns {
		switch {
		case r.Include != "":
			included := g.Repository[strings.TrimPrefix(r.Include, "#")]
			out = append(out, g.flat([]*rule{included})...)
		case r.match != nil:
			out = append(out, r)
		default:
			out = append(out, g.flat(r.Patterns)...)
		}
	}
	return out
}

// scopeOf has the beginning of the scope for a type of semantic tokens.
var scopeOf = map[int]string{
	functionToken: "entity.name.function", classToken: "entity.name.function",
	typeToken: "storage.type", variableToken: "variable", macroToken: "keyword.other.directive",
	keywordToken: "keyword.control", commentToken: "comment", stringToken: "string",
	numberToken: "constant.numeric", operatorToken: "keyword.operator",
}

// expected has the places of a text that must have a scope: those of tokens,
// and of the names that the parser finds in them.
func expected(t *testing.T, text string) map[source.Span]string {
	f := &file{File: source.NewFile("p.logic", text), lines: newLineTable(text)}
	if analyse([]*file{f}, &diag.List{}).hasSyntaxErrors() {
		t.Errorf("%s has syntax errors", text)
	}
	want := map[source.Span]string{}
	tokens := parse.Tokens(f.File)
	for i, token := range tokens {
		kind := classify(tokens, i)
		switch text := token.Span.Text(); {
		case token.Kind == parse.Bad, token.Kind == parse.Raw:
		case text == "true", text == "false":
			want[token.Span] = "constant.language"
		case token.Kind == parse.Name && kind.typ != keywordToken:
		case token.Kind == parse.Datetime:
			want[token.Span] = "constant.other.datetime"
		case token.Kind == parse.Bracket, strings.Contains(",;.", text):
			want[token.Span] = "punctuation"
		default:
			want[token.Span] = scopeOf[kind.typ]
		}
	}
	for _, e := range f.index.entries {
		c := e.token()
		want[e.span] = scopeOf[c.typ]
		if c.typ == functionToken && c.modifiers == libraryModifier {
			want[e.span] = "support.function"
		}
	}
	return want
}

// programs returns the texts of all programs of testdata that are not refused.
func programs(t *testing.T) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir("../../testdata", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "refused" {
			return filepath.SkipDir
		}
		if err == nil && filepath.Ext(path) == ".logic" {
			text, err := os.ReadFile(path)
			out[path] = string(text)
			return err
		}
		return err
	})
	if err != nil || len(out) < 100 {
		t.Fatalf("%d programs: %v", len(out), err)
	}
	return out
}

// peculiar has what is rare in programs.
const peculiar = `# 3 "file.logic"
#line 4 "file.logic"
/* a comment "of
two" lines */ p(x) <- q(x). // and "one"
one(in) <- p(in), in in {1, "a"}, f[in] in{"b"}, in = in.
two(if x > 1, (a(x);b) then 1 else fif(x) + (if (c) then if_ else thenx)) <- iff(x, else_y).
integer(intx, float_y) <- int[64](intx), decimal[18, 2](float_y), string(s), s = "a\"b\\" "c".
string_like[?x] = ?y <- string:like(?x, """a "quoted"
text"""), ?y = 1e3 + 1.5e-2f - 3d * 2.50 / 0f ^ 12, !café:größe(?x, true), x != false.
a:b:c[x, x$y] += total(x).
person:id(x:v) <- names@prev(x), +x@start[v] = -1, person:id(y:-1).
t[] = n, u[] = m <- agg<<n = count(), m = max(x * 2)>> p(x), count(x).
s(i; x) <- seq << >> p(x).
r[x] = n <- series<<n = rnd_uniform(1, "a")>> p(x).
lang:compiler:warning:X[] = true.
lang:output:orderBy[` + "`p] = `q:r:_s, $a:_p(x), d = #2020-01-01T00:00:00Z#, _ = __x.\n" +
	"block(`n) { export(`{ p(x) -> int(x). }) } <-- .\n"

// TestGrammar compares the scopes that the grammar for editors gives to a text
// with what the scanner and the parser make of it.
func TestGrammar(t *testing.T) {
	g := readGrammar(t, "../../editors/vscode/syntaxes/logiql.tmLanguage.json")
	texts := programs(t)
	texts["peculiar"] = peculiar
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		scopes := g.scopes(text)
		for span, want := range expected(t, text) {
			seen[want] = true
			for i := span.Start; i < span.End; i++ {
				isEscape := want == "string" && strings.HasPrefix(scopes[i], "constant.character.escape")
				if text[i] > ' ' && !strings.HasPrefix(scopes[i], want) && !isEscape {
					t.Errorf("%s:%d: %q has the scope %q, not %s", name, span.File.LineOf(i),
						span.Text(), scopes[i], want)
					break
				}
			}
		}
	}
	for _, want := range scopeOf {
		if !seen[want] {
			t.Errorf("nothing has the scope %s", want)
		}
	}
}

// TestGrammarKnowsFunctions wants the scope of functions for each built-in one.
func TestGrammarKnowsFunctions(t *testing.T) {
	g := readGrammar(t, "../../editors/vscode/syntaxes/logiql.tmLanguage.json")
	for _, name := range scalar.Names() {
		if scopes := g.scopes(name + "(x)"); scopes[0] != "support.function.logiql" ||
			scopes[len(name)-1] != "support.function.logiql" {
			t.Errorf("%s has the scopes %s", name, scopes)
		}
	}
}

// TestExtension wants the files that the extension for VS Code names.
func TestExtension(t *testing.T) {
	dir := "../../editors/vscode"
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	paths := regexp.MustCompile(`"(\./[^"]+)"`).FindAllStringSubmatch(string(text), -1)
	if len(paths) != 3 {
		t.Errorf("package.json names the files %q", paths)
	}
	for _, path := range paths {
		content, err := os.ReadFile(filepath.Join(dir, path[1]))
		if err != nil {
			t.Error(err)
		} else if filepath.Ext(path[1]) == ".json" && !json.Valid(content) {
			t.Errorf("%s is not JSON", path[1])
		}
	}
}
