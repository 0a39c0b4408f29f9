package blocks

import (
	"fmt"
	"path"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
)

// Resolve gives private predicates names that no other file uses: that of the
// block and their own, as in rules:_p. A private name that one file alone uses
// stays as it is, unless all is set.
func Resolve(files []*ast.File, all bool) []*ast.File {
	r := &resolver{names: blockNames(files), users: map[string]map[string]bool{}, all: all}
	used := false
	for i, f := range files {
		for _, c := range f.Clauses {
			ast.Rename(c, func(name string) string {
				switch {
				case isPrivate(name):
					r.use(name, r.names[i])
				case strings.HasPrefix(name, "$"):
					used = true
				}
				return name
			})
		}
	}
	for _, users := range r.users {
		used = used || all || len(users) > 1
	}
	if !used {
		return files
	}
	out := make([]*ast.File, len(files))
	for i, f := range files {
		file := *f
		file.Clauses = make([]*ast.Clause, len(f.Clauses))
		for k, c := range f.Clauses {
			file.Clauses[k] = ast.Rename(c, func(name string) string {
				return r.rename(name, r.names[i])
			})
		}
		out[i] = &file
	}
	return out
}

type resolver struct {
	names []string                   // of the files' blocks
	users map[string]map[string]bool // the blocks that use a private name
	all   bool
}

func (r *resolver) use(name, block string) {
	if r.users[name] == nil {
		r.users[name] = map[string]bool{}
	}
	r.users[name][block] = true
}

// rename returns the name of a predicate that a clause of a block writes.
func (r *resolver) rename(name, block string) string {
	if rest, ok := strings.CutPrefix(name, "$"); ok {
		at := strings.LastIndex(rest, ":")
		if at < 0 || !r.users[rest[at+1:]][rest[:at]] {
			return name
		}
		block, name = rest[:at], rest[at+1:]
	}
	if isPrivate(name) && (r.all || len(r.users[name]) > 1) {
		return block + ":" + name
	}
	return name
}

// isPrivate reports whether a predicate belongs to its file. Queries, which are
// named _ and _2, belong to the program.
func isPrivate(name string) bool {
	return len(name) > 1 && name[0] == '_' && strings.Trim(name[1:], "0123456789") != ""
}

// blockNames names the block of each file after the file, and after its folders
// where two files have one name.
func blockNames(files []*ast.File) []string {
	names := make([]string, len(files))
	paths := make([][]string, len(files))
	for i, f := range files {
		name := strings.TrimSuffix(path.Clean(strings.ReplaceAll(f.Source.Name, "\\", "/")),
			".logic")
		paths[i] = strings.Split(strings.TrimPrefix(name, "/"), "/")
	}
	taken := map[string]int{}
	for depth := 1; ; depth++ {
		clear(taken)
		deeper := false
		for i, p := range paths {
			names[i] = strings.Join(identifiers(p[max(0, len(p)-depth):]), ":")
			taken[names[i]]++
			deeper = deeper || depth < len(p)
		}
		if len(taken) == len(files) {
			return names
		}
		if !deeper {
			break
		}
	}
	// One file is given twice.
	for i := range names {
		if taken[names[i]] > 1 {
			names[i] = fmt.Sprintf("%s:%d", names[i], i+1)
		}
	}
	return names
}

// identifiers makes identifiers of the parts of a path.
func identifiers(parts []string) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = strings.Map(func(r rune) rune {
			if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' ||
				r >= 0x80 {
				return r
			}
			return '_'
		}, p)
	}
	return out
}
