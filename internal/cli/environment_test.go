package cli

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestUnknownVariablesAreRefused(t *testing.T) {
	app := kong.Must(&commandLine{}).Model
	for variable, meant := range map[string]string{
		"PLAZA_MONGO_URI=mongodb://plaza.test": "PLAZA_MONGODB_URI",
		"PLAZA_PUBLICURL=":                     "PLAZA_PUBLIC_URL",
		"PLAZA_ALLOWED_ORIGIN=*":               "PLAZA_ALLOWED_ORIGINS",
		"PLAZA_port=8080":                      "PLAZA_ADDR",
		"PLAZA_PORT=8080":                      "PLAZA_",
		"PLAZA_COMMENT=pages":                  "PLAZA_COMMENTS",
		"PLAZA_=":                              "PLAZA_",
	} {
		name, _, _ := strings.Cut(variable, "=")
		want := "there is no setting " + name + ": did you mean " + meant
		if err := checkEnvironment(app, []string{"HOME=/", variable}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", variable, err, want)
		}
	}
	others := []string{
		"PLAZA_TEST_MONGODB_URI=none", "PLAZA_CACHE=/tmp", "PLAZA_ALL_LAYOUTS=1", "PLAZA_MODEL_HISTORIES=5", "PLAZAS=1", "plaza_x=1", "PATH=/bin",
		"PLAZA_SERVICE_HOST=10.0.0.1", "PLAZA_SERVICE_PORT_HTTP=80", "PLAZA_PORT=tcp://10.0.0.1:80", "PLAZA_PORT_80_TCP_ADDR=10.0.0.1",
		"PLAZA_API_SERVICE_HOST=10.0.0.1", "PLAZA_API_PORT_80_TCP=tcp://10.0.0.1:80",
	}
	for _, name := range settings(app) {
		others = append(others, name+"=x")
	}
	if err := checkEnvironment(app, others); err != nil || len(settings(app)) < 15 {
		t.Errorf("%d settings, %v", len(settings(app)), err)
	}
}
