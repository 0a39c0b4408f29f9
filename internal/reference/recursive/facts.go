package recursive

import (
	"os"
	"path/filepath"
	"strings"
)

// Facts are the tuples of each predicate without rules.
type Facts map[string][][]string

func (f Facts) add(predicate string, tuple ...string) {
	f[predicate] = append(f[predicate], tuple)
}

// Count returns the number of facts.
func (f Facts) Count() int {
	n := 0
	for _, rows := range f {
		n += len(rows)
	}
	return n
}

// Write writes a file PREDICATE.tsv for each predicate into a folder.
func (f Facts) Write(dir string) error {
	for name, rows := range f {
		var b strings.Builder
		for _, row := range rows {
			b.WriteString(strings.Join(row, "\t"))
			b.WriteByte('\n')
		}
		if err := os.WriteFile(filepath.Join(dir, name+".tsv"), []byte(b.String()),
			0o644); err != nil {
			return err
		}
	}
	return nil
}
