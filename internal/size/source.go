package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
	"unicode/utf8"
)

// source is a file of Go. Lines are numbered from 0.
type source struct {
	test     bool
	ast      *ast.File
	lines    [][]byte
	code     []bool // lines with a token that is not a comment
	comments []bool
	raw      []bool // lines of raw strings that span several
}

func parse(name string, text []byte) (*source, error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	n := len(lines)
	s := &source{strings.HasSuffix(name, "_test.go"), tree, lines, make([]bool, n), make([]bool, n), make([]bool, n)}
	file := files.AddFile(name, -1, len(text))
	var scan scanner.Scanner
	scan.Init(file, text, nil, scanner.ScanComments)
	for {
		pos, kind, literal := scan.Scan()
		if kind == token.EOF {
			return s, nil
		}
		if kind == token.SEMICOLON && literal == "\n" { // not in the file
			continue
		}
		first := file.Line(pos) - 1
		last := first + strings.Count(literal, "\n")
		for line := first; line <= last; line++ {
			s.comments[line] = s.comments[line] || kind == token.COMMENT
			s.code[line] = s.code[line] || kind != token.COMMENT
			s.raw[line] = s.raw[line] || kind == token.STRING && last > first
		}
	}
}

// size counts a line with code and a comment as code.
func (s *source) size() (n size) {
	if s.test {
		return size{tests: len(s.lines)}
	}
	for k := range s.lines {
		switch {
		case s.code[k]:
			n.code++
		case s.comments[k]:
			n.comments++
		default:
			n.blank++
		}
	}
	for _, d := range s.ast.Decls {
		n.exported += exported(d)
	}
	return n
}

// exported returns the number of names that other packages can use: of constants, variables,
// types and functions, and of methods of such types.
func exported(d ast.Decl) (n int) {
	count := func(names ...*ast.Ident) {
		for _, name := range names {
			if name.IsExported() {
				n++
			}
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)) {
			count(d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				count(spec.Name)
			case *ast.ValueSpec:
				count(spec.Names...)
			}
		}
	}
	return n
}

// receiver returns the name of the type of a method.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.IndexListExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}

// long returns the lines, numbered from 1, of more characters than allowed. Raw strings of
// several lines, and generated files, may have any.
func (s *source) long(most int) (found []int) {
	if ast.IsGenerated(s.ast) {
		return nil
	}
	for k, line := range s.lines {
		if !s.raw[k] && utf8.RuneCount(line) > most {
			found = append(found, k+1)
		}
	}
	return found
}
