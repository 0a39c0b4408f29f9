package store

import (
	"crypto/sha256"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// digestInput is what a database of TestDigest is made of.
type digestInput struct {
	relation, table, column string
	keys                    int
	words                   []int64
	strings, interned       []string
	threads                 int
}

func (in digestInput) digest() [sha256.Size]byte {
	dict := NewDict(in.strings)
	for _, s := range in.interned {
		dict.Intern(s)
	}
	codes := make([]int64, len(in.words))
	table := &Table{Name: in.table, Names: []string{in.column, "s"}, Rows: len(in.words),
		Columns: []*Column{
			ColumnOf(scalar.IntType, in.words, nil), ColumnOf(scalar.StringType, codes, dict),
		}}
	db := NewDatabase()
	db.Put(&Relation{Name: in.relation, Table: table, Cols: []int{0, 1}, Keys: in.keys})
	return db.Digest(in.threads)
}

// TestDigest changes one after the other what a database has, the last byte of
// a column of several parts among it.
func TestDigest(t *testing.T) {
	base := func() digestInput {
		words := make([]int64, digestPart+100)
		for i := range words {
			words[i] = int64(i % 200)
		}
		return digestInput{"r", "t", "c", 1, words, []string{"a", "bc"}, []string{"x"}, 1}
	}
	seen := map[[sha256.Size]byte]string{base().digest(): "nothing"}
	for name, change := range map[string]func(*digestInput){
		"relation":       func(in *digestInput) { in.relation = "r2" },
		"table":          func(in *digestInput) { in.table = "t2" },
		"column":         func(in *digestInput) { in.column = "c2" },
		"keys":           func(in *digestInput) { in.keys = 2 },
		"first word":     func(in *digestInput) { in.words[0] = 7 },
		"last word":      func(in *digestInput) { in.words[len(in.words)-1]++ },
		"width":          func(in *digestInput) { in.words[5] = 1 << 40 },
		"rows":           func(in *digestInput) { in.words = in.words[:len(in.words)-1] },
		"strings' ends":  func(in *digestInput) { in.strings = []string{"ab", "c"} },
		"string":         func(in *digestInput) { in.strings = []string{"a", "bd"} },
		"interned":       func(in *digestInput) { in.interned = []string{"y"} },
		"interned later": func(in *digestInput) { in.interned = nil },
	} {
		in := base()
		change(&in)
		sum := in.digest()
		if other, ok := seen[sum]; ok {
			t.Errorf("with another %s the digest is that of another %s", name, other)
		}
		seen[sum] = name
	}
	in := base()
	for in.threads = 2; in.threads < 5; in.threads++ {
		if seen[in.digest()] != "nothing" {
			t.Errorf("%d threads make another digest", in.threads)
		}
	}
}
