package driver

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// snappyTPCH writes the small files of TPC-H with Snappy and in several row
// groups, as a GPU decodes them, and returns their folder.
func snappyTPCH(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob("../../testdata/tpch/sf0.01/*.parquet")
	if err != nil || len(files) != 8 {
		t.Fatal(files, err)
	}
	for i, path := range files {
		in, err := file.OpenParquetFile(path, false)
		if err != nil {
			t.Fatal(err)
		}
		to, err := os.Create(filepath.Join(dir, filepath.Base(path)))
		if err != nil {
			t.Fatal(err)
		}
		version := []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}[i%2]
		out := file.NewParquetWriter(to, in.MetaData().Schema.Root(), file.WithWriterProps(
			parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy),
				parquet.WithDataPageSize(4<<10), parquet.WithDictionaryPageSizeLimit(8<<10),
				parquet.WithBatchSize(500), parquet.WithDataPageVersion(version))))
		columns := in.MetaData().Schema.NumColumns()
		values := make([]any, columns)
		for c := range columns {
			for g := range in.NumRowGroups() {
				chunk, err := in.RowGroup(g).Column(c)
				if err != nil {
					t.Fatal(err)
				}
				rows := int(in.RowGroup(g).NumRows())
				if values[c], err = readChunk(values[c], chunk, rows); err != nil {
					t.Fatal(err)
				}
			}
		}
		const groupRows = 7000
		for from := 0; from < int(in.NumRows()); from += groupRows {
			until := min(from+groupRows, int(in.NumRows()))
			group, err := out.AppendRowGroupChecked()
			if err != nil {
				t.Fatal(err)
			}
			for c := range columns {
				chunk, err := group.NextColumn()
				if err == nil {
					err = writeChunk(chunk, values[c], from, until)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := errors.Join(out.Close(), in.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// readChunk appends the values of a column chunk, none of which is missing.
func readChunk(values any, chunk file.ColumnChunkReader, rows int) (any, error) {
	levels := make([]int16, rows)
	switch r := chunk.(type) {
	case *file.Int32ColumnChunkReader:
		return readAll(values, rows, func(dst []int32) (int64, int, error) {
			return r.ReadBatch(int64(len(dst)), dst, levels, nil)
		})
	case *file.Int64ColumnChunkReader:
		return readAll(values, rows, func(dst []int64) (int64, int, error) {
			return r.ReadBatch(int64(len(dst)), dst, levels, nil)
		})
	case *file.ByteArrayColumnChunkReader:
		return readAll(values, rows, func(dst []parquet.ByteArray) (int64, int, error) {
			n, there, err := r.ReadBatch(int64(len(dst)), dst, levels, nil)
			for i := range dst[:there] {
				dst[i] = slices.Clone(dst[i])
			}
			return n, there, err
		})
	}
	return nil, fmt.Errorf("a column of type %v", chunk.Type())
}

func readAll[T any](values any, rows int, batch func(dst []T) (int64, int, error)) ([]T, error) {
	all, _ := values.([]T)
	for rows > 0 {
		part := make([]T, rows)
		_, n, err := batch(part)
		if err != nil {
			return nil, err
		}
		all, rows = append(all, part[:n]...), rows-n
	}
	return all, nil
}

// writeChunk writes some of the values of a column.
func writeChunk(chunk file.ColumnChunkWriter, values any, from, until int) (err error) {
	levels := slices.Repeat([]int16{chunk.Descr().MaxDefinitionLevel()}, until-from)
	switch w := chunk.(type) {
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(values.([]int32)[from:until], levels, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(values.([]int64)[from:until], levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(values.([]parquet.ByteArray)[from:until], levels, nil)
	}
	return errors.Join(err, chunk.Close())
}

// TestEncodedColumns runs the queries of TPC-H over columns that stay encoded,
// of short files too. The first run of a query proves keys. In less memory of
// the device a column is decoded in several batches, and in very little by the
// host.
func TestEncodedColumns(t *testing.T) {
	emulateGPU(t, emulated.Options{Seed: 3})
	if testing.Short() {
		t.Log("left out: -short: seven of eight queries over encoded columns")
	}
	ctx, dir, encoded := context.Background(), snappyTPCH(t), 0
	proofs := keptProofs(map[string][]byte{})
	for i := range 22 {
		if testing.Short() && i%8 != 5 {
			continue
		}
		name := fmt.Sprintf("q%02d", i+1)
		want := readAnswer(t, filepath.Join("../../testdata/tpch/sf0.01", name+".tsv"))
		sources, err := ReadSources("../../testdata/tpch/schema.logic",
			filepath.Join("../../testdata/tpch", name+".logic"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			disable []string
			memory  int64 // of the device
		}{{}, {}, {[]string{encodedColumns}, 0}, {nil, 6 << 20}, {nil, 500 << 10}} {
			disable := c.disable
			prog, err := Compile(ctx, sources, Options{Disable: disable})
			if err != nil {
				t.Fatal(err)
			}
			opts := RunOptions{Engine: EngineGPU, Outputs: []string{"_"}, DeviceMemory: c.memory}
			opts.Load.Once, opts.Load.leastEncoded, opts.Load.proofs = true, 1, proofs
			db, err := prog.LoadFor(ctx, NewFacts().Dir(dir), opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range db.Report().Files {
				if len(f.Encoded) > 0 {
					t.Log(name, f.File, f.Encoded)
				}
				if encoded += len(f.Encoded); len(f.Encoded) > 0 && disable != nil {
					t.Errorf("%s: columns %v stay encoded without the step", name, f.Encoded)
				}
			}
			res, err := prog.RunOn(ctx, db, opts)
			if err != nil {
				t.Fatal(err)
			}
			if err := suite.SameRows(res.Rows("_"), want); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, f := range db.Report().Files {
				if n := f.Undecoded(); c.memory == 0 && n < len(f.Encoded) {
					t.Errorf("%s: the host has decoded %d columns of %s", name, len(f.Encoded)-n, f.File)
				}
			}
		}
	}
	if encoded == 0 {
		t.Error("no column stays encoded")
	}
}

// TestEncodedWrongStatistics runs over a file whose statistics one row
// contradicts, on each engine: the row counts.
func TestEncodedWrongStatistics(t *testing.T) {
	const rows, odd, most = 40_000, 333, 1 << 40
	node := func(name string) schema.Node {
		return schema.NewInt64Node(name, parquet.Repetitions.Required, -1)
	}
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, schema.MustGroup(schema.NewGroupNode("schema",
		parquet.Repetitions.Required, schema.FieldList{node("id"), node("n")}, -1)),
		file.WithWriterProps(parquet.NewWriterProperties(parquet.WithDataPageSize(300),
			parquet.WithBatchSize(64))))
	group, err := w.AppendRowGroupChecked()
	if err != nil {
		t.Fatal(err)
	}
	values := [2][]int64{}
	for row := range int64(rows) {
		values[0], values[1] = append(values[0], row), append(values[1], row%70)
	}
	values[1][odd] = most
	for _, v := range values {
		column, err := group.NextColumn()
		if err == nil {
			err = writeChunk(column, v, 0, rows)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	// The greatest number of the footer, in both of its forms, is another one.
	data := out.Bytes()
	footer := data[len(data)-8-int(binary.LittleEndian.Uint32(data[len(data)-8:])):]
	bound := binary.LittleEndian.AppendUint64(nil, most)
	if bytes.Count(footer, bound) == 0 {
		t.Fatal("the footer does not have the bound")
	}
	copy(footer, bytes.ReplaceAll(footer, bound, binary.LittleEndian.AppendUint64(nil, 69)))
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "t.parquet"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	onEngines(t, func(t *testing.T, engine string) {
		prog := compileText(t, `t[id] = n -> int(id), int(n).
			_[] = s <- agg<<s = max(n)>> t[_] = n, n > 5.`, Options{})
		proofs := keptProofs(map[string][]byte{})
		for run := range 2 { // the first one proves the key
			opts := RunOptions{Engine: engine}
			opts.Load.Once, opts.Load.leastEncoded, opts.Load.proofs = true, 1, proofs
			db, err := prog.LoadFor(context.Background(), NewFacts().Dir(dir), opts)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(db.Report().Files[0].Encoded); (n == 1) != (engine == EngineGPU) {
				t.Errorf("run %d: %d columns stay encoded", run, n)
			}
			res, err := prog.RunOn(context.Background(), db, opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := resultText(t, res); !strings.Contains(got, fmt.Sprint(most)) {
				t.Errorf("run %d: got %s", run, got)
			}
		}
	})
}

// TestEncodedInLittleMemory runs over encoded columns on a GPU that cannot hold
// them, and with memory of the host that is bounded: the host decodes them.
func TestEncodedInLittleMemory(t *testing.T) {
	emulateGPU(t, emulated.Options{Seed: 3})
	process.Batches.Least = 1000
	ctx, dir := context.Background(), snappyTPCH(t)
	want := readAnswer(t, "../../testdata/tpch/sf0.01/q06.tsv")
	sources, err := ReadSources("../../testdata/tpch/schema.logic", "../../testdata/tpch/q06.logic")
	if err != nil {
		t.Fatal(err)
	}
	prog, err := Compile(ctx, sources, Options{})
	if err != nil {
		t.Fatal(err)
	}
	proofs := keptProofs(map[string][]byte{})
	for _, c := range []struct {
		device, host int64
		encoded      int
	}{{512 << 10, 0, 4}, {256 << 10, 0, 4}, {0, 64 << 20, 0}} {
		opts := RunOptions{Engine: EngineGPU, DeviceMemory: c.device, Memory: c.host,
			Outputs: []string{"_"}}
		opts.Load.Once, opts.Load.leastEncoded, opts.Load.proofs = true, 1, proofs
		db, err := prog.LoadFor(ctx, NewFacts().Dir(dir), opts)
		if err != nil {
			t.Fatal(err)
		}
		f := &db.Report().Files[0]
		if len(f.Encoded) != c.encoded {
			t.Errorf("%+v: columns %v stay encoded", c, f.Encoded)
		}
		before := db.Held()
		res, err := prog.RunOn(ctx, db, opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := suite.SameRows(res.Rows("_"), want); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if f.Undecoded() > 0 || c.encoded > 0 && db.Held() <= before {
			t.Errorf("%+v: %d columns are not decoded, %d bytes are held, before %d", c, f.Undecoded(),
				db.Held(), before)
		}
	}
}

// TestEncodedDamage runs a query over damaged files on a GPU, which decodes
// them, and on the go engine. Both fail or have the same answer.
func TestEncodedDamage(t *testing.T) {
	emulateGPU(t, emulated.Options{Seed: 4})
	ctx, dir := context.Background(), snappyTPCH(t)
	path := filepath.Join(dir, "lineitem.parquet")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sources, err := ReadSources("../../testdata/tpch/schema.logic", "../../testdata/tpch/q06.logic")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 4))
	failed, encoded := 0, 0
	n := short.Count(t, 120, "damaged files")
	for i := range n {
		data := slices.Clone(whole)
		for range 1 + rng.IntN(40) {
			data[rng.IntN(len(data)*9/10)] ^= byte(1 + rng.IntN(255)) // footers are read by both
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		run := func(engine string, disable ...string) (string, error) {
			prog, err := Compile(ctx, sources, Options{Disable: disable})
			if err != nil {
				t.Fatal(err)
			}
			opts := RunOptions{Engine: engine, Outputs: []string{"_"}}
			opts.Load.Once, opts.Load.leastEncoded = true, 1
			db, err := prog.LoadFor(ctx, NewFacts().Dir(dir), opts)
			if err != nil {
				return "", err
			}
			for _, f := range db.Report().Files {
				encoded += len(f.Encoded)
			}
			res, err := prog.RunOn(ctx, db, opts)
			if err != nil {
				return "", err
			}
			return resultText(t, res), nil
		}
		want, wantErr := run("go", selectRows)
		got, err := run(EngineGPU)
		if (err == nil) != (wantErr == nil) || got != want {
			t.Errorf("file %d: %q, %v on the GPU, and %q, %v", i, got, err, want, wantErr)
		}
		if err != nil {
			failed++
		}
	}
	if failed == 0 || uint64(failed) == n || encoded == 0 {
		t.Errorf("%d of %d damaged files fail, and %d columns stay encoded", failed, n, encoded)
	}
}
