package model

import (
	"errors"
	"fmt"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
)

// Split names how rows were dealt their roles.
type Split string

const (
	ByContent  Split = "content"  // dataset.Units.Deal
	ByLast     Split = "last"     // dataset.DealLast: a backtest
	ByPosition Split = "position" // dataset.DealByPosition, of model files up to version 4
)

// Deal deals the rows of d the roles of so many test, calibration and prior rows, or groups where d
// has any, and returns what is dealt with it.
func (s Split) Deal(d *dataset.Data, seed uint64, counts func(units int) (test, calibration, prior int, err error)) (dataset.Roles, *dataset.Units, error) {
	units, err := d.Units()
	if err != nil {
		return dataset.Roles{}, nil, err
	}
	test, calibration, prior, err := counts(units.Count)
	if err != nil {
		return dataset.Roles{}, nil, err
	}
	var roles dataset.Roles
	if s == ByLast {
		roles, err = dataset.DealLast(d.Rows, test, calibration, prior)
	} else {
		roles, err = units.Deal(seed, test, calibration, prior)
	}
	return roles, units, err
}

// otherData says that data aren't those a model was made from.
type otherData struct{ reason string }

func (e *otherData) Error() string { return e.reason }

// RolesOf returns the roles that the rows of d have in the model. It fails where these aren't the
// data that the model was made from, in whatever order, or of a backtest and of an old model in that of the
// file.
func (m *Model) RolesOf(d *dataset.Data) (dataset.Roles, error) {
	other := func(format string, args ...any) (dataset.Roles, error) {
		return dataset.Roles{}, &otherData{fmt.Sprintf(format, args...)}
	}
	if n := m.Counts.Sum(); d.Rows != n {
		return other("%s has %d rows, the model was made from %d (%s)", d.Source, d.Rows, n, m.Source)
	}
	if m.Split == ByPosition {
		return m.rolesByPosition(d)
	}
	roles, units, err := m.Split.Deal(d, m.Seed, func(n int) (test, calibration, prior int, err error) {
		if n != m.Groups.Sum() {
			err = &otherData{fmt.Sprintf("%s has %d groups, the model was made from %d (%s)", d.Source, n, m.Groups.Sum(), m.Source)}
		}
		return m.Groups[dataset.Test], m.Groups[dataset.Calibration], m.Groups[dataset.Prior], err
	})
	if err != nil {
		return roles, err
	}
	if units.Hash != m.All {
		return other("the rows of %s aren't those the model was made from (%s): the SHA-256 of all of them, in whatever order, is %s, the model's %s", d.Source, m.Source, units.Hash, m.All)
	}
	if units.Targets != m.Targets {
		return other("the targets of %s aren't those that the model file names", d.Source)
	}
	if h := units.HashOf(roles.Rows(dataset.Certified)); h != m.Hash {
		return other("the certified rows of %s aren't those the model was made from (%s): their SHA-256 is %s, the model's %s; their order counts where roles follow it", d.Source, m.Source, h, m.Hash)
	}
	if rows, _ := roles.Counts(); rows != m.Counts {
		return other("the roles dealt to the rows of %s are %v of each kind, the model's %v", d.Source, rows, m.Counts)
	}
	return roles, m.checkHashes(d, roles)
}

// rolesByPosition are those of an old model, which its file holds.
func (m *Model) rolesByPosition(d *dataset.Data) (dataset.Roles, error) {
	roles := dataset.Roles{Of: m.positional}
	h, err := d.Hash(d.RowsOf(roles, dataset.Certified))
	if err != nil {
		return roles, err
	}
	if h != m.Hash {
		return roles, &otherData{fmt.Sprintf("the certified rows of %s aren't those the model was made from (%s): their SHA-256 is %s, the model's %s",
			d.Source, m.Source, h, m.Hash)}
	}
	return roles, m.checkHashes(d, roles)
}

// checkHashes holds the hashes of the rows the model was made from against the rows.
func (m *Model) checkHashes(d *dataset.Data, roles dataset.Roles) error {
	hashes, groups, err := HashRows(d, roles)
	if err != nil {
		return err
	}
	altered := []float64{0}
	if d.Ranks().Rank() == 0 && (!slices.Equal(hashes, m.Rows) || !slices.Equal(groups, m.Named)) {
		altered[0] = 1
	}
	if err := d.Ranks().Sum(altered); err != nil {
		return err
	}
	if altered[0] > 0 {
		return &otherData{fmt.Sprintf("the certified rows of %s are those the model was made from (%s), but a prior or calibration row isn't: its hash is another", d.Source, m.Source)}
	}
	return nil
}

// checkDealt makes sure that an old model's roles are those that its seed deals. Others are dealt
// anew whenever they are needed.
func (m *Model) checkDealt() error {
	if m.Split != ByPosition {
		return nil
	}
	dealt, err := dataset.DealByPosition(len(m.positional), m.Seed, m.Counts[dataset.Test], m.Counts[dataset.Calibration], m.Counts[dataset.Prior])
	if err != nil {
		return err
	}
	if !slices.Equal(dealt, m.positional) {
		return fmt.Errorf("the roles of the rows aren't those that seed %d deals: no certificate", m.Seed)
	}
	return nil
}

// checkSplit reports a way of dealing that doesn't go with the terms.
func (m *Model) checkSplit() error {
	switch {
	case (m.Split == ByLast) != m.Terms.Backtest:
		return errors.New("the certificate's terms and the model disagree about whether the certified rows are the last: no certificate")
	case m.Terms.Group != m.Group:
		return errors.New("the certificate's terms and the model disagree about how rows are grouped: no certificate")
	}
	return nil
}
