package parse

import (
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// Kind is what a token is to a reader of the text.
type Kind uint8

// The kinds of token.
const (
	Name Kind = iota // of a predicate, a variable, a type or a function; also true and false
	Number
	String
	Datetime
	Quoted    // `name
	Specifier // agg, seq and their kin, before <<
	Raw       // what stands between << and >> and is no LogiQL
	Operator
	Bracket
	Comment
	Bad // the scanner reports it
)

// Token is a piece of a file. Blanks are in no token.
type Token struct {
	Kind Kind
	Span source.Span
}

// Tokens returns the tokens of a file in the order of the text, comments among
// them.
func Tokens(f *source.File) []Token {
	s := newScanner(f, &diag.List{})
	scanned := s.all()
	out := make([]Token, 0, len(scanned)+len(s.comments))
	comments := s.comments
	for _, t := range scanned {
		for len(comments) > 0 && comments[0].Span.Start < t.start || t.kind == tokEOF &&
			len(comments) > 0 {
			out = append(out, Token{Comment, comments[0].Span})
			comments = comments[1:]
		}
		if t.kind != tokEOF {
			at := source.Span{File: f, Start: t.start, End: t.end}
			out = append(out, Token{kindOf(t.kind), at})
		}
	}
	return out
}

func kindOf(t lexer.TokenType) Kind {
	switch t {
	case tokIdent:
		return Name
	case tokInt, tokDecimal, tokFloat:
		return Number
	case tokString:
		return String
	case tokDatetime:
		return Datetime
	case tokQuoted:
		return Quoted
	case tokP2P:
		return Specifier
	case tokRaw:
		return Raw
	case tokBad:
		return Bad
	case tokLParen, tokRParen, tokLBracket, tokRBracket, tokLBrace, tokRBrace, tokQuotedBrace:
		return Bracket
	}
	return Operator
}
