package parse

import (
	"io"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// The grammar of clauses. One token tells every alternative from the others.
//
// A formula is one token here, tokFormula, which stands for a run of the
// scanner's tokens; the climber parses the run. With a rung of the grammar for
// every level of operators, participle's reflection makes the program of
// BenchmarkParse take 14 times as long (430 ms for 5,000 lines), and with all
// operators on one rung 10 times.

// clauseSyntax is one clause with its full stop.
type clauseSyntax struct {
	Left   lexer.Token   `parser:"@Formula"`
	Arrow  *arrowSyntax  `parser:"( @@"`
	Update *updateSyntax `parser:"| @@ )?"`
	Dot    lexer.Token   `parser:"@Dot"`
}

// arrowSyntax is an arrow and what follows it.
type arrowSyntax struct {
	Arrow lexer.Token  `parser:"@(LArrow | RArrow | LLArrow | RRArrow)"`
	P2P   *p2pSyntax   `parser:"@@?"`
	Right *lexer.Token `parser:"@Formula?"`
}

// updateSyntax is the right side of an abbreviated aggregate.
type updateSyntax struct {
	Right lexer.Token `parser:"PlusEq @Formula"`
}

// p2pSyntax is a predicate-to-predicate specifier.
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

// clauseParser is built once: building resolves the grammar by reflection.
var clauseParser = participle.MustBuild[clauseSyntax](
	participle.Lexer(definition{symbols}),
	participle.UseLookahead(0),
)

// plainClause takes a clause without reflection if it is a fact, or two formulas and an
// arrow between them, as most are. Of other clauses it takes nothing: the grammar, which
// has these, too, finds what is wrong with them.
func plainClause(lex *lexer.PeekingLexer) (*clauseSyntax, bool) {
	start := lex.MakeCheckpoint()
	left, dot := lex.Next(), lex.Next()
	syntax := &clauseSyntax{Left: *left}
	if _, ok := arrows[dot.Type]; ok {
		syntax.Arrow = &arrowSyntax{Arrow: *dot}
		if dot = lex.Next(); dot.Type == tokFormula {
			syntax.Arrow.Right, dot = dot, lex.Next()
		}
	}
	if left.Type != tokFormula || dot.Type != tokDot {
		lex.LoadCheckpoint(start)
		return nil, false
	}
	syntax.Dot = *dot
	return syntax, true
}

// definition is LogiQL's lexer.Definition at the level of clauses.
type definition struct{ symbols map[string]lexer.TokenType }

// Symbols implements lexer.Definition.
func (d definition) Symbols() map[string]lexer.TokenType { return d.symbols }

// Lex implements lexer.Definition.
func (d definition) Lex(filename string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	p := &parser{file: source.NewFile(filename, string(text)), diags: &diag.List{}}
	tokens, ends := p.split(newScanner(p.file, p.diags).all())
	return &shape{file: p.file, tokens: tokens, ends: ends}, nil
}

// shape is a lexer.Lexer that shows tokens as the grammar of clauses sees them:
// with every formula as one token.
type shape struct {
	file   *source.File
	tokens []token     // end with EOF
	ends   []clauseEnd // of the clauses from next on
	next   int
	// specifier is set between << and >>, where only what stands in
	// parentheses is a formula.
	specifier bool
}

// Next implements lexer.Lexer. The line and column of a token's position are not
// those of the text: they are the range of the tokens that it stands for.
func (s *shape) Next() (lexer.Token, error) {
	from := s.next
	if len(s.ends) > 0 && from == s.ends[0].stop {
		s.ends = s.ends[1:]
		s.specifier = false
	}
	if !s.specifier || s.tokens[from-1].kind == tokLParen {
		if s.next = s.formulaEnd(from); s.next > from {
			return s.token(tokFormula, from), nil
		}
	}
	kind := s.tokens[from].kind
	switch kind {
	case tokLShift:
		s.specifier = true
	case tokRShift:
		s.specifier = false
	}
	if kind != tokEOF {
		s.next++
	}
	return s.token(kind, from), nil
}

// token returns tokens [from, next) as one.
func (s *shape) token(kind lexer.TokenType, from int) lexer.Token {
	out := lexer.Token{Type: kind, Pos: lexer.Position{Offset: s.tokens[from].start, Line: from, Column: s.next}}
	if s.next > from {
		out.Value = s.file.Text[s.tokens[from].start:s.tokens[s.next-1].end]
	}
	return out
}

// formulaEnd returns the index of the first token from the given one on that
// only a clause has a use for, or that closes a bracket opened before.
func (s *shape) formulaEnd(from int) int {
	brackets, braces := 0, 0
	i := from
	for ; len(s.ends) > 0 && i < s.ends[0].stop-1; i++ {
		switch s.tokens[i].kind {
		case tokLParen, tokLBracket:
			brackets++
		case tokRParen, tokRBracket:
			if brackets == 0 && braces == 0 {
				return i
			}
			brackets--
		case tokLBrace, tokQuotedBrace:
			braces++
		case tokRBrace:
			braces--
		case tokLArrow, tokRArrow, tokLLArrow, tokRRArrow, tokPlusEq, tokP2P, tokLShift, tokRShift:
			if braces <= 0 {
				return i
			}
		}
	}
	return i
}
