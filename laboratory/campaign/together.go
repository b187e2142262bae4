package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
)

func init() {
	campaigns = append(campaigns, campaign{"several",
		"altered files of several targets and of more than two classes: read, predicted from, certified", attackSeveral})
}

func attackSeveral(r *run) error {
	all, err := fitTogether(r.ctx)
	if err != nil {
		return err
	}
	return r.each(func(_ int64, rng *rand.Rand) error { return r.attackTogether(all[rng.IntN(len(all))], rng) })
}

// group is a file of several models: several targets, or more than two classes.
type group struct {
	name   string
	table  *dataset.Table
	raw    []byte
	header []byte   // JSON about all models
	inner  [][]byte // the files of the models
	said   string   // what all models promise together
}

// fitTogether fits files of several models.
func fitTogether(ctx context.Context) (all []*group, err error) {
	for _, names := range [][]string{{"bird"}, {"y", "size"}} {
		columns := append([]string{"a", "b"}, names...)
		g := &group{name: fmt.Sprint(names), table: drawn(6, 120, columns...).table()}
		o := krigo.Options{Data: krigo.Data{Target: names[0], Inputs: []string{"a", "b"}},
			Kernel: krigo.Kernel{Expression: "linear"}, Run: krigo.Run{Restarts: 1, Seed: 1}}
		if len(names) == 1 {
			_, kinds, err := o.Kinds(g.table)
			if err != nil {
				return nil, err
			}
			o = kinds
			names = kinds.Data.Beside
		}
		made, err := krigo.FitTargets(ctx, g.table, names, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.name, err)
		}
		var file bytes.Buffer
		if err := made.Write(&file); err != nil {
			return nil, err
		}
		g.raw = file.Bytes()
		g.said = made.Sentence()
		var rest []byte
		g.header, rest = opened(g.raw)
		var h struct {
			Bytes []int `json:"bytes"`
		}
		if err := json.Unmarshal(g.header, &h); err != nil {
			return nil, err
		}
		for _, n := range h.Bytes {
			g.inner = append(g.inner, rest[:n])
			rest = rest[n:]
		}
		all = append(all, g)
	}
	return all, nil
}

// attackTogether alters the file of several models, or one of its models, and reads it.
func (r *run) attackTogether(g *group, rng *rand.Rand) error {
	header := g.header
	inner := append([][]byte(nil), g.inner...)
	how := "header's text"
	if rng.IntN(2) == 0 {
		how = "fields of a model"
		at := rng.IntN(len(inner))
		head, arrays := opened(inner[at])
		h := parsed(head)
		other, _ := opened(inner[rng.IntN(len(inner))])
		how += alteredFields(h, parsed(other), rng)
		text, err := json.Marshal(h)
		if err != nil {
			return nil
		}
		inner[at] = sealed(inner[at], text, arrays)
		whole := parsed(header).(map[string]any)
		sizes := []int{}
		for _, file := range inner {
			sizes = append(sizes, len(file))
		}
		whole["bytes"] = sizes
		if header, err = json.Marshal(whole); err != nil {
			return nil
		}
	} else if rng.IntN(2) == 0 {
		header = alteredText(header, rng, nil)
	} else {
		h := parsed(header)
		how = "fields" + alteredFields(h, parsed(g.inner0()), rng)
		text, err := json.Marshal(h)
		if err != nil {
			return nil
		}
		header = text
	}
	if err := r.examineTogether(g, sealed(g.raw, header, bytes.Join(inner, nil)), rng); err != nil {
		return fmt.Errorf("%s, %s: %w", g.name, how, err)
	}
	return nil
}

func (g *group) inner0() []byte {
	head, _ := opened(g.inner[0])
	return head
}

// examineTogether reads a file of several models, predicts, and certifies.
func (r *run) examineTogether(g *group, raw []byte, rng *rand.Rand) error {
	all, err := krigo.ReadTargets(bytes.NewReader(raw))
	if err != nil {
		if len(err.Error()) > 2000 {
			return fmt.Errorf("the error has %d bytes: %.200s", len(err.Error()), err)
		}
		r.count("refused at once")
		return nil
	}
	if label, err := all.Label(); err == nil {
		if _, err := label.Predict(context.Background(), g.table, krigo.PredictOptions{}); err != nil {
			r.count("no label")
		}
	}
	for i := range all.Models {
		if _, err := all.Model(i).Predict(context.Background(), g.table, krigo.PredictOptions{}); err != nil {
			r.count("no prediction")
			return nil
		}
	}
	if rng.IntN(certifyEvery) > 0 {
		r.count("predicted")
		return nil
	}
	for i := range all.Models {
		c, err := all.Model(i).Certify(context.Background(), g.table, krigo.CertifyOptions{})
		if err != nil || !c.Matches {
			r.count("refused by certify")
			return nil
		}
	}
	if err := all.CheckTogether(context.Background(), g.table); err != nil {
		r.count("refused by certify")
		return nil
	}
	r.count("certified")
	if said := all.Sentence(); said != g.said {
		return fmt.Errorf("FORGED: certified as %q, not %q", said, g.said)
	}
	return nil
}
