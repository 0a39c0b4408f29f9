package read

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/redfoxdb/redfox/internal/sqlite"
	"github.com/redfoxdb/redfox/runtime/store/rfdb"
)

// signatureBytes is the number of bytes of a file that the signatures need.
const signatureBytes = 16

const utf16Help = "convert it to UTF-8, as iconv -f UTF-16 -t UTF-8 FILE does"

// signatures are the first bytes of files that are no facts, whatever their
// names claim, and what to do about them.
var signatures = []struct{ first, what, help string }{
	{"\xff\xfe", "UTF-16 text", utf16Help},
	{"\xfe\xff", "UTF-16 text", utf16Help},
	{"PK\x03\x04", "a ZIP archive", "unpack it, or export a sheet as CSV"},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a document of an office program",
		"export a sheet as CSV"},
	{"BZh91AY&SY", "compressed with bzip2", "decompress it; gzip and Zstandard are read"},
	{"\xfd7zXZ\x00", "compressed with xz", "decompress it; gzip and Zstandard are read"},
	{"\x04\x22\x4d\x18", "compressed with LZ4", "decompress it; gzip and Zstandard are read"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it"},
	{"\x7fELF", "an executable", ""},
	{"%PDF-1.", "a PDF document", ""},
	{sqlite.Magic, "an SQLite database",
		"name it .sqlite, or give its format, as in --fact PRED=sqlite:FILE#TABLE"},
	{arrowMagic, "an Arrow file", "name it .arrow, or give its format, as in --fact PRED=arrow:FILE"},
	{rfdb.Magic, "a database of redfox", "name it .rfdb, and give it with --facts"},
	{"FEA1", "a Feather file of version 1", "convert it to Parquet or to Arrow"},
	{"Obj\x01", "an Avro file", "convert it to Parquet"},
	{"\x89PNG\r\n\x1a\n", "an image", ""},
}

// packed are the first bytes of compressed files that are read as text.
var packed = []struct{ first, what string }{
	{"\x1f\x8b", "compressed with gzip"}, {"\x28\xb5\x2f\xfd", "compressed with Zstandard"},
}

// refuse returns an error if the first bytes of a file are those of no text.
func refuse(head []byte) error {
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.first)) {
			return &LoadError{Reason: "this is " + s.what, Help: s.help}
		}
	}
	return nil
}

// refuseMarkup returns an error if the first bytes are those of a web page, as
// a server sends it in place of a file. A page could be the facts of one column
// of strings.
func refuseMarkup(head []byte) error {
	text := strings.ToLower(string(bytes.TrimLeft(head, textMark+" \t\r\n")))
	if strings.HasPrefix(text, "<!doctype") || strings.HasPrefix(text, "<html") {
		return &LoadError{Reason: "this is a web page",
			Help: "look at it: the server may have sent an error in place of the file"}
	}
	return nil
}

// notParquet is called for a file that is not Parquet despite its name. It
// returns an error that says what the file is, or err if that is not known.
func (s *Source) notParquet(ctx context.Context, err error) error {
	var head []byte
	if at, ok := s.Reader.(io.ReaderAt); ok {
		head = firstBytes(io.NewSectionReader(at, 0, signatureBytes))
	} else if s.Reader == nil {
		f, _, openErr := s.openFile(ctx)
		if openErr != nil {
			return err
		}
		defer f.Close()
		head = firstBytes(f)
	}
	return s.not("a Parquet file", head, err)
}

// not is called for a file whose name claims a format that it does not have. It
// returns an error that says what the file is, by its first bytes, or err if
// that is not known.
func (s *Source) not(what string, head []byte, err error) error {
	if is := refuse(head); is != nil {
		return is
	}
	if is := refuseMarkup(head); is != nil {
		return is
	}
	for _, p := range packed {
		if bytes.HasPrefix(head, []byte(p.first)) {
			return &LoadError{Reason: fmt.Sprintf("this is %s, not %s", p.what, what),
				Help: "decompress it; such a file is compressed inside"}
		}
	}
	if s.Format != Parquet && bytes.HasPrefix(head, []byte("PAR1")) {
		return &LoadError{Reason: "this is a Parquet file, not " + what, Help: "name it .parquet"}
	}
	isControl := func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\r\n", r) }
	for len(head) > 0 && !utf8.Valid(head) && len(head) > signatureBytes-utf8.UTFMax {
		head = head[:len(head)-1] // it may end within a character
	}
	if len(head) > 0 && utf8.Valid(head) && bytes.IndexFunc(head, isControl) < 0 &&
		!bytes.HasPrefix(head, []byte("PAR1")) {
		return &LoadError{Reason: "this is text, not " + what,
			Help: "name it .csv or .tsv, or give its format, as in csv:" + s.Path}
	}
	return err
}

func firstBytes(r io.Reader) []byte {
	head := make([]byte, signatureBytes)
	n, _ := io.ReadFull(r, head) // a short file has fewer
	return head[:n]
}
