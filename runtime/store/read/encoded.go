package read

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	goruntime "runtime"
	"slices"
	"sync"

	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/parquet"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Columns may stay as the pages of a Parquet file, for a GPU to decode: the
// statistics bound the words of numbers, and the layout of the column follows
// from that. No row is left out of such a file, since the host does not
// look at the rows.

// EncodedRows is how many rows a file has at least for its columns to stay
// encoded. The host decodes fewer sooner than the GPU gets ready to.
const EncodedRows = 4 << 20

// maxChunk bounds a column chunk that stays encoded, in the file and unpacked.
// Writers make far smaller ones.
const maxChunk = 1 << 30

// KeepEncoded has Load keep columns of Parquet files of at least the given
// number of rows as their pages, where that saves time. It follows Ask and
// Join: a file whose selection may leave out rows of a longer one, which the
// host decodes, is decoded.
func (b *Binding) KeepEncoded(least int64) {
	rows := map[string]int64{} // of predicates of which the host reads all
	var files []*Source        // that may stay encoded, the longest first
	for i := range b.Sources {
		s := &b.Sources[i]
		n, _ := s.Rows()
		for _, u := range s.Uses {
			rows[u.Schema.Name] += n
		}
		if !b.IsPart(i) && s.footer != nil && s.Reader == nil && n >= max(least, 1) &&
			!slices.ContainsFunc(s.Uses, func(u Use) bool { return u.shown() }) {
			files = append(files, s)
		}
	}
	slices.SortStableFunc(files, func(a, b *Source) int {
		return cmp.Compare(b.footer.Rows, a.footer.Rows)
	})
	for _, s := range files {
		if slices.ContainsFunc(s.Uses, func(u Use) bool {
			return u.asked() && u.leadsTo(rows, s.footer.Rows)
		}) {
			continue
		}
		s.leastEncoded = max(least, 1)
		if s.mostlyDecodable() {
			for _, u := range s.Uses {
				rows[u.Schema.Name] -= s.footer.Rows
			}
		}
	}
}

// leadsTo reports whether the host reads more rows of a partner than the file
// of the use has.
func (u *Use) leadsTo(rows map[string]int64, own int64) bool {
	return slices.ContainsFunc(u.Partners, func(list []Partner) bool {
		return slices.ContainsFunc(list, func(p Partner) bool { return rows[p.Pred] > own })
	})
}

// mostlyDecodable reports whether a GPU decodes most bytes of the columns that
// are read of a file, as far as its footer tells.
func (s *Source) mostlyDecodable() bool {
	isCounted := map[int]bool{}
	device, host := int64(0), int64(0)
	for _, u := range s.Uses {
		for arg, c := range u.Columns {
			if c < 0 || c >= firstPart || isCounted[c] || u.Unread != nil && u.Unread[arg] {
				continue
			}
			isCounted[c] = true
			for g := range s.footer.Groups {
				m := s.footer.Groups[g].Chunks[c].Meta
				onDevice := deviceBytes(m, decodable(m, &s.footer.Columns[c]))
				device, host = device+onDevice, host+m.Packed-onDevice
			}
		}
	}
	return device >= host
}

// encodedPlan is what is known of the words of a field that may stay encoded.
type encodedPlan struct {
	least, most int64
	mayAscend   bool
}

// planEncoded finds the fields that may stay encoded.
func (p *parquetLoad) planEncoded() {
	if p.source.leastEncoded == 0 || p.source.distrusted || p.opts.OnError == Skip ||
		p.ledger.Bounded() || p.file.closer == nil {
		return
	}
	file, ok := p.file.ReaderAt.(*os.File)
	if !ok {
		return
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return
	}
	p.encodable = make([]*encodedPlan, len(p.fields))
	for i := range p.fields {
		p.encodable[i] = p.planEncodedField(i)
	}
}

// planEncodedField returns nil if a field cannot stay encoded: if a GPU does
// not decode its pages, or if its bounds are not known.
func (p *parquetLoad) planEncodedField(i int) *encodedPlan {
	d := p.decoders[i]
	t := d.field.typ
	switch {
	case t.Kind == scalar.String:
		return p.planEncodedText(d)
	case t.Kind == scalar.Float && d.from.kind == scalar.Float:
		return p.planEncodedFloat(d)
	}
	if t.Word != scalar.Whole || d.from.unsigned || d.down != 1 || d.up < 1 {
		return nil
	}
	switch t.Kind {
	case scalar.Decimal, scalar.Datetime:
	case scalar.Int:
		if d.up != 1 {
			return nil
		}
	default:
		return nil
	}
	out := &encodedPlan{least: math.MaxInt64, most: math.MinInt64, mayAscend: true}
	for g := range p.file.Groups {
		if p.file.Groups[g].Rows == 0 {
			continue
		}
		m := p.file.Groups[g].Chunks[d.field.index].Meta
		s := m.Statistics
		if s == nil || !d.staysEncoded(m) {
			return nil
		}
		least, most, ok := d.bounds(s.Min, s.Max)
		if !ok {
			return nil
		}
		out.mayAscend = out.mayAscend && out.most <= least
		out.least, out.most = min(out.least, least), max(out.most, most)
	}
	if out.least >= out.most { // one word takes no entries
		return nil
	}
	return out
}

// planEncodedFloat is planEncodedField for floats. Any word is allowed, as
// bounds leave out NaN and say little of zeros: entries have eight bytes
// anyway.
func (p *parquetLoad) planEncodedFloat(d *parquetField) *encodedPlan {
	out := &encodedPlan{least: int64(math.Float64bits(math.Inf(-1))),
		most: int64(math.Float64bits(math.NaN())), mayAscend: true}
	last := math.Inf(-1)
	for g := range p.file.Groups {
		if p.file.Groups[g].Rows == 0 {
			continue
		}
		m := p.file.Groups[g].Chunks[d.field.index].Meta
		s := m.Statistics
		if !d.staysEncoded(m) {
			return nil
		}
		if s == nil {
			continue
		}
		least, isKnown := floatOf(s.Min)
		most, _ := floatOf(s.Max)
		if isKnown {
			out.mayAscend = out.mayAscend && last <= least
			last = most
		}
	}
	return out
}

// staysEncoded reports whether a GPU decodes a column chunk of the field: its
// pages, and none of its values is missing.
func (d *parquetField) staysEncoded(m *parquet.ChunkMeta) bool {
	s := m.Statistics
	return decodable(m, d.column) &&
		(d.column.Definition == 0 || s != nil && s.Nulls != nil && *s.Nulls <= 0)
}

// floatOf returns a PLAIN float of either size.
func floatOf(b []byte) (f float64, ok bool) {
	switch len(b) {
	case 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), true
	case 8:
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), true
	}
	return 0, false
}

// decodable reports whether a GPU decodes the pages of a column chunk.
func decodable(m *parquet.ChunkMeta, c *parquet.Column) bool {
	switch m.Codec {
	case parquet.Uncompressed, parquet.Snappy:
	case parquet.Zstd, parquet.Gzip, parquet.Brotli, parquet.LZ4Raw: // the host decompresses
	default:
		return false
	}
	if m.Packed > maxChunk || m.Bytes > maxChunk || c.Type == parquet.ByteArray && !m.HasPlaces() {
		return false
	}
	for _, e := range m.Encodings {
		switch e {
		case parquet.Plain, parquet.RLE, parquet.PlainDictionary, parquet.RLEDictionary:
		case parquet.DeltaBinaryPacked, parquet.ByteStreamSplit:
		case parquet.BitPacked: // of levels, if there are any
			if c.Definition > 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// deviceBytes returns for how many bytes of a column chunk a GPU saves the host
// the work. It does not decompress all codecs. Of decoding PLAIN values of Zstd
// and LZ4, decompressing them is half or more, of Gzip and Brotli nearly all;
// of decoding differences it is a twentieth.
func deviceBytes(m *parquet.ChunkMeta, decodable bool) int64 {
	switch {
	case !decodable:
		return 0
	case parquet.IsRaw(m.Codec), slices.Contains(m.Encodings, parquet.DeltaBinaryPacked):
		return m.Packed
	case m.Codec == parquet.Zstd || m.Codec == parquet.LZ4Raw:
		return (m.Packed + 1) / 2
	}
	return 0
}

// packedBytes returns the size of the pages of a field in the file.
func (p *parquetLoad) packedBytes(i int) (n int64) {
	for g := range p.file.Groups {
		n += p.file.Groups[g].Chunks[p.fields[i].index].Meta.Packed
	}
	return n
}

// keepsEncoded decides whether fields stay encoded, once it is known which are
// tested. Then no rows are selected: that pays if a GPU decodes most of what is
// to be decoded, and if statistics do not leave out much of it. The host would
// have to decode each value that is tested, for partners too, and the GPU
// decodes all values of a column sooner.
func (p *parquetLoad) keepsEncoded() bool {
	if p.encodable == nil || p.opts.SelectAlways {
		return false
	}
	tested, testable, some := false, false, false
	device, host := int64(0), int64(0)
	for i, e := range p.encodable {
		if p.absent[i] {
			continue
		}
		if t := p.tests[i]; t != nil {
			tested, testable = true, testable || e != nil
		}
		some = some || e != nil
		for g := range p.file.Groups {
			m := p.file.Groups[g].Chunks[p.fields[i].index].Meta
			onDevice := deviceBytes(m, e != nil)
			device, host = device+onDevice, host+m.Packed-onDevice
		}
	}
	if !tested {
		return some
	}
	return testable && device >= host && !p.leavesGroups()
}

// leavesGroups reports whether the statistics leave out more than half of the
// row groups.
func (p *parquetLoad) leavesGroups() bool {
	left := 0
	for g := range p.file.Groups {
		for i := range p.fields {
			if p.excludes(i, g) {
				left++
				break
			}
		}
	}
	return left > len(p.file.Groups)/2
}

// keepEncoded makes the columns of fields that stay encoded. It offers them
// before it samples them, unless the sample may show that they are to be
// decoded.
func (p *parquetLoad) keepEncoded(ctx context.Context) error {
	if !p.allProven() || !p.keepsEncoded() {
		return nil
	}
	p.tests = make([]*Test, len(p.fields))
	var made []*encodedField
	for _, i := range p.order {
		if _, isRead := p.proved[i]; p.encodable[i] == nil || isRead {
			continue
		}
		f, err := p.makeEncoded(ctx, i)
		if err != nil {
			return err
		}
		if f != nil {
			made = append(made, f)
		}
	}
	for _, f := range made {
		if !f.mayAscend {
			p.keepField(f)
		}
	}
	if err := p.sampleFields(ctx, made); err != nil {
		return err
	}
	for _, f := range made {
		if f.mayAscend && p.data[f.field].sample.Rising < 1 {
			p.keepField(f)
		}
	}
	p.order = slices.DeleteFunc(p.order, func(i int) bool {
		return slices.ContainsFunc(made, func(f *encodedField) bool {
			return f.field == i && p.data[i].column != nil
		})
	})
	return nil
}

// encodedField is a field that may stay encoded.
type encodedField struct {
	field  int
	pages  *encodedColumn
	column *store.Column
	// mayAscend says that words may ascend: plans are better if that is
	// certain, which only the host can tell.
	mayAscend bool
}

// makeEncoded returns the column of a field; nil if it cannot stay encoded.
func (p *parquetLoad) makeEncoded(ctx context.Context, i int) (*encodedField, error) {
	e, rows := p.encodable[i], int(p.file.Rows)
	f := &encodedField{field: i, pages: p.newEncoded(p.stayOpen(), i)}
	if p.fields[i].typ.Kind == scalar.String {
		dict, err := f.pages.readTexts(ctx, p.opts.threads())
		if dict == nil || err != nil {
			return nil, err
		}
		f.column = store.NewEncodedStrings(dict, rows, f.pages)
	} else {
		f.column = store.NewEncoded(p.fields[i].typ, rows, f.pages.base, f.pages.step, e.least,
			e.most, f.pages)
	}
	known, isKnown := p.provenStats(i)
	f.mayAscend = e.mayAscend && !isKnown
	if s := &f.column.Stats; isKnown {
		s.Ascending, s.Distinct = known.Ascending, min(known.Distinct, p.file.Rows)
	}
	return f, nil
}

// keepField has a field stay encoded.
func (p *parquetLoad) keepField(f *encodedField) {
	p.data[f.field].column = f.column
	p.report.encoded = append(p.report.encoded, f.column)
	p.report.Encoded = append(p.report.Encoded, p.fields[f.field].name)
	p.offer(f.field)
}

// sampleFields draws the samples of fields that may stay encoded.
func (p *parquetLoad) sampleFields(ctx context.Context, fields []*encodedField) error {
	rows, all := sampledWithNext(int(p.file.Rows)), int(p.file.Rows)
	threads := p.opts.threads()
	each := (threads + len(fields) - 1) / max(len(fields), 1)
	errs := make([]error, len(fields))
	parallel.Do(threads, len(fields), func(k int) {
		f := fields[k]
		words, err := f.pages.Words(ctx, each, rows)
		if err != nil {
			errs[k] = err
			return
		}
		p.data[f.field].sample = store.SampleOf(p.fields[f.field].typ.Kind, all,
			store.ClusteredRows(all), func(row int) int64 {
				at, _ := slices.BinarySearch(rows, uint32(row))
				return words[at]
			})
	})
	return cmp.Or(errs...)
}

// provenStats returns what the proof of a key says of one of its fields.
func (l *load) provenStats(i int) (s store.ColumnStats, known bool) {
	for u, use := range l.source.Uses {
		key := l.args[u][:use.Schema.Keys]
		if stats := l.proofs[proofName(key)]; stats != nil {
			if at := slices.Index(key, i); at >= 0 {
				return stats[at], true
			}
		}
	}
	return s, false
}

// sampledWithNext returns the rows of a sample, and those behind them.
func sampledWithNext(n int) (rows []uint32) {
	for _, r := range store.ClusteredRows(n) {
		for _, row := range []int{r, r + 1} {
			if row < n && (len(rows) == 0 || uint32(row) > rows[len(rows)-1]) {
				rows = append(rows, uint32(row))
			}
		}
	}
	return rows
}

// sampleEncoded draws the sample of a table with columns that stay encoded.
func (l *load) sampleEncoded(t *store.Table) {
	if len(l.report.encoded) == 0 {
		return
	}
	s := &store.Sample{Rows: store.ClusteredRows(t.Rows)}
	for i, c := range t.Columns {
		of := l.data[i].sample
		if c.Encoded == nil {
			of = c.Sample(s.Rows)
		}
		s.Columns = append(s.Columns, of)
	}
	t.Sampled(s)
}

// encodedColumn is the pages of a column of a file.
type encodedColumn struct {
	file       *lateFile
	field      field
	base, step int64
	values     store.EncodedValues
	groups     []int // of each chunk
	chunks     []store.EncodedChunk
	identity   string
	codes      map[string]uint64 // of strings; nil for other types
	rooms      sync.Pool         // of *parquet.Room, to decompress pages
	packed     sync.Pool         // of *[]byte: chunks that the host decompresses
}

// newEncoded returns the pages of a field.
func (p *parquetLoad) newEncoded(open *lateFile, i int) *encodedColumn {
	e, d := p.encodable[i], p.decoders[i]
	c := &encodedColumn{file: open, field: p.fields[i], step: max(d.up, 1)}
	c.base = store.EncodedBase(e.least, e.most, c.step)
	c.rooms.New = func() any { return &parquet.Room{} }
	if p.identity != "" {
		c.identity = fmt.Sprintf("%s column %d as %v", p.identity, c.field.index, c.field.typ)
	}
	c.values = store.EncodedValues{Bytes: 4, Base: c.base / c.step,
		Least: (uint64(e.least) - uint64(c.base)) / uint64(c.step),
		Span:  (uint64(e.most) - uint64(e.least)) / uint64(c.step)}
	if t := d.column.Type; t == parquet.Int64 || t == parquet.Double {
		c.values.Bytes = 8
	}
	if c.field.typ.Kind == scalar.Float {
		c.base = 0
		c.values = store.EncodedValues{Bytes: c.values.Bytes, Span: math.MaxUint64, Float: true,
			Single: c.field.typ.Bits == 32 && c.values.Bytes == 8}
	}
	for g := range p.file.Groups {
		group := &p.file.Groups[g]
		if group.Rows == 0 {
			continue
		}
		from, until := p.file.Span(p.file.size, g, c.field.index)
		m := group.Chunks[c.field.index].Meta
		chunk := store.EncodedChunk{Row: int(p.starts[g]), Rows: int(group.Rows),
			Bytes: int(until - from)}
		switch {
		case m.Codec == parquet.Snappy:
			chunk.Unpacked = int(m.Bytes)
		case !parquet.IsRaw(m.Codec):
			chunk.Bytes = int(m.Bytes)
		}
		c.groups, c.chunks = append(c.groups, g), append(c.chunks, chunk)
	}
	return c
}

// Values says what the pages hold.
func (c *encodedColumn) Values() store.EncodedValues { return c.values }

// Chunks lists the column chunks.
func (c *encodedColumn) Chunks() []store.EncodedChunk { return c.chunks }

// Identity identifies the contents of the column.
func (c *encodedColumn) Identity() string { return c.identity }

// entry returns the entry of a word, and whether the statistics allow it.
func (c *encodedColumn) entry(word int64) (entry uint64, ok bool) {
	distance := uint64(word) - uint64(c.base)
	entry = distance
	if c.step != 1 {
		entry = distance / uint64(c.step)
	}
	return entry, entry-c.values.Least <= c.values.Span
}

// Read reads chunk i into dst, and lists its pages.
func (c *encodedColumn) Read(ctx context.Context, i int, dst []byte,
	pages *store.EncodedPages) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	chunk := &c.chunks[i]
	*pages = store.EncodedPages{Pages: pages.Pages[:0]}
	raw, err := c.readChunk(ctx, c.groups[i], dst)
	if err != nil {
		return err
	}
	rows, unpacked, hasDictionary := 0, 0, false
	err = raw.Spans(func(s parquet.Span) error {
		if s.Packed {
			unpacked += s.Unpacked
		}
		if unpacked > chunk.Unpacked {
			return fmt.Errorf("column %s has more bytes than its metadata say", c.field.name)
		}
		if s.Dictionary {
			if hasDictionary || rows > 0 {
				return fmt.Errorf("column %s has a second dictionary, or a late one", c.field.name)
			}
			hasDictionary = true
			if c.codes != nil {
				return c.textDictionary(raw, s, pages)
			}
			pages.DictionaryPage = pageOf(s, 0)
			return nil
		}
		if (s.Coded || c.codes != nil) && !hasDictionary {
			return fmt.Errorf("column %s has no dictionary", c.field.name)
		}
		if !s.Coded && c.codes != nil {
			return fmt.Errorf("column %s has strings beside its dictionary", c.field.name)
		}
		if s.Values > 0 {
			pages.Pages = append(pages.Pages, pageOf(s, chunk.Row+rows))
		}
		if rows += s.Values; rows > chunk.Rows {
			return fmt.Errorf("column %s has more rows than its row group", c.field.name)
		}
		return nil
	})
	if err == nil && rows < chunk.Rows {
		err = fmt.Errorf("column %s has fewer rows than its row group", c.field.name)
	}
	return err
}

// readChunk reads the chunk of a row group into dst. Pages that a device does
// not decompress are decompressed, several at the same time.
func (c *encodedColumn) readChunk(ctx context.Context, g int, dst []byte) (
	*parquet.RawChunk, error) {
	from, until := c.file.Span(c.file.size, g, c.field.index)
	if parquet.IsRaw(c.file.Groups[g].Chunks[c.field.index].Meta.Codec) {
		if err := readAll(c.file, dst, from); err != nil {
			return nil, c.file.failure(ctx, err)
		}
		return c.file.Raw(dst, g, c.field.index), nil
	}
	room, _ := c.packed.Get().(*[]byte)
	if room == nil {
		room = new([]byte)
	}
	defer c.packed.Put(room)
	packed := slices.Grow((*room)[:0], int(until-from))[:until-from]
	*room = packed
	if err := readAll(c.file, packed, from); err != nil {
		return nil, c.file.failure(ctx, err)
	}
	return c.file.Raw(packed, g, c.field.index).Inflate(dst, c.file.opts.threads(), &c.rooms)
}

// pageOf describes a page whose first value is that of a row.
func pageOf(s parquet.Span, row int) store.EncodedPage {
	return store.EncodedPage{Row: row, Rows: s.Values, From: s.From, Until: s.Until,
		Unpacked: s.Unpacked, Packed: s.Packed, Levels: s.Levels, Coded: s.Coded, Delta: s.Delta,
		Split: s.Split}
}

// Decode sets dst to the entries.
func (c *encodedColumn) Decode(ctx context.Context, threads int, dst []byte) error {
	if c.codes != nil {
		return c.decodeTexts(ctx, threads, dst)
	}
	p, err := c.file.reader(ctx, &c.field, threads)
	if err == nil {
		width := len(dst) / int(p.file.Rows)
		sinks := make([]entrySink, len(p.rooms))
		parallel.By(len(p.rooms), len(c.chunks), func(t, i int) {
			if p.stop(ctx, nil) {
				return
			}
			sinks[t].column, sinks[t].width = c, width
			sinks[t].dst = dst[width*c.chunks[i].Row:][:width*c.chunks[i].Rows]
			part := &columnPart{}
			r := p.decoders[0].reader(p.file, c.groups[i], nil, p.rooms[t], part)
			r.sink = &sinks[t]
			p.stop(ctx, p.readWhole(ctx, r, 0, c.groups[i], part))
		})
		err = p.stopped
	}
	p.ledger.Settle(0)
	if err != nil {
		err = c.file.failure(ctx, err)
	}
	goruntime.KeepAlive(c.file)
	return err
}

// entrySink takes the entries of the rows of a chunk.
type entrySink struct {
	column  *encodedColumn
	width   int
	dst     []byte
	entries []uint64 // of the dictionary
}

// takeDictionary finds the entries of the words of a dictionary.
func (s *entrySink) takeDictionary(d *pageDictionary) error {
	if d.refused != nil {
		return errUnread
	}
	s.entries = slices.Grow(s.entries[:0], len(d.words))[:len(d.words)]
	for i, w := range d.words {
		var ok bool
		if s.entries[i], ok = s.column.entry(w); !ok {
			return errUnread
		}
	}
	return nil
}

// take takes the next n rows of a reader. It returns errUnread if the
// statistics are wrong.
func (s *entrySink) take(r *columnReader, v *parquet.Values, n int) error {
	dst := s.dst[s.width*r.part.rows:][:s.width*n]
	if !v.Coded {
		words := r.room.words[:n]
		if err := r.plain(words, v, r.refuser(r.part.rows)); err != nil {
			return err
		}
		if len(r.part.bad) > 0 || !s.putWords(dst, words) {
			return errUnread
		}
		return nil
	}
	places, err := r.places(v, n)
	if err == nil {
		err = r.checkPlaces(places)
	}
	if err != nil {
		return err
	}
	switch s.width {
	case 1:
		for i, p := range places {
			dst[i] = byte(s.entries[p])
		}
	case 2:
		for i, p := range places {
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(s.entries[p]))
		}
	case 4:
		for i, p := range places {
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(s.entries[p]))
		}
	default:
		for i, p := range places {
			binary.LittleEndian.PutUint64(dst[8*i:], s.entries[p])
		}
	}
	return nil
}

// putWords sets dst to the entries of words. It returns false if the statistics
// exclude one.
func (s *entrySink) putWords(dst []byte, words []int64) bool {
	for i, w := range words {
		entry, ok := s.column.entry(w)
		if !ok {
			return false
		}
		switch s.width {
		case 1:
			dst[i] = byte(entry)
		case 2:
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(entry))
		case 4:
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(entry))
		default:
			binary.LittleEndian.PutUint64(dst[8*i:], entry)
		}
	}
	return true
}

// Words returns the words of rows that ascend.
func (c *encodedColumn) Words(ctx context.Context, threads int, rows []uint32) ([]int64, error) {
	column, _, err := c.file.column(ctx, &c.field, threads, rows)
	if err != nil {
		return nil, err
	}
	words := make([]int64, len(rows))
	column.Read(words, 0)
	for i := range words {
		if c.codes == nil {
			continue
		}
		code, ok := c.codes[column.Dict.String(uint32(words[i]))]
		if !ok {
			return nil, errUnread
		}
		words[i] = int64(code)
	}
	for _, w := range words {
		if _, ok := c.entry(w); !ok {
			return nil, errUnread
		}
	}
	return words, nil
}
