package read

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/remote"
)

// IsPattern reports whether a path is a glob pattern: it names no file, and has
// characters of a pattern.
func IsPattern(path string) bool {
	if remote.Is(path) {
		return remote.IsPattern(path)
	}
	_, err := os.Stat(path)
	return err != nil && strings.ContainsAny(path, "*?[")
}

// expand returns the files of a fact: those that its pattern matches, or those
// below its folder.
func expand(ctx context.Context, f *Fact) ([]Fact, error) {
	if f.Reader != nil || f.Open != nil {
		return []Fact{*f}, nil
	}
	if remote.Is(f.Path) {
		return expandRemote(ctx, f)
	}
	matches, listed := []string{f.Path}, IsPattern(f.Path)
	if listed {
		var err error
		if matches, err = filepath.Glob(f.Path); err != nil {
			return nil, &BindError{Reason: fmt.Sprintf("%s is no pattern of paths", f.Path),
				Help: "a [ needs its ]; * stands for a part of a name, ? for a character"}
		}
		if len(matches) == 0 {
			return nil, &BindError{Reason: "no file matches " + f.Path,
				Help: "* stands for a part of the name of a file or a folder"}
		}
	}
	var out []Fact
	for _, path := range matches {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fileError(path, err)
		}
		files := []string{path}
		if info.IsDir() {
			listed = true
			if files, err = filesBelow(path); err != nil {
				return nil, err
			}
		}
		for _, file := range files {
			one := *f
			one.Path = file
			if listed {
				one.parts = partsOf(file)
			}
			out = append(out, one)
		}
	}
	if len(out) == 0 {
		return nil, &BindError{Reason: f.Path + " has no file of facts",
			Help: "the names of files end in .tsv, .csv, .txt, .json, .jsonl, .parquet or .arrow"}
	}
	return out, nil
}

// expandRemote is expand for a URL.
func expandRemote(ctx context.Context, f *Fact) ([]Fact, error) {
	if !remote.IsPattern(f.Path) {
		return []Fact{*f}, nil
	}
	urls, err := remote.List(ctx, f.Path)
	if err != nil {
		return nil, fileError(f.Path, err)
	}
	var out []Fact
	for _, u := range urls {
		if _, ok := dataFile(u); !ok || slices.ContainsFunc(strings.Split(u, "/"), isHidden) {
			continue
		}
		one := *f
		one.Path, one.parts = u, partsOf(u)
		out = append(out, one)
	}
	if len(out) == 0 {
		return nil, &BindError{Reason: "no object of facts matches " + f.Path,
			Help: "the names of files end in .tsv, .csv, .txt, .json, .jsonl, .parquet or .arrow"}
	}
	return out, nil
}

// isHidden reports whether files or folders of this name are ignored.
func isHidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// filesBelow returns the files of facts below a folder, ordered by path. Names
// that begin with a dot or an underscore are ignored.
func filesBelow(dir string) ([]string, error) {
	var out []string
	root := filepath.Clean(dir) + string(filepath.Separator) // follows a link
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fileError(path, err)
		}
		hidden := isHidden(entry.Name())
		switch _, ok := dataFile(path); {
		case path == root:
		case entry.IsDir() && hidden:
			return filepath.SkipDir
		case !entry.IsDir() && !hidden && ok:
			out = append(out, path)
		}
		return nil
	})
	return out, err
}

// part is a column whose value is in the path of a file, as in
// year=2024/month=1/x.parquet. All rows of the file have this value.
type part struct {
	name, value string
	missing     bool
}

// noPartition is Hive's name for a missing value.
const noPartition = "__HIVE_DEFAULT_PARTITION__"

// partsOf returns the parts in the path of a file, from the outer folder to the
// inner one.
func partsOf(path string) (out []part) {
	for _, folder := range strings.Split(filepath.ToSlash(filepath.Dir(path)), "/") {
		name, value, ok := strings.Cut(folder, "=")
		if !ok || name == "" {
			continue
		}
		unescape := func(s string) string {
			if plain, err := url.PathUnescape(s); err == nil {
				return plain
			}
			return s
		}
		p := part{name: unescape(name), value: unescape(value), missing: value == noPartition}
		out = slices.DeleteFunc(out, func(o part) bool { return o.name == p.name })
		out = append(out, p)
	}
	return out
}

// firstPart is the column number of the source's first part. Parts follow the
// file's own columns.
const firstPart = 1 << 30

// partNamed returns the column of the part of that name, or -1.
func (s *Source) partNamed(name string) int {
	for i, p := range s.parts {
		if strings.EqualFold(p.name, name) {
			return firstPart + i
		}
	}
	return -1
}

// columnNames returns the names of the file's columns, followed by those of its
// parts.
func (s *Source) columnNames() []string {
	out := slices.Clone(s.Columns)
	for _, p := range s.parts {
		out = append(out, p.name)
	}
	return out
}
