package cli

import (
	"testing"

	"plaza/internal/plazatest"
)

func TestMain(m *testing.M) { plazatest.Main(m, Run) }
