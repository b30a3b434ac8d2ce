package argsfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// texts returns the texts of words.
func texts(words []Word) []string {
	var all []string
	for _, w := range words {
		all = append(all, w.Text)
	}
	return all
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"empty", "", nil},
		{"lines and blanks", "--edges roads.csv\n\n  --knn\t3\r\n", []string{"--edges", "roads.csv", "--knn", "3"}},
		{"no end of line", "--json", []string{"--json"}},
		{"comments", "# all\n--edges a#b.csv # the roads\n#--knn 3", []string{"--edges", "a#b.csv"}},
		{"quotes", `--column "class=Test result" --title 'it''s "so"'`, []string{"--column", "class=Test result", "--title", `its "so"`}},
		{"empty word", `--title "" x`, []string{"--title", "", "x"}},
		{"quotes within a word", `a"b c"'d e'f`, []string{"ab cd ef"}},
		{"backslashes", `a\ b \#c "say \"no\"" 'a\b' C:\data\x.csv \\n`, []string{"a b", "#c", `say "no"`, `a\b`, `C:\data\x.csv`, `\n`}},
		{"# in quotes", `"# no comment"`, []string{"# no comment"}},
		{"byte order mark", "\uFEFF--json", []string{"--json"}},
		{"escaped @", "@@anna", []string{"@anna"}},
		{"a lone @", "@", []string{"@"}},
	} {
		words, err := Split("f", []byte(c.text))
		if got := texts(words); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"--json\n--title \"open\n--seed 1", `f:2: the quote " is not closed`},
		{"'", "f:1: the quote ' is not closed"},
		{"--json\n@other", "f:2: @other: a file of flags cannot name another one"},
		{"a\x00b", "not text"},
		{"\xff", "not text"},
	} {
		if words, err := Split("f", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, %v; want %q", c.text, words, err, c.want)
		}
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "roads.args")
	if err := os.WriteFile(file, []byte("--edges roads.csv\n--seed=7 -n3"), 0o600); err != nil {
		t.Fatal(err)
	}
	words, err := Expand([]string{"predict", "@" + file, "@@anna", "@", "--", "@" + file})
	if want := []string{"predict", "--edges", "roads.csv", "--seed=7", "-n3", "@anna", "@", "--", "@" + file}; err != nil ||
		!slices.Equal(texts(words), want) {
		t.Fatalf("%q, %v; want %q", texts(words), err, want)
	}
	for flag, want := range map[string]string{"edges": file + ":1", "seed": file + ":2", "n": file + ":2", "predict": "", "knn": ""} {
		if got := PlaceOf(words, flag); got != want {
			t.Errorf("--%s is at %q, want %q", flag, got, want)
		}
	}
	if words, err := Expand([]string{"@nothing"}); err == nil || !strings.Contains(err.Error(), "write @@nothing") {
		t.Errorf("%v, %v", words, err)
	}
	if words, err := Expand([]string{"@" + t.TempDir()}); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("%v, %v", words, err)
	}
	if err := os.WriteFile(file, []byte(strings.Repeat("x", most+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Expand([]string{"@" + file}); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
}

// FuzzSplit: words that are quoted are read back as they are.
func FuzzSplit(f *testing.F) {
	f.Add("a\rb\n")
	f.Add("--edges roads.csv # all\n'a b' \"c\\\"d\"\\ e\r\n@@x")
	f.Fuzz(func(t *testing.T, text string) {
		words, err := Split("f", []byte(text))
		if err != nil {
			return
		}
		quoted := ""
		for _, w := range words {
			word := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w.Text)
			if strings.HasPrefix(word, "@") && len(word) > 1 {
				word = "@" + word
			}
			if strings.ContainsAny(word, "\n\r") || w.Line < 1 {
				t.Fatalf("a word %q in line %d", word, w.Line)
			}
			quoted += `"` + word + "\"\n"
		}
		again, err := Split("f", []byte(quoted))
		if err != nil || !slices.Equal(texts(words), texts(again)) {
			t.Fatalf("%q is read as %q, %v", quoted, texts(again), err)
		}
	})
}
