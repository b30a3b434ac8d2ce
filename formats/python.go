package formats

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// pythonDict reads the dictionary of a line as Python prints it, such as
// {'weight': 1.5, 'name': "it's", 'tags': ['a', 'b'], 'old': None}, and calls put for
// each of its items. It returns false if the text is something else.
func pythonDict(text string, put func(key, value string)) bool {
	p := pythonText{text}
	return p.dict(put, 0) && strings.TrimSpace(p.rest) == ""
}

// pythonText is what is left of a Python literal.
type pythonText struct{ rest string }

const pythonDepth = 20

// take removes a token if it is next.
func (p *pythonText) take(token string) bool {
	p.rest = strings.TrimLeft(p.rest, " ")
	if !strings.HasPrefix(p.rest, token) {
		return false
	}
	p.rest = p.rest[len(token):]
	return true
}

func (p *pythonText) dict(put func(key, value string), depth int) bool {
	if depth > pythonDepth || !p.take("{") {
		return false
	}
	for !p.take("}") {
		key, ok := p.value(depth + 1)
		if !ok || !p.take(":") {
			return false
		}
		value, ok := p.value(depth + 1)
		if !ok {
			return false
		}
		put(key, value)
		if !p.take(",") {
			return p.take("}")
		}
	}
	return true
}

// value reads a value as text: None is empty, and the items of a list are separated by |.
func (p *pythonText) value(depth int) (string, bool) {
	p.rest = strings.TrimLeft(p.rest, " ")
	if p.rest == "" || depth > pythonDepth {
		return "", false
	}
	switch c := p.rest[0]; c {
	case '\'', '"':
		p.rest = p.rest[1:]
		return p.quoted(c)
	case '[', '(':
		p.rest = p.rest[1:]
		return p.list(map[byte]string{'[': "]", '(': ")"}[c], depth)
	case '{':
		before := p.rest
		if !p.dict(func(string, string) {}, depth) {
			return "", false
		}
		return before[:len(before)-len(p.rest)], true
	}
	end := strings.IndexAny(p.rest, " ,:]})")
	if end < 0 {
		return "", false
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	switch {
	case word == "None":
		return "", true
	case word == "True" || word == "False":
		return strings.ToLower(word), true
	case strings.HasSuffix(word, "("):
		return "", false
	}
	if _, err := strconv.ParseFloat(word, 64); err != nil && word != "" {
		if i := strings.IndexByte(word, '('); i > 0 && p.take(")") { // np.float64(1.5)
			word = word[i+1:]
			_, err = strconv.ParseFloat(word, 64)
		}
		if err != nil {
			return "", false
		}
	}
	return word, word != ""
}

func (p *pythonText) list(end string, depth int) (string, bool) {
	var items []string
	for !p.take(end) {
		item, ok := p.value(depth + 1)
		if !ok {
			return "", false
		}
		items = append(items, item)
		if !p.take(",") {
			return strings.Join(items, "|"), p.take(end)
		}
	}
	return strings.Join(items, "|"), true
}

// quoted reads a text up to the given quote.
func (p *pythonText) quoted(quote byte) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == quote:
			p.rest = p.rest[i+1:]
			return b.String(), true
		case c == '\\' && i+1 < len(p.rest):
			r, _, tail, err := strconv.UnquoteChar(p.rest[i:], quote)
			if err != nil && (p.rest[i+1] == '\'' || p.rest[i+1] == '"') {
				r, tail, err = rune(p.rest[i+1]), p.rest[i+2:], nil
			}
			if err != nil {
				return "", false
			}
			b.WriteString(string(utf8.AppendRune(nil, r)))
			i = len(p.rest) - len(tail) - 1
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}
