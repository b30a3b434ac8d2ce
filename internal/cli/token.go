package cli

import (
	"bytes"
	"os"
	"strings"
)

// tokenLeast is the least length of a token: shorter ones can be guessed.
const tokenLeast = 16

// ReadToken reads a file with a token; no file, no token.
func ReadToken(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", Unreadable("--token-file", file, err, "name the file with the token of the server")
	}
	text := string(bytes.TrimSpace(raw))
	if len(text) < tokenLeast || strings.ContainsAny(text, " \t\r\n") {
		return "", Usagef("--token-file %s: a token is one line of %d characters or more, without blanks", file, tokenLeast)
	}
	return text, nil
}
