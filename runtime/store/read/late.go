package read

import (
	"context"
	"errors"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Late materialisation: strings that a plan only outputs are not read with the
// other columns of a Parquet file. The column holds row numbers instead, and
// the strings of the answer's rows are read at the end.

// Show marks the string arguments that readers of the facts only output. Load
// defers a column of a Parquet file if the keys of its predicate are proven and
// its pages have at least the given number of bytes. A deferred column has Late
// set.
func (b *Binding) Show(least int64, shown func(pred string, arg int) bool) {
	for i := range b.Sources {
		s := &b.Sources[i]
		if b.IsPart(i) || s.footer == nil || s.Reader != nil {
			continue
		}
		for j := range s.Uses {
			u := &s.Uses[j]
			u.Shown = make([]bool, len(u.Columns))
			for arg, c := range u.Columns {
				u.Shown[arg] = c >= 0 && c < firstPart && arg >= u.Schema.Keys &&
					u.Schema.Args[arg].Type.Kind == scalar.String && s.isWide(c, least) &&
					shown(u.Schema.Name, arg)
			}
		}
	}
}

// LateBytes is the least size of a column's pages for which a second read of
// the file pays; lateRowBytes is the least size for each row.
const (
	LateBytes    = 1 << 16
	lateRowBytes = 8
)

// isWide reports whether a column of a Parquet file reaches both limits.
func (s *Source) isWide(column int, least int64) bool {
	bytes := int64(0)
	for g := range s.footer.Groups {
		bytes += s.footer.Groups[g].Chunks[column].Meta.Bytes
	}
	return bytes >= least && (least == 0 || bytes >= lateRowBytes*s.footer.Rows)
}

// shown reports whether readers only output an argument.
func (u *Use) shown() bool { return slices.Contains(u.Shown, true) }

// putOff selects the fields to defer: those that all of their uses only output.
func (p *parquetLoad) putOff() {
	if !p.allProven() || p.opts.OnError == Skip || len(p.file.Groups) == 0 {
		return
	}
	shown, uses := make([]int, len(p.fields)), make([]int, len(p.fields))
	for u, use := range p.source.Uses {
		for arg, i := range p.args[u] {
			uses[i]++
			if use.Shown != nil && use.Shown[arg] {
				shown[i]++
			}
		}
	}
	for i := range p.fields {
		if shown[i] == 0 || shown[i] < uses[i] || p.tests[i] != nil {
			continue
		}
		if p.late == nil {
			p.late = make([]*lateStrings, len(p.fields))
			p.kept = make([][]int64, len(p.file.Groups))
		}
		p.late[i] = &lateStrings{p.stayOpen(), p.fields[i]}
		p.report.Late = append(p.report.Late, p.fields[i].name)
	}
}

func (p *parquetLoad) isLate(i int) bool { return p.late != nil && p.late[i] != nil }

// keepRows records the selected rows of a row group.
func (p *parquetLoad) keepRows(g, n int, marks []bool) {
	if p.late == nil {
		return
	}
	rows := make([]int64, 0, n)
	for i, m := range marks {
		if m {
			rows = append(rows, p.starts[g]+int64(i))
		}
	}
	p.kept[g] = rows
}

// numberRows fills the columns of deferred fields with the numbers of the
// loaded rows.
func (p *parquetLoad) numberRows() {
	if p.late == nil {
		return
	}
	b := store.NewBuilder(scalar.IntType, nil)
	switch {
	case p.report.Selected:
		for _, rows := range p.kept {
			b.AppendWords(rows)
		}
	default:
		words := make([]int64, min(p.load.rows, batchRows))
		for from := int64(0); from < p.load.rows; from += batchRows {
			n := min(p.load.rows-from, batchRows)
			for i := range words[:n] {
				words[i] = from + int64(i)
			}
			b.AppendWords(words[:n])
		}
	}
	rows := b.Finish()
	for i := range p.fields {
		if p.isLate(i) {
			c := *rows
			c.Late = p.late[i]
			p.data[i].column = &c
		}
	}
}

// lateFile is a Parquet file that stays open as long as a column reads it.
type lateFile struct {
	*parquetFile
	source *Source
	opts   Options
}

// stayOpen keeps the file open until the load is done and no column can read it
// any more; the garbage collector then closes it.
func (p *parquetLoad) stayOpen() *lateFile {
	if p.open != nil {
		return p.open
	}
	open := &lateFile{parquetFile: p.file, source: p.source, opts: *p.opts}
	open.opts.Progress, open.opts.Column = nil, nil
	if p.file.closer != nil {
		goruntime.AddCleanup(open, func(f *parquetFile) { f.Close() }, p.file)
	}
	p.open = open
	return open
}

// reader returns a load that reads one field of the file.
func (f *lateFile) reader(ctx context.Context, fd *field, threads int) (*parquetLoad, error) {
	source := *f.source
	source.leastEncoded = 0
	source.Uses = []Use{{Columns: []int{fd.index}, Schema: store.Schema{
		Args: []store.Field{{Name: fd.name, Type: fd.typ}}}}}
	opts := f.opts
	opts.Threads = threads
	l := &load{source: &source, opts: &opts, started: time.Now(), report: &FileReport{},
		ledger: store.NewLedger(opts.Reserve, opts.Bound)}
	l.plan()
	p := &parquetLoad{load: l, file: f.with(ctx)}
	err := p.plan()
	if err == nil {
		err = p.prepare()
	}
	return p, err
}

// column returns the column of a field's rows, which ascend, and the number of
// bytes that were read.
func (f *lateFile) column(ctx context.Context, fd *field, threads int, rows []uint32) (
	*store.Column, int64, error,
) {
	p, err := f.reader(ctx, fd, threads)
	if err == nil {
		err = p.readRows(ctx, rows)
	}
	goruntime.KeepAlive(f)
	if err != nil {
		p.ledger.Fail(err)
		return nil, 0, f.failure(ctx, err)
	}
	c := p.data[0].column
	bytes := c.Bytes()
	if c.Dict != nil {
		bytes += c.Dict.Bytes()
	}
	p.ledger.Settle(bytes)
	return c, p.bytes, nil
}

// failure adds the name of the file to an error.
func (f *lateFile) failure(ctx context.Context, err error) error {
	if ctx.Err() == nil && !errors.Is(err, errUnread) {
		err = fileError(f.source.Path, err)
	}
	return err
}

// lateStrings reads a column of a Parquet file for few rows.
type lateStrings struct {
	file  *lateFile
	field field
}

// File returns the name of the file.
func (s *lateStrings) File() string { return s.file.source.Path }

// Name returns the name of the column.
func (s *lateStrings) Name() string { return s.field.name }

// ReadRows returns the column of rows, which ascend, and the number of bytes
// that were read.
func (s *lateStrings) ReadRows(ctx context.Context, threads int, rows []uint32) (
	*store.Column, int64, error,
) {
	return s.file.column(ctx, &s.field, threads, rows)
}

// readRows reads the first field for rows that ascend.
func (p *parquetLoad) readRows(ctx context.Context, rows []uint32) error {
	groups := len(p.file.Groups)
	room := p.longest() * int64(len(p.rooms))
	if err := p.ledger.Take("selecting rows of "+p.source.Path, room); err != nil {
		return err
	}
	defer p.ledger.Give(room)
	all := make([][]bool, len(p.rooms))
	parallel.By(len(p.rooms), groups, func(t, g int) {
		from, _ := slices.BinarySearch(rows, uint32(p.starts[g]))
		until := len(rows)
		if g+1 < groups {
			until, _ = slices.BinarySearch(rows, uint32(p.starts[g+1]))
		}
		if from == until || p.stop(ctx, nil) {
			return
		}
		if all[t] == nil {
			all[t] = make([]bool, p.longest())
		}
		marks := all[t][:p.file.Groups[g].Rows]
		clear(marks)
		for _, row := range rows[from:until] {
			marks[int64(row)-p.starts[g]] = true
		}
		part := &p.parts[0][g]
		part.thread = t
		r := p.decoders[0].reader(p.file, g, p.interners[t][0], p.rooms[t], part)
		if until-from < len(marks) {
			r.marks = marks
		}
		err := r.run(ctx, p.file, g)
		if err == nil {
			err = p.whole(0, g, part)
		}
		if err == nil {
			err = p.keep(0, part)
		}
		p.stop(ctx, err)
		p.mu.Lock()
		p.bytes += part.bytes - part.unread
		p.mu.Unlock()
	})
	if p.stopped != nil {
		return p.stopped
	}
	p.load.rows = int64(len(rows))
	p.gather(0, p.parts[0], p.starts)
	_, err := p.joinField(ctx, 0, p.sources)
	return err
}
