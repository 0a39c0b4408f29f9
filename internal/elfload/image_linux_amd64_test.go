//go:build !android

package elfload

import (
	"debug/elf"
	"fmt"
	"os"
	"strings"
	"testing"
)

// permissions returns the permissions of a mapped page, or "".
func permissions(t *testing.T, address uintptr) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(text)) {
		var from, to uintptr
		var permits string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &permits); err != nil {
			t.Fatal(err)
		}
		if from <= address && address < to {
			return permits
		}
	}
	return ""
}

// TestPermissions holds that no page is writable and executable at once, and
// that Close frees the memory.
func TestPermissions(t *testing.T) {
	i, err := Load([][]byte{file(t, []part{
		{name: ".text", flags: elf.SHF_EXECINSTR, data: make([]byte, 5000)},
		{name: ".rodata", data: make([]byte, 16)},
		{name: ".data", flags: elf.SHF_WRITE, data: make([]byte, 16)},
		{name: ".bss", flags: elf.SHF_WRITE, kind: elf.SHT_NOBITS, zeros: 9000},
	}, []label{
		{name: "code", bind: elf.STB_GLOBAL, section: 1},
		{name: "end", bind: elf.STB_GLOBAL, section: 1, value: 4999},
		{name: "constant", bind: elf.STB_GLOBAL, section: 2},
		{name: "variable", bind: elf.STB_GLOBAL, section: 3},
		{name: "zero", bind: elf.STB_GLOBAL, section: 4, value: 8999},
		{name: "hidden", section: 1},
	})}, outside)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]uintptr{}
	for symbol, want := range map[string]string{"code": "r-xp", "end": "r-xp", "constant": "r--p",
		"variable": "rw-p", "zero": "rw-p"} {
		at[symbol] = i.Symbol(symbol)
		if got := permissions(t, at[symbol]); got != want {
			t.Errorf("%s is %s, want %s", symbol, got, want)
		}
	}
	if i.Symbol("hidden") != 0 || i.Symbol("none") != 0 {
		t.Error("a symbol that is not global has an address")
	}
	i.Close()
	i.Close()
	if got := permissions(t, at["code"]); got == "r-xp" {
		t.Error("code is there after Close")
	}
}

// TestNothing loads no objects, and objects without code.
func TestNothing(t *testing.T) {
	for _, objects := range [][][]byte{nil, {file(t, nil, nil)}} {
		i, err := Load(objects, outside)
		if err != nil {
			t.Fatal(err)
		}
		i.Close()
	}
}
