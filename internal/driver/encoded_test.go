package driver

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
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

// pagesTPCH writes the small files of TPC-H in several row groups, as a GPU
// decodes them, and returns their folder.
func pagesTPCH(t *testing.T, props ...parquet.WriterProperty) string {
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
			parquet.NewWriterProperties(append([]parquet.WriterProperty{
				parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDataPageSize(4 << 10),
				parquet.WithDictionaryPageSizeLimit(8 << 10), parquet.WithBatchSize(500),
				parquet.WithDataPageVersion(version)}, props...)...)))
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

// deltaPages are properties of files whose pages the host decompresses and
// whose long columns are differences.
func deltaPages() (props []parquet.WriterProperty) {
	props = append(props, parquet.WithCompression(compress.Codecs.Zstd))
	for _, column := range []string{"l_orderkey", "l_partkey", "l_suppkey", "l_quantity",
		"l_extendedprice", "l_discount", "l_shipdate", "o_orderkey", "o_custkey", "o_totalprice",
		"o_orderdate", "c_custkey", "p_partkey", "ps_partkey", "s_suppkey"} {
		props = append(props, parquet.WithDictionaryFor(column, false),
			parquet.WithEncodingFor(column, parquet.Encodings.DeltaBinaryPacked))
	}
	return props
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
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(values.([]float64)[from:until], levels, nil)
	case *file.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(values.([]float32)[from:until], levels, nil)
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
	ctx, encoded := context.Background(), 0
	dirs := []string{pagesTPCH(t), pagesTPCH(t, deltaPages()...)}
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
			dir     int
		}{{}, {}, {[]string{encodedColumns}, 0, 0}, {nil, 6 << 20, 0}, {nil, 500 << 10, 0},
			{nil, 0, 1}, {nil, 6 << 20, 1}} {
			disable, dir := c.disable, dirs[c.dir]
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
	ctx, dir := context.Background(), pagesTPCH(t)
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
	ctx := context.Background()
	dirs := []string{pagesTPCH(t), pagesTPCH(t, append(deltaPages(),
		parquet.WithCompression(compress.Codecs.Snappy))...), pagesTPCH(t, deltaPages()...)}
	var wholes [][]byte
	for _, dir := range dirs {
		whole, err := os.ReadFile(filepath.Join(dir, "lineitem.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		wholes = append(wholes, whole)
	}
	sources, err := ReadSources("../../testdata/tpch/schema.logic", "../../testdata/tpch/q06.logic")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 4))
	failed, encoded := 0, make([]int, len(dirs))
	n := short.Count(t, 240, "damaged files")
	for i := range n {
		of := int(i) % len(dirs)
		data, path := slices.Clone(wholes[of]), filepath.Join(dirs[of], "lineitem.parquet")
		for range 1 + rng.IntN([]int{40, 40, 4}[of]) { // a load decompresses the keys
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
			db, err := prog.LoadFor(ctx, NewFacts().Dir(dirs[of]), opts)
			if err != nil {
				return "", err
			}
			for _, f := range db.Report().Files {
				encoded[of] += len(f.Encoded)
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
	if failed == 0 || uint64(failed) == n || slices.Max(encoded) == 0 ||
		!testing.Short() && slices.Contains(encoded, 0) {
		t.Errorf("%d of %d damaged files fail, and %v columns stay encoded", failed, n, encoded)
	}
}

// TestEncodedFloats runs over floats that are unusual, on each engine: a GPU
// decodes FLOAT and DOUBLE, and has the answers of the others.
func TestEncodedFloats(t *testing.T) {
	const rows = 20_000
	odd := []float64{math.Copysign(0, -1), 0, math.NaN(), math.Inf(1), math.Inf(-1), 1e-310, 1e300,
		math.Float64frombits(0xfff4_0000_0000_0001)}
	rng := rand.New(rand.NewPCG(6, 3))
	for i, props := range [][]parquet.WriterProperty{nil, {parquet.WithDictionaryDefault(false)},
		{parquet.WithDictionaryDefault(false), parquet.WithCompression(compress.Codecs.Zstd),
			parquet.WithEncoding(parquet.Encodings.ByteStreamSplit),
			parquet.WithEncodingFor("id", parquet.Encodings.DeltaBinaryPacked)},
		{parquet.WithCompression(compress.Codecs.Snappy), parquet.WithStats(false)}} {
		var ids []int64
		var doubles []float64
		var singles []float32
		for row := range int64(rows) {
			f := float64(rng.IntN(400)) / 4
			if rng.IntN(50) == 0 {
				f = odd[rng.IntN(len(odd))]
			}
			ids, doubles = append(ids, row), append(doubles, f)
			singles = append(singles, float32(f))
		}
		var out bytes.Buffer
		w := file.NewParquetWriter(&out, schema.MustGroup(schema.NewGroupNode("schema",
			parquet.Repetitions.Required, schema.FieldList{
				schema.NewInt64Node("id", parquet.Repetitions.Required, -1),
				schema.NewFloat64Node("d", parquet.Repetitions.Required, -1),
				schema.NewFloat32Node("s", parquet.Repetitions.Required, -1)}, -1)),
			file.WithWriterProps(parquet.NewWriterProperties(append(props,
				parquet.WithDataPageSize(5000), parquet.WithBatchSize(500))...)))
		group, err := w.AppendRowGroupChecked()
		if err != nil {
			t.Fatal(err)
		}
		for _, values := range []any{ids, doubles, singles} {
			column, err := group.NextColumn()
			if err == nil {
				err = writeChunk(column, values, 0, rows)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "t.parquet"), out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		want := ""
		onEngines(t, func(t *testing.T, engine string) {
			prog := compileText(t, `t:d[id] = d -> int(id), float(d).
				t:s[id] = s -> int(id), float(s).
				by[d] = n <- agg<<n = count()>> t:d[_] = d.
				greatest[] = s <- agg<<s = max(v)>> t:s[_] = v, v < 50.0.
				sum[] = s <- agg<<s = total(v)>> t:s[_] = v, v > 1.0, v < 50.0.
				_(d, n) <- by[d] = n, d < 3.0.
				_(d, n) <- by[d] = n, d > 99.0.
				_(d, 0) <- greatest[] = d.
				_(d, 0) <- sum[] = d.`, Options{})
			opts := RunOptions{Engine: engine}
			opts.Load.Once, opts.Load.leastEncoded = true, 1
			opts.Load.proofs = keptProofs(map[string][]byte{})
			db, err := prog.LoadFor(context.Background(), NewFacts().Dir(dir), opts)
			if err != nil {
				t.Fatal(err)
			}
			f := &db.Report().Files[0]
			if n := len(f.Encoded); (n >= 2) != (engine == EngineGPU) {
				t.Errorf("file %d: columns %v stay encoded", i, f.Encoded)
			}
			res, err := prog.RunOn(context.Background(), db, opts)
			if err != nil {
				t.Fatal(err)
			}
			if n := f.Undecoded(); n < len(f.Encoded) {
				t.Errorf("file %d: the host has decoded %d columns", i, len(f.Encoded)-n)
			}
			got := resultText(t, res)
			if want == "" {
				want = got
			}
			if got != want || strings.Count(got, "\n") < 12 {
				t.Errorf("file %d: got\n%s\nwant\n%s", i, got, want)
			}
		})
	}
}
