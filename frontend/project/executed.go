package project

import (
	"path/filepath"
	"strings"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// Executed returns which of the files of a program a project among them
// executes: each is a transaction after the program, in the order of the files.
func Executed(files []*source.File) []bool {
	named := map[string]bool{}
	for _, f := range files {
		if !IsProject(f.Name) {
			continue
		}
		for _, e := range Parse(f, &diag.List{}) {
			if e.Kind == "execute" {
				named[strings.TrimSuffix(e.path(), ".logic")] = true
			}
		}
	}
	out := make([]bool, len(files))
	for i, f := range files {
		out[i] = !IsProject(f.Name) && named[strings.TrimSuffix(filepath.Clean(f.Name), ".logic")]
	}
	return out
}
