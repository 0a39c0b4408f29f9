package read

import (
	"errors"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
)

// TestPlainText has the forms of values that other programs write, and texts
// with which different values may be meant.
func TestPlainText(t *testing.T) {
	for _, c := range []struct {
		t          scalar.Type
		text, want string
	}{
		{scalar.IntType, "1,234", "1234"},
		{scalar.IntType, "1,234,567", "1234567"},
		{scalar.IntType, "1 234", "1234"},
		{scalar.IntType, "+3", "3"},
		{scalar.IntType, "7.0", "7"},
		{scalar.DecimalOf(2), "$1,234.50", "1234.50"},
		{scalar.DecimalOf(2), "1.234,50", "1234.50"},
		{scalar.DecimalOf(2), "2,50", "2.50"},
		{scalar.DecimalOf(2), "1,234,5", ""},
		{scalar.BooleanType, "Yes", "true"},
		{scalar.BooleanType, "FALSE", "false"},
		{scalar.BooleanType, "0", "false"},
	} {
		if got := plainText(c.t, c.text); got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.t, c.text, got, c.want)
		}
	}
}

// TestTextHelp has the errors of texts that are no values advise what to do.
func TestTextHelp(t *testing.T) {
	relation := storetest.Predicate(t, "p(x:string; n:int)")
	function := storetest.Predicate(t, "p[x:string]=n:int")
	for _, c := range []struct {
		schema           store.Schema
		text, want, null string
	}{
		{relation, "a,\"1,234\"\n", "in the form that redfox reads, this is 1234", ""},
		{relation, "x,n\na,?\n", "if it means that there is no value, write --null '?'; " +
			"only a function may lack one: p[x] = n -> string(x), int(n).", ""},
		{function, "x,n\na,NA\n", "if it means that there is no value, write --null 'NA'", ""},
		{function, "x,n\na,NA\n", "", "NA"},
		{relation, "x,n\na,b\n", "", ""},
		{relation, "a,\"1,234\"\nb,5\n", "in the form that redfox reads, this is 1234", ""},
		{function, "a,NA\nb,5\n", "if it means that there is no value, write --null 'NA'", ""},
		{relation, "a,NA\nb,5\n", "--on-error skip leaves such rows out; a function may lack " +
			"a value: p[x] = n -> string(x), int(n).", "NA"},
		{relation, "x,n\na\xe9,1\n", "if the file is in Latin-1, convert it to UTF-8, " +
			"as iconv -f LATIN1 -t UTF-8 FILE does", ""},
		{relation, "a\x00,1\n", "if the file is UTF-16, convert it to UTF-8, " +
			"as iconv -f UTF-16 -t UTF-8 FILE does", ""},
	} {
		o := Options{}
		if c.null != "" {
			o.Null = &c.null
		}
		_, err := tryLoad(c.schema, Fact{Pred: "p", Path: "f", Format: CSV, Sniff: true,
			Reader: strings.NewReader(c.text)}, o)
		var bad *LoadError
		if c.null != "" && err == nil {
			continue
		}
		if !errors.As(err, &bad) || bad.Help != c.want {
			t.Errorf("%q: got %v with the help %+v, want %q", c.text, err, bad, c.want)
		}
	}
}
