package krigo

import (
	"fmt"
	"math"
	"sort"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/model"
