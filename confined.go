package redfox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/confine"
	"github.com/redfoxdb/redfox/runtime/diagnose"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Allow lets the program read files that lang:physical:filePath names if they
// lie below the folders, or below that of Dir. Links do not lead out of them.
// Without a folder, the program reads no file that it names. Files of File and
// Add, and readers, need not be allowed.
func (f *Facts) Allow(dirs ...string) *Facts {
	f.allowed = append(f.allowed, dirs...)
	return f
}

// folders are those below which the program may read.
func (f *Facts) folders() confine.Folders {
	folders := confine.Folders(slices.Clone(f.allowed))
	if f.dir != "" {
		folders = append(folders, f.dir)
	}
	return folders
}

// imports returns the files that lang:physical directives tie to predicates,
// unless the caller ties others. Their columns go by position, as in LogicBlox;
// paths are relative to the program's file. If facts do not allow all of them,
// the error is a *ProgramError.
func (p *Program) imports(facts *Facts, schemas []store.Schema) ([]FactFile, error) {
	var out []FactFile
	var refused []*Diagnostic
	folders := facts.folders()
	for _, q := range p.preds {
		b := q.binding
		isOf := func(s store.Schema) bool { return s.Name == q.Name }
		if b == nil || b.Export || slices.Contains(facts.predicates(), q.Name) ||
			!slices.ContainsFunc(schemas, isOf) {
			continue
		}
		path := besideProgram(b.program, b.Path)
		if err := folders.Check(path); err != nil {
			refused = append(refused, diagnose.Refusal(b.Span, "read", path, err, folders))
			continue
		}
		f := FactFile{Pred: q.Name, Path: path, Header: b.Header, Positional: true,
			Offset: b.Offset,
			Open:   func() (*os.File, error) { return folders.Open(path) }}
		if b.Delimiter != "" {
			f.Delimiter = b.Delimiter[0]
		}
		out = append(out, f)
	}
	if len(refused) > 0 {
		return nil, &ProgramError{Diagnostics: refused}
	}
	return out, nil
}

// besideProgram resolves a path that a program names.
func besideProgram(program, path string) string {
	if filepath.IsAbs(path) || strings.HasPrefix(program, "<") {
		return path
	}
	return filepath.Join(filepath.Dir(program), path)
}
