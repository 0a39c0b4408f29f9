package lsp

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/short"
)

// vimGroups has the groups of Vim's syntax for each scope of the grammar.
var vimGroups = map[string][]string{
	"entity.name.function":    {"logiqlPredicate"},
	"support.function":        {"logiqlFunction", "logiqlAggregate"},
	"storage.type":            {"logiqlType"},
	"variable":                {"logiqlVariable"},
	"keyword.other.directive": {"logiqlDirective"},
	"keyword.control":         {"logiqlSpecifier", "logiqlKeyword"},
	"keyword.operator":        {"logiqlOperator"},
	"constant.language":       {"logiqlBoolean"},
	"constant.numeric":        {"logiqlNumber"},
	"constant.other.datetime": {"logiqlDatetime"},
	"comment":                 {"logiqlComment"},
	"string":                  {"logiqlString", "logiqlEscape"},
}

// vimScript writes, for each file of its arguments, the groups of the bytes of
// each line.
const vimScript = `
set encoding=utf-8 nomore redrawtime=60000
syntax on
for file in readfile('files')
  execute 'edit' file
  syntax clear
  unlet! b:current_syntax
  source %s
  let out = []
  for g:line in range(1, line('$'))
    call add(out, join(map(range(1, col([g:line, '$']) - 1),
      \ {_, column -> synIDattr(synID(g:line, column, 1), 'name') . ','}), ''))
  endfor
  call writefile(out, file . '.groups')
endfor
quitall!
`

// TestVimSyntax compares Vim's groups with what the scanner and the parser make
// of the programs.
func TestVimSyntax(t *testing.T) {
	vim, err := exec.LookPath("vim")
	if err != nil {
		t.Skip("vim is not installed")
	}
	features, err := exec.Command(vim, "--version").Output()
	if err != nil || !strings.Contains(string(features), "+syntax") ||
		!strings.Contains(string(features), "+eval") {
		t.Skip("vim has no syntax highlighting")
	}
	syntax, err := filepath.Abs("../../editors/vim/syntax/logiql.vim")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	texts := programs(t)
	texts["peculiar"] = peculiar
	names := append(short.Part(t, slices.Sorted(maps.Keys(texts)), "programs"), "peculiar")
	list := ""
	for i, name := range names {
		list += fmt.Sprintf("%d.logic\n", i)
		write(fmt.Sprintf("%d.logic", i), texts[name])
	}
	write("files", list)
	write("script.vim", fmt.Sprintf(vimScript, syntax))
	cmd := exec.Command(vim, "-N", "-u", "NONE", "-i", "NONE", "-n", "-es", "-S", "script.vim")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.logic.groups", i)))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for span, want := range expected(t, texts[name]) {
			groups := vimGroups[want]
			for at := span.Start; at < span.End && groups != nil; at++ {
				n := span.File.LineOf(at)
				column := at - span.File.LineStart(n)
				if texts[name][at] <= ' ' {
					continue
				}
				got := strings.Split(lines[n-1], ",")[column]
				if !slices.Contains(groups, got) {
					t.Errorf("%s:%d: %q has the group %q, not %s", name, n, span.Text(), got, groups[0])
					break
				}
			}
		}
	}
}
