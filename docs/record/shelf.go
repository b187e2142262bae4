package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// furnish writes the files that the documents mention to a folder: the tables of docs/data and data, and simulated
// tables. krigo, a program, then makes a table and a model.
func furnish(root, folder, krigo string, env []string) error {
	for _, from := range []struct{ pattern, to string }{
		{"docs/data/*.csv", "."}, {"data/*.csv.gz", "."}, {"data/*.csv.gz", "data"},
	} {
		paths, err := filepath.Glob(filepath.Join(root, from.pattern))
		if err != nil || len(paths) == 0 {
			return fmt.Errorf("%s: no file, %v", from.pattern, err)
		}
		for _, path := range paths {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := put(filepath.Join(folder, from.to, filepath.Base(path)), string(raw)); err != nil {
				return err
			}
		}
	}
	for name, text := range simulated(rand.New(rand.NewPCG(1, 0))) {
		if err := put(filepath.Join(folder, name), text); err != nil {
			return err
		}
	}
	place := &place{krigo: krigo, folder: folder, env: env}
	for _, command := range []string{
		"krigo generate --rows 300 --inputs 3 --out draw.npy",
		"krigo fit houses.csv --target price --quiet --out houses.krigo",
	} {
		if _, err := place.run(words(command)[1:], "", 0); err != nil {
			return err
		}
	}
	raw, err := os.ReadFile(filepath.Join(folder, "houses.krigo"))
	if err != nil {
		return err
	}
	return put(filepath.Join(folder, "models", "houses.krigo"), string(raw))
}

// put writes a file, and makes its folder.
func put(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// simulated returns tables and parameters by the names of their files.
func simulated(r *rand.Rand) map[string]string {
	all := map[string]string{}
	table := func(name, head string, rows int, line func() string) {
		var b strings.Builder
		b.WriteString(head + "\n")
		for range rows {
			b.WriteString(line() + "\n")
		}
		all[name] = b.String()
	}
	house := func() (rooms, age, price float64) {
		rooms, age = float64(1+r.IntN(8)), float64(r.IntN(90))
		return rooms, age, 60_000 + 70_000*rooms - 900*age + 12_000*r.NormFloat64()
	}
	numbers := func() string {
		rooms, age, price := house()
		return fmt.Sprintf("%g,%g,%.0f", rooms, age, price)
	}
	table("houses.csv", "rooms,age,price", 120, numbers)
	table("fresh.csv", "rooms,age,price", 30, numbers)
	table("sold.csv", "rooms,age,price", 30, numbers)
	table("new.csv", "rooms,age", 5, func() string {
		rooms, age, _ := house()
		return fmt.Sprintf("%g,%g", rooms, age)
	})
	zones := []string{"north", "south", "east"}
	heatings := []string{"gas", "oil", "wood"}
	table("zones.csv", "rooms,age,zone,heating,price", 120, func() string {
		rooms, age, price := house()
		return fmt.Sprintf("%g,%g,%s,%s,%.0f", rooms, age, zones[r.IntN(3)], heatings[r.IntN(3)], price)
	})
	n := 0
	table("messy.csv", "id;sold;area;price", 120, func() string {
		rooms, age, price := house()
		n++
		area := strings.Replace(strconv.FormatFloat(22*rooms+age/10, 'f', 1, 64), ".", ",", 1) + " m²"
		if n%20 == 0 {
			area = "k.A."
		}
		day := time.Date(2020, 1, n*7, 0, 0, 0, 0, time.UTC).Format("02.01.2006")
		return fmt.Sprintf("H%04d;%s;%s;%d.%03d", n, day, area, int(price)/1000, int(price)%1000)
	})
	table("stations.csv", "lon,lat,height,temperature", 400, func() string {
		lon, lat, height := 2*r.Float64(), 47+2*r.Float64(), 900*r.Float64()
		degrees := 12 + 2*math.Sin(3*lon) - height/160 + 0.4*r.NormFloat64()
		return fmt.Sprintf("%.3f,%.3f,%.0f,%.1f", lon, lat, height, degrees)
	})
	table("scored.csv", "price,prediction", 300, func() string {
		rooms, age, price := house()
		return fmt.Sprintf("%.0f,%.0f", price, 60_000+70_000*rooms-900*age)
	})
	some := func() string {
		x1, x2 := r.NormFloat64(), r.NormFloat64()
		return fmt.Sprintf("%.4f,%.4f,%.4f", x1, x2, math.Sin(x1)+0.3*x2+0.1*r.NormFloat64())
	}
	table("big.csv", "x1,x2,y", 150, some)
	table("kin40k.csv.gz", "x1,x2,y", 150, some) // krigo reads plain text even if the file's name ends in .gz
	table("species.csv", "species,prediction", 350, func() string {
		names := []string{"setosa", "versicolor", "virginica"}
		is := r.IntN(3)
		said := is
		if is > 0 && r.Float64() < 0.05 {
			said = 3 - is
		}
		return names[is] + "," + names[said]
	})
	table("loans.csv", "Status,p_good,p_bad", 400, func() string {
		bad := 1 / (1 + math.Exp(2-4*r.NormFloat64()))
		status := "good"
		if r.Float64() < bad {
			status = "bad"
		}
		return fmt.Sprintf("%s,%.4f,%.4f", status, 1-bad, bad)
	})
	params := `{"kernel": {"name": "se", "variance": 1, "lengthscales": [1, 1]}, "noise_variance": 0.1}`
	all["p.json"] = params
	all["params.json"] = params
	return all
}
