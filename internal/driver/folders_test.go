package driver

import (
	"os"
	"path/filepath"
	"strings"
)

// FactsIn returns the facts of a folder as testdata/programs has them: PRED.tsv
// without a header, and tables of several predicates, NAME.csv with a header
// and NAME.parquet. There may be no folder.
func FactsIn(dir string) *Facts {
	facts := NewFacts()
	if _, err := os.Stat(dir); err != nil {
		return facts
	}
	tables, _ := filepath.Glob(filepath.Join(dir, "*.csv")) // the pattern is well-formed
	header := true
	for _, path := range tables {
		facts.Add(FactFile{Pred: strings.TrimSuffix(filepath.Base(path), ".csv"), Path: path,
			Header: &header})
	}
	return facts.Dir(dir)
}
