package recursive

import (
	"errors"
	"os"
	"path/filepath"
	goruntime "runtime"
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
	return writeAll(dir, 1, func(int) Facts { return f })
}

// writeAll writes the facts of n parts, which it makes on all cores, a file for
// each predicate. The files are the same on any number of cores.
func writeAll(dir string, n int, part func(i int) Facts) (err error) {
	files := map[string]*os.File{}
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
	}()
	// Texts are written in order. No more of them exist than cores.
	texts := make(chan chan map[string][]byte, goruntime.NumCPU())
	go func() {
		defer close(texts)
		for i := range n {
			text := make(chan map[string][]byte, 1)
			texts <- text
			go func() { text <- part(i).text() }()
		}
	}()
	for text := range texts {
		for name, lines := range <-text {
			if err != nil {
				continue
			}
			if files[name] == nil {
				if files[name], err = os.Create(filepath.Join(dir, name+".tsv")); err != nil {
					delete(files, name)
					continue
				}
			}
			_, err = files[name].Write(lines)
		}
	}
	return err
}

// text returns the lines of each predicate.
func (f Facts) text() map[string][]byte {
	out := map[string][]byte{}
	for name, rows := range f {
		var b []byte
		for _, row := range rows {
			for i, field := range row {
				if i > 0 {
					b = append(b, '\t')
				}
				b = append(b, field...)
			}
			b = append(b, '\n')
		}
		out[name] = b
	}
	return out
}
