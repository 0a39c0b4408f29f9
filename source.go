package redfox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/redfoxdb/redfox/frontend/source"
)

// Source is one file of a program.
type Source struct {
	Name string // as diagnostics show it
	Text string // UTF-8
}

// Text returns a source from a string.
func Text(name, text string) Source { return Source{Name: name, Text: text} }

// ReadSources reads program files; "-" is standard input. All files together
// form one program.
func ReadSources(names ...string) ([]Source, error) {
	out := make([]Source, 0, len(names))
	for _, name := range names {
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
	}
	return out, nil
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
