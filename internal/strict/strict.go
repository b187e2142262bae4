// Package strict reads JSON that people write.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/memory"
)

// JSONText returns the text of a JSON file, and its name in errors.
// If path is a JSON object, as programs without a file give it, the object is the text.
func JSONText(path string) (text []byte, name string, err error) {
	if strings.HasPrefix(path, "{") {
		return []byte(path), "the JSON object", nil
	}
	const times = 16 // memory for the text and its decoded form, in multiples of the text
	text, err = memory.ReadFile(path, times)
	return text, path, err
}

// ReadJSON decodes a file that people write: one JSON document.
// It refuses unknown keys, and keys that an object has twice, because one of the two would be lost
// silently. path may be the document itself.
func ReadJSON(path string, v any) error {
	text, path, err := JSONText(path)
	if err != nil {
		return fmt.Errorf("%s: cannot be read: %w", path, err)
	}
	line := func(offset int64) int { return 1 + bytes.Count(text[:offset], []byte("\n")) }
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		at := path
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = fmt.Sprintf("%s: line %d", path, line(syntax.Offset))
		}
		return fmt.Errorf("%s: not the JSON that was expected: %w", at, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%s: more text after the JSON document: remove it", path)
	}
	d = json.NewDecoder(bytes.NewReader(text))
	if key, found := repeatedKey(d); found {
		return fmt.Errorf("%s: line %d: the key %q stands twice in one object: leave one", path,
			line(d.InputOffset()), spelling.Clip(key))
	}
	return nil
}

// Unmarshal decodes JSON that a program wrote.
// It refuses texts with control characters, which could speak on a line of their own or to a
// terminal. Whatever stands under one of the keys of names is quoted where it is printed, and may
// have them.
func Unmarshal(text []byte, v any, names ...string) error {
	if err := json.Unmarshal(text, v); err != nil {
		return err
	}
	if word, found := controlled(json.NewDecoder(bytes.NewReader(text)), false, names); found {
		return fmt.Errorf("its words have control characters: %s", spelling.Quote(word))
	}
	return nil
}

// controlled reads a valid JSON value up to the first text with control characters that isn't a
// name.
func controlled(d *json.Decoder, name bool, names []string) (text string, found bool) {
	token, _ := d.Token()
	text, _ = token.(string)
	if found = !name && strings.ContainsFunc(text, unicode.IsControl); found {
		return text, true
	}
	open, composite := token.(json.Delim)
	for composite && d.More() && !found {
		of := name
		if open == '{' {
			key, _ := d.Token()
			of = name || slices.ContainsFunc(names, func(n string) bool {
				return strings.EqualFold(n, key.(string))
			})
		}
		text, found = controlled(d, of, names)
	}
	if composite && !found {
		d.Token() // the end
	}
	return text, found
}

// repeatedKey reads a valid JSON value up to the first key that its object already has.
func repeatedKey(d *json.Decoder) (key string, found bool) {
	open, _ := d.Token()
	seen := map[string]bool{}
	for open == json.Delim('{') && d.More() {
		token, _ := d.Token()
		key = token.(string)
		if seen[key] {
			return key, true
		}
		seen[key] = true
		if key, found := repeatedKey(d); found {
			return key, true
		}
	}
	for open == json.Delim('[') && d.More() {
		if key, found := repeatedKey(d); found {
			return key, true
		}
	}
	if _, composite := open.(json.Delim); composite {
		d.Token() // the end of the object
	}
	return "", false
}
