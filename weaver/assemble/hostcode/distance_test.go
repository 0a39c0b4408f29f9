package hostcode

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"
)

// farIR calls a primitive and memcpy, and reads constants.
const farIR = `
declare i64 @call_rf_tile_live(ptr, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
@table = private constant [4 x i64] [i64 3, i64 5, i64 7, i64 11]
define double @far(ptr %to, ptr %from, i64 %n, double %x) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  %live = call i64 @call_rf_tile_live(ptr %to, i64 %n)
  %at = and i64 %live, 3
  %place = getelementptr [4 x i64], ptr @table, i64 0, i64 %at
  %word = load i64, ptr %place
  %float = sitofp i64 %word to double
  %scaled = fmul double %float, 1.25
  %sum = fadd double %scaled, %x
  ret double %sum
}
`

// TestDistances holds that code reaches everything outside of its section by
// addresses of 64 bits. The JIT maps sections wherever there is room, and cuts
// distances off that do not fit 32 bits.
func TestDistances(t *testing.T) {
	lib := open(t)
	if !strings.HasPrefix(lib.HostOptions().Triple, "x86_64") {
		t.Skip("relocations are known by their numbers for x86-64")
	}
	for _, quick := range []bool{false, true} {
		objects, err := Objects(Options{Library: lib, Quick: quick}, farIR, []string{"far"})
		if err != nil {
			t.Fatal(err)
		}
		absolute := 0
		for _, object := range objects {
			f, err := elf.NewFile(bytes.NewReader(object))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range f.Sections {
				isText := strings.HasPrefix(s.Name, ".rela.text") ||
					strings.HasPrefix(s.Name, ".rela.ltext") // of LLVM 19
				if s.Type != elf.SHT_RELA || !isText {
					continue
				}
				data, err := s.Data()
				if err != nil {
					t.Fatal(err)
				}
				for ; len(data) >= 24; data = data[24:] {
					info := binary.LittleEndian.Uint64(data[8:])
					kind := elf.R_X86_64(info & 0xffffffff)
					if kind != elf.R_X86_64_64 {
						t.Errorf("quick %v: a relocation %v in %s", quick, kind, s.Name)
						continue
					}
					absolute++
				}
			}
		}
		if absolute < 3 {
			t.Errorf("quick %v: %d relocations; memcpy, the primitive and the table have one each",
				quick, absolute)
		}
	}
}
