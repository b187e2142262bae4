package krigo

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/krigo-gp/krigo/method"
	"github.com/krigo-gp/krigo/model"
)

// How a model is compared with the options that it says it was fitted with, and with what its prior
// rows give.

// asked returns the options with which a model was fitted, as its file says them.
func asked(m *model.Model) (o Asked, err error) {
	if o.Options, err = decode(m.Fitted); err != nil {
		return o, fmt.Errorf("what the model was fitted with can't be read (%w): was it made by "+
			"a newer krigo?", err)
	}
	if _, known := method.Find(o.Method.Name); !known {
		return o, fmt.Errorf("the model was fitted by %q, a method that this program doesn't have",
			o.Method.Name)
	}
	// a model that is older than an option was fitted without it
	o.Method = o.Method.FromFile().WithDefaults()
	o.kept = true
	return o, o.check(false)
}

// decode reads the options of a file.
func decode(text []byte) (o Options, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return o, decoder.Decode(&o)
}

// translated returns the text of a file's options as this version writes them (see
// method.Choice.FromFile). A text that no version wrote stays as it is, for example if it has a
// field twice.
func translated(text json.RawMessage) []byte {
	said := compact(text)
	o, err := decode(said)
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

// compact returns parsed JSON without spaces.
func compact(text json.RawMessage) []byte {
	var b bytes.Buffer
	json.Compact(&b, text)
	return b.Bytes()
}
