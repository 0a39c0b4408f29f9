package protocol

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// Message is a message from the client: a request, a notification, which has no
// ID, or a response, which has no method.
type Message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
}

// IsRequest reports whether the client waits for a response.
func (m *Message) IsRequest() bool { return m.Method != "" && len(m.ID) > 0 }

// Error is a failure of one request, as the client gets it.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Failed is the error of a request that is valid and cannot be done.
func Failed(format string, args ...any) *Error {
	return &Error{Code: int(LSPErrorCodesRequestFailed), Message: fmt.Sprintf(format, args...)}
}

// maxMessage bounds the length that a header may announce.
const maxMessage = 1 << 30

// Conn reads and writes messages. Reading and writing may go on at the same
// time.
type Conn struct {
	in  *bufio.Reader
	mu  sync.Mutex
	out io.Writer
}

// NewConn returns a connection over two streams.
func NewConn(in io.Reader, out io.Writer) *Conn {
	return &Conn{in: bufio.NewReader(in), out: out}
}

// Read returns the next message. A body that is no message is an *Error, after
// which reading goes on; every other error ends the connection, io.EOF where
// the client has closed it.
func (c *Conn) Read() (*Message, error) {
	length, err := c.readHeader()
	if err != nil {
		return nil, err
	}
	// The buffer grows with what arrives, so a false length costs no memory.
	var body bytes.Buffer
	if _, err := io.CopyN(&body, c.in, int64(length)); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	m := &Message{}
	if err := json.Unmarshal(body.Bytes(), m); err != nil {
		if !json.Valid(body.Bytes()) {
			return nil, &Error{int(ErrorCodesParseError), "the message is not JSON: " + err.Error()}
		}
		return nil, &Error{int(ErrorCodesInvalidRequest), "the message is no request"}
	}
	if string(m.ID) == "null" {
		m.ID = nil
	}
	return m, nil
}

// readHeader reads header lines up to the empty one, and returns the length of
// the body.
func (c *Conn) readHeader() (length int, err error) {
	length = -1
	for first := true; ; first = false {
		line, err := c.in.ReadString('\n')
		if err != nil {
			if first && line == "" && errors.Is(err, io.EOF) {
				return 0, io.EOF
			}
			return 0, io.ErrUnexpectedEOF
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		length, err = strconv.Atoi(strings.TrimSpace(value))
		if err != nil || length < 0 || length > maxMessage {
			return 0, fmt.Errorf("the header %q has no length of a message", line)
		}
	}
	if length < 0 {
		return 0, errors.New("a message has no header Content-Length")
	}
	return length, nil
}

// Notify sends a notification.
func (c *Conn) Notify(method string, params any) error {
	return c.write(struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params})
}

// Call sends a request whose response nobody waits for.
func (c *Conn) Call(id, method string, params any) error {
	return c.write(struct {
		JSONRPC string `json:"jsonrpc"`
		ID      string `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", id, method, params})
}

// Reply answers a request with a result, or with an error if it is not nil. A
// nil ID stands for a request that could not be read.
func (c *Conn) Reply(id json.RawMessage, result any, failure *Error) error {
	if id == nil {
		id = json.RawMessage("null")
	}
	if failure != nil {
		return c.write(struct {
			JSONRPC string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Error   *Error          `json:"error"`
		}{"2.0", id, failure})
	}
	return c.write(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{"2.0", id, result})
}

func (c *Conn) write(message any) error {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(message); err != nil {
		return err
	}
	text := bytes.TrimSuffix(body.Bytes(), []byte("\n"))
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := fmt.Fprintf(c.out, "Content-Length: %d\r\n\r\n%s", len(text), text)
	return err
}
