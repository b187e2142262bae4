package dataset

import (
	"testing"
	"time"
)

// TestOutlines: a layout's outline never rules out a text that the layout writes, in any zone.
func TestOutlines(t *testing.T) {
	for _, zone := range []*time.Location{time.UTC, time.FixedZone("", 3600)} {
		at := time.Date(2024, 11, 23, 14, 5, 6, 0, zone)
		for _, form := range dateForms {
			for _, l := range form.layouts {
				if text := at.Format(l.text); !l.may(outlineOf(text)) {
					t.Errorf("%s: layout %q doesn't read %q", form.name, l.text, text)
				}
			}
		}
	}
}
