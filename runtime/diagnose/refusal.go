package diagnose

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/confine"
	"github.com/redfoxdb/redfox/internal/remote"
)

// Refusal is the diagnostic of a directive whose file the program may not read
// or write, because of err.
func Refusal(directive source.Span, verb, path string, err error,
	folders confine.Folders) *diag.Diagnostic {
	d := &diag.Diagnostic{Severity: diag.Error, Code: diag.PathNotAllowed, Span: directive,
		Message: fmt.Sprintf("the program may not %s %s", verb, path)}
	outside, ok := err.(*confine.OutsideError)
	if !ok {
		d.Notes = []string{err.Error()}
		return d
	}
	if remote.Is(path) {
		d.Notes = []string{"it is on a server, which the program may not ask by itself"}
		d.Helps = []string{"allow it with --allow-path " + shellWord(path[:strings.LastIndexByte(path, '/')+1])}
		return d
	}
	if abs, err := filepath.Abs(path); err == nil && abs != outside.Real {
		d.Notes = append(d.Notes, "it leads to "+outside.Real)
	}
	var names []string
	for _, dir := range folders {
		if dir = filepath.Clean(dir); dir == "." {
			dir = "the current folder"
		}
		if !slices.Contains(names, dir) {
			names = append(names, dir)
		}
	}
	if len(names) > 0 {
		d.Notes = append(d.Notes,
			fmt.Sprintf("it may %s below %s", verb, strings.Join(names, ", ")))
	}
	dir := filepath.Dir(path)
	if (confine.Folders{dir}).Check(path) != nil { // a link leads elsewhere
		dir = filepath.Dir(outside.Real)
	}
	d.Helps = []string{"allow it with --allow-path " + shellWord(dir)}
	return d
}

// shellWord quotes a path for a POSIX shell where it needs it.
func shellWord(path string) string {
	if !strings.ContainsAny(path, " \t\n'\"`$&|;<>()[]{}*?!~#\\") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
