package blocks

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// filePath returns the path of a file's block: its folders and its name, as
// identifiers.
func filePath(file string) []string {
	name := strings.TrimSuffix(path.Clean(strings.ReplaceAll(file, "\\", "/")), ".logic")
	parts := strings.Split(strings.TrimPrefix(name, "/"), "/")
	for i, p := range parts {
		parts[i] = identifier(p)
	}
	return parts
}

// identifier turns a part of a path into an identifier.
func identifier(part string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' ||
			r >= 0x80 {
			return r
		}
		return '_'
	}, part)
}

// shorten sets the short name of each new block: its own name, with as many
// folders as make it unique. If a file and a block clause have the same name,
// the block gets it.
func shorten(all, added []*block) {
	taken := map[string]bool{}
	for _, isNamed := range []bool{true, false} {
		count := map[string]int{}
		for _, b := range all {
			for depth := 1; depth <= len(b.path) && (b.named || !isNamed); depth++ {
				count[b.suffix(depth)]++
			}
			if b.short != "" {
				taken[b.short] = true
			}
		}
		for _, b := range added {
			if b.named == isNamed {
				b.choose(count, taken)
			}
		}
	}
}

// choose gives a block the shortest name that no other block has.
func (b *block) choose(count map[string]int, taken map[string]bool) {
	for depth := 1; depth <= len(b.path); depth++ {
		if b.short = b.suffix(depth); count[b.short] == 1 && !taken[b.short] {
			break
		}
	}
	// A file that is given twice has two blocks of the same path.
	name := b.short
	for n := 2; taken[b.short]; n++ {
		b.short = fmt.Sprintf("%s:%d", name, n)
	}
	taken[b.short] = true
}

// suffix returns the last parts of the path.
func (b *block) suffix(depth int) string { return strings.Join(b.path[len(b.path)-depth:], ":") }

// find returns the blocks that a name may refer to. It prefers block clauses to
// files, and a match of the whole path to a match of its end.
func (r *resolver) find(name string) []*block {
	parts := strings.Split(name, ":")
	if out := r.bySuffix[name]; len(out) < 2 {
		return out
	}
	var named, whole []*block
	for _, b := range r.bySuffix[name] {
		if b.named {
			named = append(named, b)
		}
	}
	if len(named) == 0 {
		named = r.bySuffix[name]
	}
	for _, b := range named {
		if slices.Equal(b.path, parts) {
			whole = append(whole, b)
		}
	}
	if len(whole) == 1 {
		return whole
	}
	return named
}
