package cli

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"grfgp/graphio"
)

// AsFlags writes the options of readers as flags.
var AsFlags = graphio.Speller{Spell: flagOf, And: " "}

// TimeAuto is the value of --time for which the column of times is found.
const TimeAuto = "auto"

func flagOf(table graphio.Table, s graphio.Setting) string {
	value := cmp.Or(s.Value, "…")
	file := string(table) + "="
	switch s.Option {
	case graphio.OptionColumns:
		if s.Role == graphio.RoleTime {
			return "--time " + shellWord(value)
		}
		return "--column " + shellWord(string(s.Role)+"="+value)
	case graphio.OptionDelimiter, graphio.OptionHeader, graphio.OptionDecimal, graphio.OptionTable:
		return "--" + strings.ToLower(string(s.Option)) + " " + shellWord(file+value)
	case graphio.OptionUnit:
		if table == graphio.TableMeasurements {
			file = ""
		}
		return "--strip-unit " + shellWord(file+value)
	case graphio.OptionMissing:
		if table == graphio.TableMeasurements || table == graphio.TableLabels {
			file = ""
		}
		return "--missing " + shellWord(file+value)
	case graphio.OptionBadRows:
		return "--on-bad-row " + value
	case graphio.OptionUnknown:
		return "--on-unknown " + value
	case graphio.OptionWeights:
		return "--weights " + value
	case graphio.OptionRepeats:
		return "--repeats " + value
	case graphio.OptionTimes:
		if s.Value == string(graphio.TimesKeep) {
			return "--time " + TimeAuto
		}
		return "--time-model " + value
	case graphio.OptionWithin:
		return "--within METRES"
	case graphio.OptionKeepLoops:
		return "--keep-loops"
	}
	return map[string]string{
		"ReadGraph":         "--edges FILE",
		"ReadMeasurements":  "grfgp predict --measurements FILE",
		"ReadLabels":        "grfgp classify --labels FILE",
		"NearestNeighbours": "--nodes FILE --knn K",
	}[s.Value]
}

// plainWord is a word that shells leave as it is.
var plainWord = regexp.MustCompile(`^[\p{L}\p{N}_.,:/=@%+…-]+$`)

// shellWord quotes a word where a shell would split or change it, so that it can be pasted.
func shellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// words returns the text of an error; options of readers are flags in it.
func words(err error) string {
	var file *graphio.Error
	if errors.As(err, &file) {
		return strings.Replace(err.Error(), file.Error(), file.Text(AsFlags), 1)
	}
	return err.Error()
}
