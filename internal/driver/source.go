package driver

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/project"
	"github.com/redfoxdb/redfox/frontend/source"
)

// Source is one file of a program.
type Source struct {
	Name string // as diagnostics show it
	Text string // UTF-8
}

// Text returns a source from a string.
func Text(name, text string) Source { return Source{Name: name, Text: text} }

// ReadSources reads program files; "-" is standard input. A project file stands
// for itself and the files that it lists. All files together form one program.
func ReadSources(names ...string) ([]Source, error) {
	out := make([]Source, 0, len(names))
	listed := map[string]bool{}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		var data []byte
		var err error
		if name == "-" {
			name = "<stdin>"
			data, err = io.ReadAll(os.Stdin)
		} else {
			data, err = os.ReadFile(name)
		}
		if err != nil {
			return nil, fileError("read the program", name, err)
		}
		out = append(out, Source{Name: name, Text: string(data)})
		if project.IsProject(name) && !listed[name] {
			listed[name] = true
			var found diag.List
			names = append(project.Files(source.NewFile(name, string(data)), &found), names...)
			if found.HasErrors() {
				return nil, &ProgramError{Diagnostics: found.All()}
			}
		}
	}
	return out, nil
}

// Executions divides the files of a program into those of its first transaction
// and those that a project among them executes after it, in this order. If the
// contents are the same after one transaction with all files, ordered is false.
func Executions(sources []Source) (program, executed []Source, ordered bool) {
	files := sourceFiles(sources)
	for i, is := range project.Executed(files) {
		if is {
			executed = append(executed, sources[i])
		} else {
			program = append(program, sources[i])
		}
	}
	return program, executed, len(executed) > 0 && frontend.OrderMatters(files)
}

// OnlyAsks reports whether the clauses of a transaction change nothing. Its
// execution changes the contents only if an installed rule does.
func (t Transaction) OnlyAsks() bool {
	return !t.Install && t.Block == "" && frontend.OnlyAsks(sourceFiles(t.Sources))
}

// fileError words a failed file operation.
func fileError(doing, name string, err error) *EnvironmentError {
	reason := err
	var path *fs.PathError
	if errors.As(err, &path) {
		reason = path.Err
	}
	return &EnvironmentError{Message: fmt.Sprintf("cannot %s %s: %v", doing, name, reason),
		Err: err}
}

func sourceFiles(sources []Source) []*source.File {
	files := make([]*source.File, len(sources))
	for i, s := range sources {
		files[i] = source.NewFile(s.Name, s.Text)
	}
	return files
}
