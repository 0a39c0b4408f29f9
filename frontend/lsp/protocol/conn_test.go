package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestRead reads messages with the headers that clients send.
func TestRead(t *testing.T) {
	c := NewConn(strings.NewReader("Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n"+
		"content-length: 27\r\n\r\n{\"id\": 1, \"method\": \"m/é\"}"+
		"Content-Length:37\n\n{\"method\": \"exit\", \"params\": {\"a\": 1}}"), nil)
	m, err := c.Read()
	if err != nil || m.Method != "m/é" || !m.IsRequest() {
		t.Fatalf("got %v, %v", m, err)
	}
	m, err = c.Read()
	if err == nil {
		t.Errorf("a body that is one byte short gives %v", m)
	}
	var wrong *Error
	if !errors.As(err, &wrong) || wrong.Code != int(ErrorCodesParseError) {
		t.Errorf("got %v", err)
	}
}

// TestReadEnds ends a connection whose framing is lost.
func TestReadEnds(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "EOF",
		"Content-Length: 5\r\n":            "unexpected EOF",
		"Content-Length: 5\r\n\r\n{}":      "unexpected EOF",
		"Content-Length: 99999999\r\n\r\n": "unexpected EOF",
		"Content-Length: -1\r\n\r\n":       `the header "Content-Length: -1" has no length of a message`,
		"Content-Length: 9e9\r\n\r\n":      `the header "Content-Length: 9e9" has no length of a message`,
		"GET / HTTP/1.1\r\n\r\n":           "a message has no header Content-Length",
	} {
		_, err := NewConn(strings.NewReader(text), nil).Read()
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	_, err := NewConn(strings.NewReader(""), nil).Read()
	if !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
}

// TestWrite compares messages byte for byte.
func TestWrite(t *testing.T) {
	var out bytes.Buffer
	c := NewConn(nil, &out)
	for _, err := range []error{
		c.Reply([]byte("1"), nil, nil),
		c.Reply([]byte(`"x"`), "é<-", nil),
		c.Reply(nil, nil, Failed("no %s", "p")),
		c.Notify("n", Position{1, 2}),
		c.Call("w", "m", []int{}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	want := ""
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"result":null}`,
		`{"jsonrpc":"2.0","id":"x","result":"é<-"}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32803,"message":"no p"}}`,
		`{"jsonrpc":"2.0","method":"n","params":{"line":1,"character":2}}`,
		`{"jsonrpc":"2.0","id":"w","method":"m","params":[]}`,
	} {
		want += fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
