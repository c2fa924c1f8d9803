package crash

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plaza/internal/plazatest"
	"plaza/internal/testtime"
)

// TestFullDisk fills the disk of a server. The server reports that to clients, in its readiness and
// once in the log, still answers queries, and recovers when there is space again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := startServingOn(t, folder, "true")
	url := s.URL(t)
	plazatest.WaitFor(t, "readiness", func() bool { return plazatest.Readiness(t, url) == http.StatusOK })
	c := newTalker(t, url+"/graphql")
	filler := filepath.Join(fmt.Sprintf("/proc/%d/root", s.Command.Process.Pid), folder, "filler")
	_ = os.WriteFile(filler, make([]byte, 16<<20), 0o600) // as much as fits
	var refusal error
	for range 100_000 { // free space in the write-ahead log is used first
		if refusal = c.comment(t); refusal != nil {
			break
		}
	}
	if refusal == nil || !strings.Contains(refusal.Error(), "disk is full") || !strings.Contains(refusal.Error(), "UNAVAILABLE") {
		t.Errorf("a comment on a full disk: %v", refusal)
	}
	if got := plazatest.Readiness(t, url); got != http.StatusServiceUnavailable {
		t.Errorf("readiness: %d", got)
	}
	if _, err := c.ask(t, `{ viewer { user { handle } } }`, "viewer", "user", "handle"); err != nil {
		t.Errorf("a query on a full disk: %v", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	plazatest.WaitFor(t, "room", func() bool { return plazatest.Readiness(t, url) == http.StatusOK })
	if err := c.comment(t); err != nil {
		t.Errorf("a comment after space was freed: %v", err)
	}
	if said := s.Log.String(); strings.Count(said, `"msg":"the disk is full`) != 1 || strings.Count(said, "room again") != 1 {
		t.Errorf("the log says\n%s", said)
	}
}

// TestStartOnAFullDisk: a server that can't open its database says why. SQLite reports only an I/O
// error.
func TestStartOnAFullDisk(t *testing.T) {
	t.Parallel()
	s := startServingOn(t, t.TempDir(), `head -c 4M /dev/zero >"$1/filler"`)
	defer time.AfterFunc(testtime.Patience(), func() { _ = s.Command.Process.Kill() }).Stop()
	if err := s.Command.Wait(); err == nil || !strings.Contains(s.Log.String(), "plaza.sqlite: the disk is full: ") {
		t.Errorf("%v: %s", err, s.Log)
	}
}

// startServingOn starts a server on a separate small disk, which is mounted at the folder for that
// process only, after a shell command that prepares the disk ($1).
func startServingOn(t *testing.T, folder, prepare string) *plazatest.Process {
	t.Helper()
	attributes := &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	try := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=3m", "plaza", folder)
	try.SysProcAttr = attributes
	if said, err := try.CombinedOutput(); err != nil {
		t.Skipf("no disk can be mounted here: %v: %s", err, said)
	}
	s := &plazatest.Process{Log: &plazatest.Words{}}
	plaza, _, _ := plazatest.Command(t.Context(), folder, "serve", "--addr", "127.0.0.1:0", "--drain-delay", "0s")
	script := `mount -t tmpfs -o size=3m plaza "$1" || exit; ` + prepare + `; shift; exec "$@"`
	s.Command = exec.CommandContext(t.Context(), "sh", append([]string{"-c", script, "sh", folder}, plaza.Args...)...)
	s.Command.SysProcAttr, s.Command.Env, s.Command.Stderr = attributes, plaza.Env, s.Log
	if err := s.Command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Command.Process.Kill(); _ = s.Command.Wait() })
	return s
}
