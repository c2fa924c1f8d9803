package cli

import (
	"testing"

	"plaza/internal/cli"
	"plaza/internal/plazatest"
)

func TestMain(m *testing.M) { plazatest.Main(m, cli.Run) }
