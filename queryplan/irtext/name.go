package irtext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/redfoxdb/redfox/internal/list"
)

// QuoteName returns a name as texts write it: bare where it reads as one word,
// else between backquotes.
func QuoteName(name string) string {
	if isWord(name) {
		return name
	}
	var b strings.Builder
	b.WriteByte('`')
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, name[i])
		case r == '`' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteString(name[i : i+size])
		}
		i += size
	}
	b.WriteByte('`')
	return b.String()
}

// QuoteColumn also quotes the names that mean something else in the place of a
// column: that of a left-out column, and the boolean constants.
func QuoteColumn(name string) string {
	if name == "_" || name == "true" || name == "false" {
		return "`" + name + "`"
	}
	return QuoteName(name)
}

// ListColumns words names of columns for a message.
func ListColumns(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(list.Map(names, QuoteColumn), ", ")
}

func isWord(s string) bool {
	if s == "" || startsLiteral(s) || strings.Contains(s, "::") {
		return false
	}
	for i, r := range s {
		if r == utf8.RuneError || !isWordRune(r, i == 0) {
			return false
		}
		if r == ':' && i+1 == len(s) {
			return false
		}
	}
	return true
}

// isWordRune reports whether a rune can stand in a bare name, a colon only
// between others.
func isWordRune(r rune, first bool) bool {
	if r == '_' || r == '$' || r == '?' || unicode.IsLetter(r) {
		return true
	}
	return !first && (r == ':' || unicode.IsDigit(r))
}
