package mongotest

import (
	"math"
	"testing"
	"testing/fstest"
)

func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  uint64
	}{
		"none": {nil, math.MaxUint64},
		"version 2": {map[string]string{
			"proc/self/cgroup": "0::/ci/job\n", "sys/fs/cgroup/ci/memory.max": "4096\n", "sys/fs/cgroup/ci/job/memory.max": "max\n",
		}, 4096},
		"version 2, in a container": {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "8192\n"}, 8192},
		"version 1, with the host's path": {map[string]string{
			"proc/self/cgroup":                           "5:cpu,cpuacct:/docker/1\n4:memory:/docker/1\n0::/docker/1\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "2048\n",
		}, 2048},
		"version 1, unlimited": {map[string]string{
			"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 9223372036854771712},
	} {
		if got := memoryLimit(files(c.files)); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestAvailableMemory(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]uint64{
		"MemTotal:  100 kB\nMemFree:  10 kB\nMemAvailable:  50 kB\n": 50 << 10, "MemTotal: 100 kB\n": 0, "": 0,
	} {
		if got := availableMemory(files(map[string]string{"proc/meminfo": content})); got != want {
			t.Errorf("%q: %d, want %d", content, got, want)
		}
	}
}

func files(content map[string]string) fstest.MapFS {
	system := fstest.MapFS{}
	for name, text := range content {
		system[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return system
}
