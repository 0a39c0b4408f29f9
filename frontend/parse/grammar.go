package parse

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The grammar of clauses. One token tells every alternative from the others.
// A formula is taken as a run of tokens here and climbed by the climber: its
// operators would need a rung of the grammar each, and with them participle's
// reflection takes several times longer than everything else of a parse.

// clauseSyntax is one clause with its full stop.
type clauseSyntax struct {
	Left   *formula      `parser:"@@"`
	Arrow  *arrowSyntax  `parser:"( @@"`
	Update *updateSyntax `parser:"| @@ )?"`
	Dot    lexer.Token   `parser:"@Dot"`
}

// arrowSyntax is an arrow and what follows it.
type arrowSyntax struct {
	Arrow lexer.Token `parser:"@(LArrow | RArrow | LLArrow | RRArrow)"`
	P2P   *p2pSyntax  `parser:"@@?"`
	Right *formula    `parser:"@@?"`
}

// updateSyntax is the right side of an abbreviated aggregate.
type updateSyntax struct {
	Op    lexer.Token `parser:"@PlusEq"`
	Right *formula    `parser:"@@"`
}

// p2pSyntax is a predicate-to-predicate specifier.
type p2pSyntax struct {
	Name  lexer.Token   `parser:"@P2P"`
	Open  lexer.Token   `parser:"@LShift"`
	Raw   *lexer.Token  `parser:"( @Raw"`
	Specs []*specSyntax `parser:"| @@ ( Comma @@ )* )?"`
	Close lexer.Token   `parser:"@RShift"`
}

// specSyntax is `out = fn(in)`.
type specSyntax struct {
	Out   lexer.Token `parser:"@Ident Eq"`
	Fn    lexer.Token `parser:"@Ident LParen"`
	In    *formula    `parser:"@@?"`
	Close lexer.Token `parser:"@RParen"`
}

// formula is a run of tokens [From, To) of the token list that is parsed.
type formula struct {
	From, To int
}

// Parse implements participle.Parseable. It takes every token up to the first
// that only a clause has a use for, or that closes a bracket opened before.
func (f *formula) Parse(lex *lexer.PeekingLexer) error {
	f.From = int(lex.RawCursor())
	brackets, braces := 0, 0
	for {
		switch lex.Peek().Type {
		case tokLParen, tokLBracket:
			brackets++
		case tokRParen, tokRBracket:
			if brackets == 0 && braces == 0 {
				return f.finish(lex)
			}
			brackets--
		case tokLBrace, tokQuotedBrace:
			braces++
		case tokRBrace:
			braces--
		case tokDot, tokLArrow, tokRArrow, tokLLArrow, tokRRArrow, tokPlusEq, tokP2P, tokLShift, tokRShift:
			if braces <= 0 {
				return f.finish(lex)
			}
		case tokEOF:
			return f.finish(lex)
		}
		lex.Next()
	}
}

func (f *formula) finish(lex *lexer.PeekingLexer) error {
	f.To = int(lex.RawCursor())
	if f.From == f.To {
		return participle.NextMatch
	}
	return nil
}

// clauseParser is built once: building resolves the grammar by reflection.
var clauseParser = participle.MustBuild[clauseSyntax](
	participle.Lexer(definition{symbols}),
	participle.UseLookahead(0),
)
