package project

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// Extension is that of project files.
const Extension = ".project"

// IsProject reports whether a file is a project, by its name.
func IsProject(name string) bool { return filepath.Ext(name) == Extension }

// Entry is a line of a project.
type Entry struct {
	Name string
	Kind string
	Span source.Span // of the name
}

// Inactive reports whether the block of the entry is checked and not run.
func (e Entry) Inactive() bool {
	return e.Kind == "inactive" || e.Kind == "inactiveAfterFixpoint"
}

// skipped has the kinds that need no file, and why.
var skipped = map[string]string{
	"proto": "redfox has no web services, whose messages it describes",
}

// kinds are the kinds of lines.
var kinds = []string{"projectname", "active", "inactive", "inactiveAfterFixpoint", "execute",
	"module", "library", "proto"}

// Parse reads the lines of a project. It leaves out, with a note, those that
// mean nothing to redfox.
func Parse(f *source.File, diags *diag.List) []Entry {
	report := diag.NewReporter(diags)
	var out []Entry
	for n := 1; n <= f.Lines(); n++ {
		text, _, _ := strings.Cut(f.Line(n), "//")
		fields := strings.Split(text, ",")
		name := strings.TrimSpace(fields[0])
		start := f.LineStart(n) + strings.Index(text, name)
		e := Entry{Name: name, Span: source.Span{File: f, Start: start, End: start + len(name)}}
		switch {
		case strings.TrimSpace(text) == "":
			continue
		case len(fields) == 1:
			d := report.Errorf(diag.BadProject, e.Span, "the line lacks a kind")
			d.Help("write %s, active", name)
			continue
		}
		e.Kind = strings.TrimSpace(fields[1])
		known := slices.Contains(kinds, e.Kind)
		switch {
		case e.Kind == "projectname":
		case skipped[e.Kind] != "":
			note(diags, e, skipped[e.Kind])
		case !known:
			d := note(diags, e, "redfox knows no kind "+e.Kind)
			if s, ok := diag.Suggest(e.Kind, kinds); ok {
				d.Help("did you mean %s?", s)
			}
		case e.Kind == "library" && e.library() == "":
			note(diags, e, "there is no project of the library "+name+" beside this one")
		default:
			out = append(out, e)
		}
	}
	return out
}

// note says that a line is stepped over.
func note(diags *diag.List, e Entry, why string) *diag.Diagnostic {
	d := &diag.Diagnostic{Severity: diag.Note, Code: diag.BadProject, Span: e.Span,
		Message: "this line has no effect", Notes: []string{why}}
	diags.Add(d)
	return d
}

// path returns the file or folder that the entry names.
func (e Entry) path() string {
	return filepath.Join(filepath.Dir(e.Span.File.Name), filepath.FromSlash(e.Name))
}

// library returns the project file of a library, or "".
func (e Entry) library() string {
	for _, path := range []string{e.path() + Extension,
		filepath.Join(e.path(), filepath.Base(e.Name)+Extension)} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// Files lists the files of a project, those of its modules by name. A file that
// is not there is an error at its line.
func Files(f *source.File, diags *diag.List) []string {
	report := diag.NewReporter(diags)
	var out []string
	for _, e := range Parse(f, &diag.List{}) {
		switch e.Kind {
		case "library":
			out = append(out, e.library())
		case "module":
			files, err := module(e.path())
			if err != nil || len(files) == 0 {
				d := report.Errorf(diag.BadProject, e.Span, "there is no module %s", e.Name)
				d.Note("a module is a folder with .logic files, beside the project file")
				continue
			}
			out = append(out, files...)
		default:
			path := e.path()
			if _, err := os.Stat(path); err != nil && filepath.Ext(path) == "" {
				path += ".logic"
			}
			if _, err := os.Stat(path); err != nil {
				d := report.Errorf(diag.BadProject, e.Span, "there is no file %s", e.Name)
				d.Note("paths are relative to the folder of the project file")
				continue
			}
			out = append(out, path)
		}
	}
	return out
}

// module lists the .logic files of a folder and of those in it.
func module(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".logic" {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// Split takes the project files out of the files of a program, and those that
// they say are inactive.
func Split(files []*source.File, diags *diag.List) (active, inactive []*source.File) {
	isInactive := map[string]bool{}
	for _, f := range files {
		if !IsProject(f.Name) {
			continue
		}
		for _, e := range Parse(f, diags) {
			if e.Inactive() {
				isInactive[strings.TrimSuffix(e.path(), ".logic")] = true
			}
		}
	}
	for _, f := range files {
		switch {
		case IsProject(f.Name):
		case isInactive[strings.TrimSuffix(filepath.Clean(f.Name), ".logic")]:
			inactive = append(inactive, f)
		default:
			active = append(active, f)
		}
	}
	return active, inactive
}
