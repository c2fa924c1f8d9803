// Command gqlgen generates Plaza's GraphQL layer, as gqlgen.yml configures it: it is gqlgen with
// our own templates of objects and fields, which execute operations with half the CPU and memory.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log" //nolint:depguard // gqlgen logs with it
	"os"
	"path/filepath"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/99designs/gqlgen/plugin"
	"github.com/99designs/gqlgen/plugin/modelgen"
)

func main() {
	log.SetOutput(io.Discard) // it names each field that has a resolver
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "gqlgen:", err)
		os.Exit(1)
	}
}

func generate() error {
	cfg, err := config.LoadConfigFromDefaultLocations()
	if err != nil {
		return err
	}
	data, err := read(cfg)
	if err != nil {
		return err
	}
	from, err := allTemplates(context.Background())
	if err != nil {
		return err
	}
	return write(data, from)
}

// read reads the schema and generates the models.
func read(cfg *config.Config) (*codegen.Data, error) {
	if err := cfg.LoadSchema(); err != nil {
		return nil, err
	}
	if err := cfg.Init(); err != nil {
		return nil, err
	}
	models, ok := modelgen.New().(plugin.ConfigMutator)
	if !ok {
		return nil, errors.New("this version of gqlgen generates models differently")
	}
	if err := models.MutateConfig(cfg); err != nil {
		return nil, err
	}
	return codegen.BuildData(cfg, models)
}

// write writes a file for each file of the schema, and one for the code that they share.
func write(data *codegen.Data, from fs.FS) error {
	root, err := fs.ReadFile(from, rootTemplate)
	if err != nil {
		return err
	}
	if err := render(data, from, rootTemplate, string(root)); err != nil {
		return err
	}
	for name, part := range parts(data) {
		if err := render(part, from, name, ""); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func render(data *codegen.Data, from fs.FS, name, template string) error {
	file := strings.TrimSuffix(name, filepath.Ext(name)) + ".generated.go"
	return templates.Render(templates.Options{
		PackageName: data.Config.Exec.Package, Filename: filepath.Join(data.Config.Exec.DirName, file), Data: data,
		Template: template, TemplateFS: from, RegionTags: template == "", GeneratedHeader: true, Packages: data.Config.Packages,
		Funcs: map[string]any{"isPlain": isPlain, "fails": fails, "value": value},
	})
}
