package facts

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/confine"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/read"
)

// Sources lists the sources of the facts of a run. The methods add a source and
// return the Sources, so that they chain.
type Sources struct {
	dir     string
	allowed []string // folders of files that the program names
	files   []read.Fact
	values  []given
}

// given holds the facts of a predicate that are Go values.
type given struct {
	pred     string
	relation func(store.Schema) (*store.Relation, error)
	bag      bool // tuples may repeat
	// slices has the facts of several predicates; relation is then nil.
	slices Slices
}

// Dir names a folder whose files PRED.tsv, .csv, .parquet and so on hold the
// facts of predicates without another source.
func (f *Sources) Dir(dir string) *Sources { f.dir = dir; return f }

// HasDir reports whether a folder is named.
func (f *Sources) HasDir() bool { return f.dir != "" }

// File binds a file to a predicate, in the format of its name. The predicate
// may be the common prefix, before a colon, of several that are columns of the
// file. Several files of a predicate are united.
func (f *Sources) File(pred, path string) *Sources {
	return f.Add(read.Fact{Pred: pred, Path: path})
}

// Reader binds a stream to a predicate. It is read once, to its end.
func (f *Sources) Reader(pred string, format read.Format, r io.Reader) *Sources {
	return f.Add(read.Fact{Pred: pred, Path: "<" + pred + ">", Format: format, Reader: r})
}

// Add binds a file with an explicit layout to a predicate.
func (f *Sources) Add(file read.Fact) *Sources { f.files = append(f.files, file); return f }

// Rows adds tuples of Go values to a predicate: ints of any size, floats,
// strings, bools, govalue.Decimal, time.Time, or text that reads as the type of
// the column.
func (f *Sources) Rows(pred string, rows ...[]any) *Sources {
	return f.give(pred, true,
		func(s store.Schema) (*store.Relation, error) { return FromRows(s, rows) })
}

// Columns adds tuples to a predicate as one slice for each argument, all of one
// length: of integers of any size, floats, bools, strings or time.Time. It is
// the fastest way for facts that are in memory. The slices must not change
// afterwards.
func (f *Sources) Columns(pred string, slices ...any) *Sources {
	return f.give(pred, false,
		func(s store.Schema) (*store.Relation, error) { return read.FromSlices(s, slices...) })
}

// Arrow adds a record's rows to a predicate, columns by position.
func (f *Sources) Arrow(pred string, record arrow.RecordBatch) *Sources {
	return f.give(pred, false,
		func(s store.Schema) (*store.Relation, error) { return read.FromArrow(s, record) })
}

func (f *Sources) give(pred string, bag bool,
	relation func(store.Schema) (*store.Relation, error)) *Sources {
	f.values = append(f.values, given{pred: pred, relation: relation, bag: bag})
	return f
}

// Predicates returns the names to which facts were bound one by one.
func Predicates(f *Sources) []string {
	var out []string
	for _, x := range f.files {
		out = append(out, x.Pred)
	}
	for _, x := range f.values {
		out = append(out, x.pred)
	}
	return out
}

// HasValues reports whether some facts are values, not files.
func HasValues(f *Sources) bool { return len(f.values) > 0 }

// Allow lets the program read files that lang:physical:filePath names if they
// lie below the folders, or below that of Dir. Links do not lead out of them.
// Without a folder, the program reads no file that it names. Files of File and
// Add, and readers, need not be allowed.
func (f *Sources) Allow(dirs ...string) *Sources {
	f.allowed = append(f.allowed, dirs...)
	return f
}

// Folders returns the folders below which the program may read.
func Folders(f *Sources) confine.Folders {
	folders := confine.Folders(slices.Clone(f.allowed))
	if f.dir != "" {
		folders = append(folders, f.dir)
	}
	return folders
}

// Bind finds the files of predicates; imports are those that the program names.
func Bind(ctx context.Context, f *Sources, schemas []store.Schema, imports []read.Fact,
	opts read.Options) (*read.Binding, error) {
	return read.Bind(ctx, schemas, f.dir, append(slices.Clone(f.files), imports...), opts)
}

// Only returns the facts that could be those of the predicates.
func Only(f *Sources, schemas []store.Schema) *Sources {
	out := &Sources{allowed: f.allowed}
	if len(schemas) > 0 {
		out.dir = f.dir
	}
	has := func(pred string) bool {
		return slices.ContainsFunc(schemas, func(s store.Schema) bool {
			return s.Name == pred || strings.HasPrefix(s.Name, pred+":")
		})
	}
	for _, x := range f.files {
		if has(x.Pred) {
			out.files = append(out.files, x)
		}
	}
	for _, x := range f.values {
		if has(x.pred) {
			out.values = append(out.values, x)
		}
	}
	return out
}

// Missing returns the schemas of the predicates that a workspace does not hold
// yet, and the relations of the others.
func Missing(schemas []store.Schema,
	held map[string]*store.Relation) (missing []store.Schema, found []*store.Relation) {
	for _, s := range schemas {
		if rel := held[s.Name]; rel != nil {
			found = append(found, rel)
		} else {
			missing = append(missing, s)
		}
	}
	return missing, found
}

// CheckNames refuses facts of predicates that the program lacks or derives.
func CheckNames(f *Sources, schemas []store.Schema, derived func(string) bool) error {
	var names []string
	for _, s := range schemas {
		names = append(names, s.Name)
	}
	for _, name := range Predicates(f) {
		if slices.Contains(names, name) ||
			slices.ContainsFunc(names,
				func(n string) bool { return strings.HasPrefix(n, name+":") }) {
			continue
		}
		if derived(name) {
			return &failure.Environment{
				Message: fmt.Sprintf("%s is derived by rules, so it cannot be given facts", name),
				Help:    "give the facts to a predicate of their own and add a rule that copies it",
			}
		}
		help := "the program has no predicate that takes facts"
		if len(names) > 0 {
			help = diag.DidYouMean(name, names)
		}
		return &failure.Environment{Message: fmt.Sprintf("the program has no predicate %s", name),
			Help: help}
	}
	return nil
}

// AddValues adds the facts that were given as Go values.
func AddValues(db *store.Database, schemas []store.Schema, f *Sources) error {
	parts, bags := map[string][]*store.Relation{}, map[string]bool{}
	for _, x := range f.values {
		if x.slices != nil {
			if err := addSlices(parts, schemas, x); err != nil {
				return err
			}
			continue
		}
		schema := store.Schema{Name: x.pred} // of no arguments, which refuses every tuple
		isOf := func(s store.Schema) bool { return s.Name == x.pred }
		if i := slices.IndexFunc(schemas, isOf); i >= 0 {
			schema = schemas[i]
		}
		rel, err := x.relation(schema)
		if err != nil {
			return err
		}
		parts[x.pred] = append(parts[x.pred], rel)
		bags[x.pred] = bags[x.pred] || x.bag
	}
	for _, s := range schemas {
		if err := Add(db, s, parts[s.Name], bags[s.Name]); err != nil {
			return err
		}
	}
	return nil
}
