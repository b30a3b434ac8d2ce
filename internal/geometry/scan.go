package geometry

import (
	"fmt"
	"strconv"
	"strings"
)

// scanner is a text with a place in it.
type scanner struct {
	text string
	at   int
}

func (s *scanner) blanks() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

// word reads letters.
func (s *scanner) word() string {
	s.blanks()
	from := s.at
	for s.at < len(s.text) && (s.text[s.at]|0x20 >= 'a' && s.text[s.at]|0x20 <= 'z') {
		s.at++
	}
	return s.text[from:s.at]
}

func (s *scanner) take(c byte) bool {
	s.blanks()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// number reads a number.
func (s *scanner) number() (float64, bool) {
	s.blanks()
	to := s.at
	for to < len(s.text) && strings.IndexByte("+-.0123456789eE", s.text[to]) >= 0 {
		to++
	}
	x, err := strconv.ParseFloat(s.text[s.at:to], 64)
	if err != nil {
		return 0, false
	}
	s.at = to
	return x, true
}

// unexpected is the error about what stands at the place.
func (s *scanner) unexpected(in, want string) error {
	s.blanks()
	rest := s.text[s.at:]
	if rest == "" {
		return fmt.Errorf("the %s ends where %s is expected", in, want)
	}
	return fmt.Errorf("%q in the %s, where %s is expected", rest[:min(len(rest), 20)], in, want)
}
