package grfgp_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// runPrograms are packages whose flags are those of other programs.
var runPrograms = map[string]bool{"internal/gpu/_ptx": true, "internal/release": true, "store/storetest": true, "lab/load": true}

// TestMessages checks the strings of all packages but those of the programs. None names a flag:
// its reader may be a Go caller or a client of the service. No error begins with the
// name of its package: programs show errors to people, who know no packages, and Go
// callers have sentinels.
func TestMessages(t *testing.T) {
	t.Parallel()
	flag := regexp.MustCompile(`(^|[^-\w])--[a-z]`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path == "cmd" || path == filepath.Join("internal", "cli") || d.Name() == "testdata" || path != "." &&
			strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || runPrograms[filepath.Dir(path)]:
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if n.Kind == token.STRING && flag.MatchString(n.Value) {
					t.Errorf("%v names a flag: %s", set.Position(n.Pos()), n.Value)
				}
			case *ast.CallExpr:
				f, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || len(n.Args) == 0 || f.Sel.Name != "New" && f.Sel.Name != "Errorf" {
					break
				}
				if text, ok := n.Args[0].(*ast.BasicLit); ok && strings.HasPrefix(text.Value, `"`+file.Name.Name+": ") {
					t.Errorf("%v begins with the name of the package: %s", set.Position(n.Pos()), text.Value)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
