package parse

import (
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The grammar of specifiers. One token tells every alternative from the others.
// RATIONALE.md explains why the rest of a clause is parsed by hand.

// p2pSyntax is a predicate-to-predicate specifier: `agg<<n = count()>>`.
type p2pSyntax struct {
	Name  lexer.Token   `parser:"@P2P"`
	Open  lexer.Token   `parser:"@LShift ( Raw"`
	Specs []*specSyntax `parser:"| @@ ( Comma @@ )* )?"`
	Close lexer.Token   `parser:"@RShift"`
}

// specSyntax is `out = fn(in)`.
type specSyntax struct {
	Out   lexer.Token  `parser:"@Ident Eq"`
	Fn    lexer.Token  `parser:"@Ident LParen"`
	In    *lexer.Token `parser:"@Formula?"`
	Close lexer.Token  `parser:"@RParen"`
}

// p2pParser is built once, when a program needs it: building resolves the
// grammar by reflection.
var p2pParser = sync.OnceValue(func() *participle.Parser[p2pSyntax] {
	return participle.MustBuild[p2pSyntax](
		participle.Lexer(definition{
			"EOF": tokEOF, "P2P": tokP2P, "LShift": tokLShift, "RShift": tokRShift, "Raw": tokRaw,
			"Ident": tokIdent, "Eq": tokEq, "Comma": tokComma, "LParen": tokLParen, "RParen": tokRParen,
			"Formula": tokFormula,
		}),
		participle.UseLookahead(0),
	)
})

// definition is the lexer.Definition of the grammar: the names of the tokens in
// its struct tags. The parser is given its tokens and never lexes.
type definition map[string]lexer.TokenType

// Symbols implements lexer.Definition.
func (d definition) Symbols() map[string]lexer.TokenType { return d }

// Lex implements lexer.Definition.
func (definition) Lex(string, io.Reader) (lexer.Lexer, error) { return nil, errors.ErrUnsupported }

// p2pLexer is a lexer.Lexer over the tokens of a clause from a specifier on, in
// which an argument is one token.
type p2pLexer struct {
	*climber
	at, stop int
}

// Next implements lexer.Lexer. The line and column of a token's position are
// not those of the text: they are the range of the tokens that it stands for.
func (l *p2pLexer) Next() (lexer.Token, error) {
	if l.at > l.stop {
		return lexer.EOFToken(lexer.Position{}), nil
	}
	from := l.at
	t := l.tokens[from]
	out := lexer.Token{Type: t.kind, Value: l.text(t)}
	l.at++
	if l.tokens[from-1].kind == tokLParen {
		if end := l.formulaEnd(from, l.stop); end > from {
			out.Type, l.at = tokFormula, end
		}
	}
	out.Pos = lexer.Position{Offset: t.start, Line: from, Column: l.at}
	return out, nil
}

// tokens returns the range of tokens that a token of the grammar stands for.
func tokens(t lexer.Token) run { return run{t.Pos.Line, t.Pos.Column} }

// p2p parses the specifier at a token, and returns the token behind it. If the
// specifier is wrong, the result is nil and the token at which it is.
func (c *climber) p2p(from, stop int) (*p2pSyntax, int) {
	lex, err := lexer.Upgrade(&p2pLexer{climber: c, at: from, stop: stop})
	if err == nil {
		var syntax *p2pSyntax
		syntax, err = p2pParser().ParseFromLexer(lex, participle.AllowTrailing(true))
		if err == nil {
			return syntax, tokens(syntax.Close).to
		}
	}
	at := stop
	if perr, ok := err.(participle.Error); ok {
		isThere := func(t token) bool { return t.start == perr.Position().Offset }
		if n := slices.IndexFunc(c.tokens[from:stop], isThere); n >= 0 {
			at = from + n
		}
	}
	return nil, at
}
