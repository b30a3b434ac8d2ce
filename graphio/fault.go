package graphio

import (
	"bytes"
	"fmt"
)

// fault says why a row is bad, in a form that costs nothing to make: the words
// are only put together for the faults that somebody reads.
type fault struct {
	reason     reasonCode
	role       Role // of the column it is about
	start, end int  // the place in the line
	count      int  // of fields, or the line of an earlier row
}

type reasonCode uint8

const (
	noFault reasonCode = iota
	tooFewFields
	tooManyFields
	repeatedHeader
	openQuote
	strayQuote
	nulByte
	loneReturn
	emptyID
	notNumber
	infinite
	otherDecimal
	missingNumber
	negative
	zeroDistance
	notIndex
	indexRange
	notYesNo
	outOfRange
	repeatedNode
	repeatedMeasurement
	otherExact
	otherClass
)

// explain puts a fault of a line into words.
func (f fault) explain(line []byte, l *rowLayout) (what, next string) {
	text := quote(bytes.TrimSpace(line[min(f.start, len(line)):min(f.end, len(line))]))
	const correct = "correct the line, or leave such rows out with --on-bad-row skip"
	switch f.reason {
	case tooFewFields:
		return fmt.Sprintf("%s, but %d are expected", counted(f.count, "field"), l.columns),
			"complete the line, or leave such rows out with --on-bad-row skip"
	case tooManyFields:
		return fmt.Sprintf("%s, but %d are expected; the first too many is %s", counted(f.count, "field"), l.columns, text),
			"put quotes around a field that holds the delimiter, or leave such rows out with --on-bad-row skip"
	case repeatedHeader:
		return fmt.Sprintf("the header of line %d again", f.count), "were files joined? " + correct
	case openQuote:
		return "a quoted field does not end on its line", "close the quote; a field may not hold a line break"
	case strayQuote:
		return "text after the closing quote: " + text, `write a quote within quotes as ""`
	case nulByte:
		return "a NUL byte", "is this a file of text? " + correct
	case loneReturn:
		return "a carriage return within the line", "line ends must be LF or CRLF: " + correct
	case emptyID:
		return fmt.Sprintf("the %s is empty", f.role), correct
	case notNumber:
		return fmt.Sprintf("%s %s is not a number", f.role, text), correct
	case infinite:
		return fmt.Sprintf("%s %s is infinite", f.role, text), correct
	case otherDecimal:
		if l.comma {
			return fmt.Sprintf("%s %s has a decimal point, but this file writes decimal commas", f.role, text),
				"write all numbers alike, or settle it with --decimal " + l.file + "=point"
		}
		next := "write no thousands separators; if it is a decimal comma "
		if l.delim == Comma {
			next += "put another delimiter between fields"
		} else {
			next += "say --decimal " + l.file + "=comma"
		}
		return fmt.Sprintf("%s %s has a comma in it, but this file writes decimal points", f.role, text), next
	case missingNumber:
		return fmt.Sprintf("the %s is missing", f.role),
			"fill it in, take all edges as equal with --weights ignore, or leave such rows out with --on-bad-row skip"
	case negative:
		return fmt.Sprintf("%s %s is negative", f.role, text), correct
	case zeroDistance:
		return "the distance is zero, which would make the weight infinite", correct
	case notIndex:
		return fmt.Sprintf("%s %s is not a whole number", f.role, text), correct
	case indexRange:
		return fmt.Sprintf("%s %s is outside 1 to %d", f.role, text, f.count), correct
	case notYesNo:
		return fmt.Sprintf("%s %s is neither yes nor no", f.role, text), "write yes or no, true or false, 1 or 0"
	case outOfRange:
		return fmt.Sprintf("%s %s is no degree on the globe", f.role, text), "are lat and lon swapped? planar coordinates are called x and y"
	case repeatedNode:
		return fmt.Sprintf("%s %s is already on line %d, with other values", f.role, text, f.count), correct
	case repeatedMeasurement:
		return fmt.Sprintf("%s %s was already measured on line %d", f.role, text, f.count), "leave out --repeats error to take it"
	case otherExact:
		return fmt.Sprintf("the sd 0 says that this value of node %s is exact, but there is another exact one; the first value is on line %d", text, f.count),
			"correct the values or their sds, or leave such rows out with --on-bad-row skip"
	case otherClass:
		return fmt.Sprintf("%s %s of a node that has another class on line %d", f.role, text, f.count),
			"keep one of the two, or leave the later ones out with --on-bad-row skip"
	}
	panic(fmt.Sprintf("graphio: fault %d has no words", f.reason))
}
