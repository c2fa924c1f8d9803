package figures

import (
	"strconv"
	"strings"
)

// Significant formats a number that is not negative with at least two significant digits.
func Significant(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case x >= 0.1:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case x >= 0.01:
		return strconv.FormatFloat(x, 'f', 3, 64)
	default:
		return strconv.FormatFloat(x, 'f', 4, 64)
	}
}

// Grouped formats a number with commas between thousands.
func Grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// FileName converts a name to the name of a file.
func FileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '+' || r == ',' {
			return '-'
		}
		return r
	}, strings.ToLower(name))
}
