// Package argsfile reads words of a command line from files: a word @FILE stands for the
// words in that file.
package argsfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"
)

// Word is a word of a command line. Words of a file know their place.
type Word struct {
	Text string
	File string // empty: of the command line itself
	Line int
}

// most bounds the size of a file, in bytes.
const most = 1 << 20

// Expand replaces each word @FILE of a command line by the words in that file, as if they
// had been typed there: paths are relative to the folder in which the program runs. A word
// @@… is taken as @…, and words after -- are left as they are.
func Expand(args []string) ([]Word, error) {
	var all []Word
	for k, word := range args {
		switch {
		case word == "--":
			for _, rest := range args[k:] {
				all = append(all, Word{Text: rest})
			}
			return all, nil
		case names(word):
			words, err := read(word[1:])
			if err != nil {
				return nil, err
			}
			all = append(all, words...)
		default:
			all = append(all, Word{Text: plain(word)})
		}
	}
	return all, nil
}

// names reports whether a word stands for a file.
func names(word string) bool { return len(word) > 1 && word[0] == '@' && word[1] != '@' }

// plain takes the first @ from a word that begins with two.
func plain(word string) string {
	if strings.HasPrefix(word, "@@") {
		return word[1:]
	}
	return word
}

func read(file string) ([]Word, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("@%s: there is no file %q; name a file of flags, or write @@%s for a word that begins with @", file, file, file)
	}
	if err != nil {
		return nil, unreadable(file, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, unreadable(file, err)
	}
	if len(text) > most {
		return nil, fmt.Errorf("@%s: the file has more than %d bytes; name a text file of flags", file, most)
	}
	return Split(file, text)
}

func unreadable(file string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("@%s: the file cannot be read: %w; name a text file of flags", file, err)
}

// Split splits the text of a file into words, much as a shell does: blanks and line ends
// separate words, and a # at the beginning of a word begins a comment, which ends with the
// line. Single quotes keep everything as it is. Elsewhere, a backslash before a quote,
// a blank, a # or a backslash takes away its meaning; other backslashes are kept, for paths
// of Windows. A word of the file cannot name a file of words.
func Split(file string, text []byte) ([]Word, error) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	if bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
		return nil, fmt.Errorf("@%s: the file is not text in UTF-8; name a text file of flags", file)
	}
	var all []Word
	for k, line := range bytes.Split(text, []byte("\n")) {
		line = bytes.TrimSuffix(line, []byte("\r"))
		if bytes.IndexByte(line, '\r') >= 0 {
			return nil, fmt.Errorf("%s:%d: there is a carriage return within the line; end lines with a line feed", file, k+1)
		}
		words, err := splitLine(string(line))
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, k+1, err)
		}
		for _, word := range words {
			all = append(all, Word{word, file, k + 1})
		}
	}
	return all, nil
}

func splitLine(line string) (words []string, err error) {
	var word []byte
	begun, quote := false, byte(0)
	end := func() {
		if begun {
			words = append(words, string(word))
		}
		word, begun = nil, false
	}
	for k := 0; k < len(line); k++ {
		c := line[k]
		switch {
		case quote == 0 && !begun && c == '#':
			k = len(line)
		case quote == 0 && (c == ' ' || c == '\t'):
			end()
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begun = c, true
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && k+1 < len(line) && strings.IndexByte(`\"'# `, line[k+1]) >= 0:
			k++
			word, begun = append(word, line[k]), true
		default:
			word, begun = append(word, c), true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed; close it on the same line, or write \\%c for the character itself", quote, quote)
	}
	end()
	for k, w := range words {
		if names(w) {
			return nil, fmt.Errorf("%s: a file of flags cannot name another one; write the flags here, or @%s for a word that begins with @", w, w)
		}
		words[k] = plain(w)
	}
	return words, nil
}

// PlaceOf says where in a file a flag is given, as "roads.args:3"; "" if it is not in one.
// The name of the flag has no dashes.
func PlaceOf(words []Word, flag string) string {
	for _, w := range words {
		name, dashed := strings.CutPrefix(w.Text, "--")
		if dashed {
			name, _, _ = strings.Cut(name, "=")
		} else if name, dashed = strings.CutPrefix(w.Text, "-"); dashed && len(name) > 1 {
			name = name[:1] // with its value
		}
		if w.File != "" && dashed && name == flag {
			return fmt.Sprintf("%s:%d", w.File, w.Line)
		}
	}
	return ""
}
