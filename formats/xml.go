package formats

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// brokenXML is the error about a document that the XML reader refuses at a line.
func brokenXML(err error, line int64) error {
	var own *Error
	var syntax *xml.SyntaxError
	switch {
	case errors.As(err, &own):
		return err
	case errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF"), errors.Is(err, io.ErrUnexpectedEOF):
		return failAt(line, Damaged, "the document ends in the middle", "the file was cut short: fetch or write it again")
	case errors.As(err, &syntax):
		return failAt(line, Damaged, "is not well-formed XML: "+syntax.Msg, correctLine)
	case strings.Contains(err.Error(), "encoding"):
		return failAt(line, Unsupported, "is in an encoding that is not read ("+err.Error()+")",
			"convert it to UTF-8 with iconv, and change its first line")
	}
	return failAt(line, Damaged, "cannot be read: "+err.Error(), correctLine)
}
