package driver

import (
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/linediff"
)

// FormatSource returns a source in canonical form. Comments keep their places,
// and formatting the result changes nothing. A source with syntax errors is a
// *ProgramError.
func FormatSource(src Source) (text string, err error) {
	defer failure.Recover("the formatter", &err)
	var list diag.List
	tree := parse.File(source.NewFile(src.Name, src.Text), &list)
	if list.HasErrors() {
		return "", &ProgramError{Diagnostics: list.All()}
	}
	return ast.Format(tree), nil
}

// Diff shows line by line how a text became another; it is empty when they are
// equal.
func Diff(before, after string) string { return linediff.Diff(before, after) }
