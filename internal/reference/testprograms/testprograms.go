package testprograms

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// schema is the file of a folder that declares what the queries beside it read.
const schema = "schema.logic"

// Find returns the program files that match patterns below root, in order. A
// schema.logic is a part of the programs beside it and none itself. A pattern
// without a match is an error.
func Find(root string, patterns ...string) ([]string, error) {
	var out []string
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		files = slices.DeleteFunc(files, func(file string) bool {
			return filepath.Base(file) == schema
		})
		if len(files) == 0 {
			return nil, fmt.Errorf("no program is %s", filepath.Join(root, pattern))
		}
		out = append(out, files...)
	}
	return out, nil
}

// Text returns a program as one text: the file, and before it the schema.logic
// of its folder, if there is one.
func Text(file string) (string, error) {
	declared, err := os.ReadFile(filepath.Join(filepath.Dir(file), schema))
	if err != nil && !os.IsNotExist(err) {
		return "", err
	}
	text, err := os.ReadFile(file)
	return string(declared) + string(text), err
}
