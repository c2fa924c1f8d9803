// Package cli has the black-box tests of commands, run as processes: imports, exports, migrations,
// upgrades of databases that earlier versions left.
package cli
