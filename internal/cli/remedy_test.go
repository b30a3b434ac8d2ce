package cli

import "testing"

// Flags that an error offers can be pasted into a shell.
func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"value=größe": "value=größe", "value=$x": "'value=$x'",
		"class=kind": "class=kind", "class=Test result": "'class=Test result'", "value=it's": `'value=it'\''s'`, "$": "'$'", "-9999": "-9999",
		"value=a;b": "'value=a;b'", "": "''", "source=…": "source=…",
	} {
		if got := shellWord(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
