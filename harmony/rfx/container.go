package rfx

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"unicode/utf8"
)

// Extension ends the names of files of compiled programs.
const Extension = ".rfx"

// Format is the version of the format that this package writes and reads.
const Format = 4

// magic starts every file. It detects damage by a transfer as text: the first
// byte is not ASCII, and the rest has both kinds of line break (as in PNG).
const magic = "\x89RFX\r\n\x1a\n"

// The bounds of a file's parts, far above what any program needs.
const (
	maxTable   = 16 << 20
	maxSection = 1 << 30
)

// section is a named part of a file.
type section struct {
	name string
	data []byte
}

// writeSections writes a file of sections.
func writeSections(w io.Writer, sections []section) error {
	var table []byte
	for _, s := range sections {
		if len(s.name) > math.MaxUint16 || len(s.data) > maxSection {
			return fmt.Errorf("section %.100s is too large: %d bytes, and %d of its name", s.name,
				len(s.data), len(s.name))
		}
		table = binary.LittleEndian.AppendUint16(table, uint16(len(s.name)))
		table = append(table, s.name...)
		table = binary.LittleEndian.AppendUint64(table, uint64(len(s.data)))
		sum := sha256.Sum256(s.data)
		table = append(table, sum[:]...)
	}
	if len(table) > maxTable {
		return fmt.Errorf("the table of %d sections is too large: %d bytes", len(sections),
			len(table))
	}
	head := []byte(magic)
	head = binary.LittleEndian.AppendUint32(head, Format)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(table)))
	head = append(head, table...)
	sum := sha256.Sum256(head)
	if _, err := w.Write(append(head, sum[:]...)); err != nil {
		return err
	}
	for _, s := range sections {
		if _, err := w.Write(s.data); err != nil {
			return err
		}
	}
	return nil
}

// readSections reads the sections of a file and its checksum. Memory is taken
// as the bytes come, so that a length that is a lie costs nothing.
func readSections(r io.Reader) (sections []section, sum string, err error) {
	start, err := take(r, int64(len(magic)))
	if err != nil {
		return nil, "", err
	}
	if string(start) != magic {
		return nil, "", &ForeignError{start}
	}
	cut := &DamageError{Reason: "is cut short"}
	numbers, err := take(r, 8)
	if err != nil {
		return nil, "", err
	}
	if len(numbers) < 8 {
		return nil, "", cut
	}
	// The rest has the format of the version, the checksum included.
	if version := binary.LittleEndian.Uint32(numbers); version != Format {
		return nil, "", &VersionError{version, Format}
	}
	length := binary.LittleEndian.Uint32(numbers[4:])
	if length > maxTable {
		return nil, "",
			&DamageError{Reason: fmt.Sprintf("is altered: it has a table of %d bytes", length)}
	}
	table, err := take(r, int64(length)+sha256.Size)
	if err != nil {
		return nil, "", err
	}
	if len(table) < int(length)+sha256.Size {
		return nil, "", cut
	}
	table, stored := table[:length], table[length:]
	computed := sha256.Sum256(bytes.Join([][]byte{start, numbers, table}, nil))
	if !bytes.Equal(computed[:], stored) {
		return nil, "", &DamageError{Reason: differs(computed[:], stored)}
	}
	if sections, err = readTable(r, table); err != nil {
		return nil, "", err
	}
	if rest, err := take(r, 1); err != nil {
		return nil, "", err
	} else if len(rest) > 0 {
		return nil, "", &DamageError{Section: sections[len(sections)-1].name,
			Reason: "is followed by more than the file has"}
	}
	return sections, hex.EncodeToString(stored), nil
}

// readTable reads the sections that a table lists.
func readTable(r io.Reader, table []byte) ([]section, error) {
	malformed := &DamageError{Reason: "has a table that does not list sections"}
	var out []section
	seen := map[string]bool{}
	for len(table) > 0 {
		if len(table) < 2 {
			return nil, malformed
		}
		n := int(binary.LittleEndian.Uint16(table))
		if len(table) < 2+n+8+sha256.Size {
			return nil, malformed
		}
		name, rest := string(table[2:2+n]), table[2+n:]
		length, sum := binary.LittleEndian.Uint64(rest), rest[8:8+sha256.Size]
		table = rest[8+sha256.Size:]
		if seen[name] || !utf8.ValidString(name) || length > maxSection {
			return nil, malformed
		}
		seen[name] = true
		data, err := take(r, int64(length))
		if err != nil {
			return nil, err
		}
		if uint64(len(data)) < length {
			return nil, &DamageError{name,
				fmt.Sprintf("is cut short: %d of its %d bytes are there", len(data), length)}
		}
		if computed := sha256.Sum256(data); !bytes.Equal(computed[:], sum) {
			return nil, &DamageError{name, differs(computed[:], sum)}
		}
		out = append(out, section{name, data})
	}
	if len(out) == 0 {
		return nil, malformed
	}
	return out, nil
}

// take reads n bytes, or as many as there are.
func take(r io.Reader, n int64) ([]byte, error) {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, n); err != nil && err != io.EOF {
		return nil, err
	}
	return b.Bytes(), nil
}

// differs words two checksums that should be equal.
func differs(computed, stored []byte) string {
	return fmt.Sprintf("is altered: its checksum is %x... and should be %x...", computed[:6],
		stored[:6])
}
