package tokens_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"grfgp/server/tokens"
)

var day = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func place(t *testing.T) string { return filepath.Join(t.TempDir(), "team.db.tokens") }

func add(t *testing.T, path, name string, role tokens.Role) string {
	t.Helper()
	secret, err := tokens.Add(path, name, role, day)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// A file that a server has open follows what is added and removed; the secrets are not
// in it, and nobody else may read it.
func TestFileFollowsChanges(t *testing.T) {
	t.Parallel()
	path := place(t)
	f := tokens.Open(path)
	if there, err := f.Exists(); there || err != nil {
		t.Errorf("a file that nobody made: %v, %v", there, err)
	}
	anna, ben := add(t, path, "anna", tokens.Run), add(t, path, "ben@lab", tokens.Look)
	for secret, want := range map[string]string{anna: "anna run", ben: "ben@lab look"} {
		if got, ok, err := f.Find(secret); !ok || err != nil || fmt.Sprint(got.Name, " ", got.Role) != want || !got.Created.Equal(day) {
			t.Errorf("%v, %v, %v; want %s", got, ok, err, want)
		}
	}
	for _, secret := range []string{"", "grfgp_", anna + "x", anna[:len(anna)-1], strings.ToLower(anna)} {
		if _, ok, _ := f.Find(secret); ok {
			t.Errorf("%q is taken for a token", secret)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(raw), anna) || strings.Contains(string(raw), strings.TrimPrefix(anna, "grfgp_")) {
		t.Errorf("the file has the secret: %s, %v", raw, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := tokens.Remove(path, "anna"); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := f.Find(anna); ok {
		t.Error("a token that was removed is taken")
	}
	if err := tokens.Remove(path, "ben@lab"); err != nil {
		t.Fatal(err)
	}
	if there, err := f.Exists(); !there || err != nil {
		t.Errorf("a file without tokens lets everybody in: %v, %v", there, err)
	}
}

// A file that cannot be understood lets nobody in.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	path := place(t)
	secret := add(t, path, "anna", tokens.Run)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := tokens.Open(path)
	line := strings.Split(string(good), "\n")[1]
	for _, text := range []string{"", "something\n", string(good) + "ben boss 2026-01-02T03:04:05Z sha256:00\n", string(good) + line + "\n",
		string(good) + "ben\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := f.Find(secret); ok || !errors.Is(err, tokens.ErrDamaged) {
			t.Errorf("%q: %v, %v", text, ok, err)
		}
		if there, err := f.Exists(); !there || err == nil {
			t.Errorf("%q: %v, %v", text, there, err)
		}
		if _, err := tokens.Add(path, "ben", tokens.Run, day); !errors.Is(err, tokens.ErrDamaged) {
			t.Errorf("%q is overwritten: %v", text, err)
		}
	}
	if err := os.WriteFile(path, append(good, "# a remark\n\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := f.Find(secret); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}

func TestRefusedChanges(t *testing.T) {
	t.Parallel()
	path := place(t)
	for _, name := range []string{"", "a b", "a\nb", "\x1b[2J", "-x", "a/b", "a\u202eb", strings.Repeat("a", 65), "\xff"} {
		if _, err := tokens.Add(path, name, tokens.Run, day); !errors.Is(err, tokens.ErrName) {
			t.Errorf("the name %q: %v", name, err)
		}
	}
	if _, err := tokens.Add(path, "anna", "boss", day); !errors.Is(err, tokens.ErrName) {
		t.Error(err)
	}
	if _, err := tokens.Read(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused token made a file: %v", err)
	}
	add(t, path, "José", tokens.Measure)
	if _, err := tokens.Add(path, "José", tokens.Run, day); !errors.Is(err, tokens.ErrTaken) {
		t.Error(err)
	}
	if err := tokens.Remove(path, "José", "nobody"); !errors.Is(err, tokens.ErrNone) {
		t.Error(err)
	}
	if all, err := tokens.Read(path); err != nil || len(all) != 1 || all[0].Role != tokens.Measure {
		t.Errorf("%v, %v", all, err)
	}
}

// Changes at the same time all take effect.
func TestChangesTogether(t *testing.T) {
	t.Parallel()
	path := place(t)
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			if _, err := tokens.Add(path, fmt.Sprint("robot", k), tokens.Measure, day); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if all, err := tokens.Read(path); err != nil || len(all) != 8 {
		t.Errorf("%d tokens, %v", len(all), err)
	}
}

// Tokens that root adds belong to the user of the folder, who runs the server.
func TestOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	path := place(t)
	for _, give := range []string{filepath.Dir(path), path} {
		if err := os.Chown(give, 65534, 65533); err != nil {
			t.Fatal(err)
		}
		add(t, path, fmt.Sprint("robot", len(give)), tokens.Look)
		if info, err := os.Stat(path); err != nil || fmt.Sprint(reflect.ValueOf(info.Sys()).Elem().FieldByName("Uid")) != "65534" ||
			info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Sys(), err)
		}
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mine, needed tokens.Role
		want         bool
	}{
		{tokens.Look, tokens.Look, true}, {tokens.Look, tokens.Measure, false}, {tokens.Look, tokens.Run, false},
		{tokens.Measure, tokens.Look, true}, {tokens.Measure, tokens.Measure, true}, {tokens.Measure, tokens.Run, false},
		{tokens.Run, tokens.Look, true}, {tokens.Run, tokens.Run, true}, {"boss", tokens.Look, false}, {"", "", false},
	} {
		if got := c.mine.Allows(c.needed); got != c.want {
			t.Errorf("%q allows %q: %v", c.mine, c.needed, got)
		}
	}
}
