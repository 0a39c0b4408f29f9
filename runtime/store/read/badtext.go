package read

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// nullTexts are texts that other programs write for a missing value.
var nullTexts = []string{"NA", "N/A", "NULL", `\N`, "NONE", "NAN", "NIL", "-", "?", "."}

// textHelp advises what to do about a text that is no value of a field, "" if
// nothing about it suggests what is meant.
func (l *load) textHelp(f int, text string) string {
	t := l.fields[f].typ.Joined()
	if t.Kind == scalar.String {
		return encodingHelp(text)
	}
	short := strings.TrimSpace(text)
	if short != "" && l.opts.Null == nil && slices.Contains(nullTexts, strings.ToUpper(short)) {
		help := fmt.Sprintf("if it means that there is no value, write --null '%s'", text)
		if declaration := l.functionOf(f); !l.fields[f].nullable && declaration != "" {
			help += "; only a function may lack one: " + declaration
		}
		return help
	}
	plain := plainText(t, short)
	if plain == "" {
		return ""
	}
	if _, err := scalar.ParseText(t, plain); err != nil {
		return ""
	}
	return fmt.Sprintf("in the form that redfox reads, this is %s", plain)
}

// likeValue reports whether a text is a value of a type in another form, or
// stands for a missing one, rather than the name of a column. A letter may be
// either a truth value or a name.
func likeValue(t scalar.Type, text string) bool {
	if slices.Contains(nullTexts, strings.ToUpper(text)) {
		return true
	}
	_, err := scalar.ParseText(t, plainText(t, strings.TrimSpace(text)))
	return err == nil && t.Kind != scalar.Boolean
}

// encodingHelp advises how to convert a file in which a text is not in UTF-8.
func encodingHelp(text string) string {
	switch {
	case strings.Contains(text, "\x00"):
		return "if the file is UTF-16, " + utf16Help
	case !utf8.ValidString(text):
		return "if the file is in Latin-1, convert it to UTF-8, " +
			"as iconv -f LATIN1 -t UTF-8 FILE does"
	}
	return ""
}

// plainText writes a number, date or truth value in another form than redfox's
// in that form, if only one thing can be meant.
func plainText(t scalar.Type, text string) string {
	switch t.Kind {
	case scalar.Boolean:
		switch strings.ToLower(text) {
		case "t", "yes", "y", "1":
			return "true"
		case "f", "no", "n", "0":
			return "false"
		}
		return strings.ToLower(text)
	case scalar.Int, scalar.Uint, scalar.Decimal, scalar.Float:
		return plainGrouped(strings.Trim(text, " +$€£"))
	}
	return text
}

// plainGrouped writes a number with separators between groups of three digits,
// or with a comma before its fraction, without the ones and with a point.
func plainGrouped(text string) string {
	comma, point := strings.LastIndexByte(text, ','), strings.LastIndexByte(text, '.')
	switch {
	case comma > point && (point >= 0 || len(text)-comma != len(",000")): // 1.234,5 and 2,50
		whole, fraction := text[:comma], text[comma+1:]
		if strings.Contains(whole, ",") {
			return ""
		}
		return strings.ReplaceAll(whole, ".", "") + "." + fraction
	case comma >= 0:
		return strings.ReplaceAll(text, ",", "")
	}
	return strings.TrimSuffix(strings.NewReplacer(" ", "", "'", "", "_", "").Replace(text), ".0")
}
