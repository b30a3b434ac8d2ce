package graphio

import (
	"bytes"
	"math"
	"strconv"
)

// numberState is the outcome of reading a field as a number.
type numberState uint8

const (
	numberOK       numberState = iota
	numberMissing              // empty, NA, NaN, null, …
	numberInfinite             // inf, or too large for a float64
	numberDecimal              // a number, with the other decimal sign
	numberNone                 // no number
)

// parseNumber reads a decimal number whose fraction follows a point or, with
// comma, a comma. What strconv.ParseFloat takes beyond that (nan, inf, 0x1p4,
// 1_000) never reaches it.
func parseNumber(text []byte, comma bool) (float64, numberState) {
	sign, state := scanNumber(text)
	switch {
	case state != numberOK:
		return 0, state
	case sign != 0 && (sign == ',') != comma:
		return 0, numberDecimal
	}
	var v float64
	var err error
	if sign == ',' {
		var buf [64]byte
		point := append(buf[:0], text...)
		point[bytes.IndexByte(point, ',')] = '.'
		v, err = strconv.ParseFloat(string(point), 64)
	} else {
		v, err = strconv.ParseFloat(string(text), 64)
	}
	if err != nil || math.IsInf(v, 0) {
		return 0, numberInfinite // the grammar holds, so only the range is left
	}
	return v, numberOK
}

// scanNumber checks [sign] digits [. or , digits] [e [sign] digits] and returns
// the decimal sign, 0 if there is none.
func scanNumber(text []byte) (decimal byte, state numberState) {
	i, digits := 0, 0
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		i++
	}
	for ; i < len(text); i++ {
		if c := text[i]; c-'0' <= 9 {
			digits++
		} else if (c == '.' || c == ',') && decimal == 0 {
			decimal = c
		} else {
			break
		}
	}
	if digits == 0 {
		return 0, wordState(text)
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		digits = 0
		for ; i < len(text) && text[i]-'0' <= 9; i++ {
			digits++
		}
		if digits == 0 {
			return 0, numberNone
		}
	}
	if i < len(text) {
		return 0, numberNone
	}
	return decimal, numberOK
}

// wordState recognizes words for a missing and for an infinite value.
func wordState(text []byte) numberState {
	if len(text) > len("-infinity") {
		return numberNone
	}
	var buf [16]byte
	word := buf[:len(text)]
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		word[i] = c
	}
	switch string(word) {
	case "", "-", "na", "n/a", "#n/a", "nan", "null", "none":
		return numberMissing
	}
	switch string(bytes.TrimLeft(word, "+-")) {
	case "inf", "infinity":
		return numberInfinite
	}
	return numberNone
}

// smallInteger reads a number from 0 to 999,999,999 without sign and leading zeros,
// so that the value determines the text.
func smallInteger(text []byte) (uint32, bool) {
	if len(text) == 0 || len(text) > 9 || text[0] == '0' && len(text) > 1 {
		return 0, false
	}
	v := uint32(0)
	for _, c := range text {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		v = 10*v + uint32(d)
	}
	return v, true
}
