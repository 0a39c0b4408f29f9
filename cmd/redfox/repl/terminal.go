package repl

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"
)

// The prompts of a first line and of those after it.
const (
	first = "redfox> "
	more  = "     .. "
)

// ErrStopped is the cause of a context that Ctrl-C has ended.
var ErrStopped = errors.New("stopped")

// Talk reads lines until they end. On a terminal it shows a prompt, edits lines
// and keeps their history; Ctrl-C abandons a line, or stops what a line has
// begun.
func (p *Prompt) Talk(ctx context.Context, in io.Reader, out *bufio.Writer) error {
	file, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return p.script(ctx, in, out)
	}
	t := newTerminal(p, file)
	defer t.history.save()
	// Between lines, too, the terminal makes a signal of Ctrl-C.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	for {
		t.edit.SetPrompt(first)
		if p.Pending() {
			t.edit.SetPrompt(more)
		}
		select {
		case <-signals: // what it was to stop has ended
		default:
		}
		line, err := t.read()
		switch {
		case t.keys.interrupted:
			t.keys.interrupted = false
			p.Abandon()
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		quit := p.interruptible(ctx, signals, line)
		if err := out.Flush(); err != nil || quit || ctx.Err() != nil {
			return err
		}
	}
}

// script takes lines that nobody types.
func (p *Prompt) script(ctx context.Context, in io.Reader, out *bufio.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		quit := p.Line(ctx, lines.Text())
		if err := out.Flush(); err != nil || quit || ctx.Err() != nil {
			return err
		}
	}
	if p.Pending() {
		p.Line(ctx, ".")
	}
	return errors.Join(lines.Err(), out.Flush())
}

// interruptible takes a line, which a signal stops.
func (p *Prompt) interruptible(ctx context.Context, signals <-chan os.Signal,
	line string) (quit bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-signals:
			cancel(ErrStopped)
		case <-ctx.Done():
		}
	}()
	return p.Line(ctx, line)
}

// terminal edits lines. Between them the terminal is in its usual mode, in
// which Ctrl-C is a signal.
type terminal struct {
	file    *os.File
	edit    *term.Terminal
	keys    *keys
	history *history
}

func newTerminal(p *Prompt, file *os.File) *terminal {
	k := &keys{Reader: file}
	t := &terminal{file: file, keys: k, history: openHistory()}
	t.edit = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{k, os.Stdout}, first)
	t.edit.History = t.history
	t.edit.AutoCompleteCallback = p.complete
	return t
}

func (t *terminal) read() (string, error) {
	fd := int(t.file.Fd())
	state, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	if width, height, err := term.GetSize(fd); err == nil && width > 0 {
		if err := t.edit.SetSize(width, height); err != nil {
			return "", errors.Join(err, term.Restore(fd, state))
		}
	}
	line, err := t.edit.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	return line, errors.Join(err, term.Restore(fd, state))
}

// keys turns Ctrl-C, which would end the input, into the keys that clear the
// line and enter it.
type keys struct {
	io.Reader
	interrupted bool
}

// Read implements io.Reader.
func (k *keys) Read(b []byte) (int, error) {
	if len(b) < 3 {
		return k.Reader.Read(b)
	}
	n, err := k.Reader.Read(b[:len(b)-2])
	if i := slices.Index(b[:n], ctrlC); i >= 0 {
		k.interrupted = true
		n = i + copy(b[i:], endOfLine+clearLine+"\r")
	}
	return n, err
}

// Keys of the terminal.
const (
	ctrlC     = 3
	endOfLine = "\x05"
	clearLine = "\x15"
)

// complete completes the name before the cursor at the key Tab.
func (p *Prompt) complete(line string, pos int, key rune) (string, int, bool) {
	if key != '\t' {
		return "", 0, false
	}
	start := pos
	for start > 0 && isNameByte(line[start-1]) {
		start--
	}
	word := line[start:pos]
	if word == "" || word == ":" && start > 0 {
		return "", 0, false
	}
	whole := common(word, p.completions(word, start))
	return line[:start] + whole + line[pos:], start + len(whole), true
}

func isNameByte(c byte) bool {
	return c == ':' || c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' ||
		c >= 'A' && c <= 'Z' || c >= 0x80
}

// completions lists the names that begin with a word: commands at the start of
// a line, else predicates and functions.
func (p *Prompt) completions(word string, start int) []string {
	var all []string
	if start == 0 && strings.HasPrefix(word, ":") {
		for _, c := range commands {
			all = append(all, ":"+c.name)
		}
	} else {
		preds, err := p.predicates(context.Background())
		if err != nil {
			return nil
		}
		for _, q := range preds {
			all = append(all, q.Name)
		}
		all = append(all, functions()...)
	}
	return slices.DeleteFunc(all, func(name string) bool { return !strings.HasPrefix(name, word) })
}

// common returns the longest text with which all names begin; the word itself
// if there is none.
func common(word string, names []string) string {
	if len(names) == 0 {
		return word
	}
	out := names[0]
	for _, name := range names[1:] {
		for !strings.HasPrefix(name, out) {
			out = out[:len(out)-1]
		}
	}
	return out
}

// history is the lines of this conversation and of earlier ones.
type history struct {
	path  string // "" if it is not kept
	lines []string
	added int
}

// maxHistory bounds the lines that are kept.
const maxHistory = 1000

// openHistory reads the history. It is kept where there is a folder for it.
func openHistory() *history {
	h := &history{}
	dir, err := os.UserCacheDir()
	if err != nil {
		return h
	}
	h.path = filepath.Join(dir, "redfox", "history")
	if text, err := os.ReadFile(h.path); err == nil {
		h.lines = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	}
	return h
}

// save writes what was added. A history that cannot be written is lost, and
// nothing else.
func (h *history) save() {
	if h.path == "" || h.added == 0 {
		return
	}
	lines := h.lines[max(0, len(h.lines)-maxHistory):]
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err == nil {
		_ = os.WriteFile(h.path, []byte(strings.Join(lines, "\n")+"\n"), 0o600)
	}
}

// Add implements term.History.
func (h *history) Add(entry string) {
	if entry != "" && (len(h.lines) == 0 || h.lines[len(h.lines)-1] != entry) {
		h.lines = append(h.lines, entry)
		h.added++
	}
}

// Len implements term.History.
func (h *history) Len() int { return len(h.lines) }

// At implements term.History: 0 is the latest line.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }
