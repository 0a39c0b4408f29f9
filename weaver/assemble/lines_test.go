package assemble

import "testing"

func TestJoinLines(t *testing.T) {
	const head = ".version 7.5\n.address_size 64\n"
	got := joinLines([]string{
		head + "\t.loc\t1 4 1\n\tret;\n\t.section\t.debug_loc\t{\t}\n\t.file\t1 \"a.logic\"\n",
		head + "\tret;\n",
		head + "\t.loc\t2 5 1\n\t.loc\t1 6 1\n\t.file\t1 \"b.logic\"\n\t.file\t2 \"a.logic\"\n",
	})
	want := head + "\t.loc\t1 4 1\n\tret;\n\tret;\n\t.loc\t1 5 1\n\t.loc\t2 6 1\n" +
		"\t.file\t1 \"a.logic\"\n\t.file\t2 \"b.logic\"\n"
	if got != want {
		t.Errorf("the parts are joined as\n%s\nnot\n%s", got, want)
	}
}

func TestWithoutNumbers(t *testing.T) {
	got := string(withoutNumbers([]byte("\t{ // callseq 12, 0\n\tcall f;\n\t} // callseq 12\n\tret;\n")))
	if want := "\t{\n\tcall f;\n\t}\n\tret;\n"; got != want {
		t.Errorf("%q is left, not %q", got, want)
	}
}
