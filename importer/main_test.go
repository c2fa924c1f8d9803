package importer_test

import (
	"os"
	"testing"

	"plaza/storage/mongodb/mongotest"
)

func TestMain(m *testing.M) { os.Exit(mongotest.Tests{M: m}.Run()) }
