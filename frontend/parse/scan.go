package parse

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// scanner splits a file into tokens by hand, because a table of regular
// expressions would take most of the time of a parse. It never fails. It
// reports what it does not understand. Where the intent is plain (`:-`, `==`,
// `&&`), it goes on with the token that was meant, so that one slip costs one
// diagnostic.
type scanner struct {
	file     *source.File
	text     string
	pos      int
	diags    *diag.List
	comments []*ast.Comment

	// rawPending is set between the name of a P2P whose brackets hold no
	// LogiQL, such as series, and its <<. rawNext is set between << and the
	// text.
	rawPending, rawNext bool
	badEncoding         bool // invalid UTF-8 or NUL has been reported
	preprocessor        bool // a directive of the C preprocessor has been reported
}

// numbers matches the specifier of seq<<i = number(...)>>, which is LogiQL. In
// LogicBlox 3 other text stands there, which has no meaning.
var numbers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*<<\s*[\pL_?][\pL\d_?$]*\s*=\s*\w+\s*(\(|>>)`)
})

func newScanner(f *source.File, diags *diag.List) *scanner {
	s := &scanner{file: f, text: f.Text, diags: diags}
	if strings.HasPrefix(s.text, "\ufeff") {
		s.pos = len("\ufeff")
	}
	return s
}

// p2pNames are the words that introduce a predicate-to-predicate rule when <<
// follows. The value says whether the text between << and >> is LogiQL.
var p2pNames = map[string]bool{
	"agg": true, "seq": false, "list": false, "list_to_seq": false,
	"series": false, "predict": false, "uid": false,
}

// all returns the tokens of the file, EOF last.
func (s *scanner) all() []token {
	tokens := make([]token, 0, len(s.text)/4+16)
	for {
		t := s.token()
		tokens = append(tokens, t)
		if t.kind == tokEOF {
			return tokens
		}
	}
}

// token returns the next token.
func (s *scanner) token() token {
	if s.rawNext {
		s.rawNext = false
		return s.raw()
	}
	s.skipBlanks()
	start := s.pos
	if start >= len(s.text) {
		return token{kind: tokEOF, start: start, end: start}
	}
	kind := s.scan()
	return token{kind: kind, start: start, end: s.pos}
}

// span returns the span from start to the current position.
func (s *scanner) span(start int) source.Span {
	return source.Span{File: s.file, Start: start, End: s.pos}
}

func (s *scanner) report(d *diag.Diagnostic) {
	d.Severity = diag.Error
	s.diags.Add(d)
}

// skipBlanks passes over blanks, comments and line markers.
func (s *scanner) skipBlanks() {
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			s.pos++
		case c == '/' && s.at(1) == '/':
			s.lineComment()
		case c == '/' && s.at(1) == '*':
			s.blockComment()
		case c == '#' && s.isLineMarker():
			s.lineComment()
		case c == '#' && s.isDirective():
			s.directive()
		case c == '#' && !isDigit(s.at(1)):
			s.hashComment()
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s.text[s.pos:])
			if !unicode.IsSpace(r) && r != '\ufeff' {
				return
			}
			s.pos += size
		default:
			return
		}
	}
}

// at returns the byte n places ahead, or 0 at the end.
func (s *scanner) at(n int) byte {
	if s.pos+n < len(s.text) {
		return s.text[s.pos+n]
	}
	return 0
}

// lineComment consumes the rest of the line, without blanks at its end, as a
// comment.
func (s *scanner) lineComment() {
	start := s.pos
	rest := s.text[start:]
	if n := strings.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	s.pos += len(strings.TrimRightFunc(rest, unicode.IsSpace))
	s.keepComment(start)
}

func (s *scanner) blockComment() {
	start := s.pos
	if n := strings.Index(s.text[start+2:], "*/"); n >= 0 {
		s.pos = start + 2 + n + 2
		s.keepComment(start)
		return
	}
	s.pos = start + 2
	s.report(&diag.Diagnostic{
		Code:    diag.UnterminatedComment,
		Message: "comment is never closed",
		Span:    s.span(start),
		At:      "this comment runs to the end of the file",
		Helps:   []string{"close it with */"},
	})
	s.pos = len(s.text)
	s.keepComment(start)
}

// hashComment reports a comment in the style of other languages, and keeps it
// as a comment.
func (s *scanner) hashComment() {
	start := s.pos
	s.lineComment()
	s.report(&diag.Diagnostic{
		Code:    diag.HashComment,
		Message: "# does not start a comment",
		Span:    s.span(start),
		Helps:   []string{"comments start with //, or stand between /* and */"},
	})
}

// directives of the C preprocessor.
var directives = []string{"include", "define", "undef", "ifdef", "ifndef", "if", "elif", "else",
	"endif", "error", "pragma"}

// isDirective recognises a directive of the C preprocessor.
func (s *scanner) isDirective() bool {
	rest := s.text[s.pos+1:]
	end := strings.IndexFunc(rest, func(r rune) bool { return r < 'a' || r > 'z' })
	if end < 0 {
		end = len(rest)
	}
	return slices.Contains(directives, rest[:end]) && s.startsLine()
}

// directive consumes a directive with the lines that a backslash adds to it. It
// reports the first one of a file.
func (s *scanner) directive() {
	start := s.pos
	s.lineComment()
	span := s.span(start)
	for strings.HasSuffix(s.text[start:s.pos], "\\") && s.pos+1 < len(s.text) {
		s.pos += strings.IndexByte(s.text[s.pos:], '\n') + 1
		start = s.pos
		s.lineComment()
	}
	if s.preprocessor {
		return
	}
	s.preprocessor = true
	whole := strings.TrimSuffix(s.file.Name, ".logic") + ".i.logic"
	s.report(&diag.Diagnostic{
		Code:    diag.Preprocessor,
		Message: "this is a directive of the C preprocessor, which is not part of LogiQL",
		Span:    span,
		Helps: []string{"run the C preprocessor first: cpp -undef -nostdinc " + s.file.Name + " " +
			whole + "; messages about " + whole + " show the files that it is made of"},
	})
}

// keepComment records text as a comment, after checking its bytes.
func (s *scanner) keepComment(start int) {
	s.checkEncoding(start, s.pos)
	s.comments = append(s.comments, &ast.Comment{Span: s.span(start), Text: s.text[start:s.pos]})
}

// isLineMarker recognises `#line 3 "file"` and the C preprocessor's `# 3
// "file"`, alone on a line.
func (s *scanner) isLineMarker() bool {
	if !s.startsLine() {
		return false
	}
	rest := s.text[s.pos+1:]
	rest = strings.TrimPrefix(rest, "line")
	digits := strings.TrimLeft(rest, " \t")
	return len(digits) < len(rest) && digits != "" && isDigit(digits[0])
}

// startsLine reports whether only blanks stand before the position on its line.
func (s *scanner) startsLine() bool {
	for i := s.pos - 1; i >= 0 && s.text[i] != '\n'; i-- {
		if s.text[i] != ' ' && s.text[i] != '\t' {
			return false
		}
	}
	return true
}

// rawEnd returns the offset of the >> that closes a << before the current
// position, or -1. The text in between has no << and no arrow, which would
// belong to another clause. In f<-5, 5> it is a bracket and a sign.
func (s *scanner) rawEnd() int {
	inside, _, closed := strings.Cut(s.text[s.pos:], ">>")
	if !closed || strings.Contains(inside, "<<") || strings.Contains(inside, "->") {
		return -1
	}
	for i := 0; i+2 < len(inside); i++ {
		if inside[i:i+2] == "<-" && !isDigit(inside[i+2]) {
			return -1
		}
	}
	return s.pos + len(inside)
}

// raw takes everything before >> as one token.
func (s *scanner) raw() token {
	start := s.pos
	s.pos = s.rawEnd()
	s.checkEncoding(start, s.pos)
	return token{kind: tokRaw, start: start, end: s.pos}
}

// single maps bytes to the operators of one byte.
var single = [128]lexer.TokenType{
	'.': tokDot, ',': tokComma, ';': tokSemicolon, '!': tokNot, '=': tokEq, '<': tokLt, '>': tokGt,
	'+': tokPlus, '-': tokMinus, '*': tokStar, '/': tokSlash, '^': tokCaret, '@': tokAt,
	':': tokColon, '(': tokLParen, ')': tokRParen, '[': tokLBracket, ']': tokRBracket,
	'{': tokLBrace, '}': tokRBrace,
}

// operator is a sign of several bytes.
type operator struct {
	text string
	kind lexer.TokenType
	// meant is the LogiQL operator for one of another language.
	meant string
}

// operators by their first byte, longest first.
var operators = [128][]operator{
	'<': {{"<--", tokLLArrow, ""}, {"<-", tokLArrow, ""}, {"<=", tokLe, ""}, {"<<", tokLShift, ""},
		{"<>", tokNe, "!="}},
	'-': {{"-->", tokRRArrow, ""}, {"->", tokRArrow, ""}},
	'!': {{"!==", tokNe, "!="}, {"!=", tokNe, ""}},
	'>': {{">=", tokGe, ""}, {">>", tokRShift, ""}},
	'+': {{"+=", tokPlusEq, ""}},
	'=': {{"===", tokEq, "="}, {"==", tokEq, "="}, {"=>", tokRArrow, "->"}, {"=<", tokLe, "<="},
		{`=\=`, tokNe, "!="}, {"=:=", tokEq, "="}},
	'\\': {{`\==`, tokNe, "!="}, {`\=`, tokNe, "!="}, {`\+`, tokNot, "!"}},
	':':  {{":-", tokLArrow, "<-"}, {":=", tokEq, "="}},
	'&':  {{"&&", tokComma, ","}, {"&", tokComma, ","}},
	'|':  {{"||", tokSemicolon, ";"}, {"|", tokSemicolon, ";"}},
	'~':  {{"~=", tokNe, "!="}, {"~", tokNot, "!"}},
}

// operatorHelp says what signs mean that have several meanings in other
// languages.
var operatorHelp = map[string]string{
	"=>": "write >= to compare, and -> in a constraint",
	"||": "write ; for or, and + to join texts",
}

// isForeign reports whether a text is an operator of another language, which
// the scanner reports.
func isForeign(text string) bool {
	return text != "" && text[0] < utf8.RuneSelf &&
		slices.ContainsFunc(operators[text[0]], func(op operator) bool {
			return op.text == text && op.meant != ""
		})
}

// unicodeOperators are signs that editors and papers use for LogiQL's
// operators.
var unicodeOperators = map[rune]operator{
	'←': {"←", tokLArrow, "<-"}, '→': {"→", tokRArrow, "->"}, '⇐': {"⇐", tokLArrow, "<-"},
	'⇒': {"⇒", tokRArrow, "->"}, '≤': {"≤", tokLe, "<="}, '≥': {"≥", tokGe, ">="},
	'≠': {"≠", tokNe, "!="}, '¬': {"¬", tokNot, "!"}, '∧': {"∧", tokComma, ","},
	'∨': {"∨", tokSemicolon, ";"}, '−': {"−", tokMinus, "-"}, '–': {"–", tokMinus, "-"},
	'×': {"×", tokStar, "*"},
}

// scan consumes one token and returns its kind.
func (s *scanner) scan() lexer.TokenType {
	c := s.text[s.pos]
	switch {
	case c < utf8.RuneSelf && isIdentByte[c] && !isDigit(c):
		return s.ident()
	case isDigit(c):
		return s.number()
	case c == '"':
		return s.str()
	case c == '`':
		return s.quoted()
	case c == '#':
		return s.datetime()
	case c == '?' && isIdentStart(s.text[s.pos+1:]):
		s.pos++
		return s.ident()
	case c == '$' && s.namesBlock():
		return s.ident()
	case c >= utf8.RuneSelf:
		return s.wide()
	}
	for _, op := range operators[c] {
		if !strings.HasPrefix(s.text[s.pos:], op.text) {
			continue
		}
		// v:-1 is a reference mode with a negative number.
		if op.text == ":-" && isDigit(s.at(2)) {
			break
		}
		return s.operator(op)
	}
	if kind := single[c]; kind != 0 {
		s.pos++
		return kind
	}
	return s.unknown()
}

// operator consumes op, and reports it if it belongs to another language.
func (s *scanner) operator(op operator) lexer.TokenType {
	start := s.pos
	s.pos += len(op.text)
	if op.kind == tokLShift && s.rawPending {
		s.rawPending = false
		if s.rawEnd() < 0 {
			s.report(&diag.Diagnostic{
				Code:    diag.UnbalancedBracket,
				Message: "<< is never closed",
				Span:    s.span(start),
				Helps:   []string{"close it with >>, before the formula"},
			})
			return tokBad
		}
		s.rawNext = s.rawEnd() > s.pos
	}
	if op.meant != "" {
		d := &diag.Diagnostic{
			Code:    diag.ForeignOperator,
			Message: fmt.Sprintf("%s is not an operator of LogiQL", op.text),
			Span:    s.span(start),
			At:      "write " + op.meant,
		}
		if help := operatorHelp[op.text]; help != "" {
			d.At = help
		} else {
			d.Replace(d.Span, op.meant)
		}
		s.report(d)
	}
	return op.kind
}

// wide consumes a token that starts with a character outside ASCII.
func (s *scanner) wide() lexer.TokenType {
	r, size := utf8.DecodeRuneInString(s.text[s.pos:])
	if unicode.IsLetter(r) {
		return s.ident()
	}
	if op, ok := unicodeOperators[r]; ok {
		return s.operator(op)
	}
	if r == '“' || r == '”' || r == '‘' || r == '’' {
		return s.foreignString(string(r))
	}
	if r == utf8.RuneError && size <= 1 {
		start := s.pos
		for s.pos < len(s.text) {
			if r, size = utf8.DecodeRuneInString(s.text[s.pos:]); r != utf8.RuneError || size != 1 {
				break
			}
			s.pos++
		}
		s.checkEncoding(start, s.pos)
		return tokBad
	}
	return s.unknown()
}

// unknown reports a character that starts no token, together with those of its
// kind that follow directly.
func (s *scanner) unknown() lexer.TokenType {
	start := s.pos
	r, size := utf8.DecodeRuneInString(s.text[s.pos:])
	if r == 0 {
		for s.at(0) == 0 && s.pos < len(s.text) {
			s.pos++
		}
		s.checkEncoding(start, s.pos)
		return tokBad
	}
	if r == '\'' {
		return s.foreignString("'")
	}
	s.pos += size
	for strings.HasPrefix(s.text[s.pos:], s.text[start:start+size]) {
		s.pos += size
	}
	d := &diag.Diagnostic{
		Code:    diag.UnknownCharacter,
		Message: fmt.Sprintf("character %s has no meaning here", showRune(r)),
		Span:    s.span(start),
	}
	switch r {
	case '%':
		d.Helps = []string{"a comment starts with //; the remainder of a division is int:mod[a, b]"}
	case '?':
		d.Helps = []string{s.questionHelp()}
	case '$':
		d.Helps = []string{"$ may stand inside a name, not before it; seq<<>> numbers tuples"}
	}
	s.report(d)
	return tokBad
}

// questionHelp says what a question mark may mean that is no part of a name.
func (s *scanner) questionHelp() string {
	rest := strings.TrimLeft(s.text[s.pos:], " \t")
	switch {
	case strings.HasPrefix(rest, "-"), rest == "", rest[0] == '\n', rest[0] == '\r', rest[0] == '.':
		return "a question is a rule for _, as in _(x) <- p(x, 1)."
	}
	return "a conditional value is written if x > 1 then 2 else 3; a variable may start with ?, " +
		"directly before its name: ?x"
}

// foreignString reports a string in quotes other than ", and consumes it up to
// its end on the line.
func (s *scanner) foreignString(quote string) lexer.TokenType {
	start := s.pos
	s.pos += len(quote)
	line := s.text[s.pos:]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	closing := quote
	switch quote {
	case "“":
		closing = "”"
	case "‘":
		closing = "’"
	}
	d := &diag.Diagnostic{
		Code:    diag.ForeignQuote,
		Message: fmt.Sprintf("quotation mark %s does not start a string", quote),
		Helps:   []string{`strings stand in straight double quotes: "text"`},
	}
	n := strings.Index(line, closing)
	if n >= 0 {
		s.pos += n + len(closing)
	}
	d.Span = s.span(start)
	if n >= 0 && !strings.ContainsAny(line[:n], "\"\\") {
		d.Replace(d.Span, `"`+line[:n]+`"`)
	}
	s.report(d)
	return tokBad
}

func showRune(r rune) string {
	if unicode.IsPrint(r) {
		return string(r)
	}
	return fmt.Sprintf("U+%04X", r)
}

// checkEncoding reports the first byte of text[start:end] that is not part of
// valid UTF-8, or is NUL. It reports one byte of a file at most.
func (s *scanner) checkEncoding(start, end int) {
	if s.badEncoding {
		return
	}
	part := s.text[start:end]
	if utf8.ValidString(part) && strings.IndexByte(part, 0) < 0 {
		return
	}
	for i := 0; i < len(part); {
		r, size := utf8.DecodeRuneInString(part[i:])
		if r != 0 && (r != utf8.RuneError || size != 1) {
			i += size
			continue
		}
		s.badEncoding = true
		s.report(&diag.Diagnostic{
			Code:    diag.InvalidEncoding,
			Message: fmt.Sprintf("byte 0x%02X is not text", part[i]),
			Span:    source.Span{File: s.file, Start: start + i, End: start + i + 1},
			Notes: []string{"a program is UTF-8 text without NUL bytes; later bytes of this kind are " +
				"not reported"},
			Helps: []string{"convert the file to UTF-8"},
		})
		return
	}
}

// isIdentByte reports whether an ASCII byte can be in a name.
var isIdentByte = func() (t [128]bool) {
	for c := range t {
		t[c] = c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
	}
	return t
}()

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isIdentStart reports whether text starts with a letter or underscore.
func isIdentStart(text string) bool {
	if text == "" {
		return false
	}
	if c := text[0]; c < utf8.RuneSelf {
		return isIdentByte[c] && !isDigit(c)
	}
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r)
}

// identEnd returns the end of the name that starts at offset: letters, digits,
// _, inner $, and colons that join two parts.
func (s *scanner) identEnd(offset int) int {
	text := s.text
	for offset < len(text) {
		c := text[offset]
		switch {
		case c < utf8.RuneSelf && isIdentByte[c] || c == '$':
			offset++
		case c == ':':
			if !isIdentStart(text[offset+1:]) {
				return offset
			}
			offset++
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(text[offset:])
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
				return offset
			}
			offset += size
		default:
			return offset
		}
	}
	return offset
}

// namesBlock reports whether $block:_p is next, a private predicate of another
// file.
func (s *scanner) namesBlock() bool {
	if !isIdentStart(s.text[s.pos+1:]) {
		return false
	}
	return strings.Contains(s.text[s.pos:s.identEnd(s.pos+1)], ":")
}

func (s *scanner) ident() lexer.TokenType {
	start := s.pos
	s.pos = s.identEnd(start)
	if c := s.text[start]; c == 'a' || c == 's' || c == 'l' || c == 'p' || c == 'u' {
		if logiql, ok := p2pNames[s.text[start:s.pos]]; ok && s.angleFollows() {
			rest := s.text[s.pos:]
			s.rawPending = !logiql && !(s.text[start:s.pos] == "seq" && numbers().MatchString(rest))
			return tokP2P
		}
	}
	return tokIdent
}

// angleFollows reports whether the next token is <<.
func (s *scanner) angleFollows() bool {
	rest := strings.TrimLeft(s.text[s.pos:], " \t\r\n")
	return strings.HasPrefix(rest, "<<")
}

// quoted scans `name and `{.
func (s *scanner) quoted() lexer.TokenType {
	start := s.pos
	s.pos++
	switch {
	case s.at(0) == '{':
		s.pos++
		return tokQuotedBrace
	case isIdentStart(s.text[s.pos:]):
		s.pos = s.identEnd(s.pos)
		return tokQuoted
	}
	s.report(&diag.Diagnostic{
		Code:    diag.MalformedQuote,
		Message: "backquote without a predicate name",
		Span:    s.span(start),
		Helps: []string{"a predicate literal is a backquote directly before a name, with no closing " +
			"mark: `edge"},
	})
	return tokBad
}
