// Command data writes the tables of the tutorials and the gallery: go run ./docs/data. All tables are simulated
// except two sources. homes.csv and homes-new.csv are package data's Boston. electricity.csv is made from a public
// data set, whose file --electricity names. The set holds the active power of a household near Paris for each minute
// (Hébrail and Bérard 2012, UCI Machine Learning Repository, "Individual household electric power consumption", CC BY
// 4.0). electricity.csv has means over four hours.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/data"
)

func main() {
	log.SetFlags(0)
	folder := flag.String("out", "docs/data", "folder to write to")
	household := flag.String("electricity", "", "houseelectric_h1_2007.csv.gz, whose minutes make electricity.csv")
	flag.Parse()
	all := tables()
	if *household != "" {
		text, err := electricity(*household)
		if err != nil {
			log.Fatal(err)
		}
		all["electricity.csv"] = text
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(*folder, name), text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// tables returns the contents of all files except electricity.csv, by name. Each table has its own seed, so that a
// table can change without the others.
func tables() map[string][]byte {
	known, further := homes(rand.New(rand.NewPCG(5, 1)))
	sales, spring, autumn, offers := houses(rand.New(rand.NewPCG(1, 1)))
	return map[string][]byte{
		"sales.csv": sales, "spring.csv": spring, "autumn.csv": autumn, "offers.csv": offers,
		"sensor.csv":  sensor(rand.New(rand.NewPCG(2, 1))),
		"batches.csv": batches(rand.New(rand.NewPCG(3, 1))),
		"branin.csv":  branin(rand.New(rand.NewPCG(4, 1))),
		"homes.csv":   known, "homes-new.csv": further,
	}
}

// houses returns tables of house sales for the tutorial, as a German spreadsheet would export them. sales has two
// years to learn from, spring has the next spring, and autumn a later autumn, when prices have fallen by an eighth.
// offers has houses without a price.
func houses(r *rand.Rand) (sales, spring, autumn, offers []byte) {
	districts := []struct {
		name  string
		metre float64 // price per square metre
	}{{"Altstadt", 5200}, {"Hafen", 4300}, {"Nordend", 3700}, {"Südhang", 4900}, {"Weststadt", 3100}}
	heatings := []struct {
		name   string
		factor float64
	}{{"gas", 1}, {"oil", 0.94}, {"heat pump", 1.06}, {"district", 1.02}}
	comma := func(v float64) string { return strings.Replace(strconv.FormatFloat(v, 'f', 1, 64), ".", ",", 1) }
	date := func(year, days int) time.Time {
		return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, r.IntN(days))
	}
	row := func(i int, sold time.Time, level float64) (cells []string, price string) {
		d, h := districts[r.IntN(len(districts))], heatings[r.IntN(len(heatings))]
		area := math.Round(10*math.Exp(4.45+0.38*r.NormFloat64())) / 10
		rooms := max(1, int(math.Round(area/27+0.6*r.NormFloat64())))
		renovated := date(1975, 48*365)
		value := level * d.metre * h.factor * math.Pow(area, 0.93) * math.Pow(90, 0.07) * (1 +
			0.05*math.Tanh(float64(renovated.Year()-2000)/12)) * math.Exp(0.06*r.NormFloat64())
		thousands := int(math.Round(value / 500))
		price = fmt.Sprintf("%d.%03d", thousands/2, thousands%2*500)
		if thousands >= 2000 {
			price = fmt.Sprintf("%d.%03d.%03d", thousands/2000, thousands/2%1000, thousands%2*500)
		}
		balcony, heating, metres := "no", h.name, comma(area)+" m²"
		if r.Float64() < 0.6 {
			balcony = "yes"
		}
		if r.Float64() < 0.04 {
			heating = "k.A."
		}
		if r.Float64() < 0.03 {
			metres = "k.A."
		}
		return []string{fmt.Sprintf("V-%05d", i), sold.Format("02.01.2006"), d.name, metres, strconv.Itoa(rooms),
			renovated.Format("02.01.2006"), heating, balcony}, price
	}
	write := func(head string, n int, line func(i int) []string) []byte {
		var b bytes.Buffer
		b.WriteString(head + "\n")
		for i := range n {
			b.WriteString(strings.Join(line(i), ";") + "\n")
		}
		return b.Bytes()
	}
	const head = "id;sold;district;area;rooms;renovated;heating;balcony"
	var last []string
	sales = write(head+";price", 600, func(i int) []string {
		if i%170 != 169 { // a few sales appear twice
			cells, price := row(i, date(2023, 2*365), 1)
			last = append(cells, price)
		}
		return last
	})
	spring = write(head+";price", 80, func(i int) []string {
		cells, price := row(600+i, time.Date(2025, 1, 2, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i), 1)
		return append(cells, price)
	})
	autumn = write(head+";price", 140, func(i int) []string {
		cells, price := row(680+i, time.Date(2025, 8, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i), 0.875)
		return append(cells, price)
	})
	offers = write(head, 8, func(i int) []string {
		cells, _ := row(900+i, date(2025, 90), 1)
		return cells
	})
	return sales, spring, autumn, offers
}

// homes returns Boston's rows in random order, with seven inputs under readable names. known has 420 rows to learn
// from, and further has the other 86.
func homes(r *rand.Rand) (known, further []byte) {
	table := data.Boston()
	names := []string{"crime", "", "", "", "nitric_oxides", "rooms", "old_homes", "distance", "", "", "pupils", "", "poor",
		"value"}
	var lines [2]bytes.Buffer
	add := func(b *bytes.Buffer, cell func(j int) string) {
		var cells []string
		for j, name := range names {
			if name != "" {
				cells = append(cells, cell(j))
			}
		}
		b.WriteString(strings.Join(cells, ",") + "\n")
	}
	for i := range lines {
		add(&lines[i], func(j int) string { return names[j] })
	}
	for at, i := range r.Perm(506) {
		add(&lines[at/420], func(j int) string { return strconv.FormatFloat(table.Values[i*len(names)+j], 'g', -1, 64) })
	}
	return lines[0].Bytes(), lines[1].Bytes()
}

// sensor returns readings of a cheap dust sensor beside a reference instrument. The sensor reads too high in damp
// air, saturates, and scatters more if there is more dust.
func sensor(r *rand.Rand) []byte {
	var b bytes.Buffer
	b.WriteString("raw,humidity,temperature,reference\n")
	for range 500 {
		dust := math.Exp(2.6 + 0.8*r.NormFloat64())
		humidity := 20 + 75*r.Float64()
		temperature := 12 + 9*r.NormFloat64()
		growth := 1 + 0.25*math.Pow(humidity/100, 4)/(1.02-humidity/100)
		raw := 160*dust*growth/(160+dust*growth) + 0.04*(temperature-12)
		fmt.Fprintf(&b, "%.1f,%.0f,%.1f,%.1f\n", raw*(1+0.05*r.NormFloat64()), humidity, temperature,
			dust*(1+0.05*r.NormFloat64()))
	}
	return b.Bytes()
}

// batches returns a table of batches from 110 lots of raw material. Each lot has four to six batches, which share the
// lot's purity and shift.
func batches(r *rand.Rand) []byte {
	var b bytes.Buffer
	b.WriteString("lot,temperature,pressure,hours,catalyst,purity,yield\n")
	catalysts := []string{"A", "B", "C"}
	best := []float64{182, 174, 190}
	for lot := range 110 {
		shift, purity := 1.2*r.NormFloat64(), 94+5*r.Float64()
		for range 4 + r.IntN(3) {
			c := r.IntN(3)
			temperature, pressure, hours := 160+40*r.Float64(), 2+4*r.Float64(), 1+5*r.Float64()
			yield := 92*(1-math.Exp(-0.9*hours))*math.Exp(-math.Pow((temperature-best[c])/26, 2)) +
				1.4*(pressure-4) - 0.5*math.Pow(pressure-4, 2) + 0.8*(purity-96) + shift + 0.8*r.NormFloat64()
			fmt.Fprintf(&b, "L%03d,%.1f,%.2f,%.2f,%s,%.1f,%.1f\n", lot+1, temperature, pressure, hours, catalysts[c], purity,
				max(yield, 0))
		}
	}
	return b.Bytes()
}

// branin returns runs of a simulator without noise. The simulator is Branin's function.
func branin(r *rand.Rand) []byte {
	var b bytes.Buffer
	b.WriteString("x1,x2,y\n")
	for range 300 {
		x1, x2 := math.Round(1e4*(15*r.Float64()-5))/1e4, math.Round(1e4*15*r.Float64())/1e4
		fmt.Fprintf(&b, "%.4f,%.4f,%.4f\n", x1, x2, math.Pow(x2-5.1/(4*math.Pi*math.Pi)*x1*x1+5/math.Pi*x1-6, 2)+
			10*(1-1/(8*math.Pi))*math.Cos(x1)+10)
	}
	return b.Bytes()
}

// electricity returns the mean power in kW for each four hours, if at least half of their minutes are known.
func electricity(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	records := csv.NewReader(z)
	records.ReuseRecord = true
	if _, err := records.Read(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	type span struct {
		sum     float64
		minutes int
	}
	var order []time.Time
	spans := map[time.Time]span{}
	for {
		cells, err := records.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		var at [4]int // day, month, year, hour
		for i := range at {
			if at[i], err = strconv.Atoi(cells[i]); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		power, err := strconv.ParseFloat(cells[len(cells)-1], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		start := time.Date(at[2], time.Month(at[1]), at[0], at[3]/4*4, 0, 0, 0, time.UTC)
		s := spans[start]
		if s.minutes == 0 {
			order = append(order, start)
		}
		spans[start] = span{s.sum + power, s.minutes + 1}
	}
	var b bytes.Buffer
	b.WriteString("time,kW\n")
	for _, start := range order {
		if s := spans[start]; s.minutes >= 120 {
			fmt.Fprintf(&b, "%s,%.3f\n", start.Format("2006-01-02 15:04"), s.sum/float64(s.minutes))
		}
	}
	return b.Bytes(), nil
}
