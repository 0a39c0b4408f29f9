package parse

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

func boolean(text string, at source.Span) *ast.Literal {
	return &ast.Literal{Span: at, Value: scalar.OfBool(text == "true"), Raw: text}
}

// number decodes a number. minus is the sign directly before it, or the zero
// token. The sign belongs to the literal, because the least integer has no
// positive counterpart.
func (c *climber) number(t, minus token) ast.Node {
	at := c.span(t, t)
	sign := ""
	if minus.kind == tokMinus {
		at.Start = minus.start
		sign = "-"
	}
	lit := &ast.Literal{Span: at, Raw: sign + c.text(t)}
	limit := ""
	switch t.kind {
	case tokInt:
		if v, err := strconv.ParseInt(lit.Raw, 10, 64); err == nil {
			lit.Value = scalar.OfInt(scalar.IntType, v)
		} else if u, err := strconv.ParseUint(lit.Raw, 10, 64); err == nil {
			lit.Value = scalar.OfInt(scalar.UintType, int64(u))
		} else {
			limit = "an integer has 64 bits: from -9223372036854775808, up to 18446744073709551615 where " +
				"it is unsigned; a decimal, such as 5d, has 38 digits"
		}
	case tokDecimal:
		v, err := scalar.ParseDecimal(strings.TrimSuffix(lit.Raw, "d"))
		if err != nil {
			limit = "a decimal has 38 digits"
		}
		lit.Value = v
	case tokFloat:
		v, err := strconv.ParseFloat(strings.TrimSuffix(lit.Raw, "f"), 64)
		if err != nil || math.IsInf(v, 0) {
			limit = "a float is an IEEE double, up to about 1.8e308"
		} else {
			lit.Value = scalar.OfFloat(scalar.FloatType, v)
		}
	}
	if limit != "" {
		c.fail(&diag.Diagnostic{
			Code:    diag.NumberOutOfRange,
			Message: fmt.Sprintf("number %s is out of range", lit.Raw),
			Span:    at,
			Notes:   []string{limit},
		})
		return broken
	}
	return lit
}

// strings decodes a string literal and the ones directly after it, which
// continue it.
func (c *climber) strings() ast.Node {
	first := c.take()
	text, ok := c.unquote(first)
	value, raw := []string{text}, []string{c.text(first)}
	for ok && c.kind() == tokString {
		t := c.take()
		text, ok = c.unquote(t)
		value, raw = append(value, text), append(raw, c.text(t))
	}
	if !ok {
		return broken
	}
	return &ast.Literal{
		Span:  c.span(first, c.last()),
		Value: scalar.OfString(strings.Join(value, "")),
		Raw:   strings.Join(raw, " "),
	}
}

func (c *climber) unquote(t token) (string, bool) {
	n := 1
	if strings.HasPrefix(c.text(t), `"""`) {
		n = 3
	}
	value, bad := unescape(c.text(t)[n : len(c.text(t))-n])
	if bad[1] == 0 {
		return value, true
	}
	at := source.Span{File: c.file, Start: t.start + n + bad[0], End: t.start + n + bad[1]}
	c.fail(&diag.Diagnostic{
		Code:    diag.MalformedEscape,
		Message: fmt.Sprintf("%s is not an escape", at.Text()),
		Span:    at,
		Helps:   []string{`the escapes are \" \\ \n \t \r and \u with four hexadecimal digits; a backslash that stands for itself is doubled`},
	})
	return "", false
}

// layouts are the forms of datetime literals. Seconds may have a fraction. A
// time without a zone is UTC.
var layouts = []string{"2006-01-02", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05",
	"2006-01-02T15:04Z07:00", "2006-01-02T15:04"}

func (c *climber) datetime(t token) ast.Node {
	text := strings.Trim(c.text(t), "#")
	for _, layout := range layouts {
		if v, err := time.Parse(layout, text); err == nil {
			return &ast.Literal{Span: c.span(t, t), Value: scalar.OfDatetime(v.UnixMicro()),
				Raw: c.text(t)}
		}
	}
	c.fail(&diag.Diagnostic{
		Code:    diag.MalformedDatetime,
		Message: fmt.Sprintf("%s is not a date or a time", c.text(t)),
		Span:    c.span(t, t),
		Helps:   []string{"write year-month-day, or with a time: #1998-09-02#, #1998-09-02T12:00:00Z#"},
	})
	return broken
}
