package graphio

import (
	"bytes"
	"fmt"
)

// fault is the reason why a row is bad. It is cheap to make; explain formats the
// message for those faults that are reported.
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
	missingCell
	notTime
	notCount
	notPositive
	aboveTested
	noUnit
	noPlace
)

// explain returns the message and the remedies of a fault.
func (f fault) explain(line []byte, l *rowLayout) (what string, remedies []Remedy) {
	text := quote(bytes.TrimSpace(line[min(f.start, len(line)):min(f.end, len(line))]))
	or := func(all ...Remedy) []Remedy { return all }
	unit, on := "line", "on line"
	if l.unit != "" {
		unit, on = l.unit, "in "+l.unit
	}
	correct := or(do("correct the "+unit), skipRows)
	switch f.reason {
	case tooFewFields:
		return fmt.Sprintf("%s, but %d are expected", counted(f.count, "field"), l.columns),
			or(do("complete the "+unit), skipRows)
	case tooManyFields:
		return fmt.Sprintf("%s, but %d are expected; the first extra field is %s", counted(f.count, "field"), l.columns, text),
			or(do("put quotes around a field that holds the delimiter"), skipRows)
	case repeatedHeader:
		return fmt.Sprintf("repeats the header of %s %d (were files concatenated?)", unit, f.count), correct
	case openQuote:
		return "a quoted field does not end on its line", or(do("close the quote; a field may not hold a line break"))
	case strayQuote:
		return "text after the closing quote: " + text, or(do(`write a quote within quotes as ""`))
	case nulByte:
		return "a NUL byte (is this a file of text?)", correct
	case loneReturn:
		return "a carriage return within the line; line ends must be LF or CRLF", correct
	case emptyID:
		return fmt.Sprintf("the %s is empty", f.role), correct
	case notNumber:
		cell := bytes.TrimSpace(line[min(f.start, len(line)):min(f.end, len(line))])
		if unit := unitOf(string(cell)); unit != "" && l.strip == "" && f.role.hasUnit() {
			return fmt.Sprintf("%s %s is not a plain number: %s stands beside it", f.role, text, quote([]byte(unit))),
				or(do("correct the line"), skipRows, do("if all numbers have it, take it off", Setting{Option: OptionUnit, Value: unit}))
		}
		if isGrouped(string(cell)) {
			return fmt.Sprintf("%s %s has separators of thousands", f.role, text), or(do("write it without them"), skipRows)
		}
		return fmt.Sprintf("%s %s is not a number", f.role, text), correct
	case infinite:
		return fmt.Sprintf("%s %s is infinite", f.role, text), correct
	case otherDecimal:
		if l.comma {
			return fmt.Sprintf("%s %s has a decimal point, but this file writes decimal commas", f.role, text),
				or(do("write all numbers alike"), do("read decimal points", Setting{Option: OptionDecimal, Value: string(DecimalPoint)}))
		}
		remedies = or(do("write no thousands separators"),
			do("read it as a decimal comma", Setting{Option: OptionDecimal, Value: string(DecimalComma)}))
		if l.delim == byComma {
			remedies[1] = do("put another delimiter between fields if it is a decimal comma")
		}
		return fmt.Sprintf("%s %s has a comma in it, but this file writes decimal points", f.role, text), remedies
	case missingNumber:
		return fmt.Sprintf("the %s is missing", f.role),
			or(do("fill it in"), ignoreWeights, skipRows)
	case negative:
		return fmt.Sprintf("%s %s is negative", f.role, text), correct
	case zeroDistance:
		return "the distance is zero, which would make the weight infinite", correct
	case notIndex:
		return fmt.Sprintf("%s %s is not a whole number", f.role, text), correct
	case indexRange:
		return fmt.Sprintf("%s %s is outside 1 to %d", f.role, text, f.count), correct
	case notYesNo:
		return fmt.Sprintf("%s %s is neither yes nor no", f.role, text), or(do("write yes or no, true or false, 1 or 0"))
	case outOfRange:
		return fmt.Sprintf("%s %s is out of range", f.role, text), or(do("are lat and lon swapped? planar coordinates are called x and y"))
	case repeatedNode:
		return fmt.Sprintf("%s %s is already %s %d, with other values", f.role, text, on, f.count), correct
	case repeatedMeasurement:
		return fmt.Sprintf("%s %s was already measured %s %d", f.role, text, on, f.count),
			or(do("keep all its measurements", Setting{Option: OptionRepeats, Value: string(RepeatsKeep)}),
				do("take the last one", Setting{Option: OptionRepeats, Value: string(RepeatsLast)}))
	case otherExact:
		return fmt.Sprintf("sd 0 means an exact value, but an earlier row gives node %s another exact value; the first row of the node is %s %d",
				text, unit, f.count),
			or(do("correct the values or their sds"), skipRows)
	case otherClass:
		return fmt.Sprintf("%s %s, but the node has another class %s %d", f.role, text, on, f.count),
			or(do("keep one of the two"), do("leave the later ones out", skipRows.Set...))
	case missingCell:
		return fmt.Sprintf("the %s is missing", f.role), or(do("fill it in"), skipRows)
	case notTime:
		return fmt.Sprintf("%s %s is not a time like %s", f.role, text, timeForm(f.count).example()), correct
	case notCount:
		return fmt.Sprintf("%s %s is not a count: a whole number from 0 on", f.role, text), correct
	case notPositive:
		return fmt.Sprintf("%s %s is not positive", f.role, text), correct
	case noPlace:
		return "the row is not a point: its coordinates could not be read", correct
	case noUnit:
		return fmt.Sprintf("%s %s has no %s beside it, as the other numbers have", f.role, text, quote([]byte(l.strip))), correct
	case aboveTested:
		return fmt.Sprintf("%s %s is more than the number tested, %d", f.role, text, f.count), correct
	}
	panic(fmt.Sprintf("graphio: fault %d has no words", f.reason))
}
