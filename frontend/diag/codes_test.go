package diag

import (
	"regexp"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/source"
)

func TestCodes(t *testing.T) {
	last := ""
	for _, c := range Codes() {
		if !regexp.MustCompile(`^RF\d{4}$`).MatchString(c.ID) ||
			!regexp.MustCompile(`^[A-Z][A-Za-z0-9]+$`).MatchString(c.Name) {
			t.Errorf("code %s %s is not in the form RF0101 UnboundVariable", c.ID, c.Name)
		}
		if c.ID <= last {
			t.Errorf("%s comes after %s", c.ID, last)
		}
		last = c.ID
		if c.When == "" || c.Fix == "" {
			t.Errorf("%s %s does not say when it is reported and how to fix it", c.ID, c.Name)
		}
		for _, key := range []string{c.ID, c.Name, strings.ToLower(c.ID), strings.ToUpper(c.Name)} {
			if Lookup(key) != c {
				t.Errorf("Lookup(%q) does not find %s", key, c.ID)
			}
		}
		if !strings.HasPrefix(c.Explain(), c.ID+" "+c.Name+"\n\n"+c.When) {
			t.Errorf("Explain of %s is %q", c.ID, c.Explain())
		}
	}
	if Lookup("") != nil || Lookup("RF9999") != nil {
		t.Error("Lookup finds a code that is not there")
	}
}

func TestNewCodeRefusesRepeats(t *testing.T) {
	for _, c := range []*Code{{ID: UnexpectedToken.ID, Name: "Fresh"},
		{ID: "RF9998", Name: UnexpectedToken.Name}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s %s is registered twice", c.ID, c.Name)
				}
			}()
			newCode(c)
		}()
	}
}

func TestSuggest(t *testing.T) {
	for _, test := range []struct {
		name       string
		candidates []string
		want       string
	}{
		{"egde", []string{"node", "edge", "edges"}, "edge"},
		{"Edge", []string{"edgy", "edge"}, "edge"},
		{"string:lenght", []string{"string:like", "string:length"}, "string:length"},
		{"custmer", []string{"consumer", "customer"}, "customer"},
		{"abcd", []string{"abce", "abcf", "abca"}, "abca"},
		{"abcd", []string{"abca", "abcf", "abce"}, "abca"},
		{"p", []string{"q", "r"}, ""},
		{"p", []string{"P"}, "P"},
		{"pq", []string{"p"}, ""},
		{"pq", []string{"pr"}, "pr"},
		{"edge", []string{"edge"}, ""},
		{"reachable", []string{"unrelated"}, ""},
		{"größe", []string{"grösse", "größe2"}, "größe2"},
		{"", []string{"a", ""}, ""},
		{"x", nil, ""},
	} {
		got, ok := Suggest(test.name, test.candidates)
		if got != test.want || ok != (test.want != "") {
			t.Errorf("Suggest(%q, %q) = %q, %t, want %q", test.name, test.candidates, got, ok,
				test.want)
		}
	}
}

func TestListIsSortedWithoutRepeats(t *testing.T) {
	a, b := source.NewFile("a", "xy"), source.NewFile("b", "xy")
	in := func(f *source.File, start int) source.Span {
		return source.Span{File: f, Start: start, End: start + 1}
	}
	one, two := &Code{ID: "RF9001"}, &Code{ID: "RF9002"}
	var l List
	for _, d := range []*Diagnostic{
		{Severity: Error, Code: one, Span: in(b, 0), Message: "5"},
		{Severity: Warning, Code: one, Span: in(a, 1), Message: "4"},
		{Severity: Error, Code: two, Span: in(a, 1), Message: "3"},
		{Severity: Error, Code: one, Span: in(a, 1), Message: "2"},
		{Severity: Error, Code: one, Span: in(a, 1), Message: "2"},
		{Severity: Note, Code: two, Span: in(a, 0), Message: "1"},
		{Severity: Warning, Message: "0"},
	} {
		if l.HasErrors() != (len(l.items) > 0) {
			t.Error("HasErrors is wrong")
		}
		l.Add(d)
	}
	got := ""
	for _, d := range l.All() {
		got += d.Message
	}
	if got != "012345" {
		t.Errorf("order is %s", got)
	}
}
