package parse

import (
	"io"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// The kinds of token. Each operator is a kind of its own, so that the grammar
// compares small integers and a token's Value is always the text as written,
// even where the scanner has taken `==` for `=`.
const (
	tokEOF lexer.TokenType = lexer.EOF

	tokIdent lexer.TokenType = iota // a name, a variable, `_`, or a contextual keyword
	tokInt
	tokDecimal
	tokFloat
	tokString   // with its quotes
	tokDatetime // #...#
	tokQuoted   // `name
	tokRaw      // the text between << and >> that is not LogiQL
	tokP2P      // agg, seq and their kin, before <<

	tokDot         // .
	tokComma       // ,
	tokSemicolon   // ;
	tokNot         // !
	tokEq          // =
	tokNe          // !=
	tokLt          // <
	tokLe          // <=
	tokGt          // >
	tokGe          // >=
	tokPlus        // +
	tokMinus       // -
	tokStar        // *
	tokSlash       // /
	tokCaret       // ^
	tokAt          // @
	tokColon       // :
	tokPlusEq      // +=
	tokLArrow      // <-
	tokRArrow      // ->
	tokLLArrow     // <--
	tokRRArrow     // -->
	tokLShift      // <<
	tokRShift      // >>
	tokLParen      // (
	tokRParen      // )
	tokLBracket    // [
	tokRBracket    // ]
	tokLBrace      // {
	tokRBrace      // }
	tokQuotedBrace // `{
	tokBad         // a character that LogiQL has no use for, reported by the scanner
)

// symbols names the kinds for the grammar's struct tags.
var symbols = map[string]lexer.TokenType{
	"EOF": tokEOF, "Ident": tokIdent, "Int": tokInt, "Decimal": tokDecimal,
	"Float": tokFloat, "String": tokString, "Datetime": tokDatetime,
	"Quoted": tokQuoted, "Raw": tokRaw, "P2P": tokP2P,
	"Dot": tokDot, "Comma": tokComma, "Semicolon": tokSemicolon, "Not": tokNot,
	"Eq": tokEq, "Ne": tokNe, "Lt": tokLt, "Le": tokLe, "Gt": tokGt, "Ge": tokGe,
	"Plus": tokPlus, "Minus": tokMinus, "Star": tokStar, "Slash": tokSlash,
	"Caret": tokCaret, "At": tokAt, "Colon": tokColon, "PlusEq": tokPlusEq,
	"LArrow": tokLArrow, "RArrow": tokRArrow, "LLArrow": tokLLArrow, "RRArrow": tokRRArrow,
	"LShift": tokLShift, "RShift": tokRShift, "LParen": tokLParen, "RParen": tokRParen,
	"LBracket": tokLBracket, "RBracket": tokRBracket, "LBrace": tokLBrace,
	"RBrace": tokRBrace, "QuotedBrace": tokQuotedBrace, "Bad": tokBad,
}

// definition is LogiQL's lexer.Definition. It is needed to build the grammar;
// programs are scanned by newScanner, which also collects comments and
// diagnostics.
type definition struct{ symbols map[string]lexer.TokenType }

// Symbols implements lexer.Definition.
func (d definition) Symbols() map[string]lexer.TokenType { return d.symbols }

// Lex implements lexer.Definition.
func (definition) Lex(filename string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return newScanner(source.NewFile(filename, string(text)), &diag.List{}), nil
}
