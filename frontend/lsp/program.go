package lsp

import (
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/imports"
	"github.com/redfoxdb/redfox/frontend/project"
	"github.com/redfoxdb/redfox/frontend/sema"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/failure"
)

// program is a set of files that are checked together: those of a project, or
// one file.
type program struct {
	root  string // the project file, or the file
	stale bool   // a text has changed since the snapshot
	now   *snapshot
	// good is the last snapshot without syntax errors. It knows the names in a
	// clause that is being edited.
	good *snapshot
	// files are those of the snapshot by name.
	files map[string]*file
}

// file is a file of a snapshot.
type file struct {
	*source.File
	lines *lineTable
	tree  *ast.File // nil for a project file
	index *index    // nil without a tree
}

// snapshot is what the front end knows about a program at one time.
type snapshot struct {
	files map[string]*file // by name
	order []*file          // as the project lists them
	found []*diag.Diagnostic
	names sema.Names
	preds map[string]*symbol // by the names that the front end gives them
	// blocks has the blocks by their full names, aliases those of each file by
	// what it calls them.
	blocks  map[string]*symbol
	aliases map[string]map[string]*symbol
}

func isProject(name string) bool { return project.IsProject(name) }

func isImport(name string) bool { return filepath.Ext(name) == imports.Extension }

// assign finds the program of every document. Programs without documents are
// dropped.
func (s *Server) assign() {
	old := s.programs
	s.programs = map[string]*program{}
	for _, name := range slices.Sorted(maps.Keys(s.documents)) {
		root := s.rootOf(name)
		p := s.programs[root]
		if p == nil {
			p = old[root]
		}
		if p == nil {
			p = &program{root: root, stale: true}
		}
		s.programs[root], s.documents[name].program = p, p
	}
}

// rootOf returns the nearest project that lists a file, or the file itself. It
// looks in the folder of the file and those above, up to a folder of the
// workspace.
func (s *Server) rootOf(name string) string {
	if isProject(name) || !filepath.IsAbs(name) {
		return name
	}
	for dir := filepath.Dir(name); ; dir = filepath.Dir(dir) {
		projects, _ := filepath.Glob(filepath.Join(globEscape(dir), "*"+project.Extension))
		slices.Sort(projects)
		for _, p := range projects {
			if slices.Contains(s.list(p, &diag.List{}), name) {
				return p
			}
		}
		if slices.Contains(s.folders, dir) || dir == filepath.Dir(dir) {
			return name
		}
	}
}

// globEscape quotes what has a meaning in a pattern.
func globEscape(dir string) string {
	var out []rune
	for _, r := range dir {
		if slices.Contains([]rune{'*', '?', '['}, r) {
			out = append(out, '[', r, ']')
			continue
		}
		out = append(out, r)
	}
	return string(out)
}

// list returns the names of the files of a program: that of its root, and those
// that projects list.
func (s *Server) list(root string, found *diag.List) []string {
	names := []string{root}
	for i := 0; i < len(names); i++ {
		if !isProject(names[i]) {
			continue
		}
		text, ok := s.text(names[i])
		if !ok {
			continue
		}
		for _, name := range project.Files(source.NewFile(names[i], text.text), found) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// text returns the text of a file, as the editor has it, or else the disk.
func (s *Server) text(name string) (*lineTable, bool) {
	if d := s.documents[name]; d != nil {
		return d.lines, true
	}
	text, err := os.ReadFile(name)
	return newLineTable(string(text)), err == nil
}

// current returns the snapshot of a program with all changes. If it is new, the
// diagnostics go to the editor.
func (s *Server) current(p *program) *snapshot {
	if !p.stale && p.now != nil {
		return p.now
	}
	p.stale = false // also if the check fails: it would fail again
	var list diag.List
	var files []*file
	for _, name := range s.list(p.root, &list) {
		if text, ok := s.text(name); ok {
			files = append(files, &file{File: source.NewFile(name, text.text), lines: text})
		}
	}
	snap := analyse(files, &list)
	p.now, p.files = snap, snap.files
	if !snap.hasSyntaxErrors() {
		p.good = snap
	}
	s.publish(p)
	return snap
}

// analyse makes a snapshot of files. Found has what was found before.
func analyse(files []*file, found *diag.List) *snapshot {
	snap := &snapshot{files: map[string]*file{}, preds: map[string]*symbol{}}
	var sources []*source.File
	for _, f := range files {
		sources, snap.files[f.Name] = append(sources, f.File), f
	}
	snap.order = files
	a := frontend.Read(sources)
	// The index of the trees is made while they are checked.
	indexed := make(chan error, 1)
	read := len(a.Trees)
	go func() {
		var err error
		defer func() { indexed <- err }()
		defer failure.Recover("the index of names", &err)
		snap.enter(a.Trees[:read], a.Resolved[:read], a.Mentions())
	}()
	a.Check(frontend.Options{Names: &snap.names})
	if err := <-indexed; err != nil {
		panic(err)
	}
	snap.enter(a.Trees[read:], a.Resolved[read:], nil)
	snap.enterBlocks(a.Blocks())
	snap.link()
	for _, d := range a.Found {
		found.Add(d)
	}
	snap.found = found.All()
	return snap
}

// hasSyntaxErrors reports whether a clause is missing in the trees.
func (s *snapshot) hasSyntaxErrors() bool {
	return slices.ContainsFunc(s.found, func(d *diag.Diagnostic) bool {
		return d.Severity == diag.Error && d.Code != nil && d.Code.ID < "RF0100"
	})
}
