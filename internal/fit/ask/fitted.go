package ask

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
)

// How a model is compared with the options that it says it was fitted with, and with what its prior
// rows give.

// Fitted returns the options with which a model was fitted, as its file says them.
func Fitted(m *model.Model) (o Asked, err error) {
	if o.Options, err = Decode(m.Fitted); err != nil {
		return o, fmt.Errorf("what the model was fitted with can't be read (%w): was it made by "+
			"a newer krigo?", err)
	}
	if _, known := method.Find(o.Method.Name); !known {
		return o, fmt.Errorf("the model was fitted by %q, a method that this program doesn't have",
			o.Method.Name)
	}
	// a model that is older than an option was fitted without it
	o.Method = o.Method.FromFile().WithDefaults()
	o.Kept = true
	return o, o.Check(false)
}

// Decode reads the options of a file.
func Decode(text []byte) (o Options, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return o, decoder.Decode(&o)
}

// Translated returns the text of a file's options as this version writes them (see
// method.Choice.FromFile). A text that no version wrote stays as it is, for example if it has a
// field twice.
func Translated(text json.RawMessage) []byte {
	said := Compact(text)
	o, err := Decode(said)
	if err != nil {
		return said
	}
	if again, err := json.Marshal(o); err != nil || !bytes.Equal(again, said) {
		return said
	}
	o.Method = o.Method.FromFile().WithDefaults()
	if again, err := json.Marshal(o); err == nil {
		return again
	}
	return said
}

// Compact returns parsed JSON without spaces.
func Compact(text json.RawMessage) []byte {
	var b bytes.Buffer
	json.Compact(&b, text)
	return b.Bytes()
}
