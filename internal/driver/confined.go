package driver

import (
	"context"
	"slices"

	"github.com/redfoxdb/redfox/internal/confine"
	"github.com/redfoxdb/redfox/internal/remote"
	"github.com/redfoxdb/redfox/runtime/diagnose"
	"github.com/redfoxdb/redfox/runtime/facts"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/read"
)

// imports returns the files that lang:physical directives tie to predicates,
// unless the caller ties others. Their columns go by position, as in LogicBlox;
// paths are relative to the program's file. If facts do not allow all of them,
// the error is a *ProgramError.
func (p *Program) imports(given *Facts, schemas []store.Schema) ([]FactFile, error) {
	var out []FactFile
	var refused []*Diagnostic
	folders := facts.Folders(given)
	for _, q := range p.preds {
		b := q.binding
		isOf := func(s store.Schema) bool { return s.Name == q.Name }
		if b == nil || b.Export || slices.Contains(facts.Predicates(given), q.Name) ||
			!slices.ContainsFunc(schemas, isOf) {
			continue
		}
		path := confine.Beside(b.program, b.Path)
		if err := folders.Check(path); err != nil {
			refused = append(refused, diagnose.Refusal(b.Span, "read", path, err, folders))
			continue
		}
		f := FactFile{Pred: q.Name, Path: path, Header: b.Header, Positional: true,
			Offset: b.Offset,
			Open: func(ctx context.Context) (read.File, error) {
				if remote.Is(path) { // Check has allowed it
					return remote.Open(ctx, path)
				}
				return folders.Open(path)
			}}
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
