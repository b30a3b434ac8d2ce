// Package tokens keeps the named tokens of a server in a file: who may do what, and a
// hash of each secret in place of the secret.
//
//	secret, err := tokens.Add("team.db.tokens", "anna", tokens.Measure, time.Now())
//	f := tokens.Open("team.db.tokens")
//	t, ok, err := f.Find(secret) // {anna measure …}
//
// The file is text, a line for each token, of mode 0600, and is replaced as a whole. A
// [File] reads it again when it has changed, so that tokens are added and removed while
// a server runs.
package tokens

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"grfgp/internal/atomicfile"
)

// Role is what a token allows.
type Role string

// The roles, each with all that those before it allow.
const (
	Look    Role = "look"    // read everything
	Measure Role = "measure" // ask for nodes, tell and retract results
	Run     Role = "run"     // create, change and remove studies and graphs
)

// Roles lists the roles, from the one that allows least.
func Roles() []Role { return []Role{Look, Measure, Run} }

// Allows reports whether the role includes another.
func (r Role) Allows(needed Role) bool {
	all := Roles()
	mine := slices.Index(all, r)
	return mine >= 0 && mine >= slices.Index(all, needed)
}

// Token is a token as the file has it, without its secret.
type Token struct {
	Name    string    `json:"name"`
	Role    Role      `json:"role"`
	Created time.Time `json:"created"`

	hash [sha256.Size]byte
}

// Errors of this package, wrapped.
var (
	// ErrName says that a name or a role cannot be used.
	ErrName = errors.New("not a name or role of a token")
	// ErrTaken says that there is a token of this name.
	ErrTaken = errors.New("there is a token of this name already")
	// ErrNone says that there is no token of this name.
	ErrNone = errors.New("there is no token of this name")
	// ErrDamaged says that a file is not one of tokens.
	ErrDamaged = errors.New("not a file of tokens")
)

// MaxName is the most bytes of a name.
const MaxName = 64

// head is the first line of a file.
const head = "grfgp tokens 1"

// prefix is what secrets begin with, so that they are found where they do not belong.
const prefix = "grfgp_"

// CheckName refuses names that cannot be told from others in a log: they are letters,
// digits and the characters . _ - @.
func CheckName(name string) error {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-@", r)
	}
	if name == "" || len(name) > MaxName || strings.HasPrefix(name, "-") || strings.ContainsRune(name, unicode.ReplacementChar) ||
		strings.ContainsFunc(name, odd) {
		return fmt.Errorf("%w: the name %.80q; names have letters, digits and . _ - @, at most %d bytes", ErrName, name, MaxName)
	}
	return nil
}

// Add makes a token and returns its secret, of which the file keeps a hash only. The
// file is created if there is none.
func Add(path, name string, role Role, now time.Time) (secret string, err error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	if !slices.Contains(Roles(), role) {
		return "", fmt.Errorf("%w: the role %q; the roles are %q", ErrName, role, Roles())
	}
	secret = prefix + rand.Text() // 128 bits or more: its hash need not be slow
	err = change(path, func(all []Token) ([]Token, error) {
		if slices.ContainsFunc(all, func(t Token) bool { return t.Name == name }) {
			return nil, fmt.Errorf("%w: %s", ErrTaken, name)
		}
		return append(all, Token{Name: name, Role: role, Created: now.UTC().Truncate(time.Second), hash: sha256.Sum256([]byte(secret))}), nil
	})
	return secret, err
}

// Remove takes tokens out of the file by their names, all or none.
func Remove(path string, names ...string) error {
	return change(path, func(all []Token) ([]Token, error) {
		for _, name := range names {
			k := slices.IndexFunc(all, func(t Token) bool { return t.Name == name })
			if k < 0 {
				return nil, fmt.Errorf("%w: %s", ErrNone, name)
			}
			all = slices.Delete(all, k, k+1)
		}
		return all, nil
	})
}

// Read returns the tokens of a file in the order in which they were added. Without a
// file the error wraps fs.ErrNotExist.
func Read(path string) ([]Token, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(path, raw)
}

func parse(path string, raw []byte) ([]Token, error) {
	all := []Token{}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for n := 1; lines.Scan(); n++ {
		switch text := lines.Text(); {
		case n == 1 && text != head:
			return nil, fmt.Errorf("%s is %w: its first line is not %q", path, ErrDamaged, head)
		case n == 1 || text == "" || strings.HasPrefix(text, "#"):
		default:
			t, err := parseLine(text)
			if err == nil && slices.ContainsFunc(all, func(o Token) bool { return o.Name == t.Name }) {
				err = ErrTaken
			}
			if err != nil {
				return nil, fmt.Errorf("%s is %w: line %d: %w", path, ErrDamaged, n, err)
			}
			all = append(all, t)
		}
	}
	if len(raw) == 0 {
		return nil, fmt.Errorf("%s is %w: it is empty", path, ErrDamaged)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s is %w: %w", path, ErrDamaged, err)
	}
	return all, nil
}

// parseLine reads NAME ROLE TIME sha256:HASH.
func parseLine(line string) (t Token, err error) {
	words := strings.Fields(line)
	if len(words) != 4 {
		return t, errors.New("a line has a name, a role, a time and a hash")
	}
	t.Name, t.Role = words[0], Role(words[1])
	if err := CheckName(t.Name); err != nil {
		return t, err
	}
	if !slices.Contains(Roles(), t.Role) {
		return t, fmt.Errorf("the role %q; the roles are %q", t.Role, Roles())
	}
	if t.Created, err = time.Parse(time.RFC3339, words[2]); err != nil {
		return t, err
	}
	text, ok := strings.CutPrefix(words[3], "sha256:")
	sum, err := hex.DecodeString(text)
	if !ok || err != nil || len(sum) != sha256.Size {
		return t, errors.New("the hash is sha256: and 64 hexadecimal digits")
	}
	copy(t.hash[:], sum)
	return t, nil
}

// change replaces the file by one with other tokens. Changes wait for each other.
func change(path string, edit func([]Token) ([]Token, error)) error {
	unlock, err := lock(path)
	if err != nil {
		return err
	}
	defer unlock()
	all, err := Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	owned := ownerOf(path)
	if all, err = edit(all); err != nil {
		return err
	}
	err = atomicfile.WritePrivate(path, func(w io.Writer) error {
		fmt.Fprintln(w, head)
		for _, t := range all {
			fmt.Fprintf(w, "%s %s %s sha256:%s\n", t.Name, t.Role, t.Created.Format(time.RFC3339), hex.EncodeToString(t.hash[:]))
		}
		return nil // the writer keeps its errors until it is flushed
	})
	if err != nil {
		return err
	}
	return owned.give(path)
}
