package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// ReadFacts reads PRED.tsv of a folder for each predicate of the program that
// has such a file, and the tables that feed several predicates. There may be no
// folder.
func ReadFacts(dir string, p *core.Program) (Facts, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.tsv"))
	if err != nil {
		return nil, err
	}
	facts := Facts{}
	named := &terms{facts, map[string]scalar.Value{}}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".tsv")
		pred := findPred(p, name)
		if pred == nil {
			return nil, fmt.Errorf("%s: the program has no predicate %s", file, name)
		}
		if facts[name], err = readTSV(file, pred, named); err != nil {
			return nil, err
		}
	}
	return facts, readTables(dir, p, facts)
}

func findPred(p *core.Program, name string) *core.Pred {
	for _, pred := range p.Preds {
		if pred.Name == name {
			return pred
		}
	}
	return nil
}

// readTSV reads tuples, one a line, columns by position, without header.
func readTSV(file string, pred *core.Pred, named *terms) ([]Tuple, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []Tuple
	lines := strings.Split(string(text), "\n")
	for i, line := range lines[:len(lines)-1] {
		fields := strings.Split(line, "\t")
		if len(pred.Args) == 0 && line == "" {
			fields = nil
		}
		if len(fields) != len(pred.Args) {
			return nil, fmt.Errorf("%s:%d: %d fields instead of %d", file, i+1, len(fields),
				len(pred.Args))
		}
		t := make(Tuple, len(fields))
		for c, field := range fields {
			field = unescaper.Replace(field)
			if f := pred.Args[c].Family; f != nil {
				t[c], err = named.number(f, field)
			} else {
				t[c], err = scalar.ParseText(pred.Args[c].Type, field)
			}
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
			}
		}
		out = append(out, t)
	}
	return out, nil
}

var unescaper = strings.NewReplacer(`\\`, "\\", `\t`, "\t", `\n`, "\n", `\r`, "\r")

// escape is the inverse of unescaper: it doubles the backslashes that would
// else start an escape.
func escape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\t':
			b.WriteString(`\t`)
		case s[i] == '\n':
			b.WriteString(`\n`)
		case s[i] == '\r':
			b.WriteString(`\r`)
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte("tnr\\\t\n\r", s[i+1]) >= 0:
			b.WriteString(`\\`)
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// TSV writes tuples one a line as files have them.
func TSV(tuples []Tuple) string {
	var b strings.Builder
	for _, t := range tuples {
		for i, v := range t {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(escape(scalar.Format(v)))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
