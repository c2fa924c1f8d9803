package social

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"plaza/fault"
)

// Property is a field of profiles, defined by the community.
type Property struct {
	ID         PropertyID // new with each definition: a property that is removed and defined again has none of its old values
	Key        string     // unique; clients use it as the name
	Label      string
	Type       PropertyType
	Choices    []string // of a choice, in order; users keep a value whose choice is removed
	Searchable bool
	Visibility Visibility // of values without a visibility of their own
}

// PropertyType is the type of a property's values.
type PropertyType string

// The types of properties.
const (
	PropertyText   PropertyType = "TEXT"   // a line
	PropertyInt    PropertyType = "INT"    // a whole number between -MaxPropertyInt and MaxPropertyInt
	PropertyFloat  PropertyType = "FLOAT"  // a finite number
	PropertyDate   PropertyType = "DATE"   // a day, as 2026-11-21
	PropertyBool   PropertyType = "BOOL"   // true or false
	PropertyChoice PropertyType = "CHOICE" // one of the property's choices
)

// Visibility says who sees a value of a profile, apart from its owner.
type Visibility string

// The visibilities.
const (
	VisibleToAll     Visibility = "PUBLIC"
	VisibleToCircles Visibility = "CIRCLES" // everyone in any of the owner's circles
	VisibleToMe      Visibility = "ONLY_ME"
)

// MaxPropertyInt limits whole numbers: a float64, and so every client's JSON, represents those up
// to it exactly.
const MaxPropertyInt = 1 << 53

// PropertyValue is a text or a number, depending on its property's type: dates are texts, and true
// is 1.
type PropertyValue struct {
	IsNumber bool
	Text     string
	Number   float64
}

// TextValue returns a text as a value.
func TextValue(text string) PropertyValue { return PropertyValue{Text: text} }

// NumberValue returns a number as a value.
func NumberValue(n float64) PropertyValue {
	if n == 0 {
		n = 0 // never -0
	}
	return PropertyValue{IsNumber: true, Number: n}
}

// Compare orders values of one property; texts by their bytes.
func (v PropertyValue) Compare(w PropertyValue) int {
	if v.IsNumber || w.IsNumber {
		switch {
		case v.Number < w.Number:
			return -1
		case v.Number > w.Number:
			return 1
		}
		return 0
	}
	return strings.Compare(v.Text, w.Text)
}

// Parse reads a client's value: a string, an int64, a float64 or a bool. Errors: INVALID, BLANK,
// TOO_LONG, naming the field.
func (p *Property) Parse(field string, given any) (PropertyValue, error) {
	value, err := p.read(field, given)
	if err == nil && p.Type == PropertyChoice && !slices.Contains(p.Choices, value.Text) {
		err = fault.Invalidf(field, "This is not one of the choices of %s.", p.Key)
	}
	return value, err
}

func (p *Property) read(field string, given any) (PropertyValue, error) {
	switch p.Type {
	case PropertyText, PropertyChoice:
		if text, ok := given.(string); ok {
			return TextValue(text), fault.CheckLine(field, text, 1, MaxPropertyTextLen)
		}
		return PropertyValue{}, fault.Invalidf(field, "The value of %s must be a string.", p.Key)
	case PropertyDate:
		return p.readDate(field, given)
	case PropertyBool:
		if yes, ok := given.(bool); ok {
			return NumberValue(map[bool]float64{true: 1}[yes]), nil
		}
		return PropertyValue{}, fault.Invalidf(field, "The value of %s must be true or false.", p.Key)
	case PropertyInt, PropertyFloat:
		return p.readNumber(field, given)
	}
	return PropertyValue{}, fault.Invalidf(field, "%s takes no values.", p.Key)
}

func (p *Property) readDate(field string, given any) (PropertyValue, error) {
	text, _ := given.(string)
	if day, err := time.Parse(time.DateOnly, text); err != nil || day.Year() < 1 {
		return PropertyValue{}, fault.Invalidf(field, "The value of %s must be a date such as 2026-11-21.", p.Key)
	}
	return TextValue(text), nil
}

func (p *Property) readNumber(field string, given any) (PropertyValue, error) {
	var n float64
	switch given := given.(type) {
	case int64:
		if p.Type == PropertyInt && (given > MaxPropertyInt || given < -MaxPropertyInt) {
			return PropertyValue{}, p.notWhole(field) // as a float64 it might change
		}
		n = float64(given)
	case float64:
		n = given
	default:
		return PropertyValue{}, fault.Invalidf(field, "The value of %s must be a number.", p.Key)
	}
	switch {
	case math.IsNaN(n) || math.IsInf(n, 0):
		return PropertyValue{}, fault.Invalidf(field, "This is not a finite number.")
	case p.Type == PropertyInt && (n != math.Trunc(n) || math.Abs(n) > MaxPropertyInt):
		return PropertyValue{}, p.notWhole(field)
	}
	return NumberValue(n), nil
}

func (p *Property) notWhole(field string) error {
	return fault.Invalidf(field, "The value of %s must be a whole number between -2^53 and 2^53.", p.Key)
}

// Show is the reverse of Parse: the form for clients.
func (p *Property) Show(v PropertyValue) any {
	switch p.Type {
	case PropertyBool:
		return v.Number != 0
	case PropertyInt:
		return int64(v.Number)
	case PropertyFloat:
		return v.Number
	case PropertyText, PropertyDate, PropertyChoice:
	}
	return v.Text
}

// Sought returns the form of a value that searches compare.
func (p *Property) Sought(v PropertyValue) PropertyValue {
	if p.Type == PropertyText {
		return TextValue(NameKey(v.Text))
	}
	return v
}

// hasOrder reports whether searches can select a range of values.
func (p *Property) hasOrder() bool {
	return p.Type == PropertyInt || p.Type == PropertyFloat || p.Type == PropertyDate
}

// all returns the interval of all values of a property that has an order.
func (p *Property) all() Interval {
	if p.Type == PropertyDate {
		return Interval{TextValue(""), TextValue("9999-12-31")}
	}
	return Interval{NumberValue(math.Inf(-1)), NumberValue(math.Inf(1))}
}

var propertyKeyPattern = regexp.MustCompile(`^[a-z][A-Za-z0-9_]{0,31}$`)

// Check validates a definition. Errors: INVALID, BLANK, TOO_LONG.
func (p *Property) Check() error {
	var key error
	if !propertyKeyPattern.MatchString(p.Key) {
		key = fault.Invalidf("key", "A key has 1 to 32 letters (a–z), digits or underscores, and begins with a lower-case letter.")
	}
	return fault.All(key, fault.CheckLine("label", p.Label, 1, MaxPropertyLabel), p.checkChoices())
}

func (p *Property) checkChoices() error {
	switch {
	case p.Type != PropertyChoice && len(p.Choices) > 0:
		return fault.Invalidf("choices", "Only a CHOICE has choices.")
	case p.Type != PropertyChoice:
		return nil
	}
	if err := fault.CheckCount("choices", len(p.Choices), 1, MaxPropertyChoices); err != nil {
		return err
	}
	for i, choice := range p.Choices {
		if err := fault.CheckLine("choices", choice, 1, MaxPropertyTextLen); err != nil {
			return err
		}
		if slices.Contains(p.Choices[:i], choice) {
			return fault.Invalidf("choices", "This choice is a duplicate.")
		}
	}
	return nil
}

// PropertyOf finds a defined property by its key. Error: NOT_FOUND, naming the field.
func PropertyOf(defined []*Property, field, key string) (*Property, error) {
	i := slices.IndexFunc(defined, func(p *Property) bool { return p.Key == key })
	if i < 0 {
		return nil, fault.NotFound(field, "property")
	}
	return defined[i], nil
}

// PropertyChange holds the changes of a property; nil fields are not changed.
type PropertyChange struct {
	Label      *string
	Choices    []string
	Searchable *bool
	Visibility *Visibility
}

// CheckLabel validates the new label, if there is one. Errors: BLANK, TOO_LONG, INVALID.
func (c PropertyChange) CheckLabel() error {
	if c.Label == nil {
		return nil
	}
	return fault.CheckLine("label", *c.Label, 1, MaxPropertyLabel)
}

// Apply makes the changes.
func (c PropertyChange) Apply(p *Property) {
	if c.Label != nil {
		p.Label = *c.Label
	}
	if c.Choices != nil {
		p.Choices = c.Choices
	}
	if c.Searchable != nil {
		p.Searchable = *c.Searchable
	}
	if c.Visibility != nil {
		p.Visibility = *c.Visibility
	}
}
