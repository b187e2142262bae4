package report_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/data"
	"github.com/krigo-gp/krigo/report"
)

func ExampleWrite() {
	table := data.Snelson()
	m, err := krigo.Fit(context.Background(), table, krigo.Options{Data: krigo.Data{Target: "y", TestFraction: 0.2},
		Method: krigo.Method{Inducing: 8}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var page bytes.Buffer
	if err := report.Write(context.Background(), &page, m, table); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Count(page.String(), "<figure"), "figures")
	// Output:
	// 10 figures
}
