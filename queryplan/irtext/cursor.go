package irtext

import (
	"strconv"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Cursor reads the tokens of one line after another. Its methods fail by a
// panic with a *SyntaxError, which Catch turns into a result.
type Cursor struct {
	lexer
	// Tokens are those of the current line that are not read yet.
	Tokens []Token
}

// NewCursor returns a cursor over a text. Name stands for the text in errors
// and spans.
func NewCursor(name, text string) Cursor {
	return Cursor{lexer: lexer{file: source.NewFile(name, text)}}
}

// Catch is deferred by a parser; it stores a failure of the cursor in *err.
func Catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case *SyntaxError:
		*err = r
	default:
		panic(r)
	}
}

// Lines splits the whole text into trees of lines by indentation.
func (c *Cursor) Lines() []*Line { return c.lines() }

// Span returns the place of a line.
func (c *Cursor) Span(ln *Line) source.Span {
	return source.Span{File: c.file, Start: ln.Start, End: ln.End}
}

// IsWord reports whether the token is that bare word.
func (t Token) IsWord(text string) bool { return t.Kind == WordToken && t.Text == text }

// String returns the token as a message names it.
func (t Token) String() string {
	switch t.Kind {
	case EndToken:
		return "the end of the line"
	case NameToken:
		return QuoteName(t.Text)
	}
	return strconv.Quote(t.Text)
}

// FailLine ends the parse with an error at a line.
func (c *Cursor) FailLine(ln *Line, format string, args ...any) {
	c.Fail(ln.Start, ln.End, format, args...)
}

// Unexpected ends the parse with an error that a token is not the one wanted.
func (c *Cursor) Unexpected(t Token, want string) {
	c.Fail(t.Start, t.End, "expected %s, found %s", want, t)
}

// Peek returns the next token; at the end of the line that is an EndToken.
func (c *Cursor) Peek() Token { return c.Tokens[0] }

// Next returns the next token and moves past it, but not past the line's end.
func (c *Cursor) Next() Token {
	t := c.Tokens[0]
	if t.Kind != EndToken {
		c.Tokens = c.Tokens[1:]
	}
	return t
}

// Accept moves past that punctuation if it is next.
func (c *Cursor) Accept(punct string) bool {
	if t := c.Peek(); t.Kind != PunctToken || t.Text != punct {
		return false
	}
	c.Next()
	return true
}

// Expect moves past that punctuation.
func (c *Cursor) Expect(punct string) {
	if !c.Accept(punct) {
		c.Unexpected(c.Peek(), strconv.Quote(punct))
	}
}

// AcceptWord moves past that bare word if it is next.
func (c *Cursor) AcceptWord(word string) bool {
	if !c.Peek().IsWord(word) {
		return false
	}
	c.Next()
	return true
}

// ExpectWord moves past that bare word.
func (c *Cursor) ExpectWord(word string) {
	if !c.AcceptWord(word) {
		c.Unexpected(c.Peek(), strconv.Quote(word))
	}
}

// End expects the end of the line.
func (c *Cursor) End() {
	if t := c.Peek(); t.Kind != EndToken {
		c.Unexpected(t, "the end of the line")
	}
}

// Name reads a name, bare or quoted; what says of what in a message.
func (c *Cursor) Name(what string) string {
	t := c.Next()
	if t.Kind != WordToken && t.Kind != NameToken {
		c.Unexpected(t, what)
	}
	return t.Text
}

// Str reads a string constant.
func (c *Cursor) Str() string {
	t := c.Next()
	if t.Kind != LiteralToken || t.Value.Type != scalar.StringType {
		c.Unexpected(t, "a string")
	}
	return t.Value.Str()
}

// Integer reads an integer of at least 0.
func (c *Cursor) Integer() int64 {
	t := c.Next()
	if t.Kind != LiteralToken || t.Value.Type != scalar.IntType || t.Value.Int() < 0 {
		c.Unexpected(t, "a number of at least 0")
	}
	return t.Value.Int()
}

// Literal reads a constant.
func (c *Cursor) Literal() scalar.Value {
	t := c.Next()
	switch {
	case t.Kind == LiteralToken:
		return t.Value
	case t.IsWord("true"), t.IsWord("false"):
		return scalar.OfBool(t.Text == "true")
	}
	c.Unexpected(t, "a constant")
	return scalar.Value{}
}

// Type reads a type such as decimal[18,2].
func (c *Cursor) Type() scalar.Type {
	t := c.Next()
	if t.Kind != WordToken {
		c.Unexpected(t, "a type")
	}
	text, end := t.Text, t.End
	if c.Accept("[") {
		text, end = c.Brackets(text)
	}
	typ, ok := scalar.ParseType(text)
	if !ok {
		c.Fail(t.Start, end, "there is no type %s", text)
	}
	return typ
}

// Brackets appends the numbers up to a closing bracket to the name of a type
// and returns it with the place where it ends.
func (c *Cursor) Brackets(text string) (string, int) {
	text += "["
	for {
		t := c.Next()
		text += t.Text
		switch {
		case t.Text == "]" && t.Kind == PunctToken:
			return text, t.End
		case t.Kind != LiteralToken && t.Text != ",":
			c.Unexpected(t, "a number or ]")
		}
	}
}

// List reads elements between brackets, separated by commas.
func (c *Cursor) List(element func()) { c.between("[", "]", element) }

// Tuple reads elements between parentheses, separated by commas.
func (c *Cursor) Tuple(element func()) { c.between("(", ")", element) }

func (c *Cursor) between(open, end string, element func()) {
	c.Expect(open)
	for first := true; !c.Accept(end); first = false {
		if !first {
			c.Expect(",")
		}
		element()
	}
}

// Names reads names of columns between brackets.
func (c *Cursor) Names() []string {
	var out []string
	c.List(func() { out = append(out, c.Name("a column")) })
	return out
}
