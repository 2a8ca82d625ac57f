//go:build linux

package slurmtest

import (
	"bytes"
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A Cluster runs until the test ends.
type Cluster struct {
	t       testing.TB
	dir     string
	daemons []*daemon
}

type daemon struct {
	name string
	cmd  *exec.Cmd
	gone chan struct{}
}

// nodeMark is in the environment of a node's daemon and of what it starts.
const nodeMark = "UTVI_SLURMTEST_NODE"

// Start starts a cluster of nodes with a CPU each, named n1, n2 …, whose arrays
// have numbers below maxArray. It skips the test where Slurm is not installed.
func Start(t testing.TB, nodes, maxArray int) *Cluster {
	t.Helper()
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch", "scontrol"} {
		if _, err := find(program); err != nil {
			t.Skipf("Slurm is not tried: there is no %s here (Debian has it in slurm-wlm and munge)", program)
		}
	}
	// Sockets have short paths.
	dir, err := os.MkdirTemp("", "utvi-slurm-")
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{t: t, dir: dir}
	t.Cleanup(c.stop)
	c.configure(nodes, maxArray)
	c.start("munged", nil, "munged", "--foreground", "--force", "--socket="+c.in("munge.socket"), "--key-file="+c.in("munge.key"),
		"--pid-file="+c.in("munge.pid"), "--log-file="+c.in("munge.log"), "--seed-file="+c.in("munge.seed"))
	c.await("munged", func() bool { _, err := os.Stat(c.in("munge.socket")); return err == nil })
	c.start("slurmctld", nil, "slurmctld", "-D")
	for i := 1; i <= nodes; i++ {
		c.StartNode(fmt.Sprintf("n%d", i))
	}
	c.await("nodes", func() bool {
		out, _ := c.Command("sinfo", "--noheader", "--Node", "--format=%T").Output()
		return strings.Count(string(out), "idle\n") == nodes
	})
	return c
}

// find looks where daemons are, too, which is not on everyone's path.
func find(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/" + program)
}

func (c *Cluster) in(name string) string { return filepath.Join(c.dir, name) }

func (c *Cluster) configure(nodes, maxArray int) {
	c.t.Helper()
	me, err := user.Current()
	if err != nil {
		c.t.Fatal(err)
	}
	key := make([]byte, 128)
	rand.Read(key)
	ports := freePorts(c.t, 1+nodes)
	var b bytes.Buffer
	fmt.Fprintf(&b, `ClusterName=utvi
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=%d
SlurmUser=%[2]s
SlurmdUser=%[2]s
AuthType=auth/munge
AuthInfo=socket=%[3]s/munge.socket,cred_expire=5
StateSaveLocation=%[3]s/state
SlurmdSpoolDir=%[3]s/spool-%%n
SlurmctldPidFile=%[3]s/slurmctld.pid
SlurmdPidFile=%[3]s/slurmd-%%n.pid
SlurmctldLogFile=%[3]s/slurmctld.log
SlurmdLogFile=%[3]s/slurmd-%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SchedulerParameters=sched_interval=1,bf_interval=1
JobRequeue=1
ReturnToService=2
MaxArraySize=%[4]d
SlurmdTimeout=8
KillWait=5
MpiDefault=none
MailProg=/bin/true
`, ports[0], me.Username, c.dir, maxArray)
	for i := 1; i <= nodes; i++ {
		fmt.Fprintf(&b, "NodeName=n%d NodeHostname=localhost NodeAddr=127.0.0.1 Port=%d CPUs=1\n", i, ports[i])
	}
	b.WriteString("PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n")
	for name, data := range map[string][]byte{"slurm.conf": b.Bytes(), "munge.key": key} {
		if err := os.WriteFile(c.in(name), data, 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	if err := os.Mkdir(c.in("state"), 0o700); err != nil {
		c.t.Fatal(err)
	}
}

// freePorts are different ports that nobody listened at a moment ago, below those that
// Linux gives to connections: one of these could take a port before its daemon starts.
func freePorts(t testing.TB, n int) (ports []int) {
	t.Helper()
	const first, end = 16384, 32768
	for range 10000 {
		if len(ports) == n {
			return ports
		}
		port := first + mathrand.IntN(end-first)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		defer l.Close() // not before all are chosen
		ports = append(ports, port)
	}
	t.Fatalf("no %d free ports from %d to %d", n, first, end-1)
	return nil
}

// Env is the environment in which commands reach this cluster.
func (c *Cluster) Env() []string { return append(os.Environ(), "SLURM_CONF="+c.in("slurm.conf")) }

// Command is a command that reaches this cluster.
func (c *Cluster) Command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = c.Env()
	return cmd
}

// StartNode starts the daemon of a node.
func (c *Cluster) StartNode(node string) {
	c.t.Helper()
	c.start(node, []string{nodeMark + "=" + node}, "slurmd", "-D", "-N", node)
}

func (c *Cluster) start(name string, env []string, program string, args ...string) {
	c.t.Helper()
	path, err := find(program)
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(c.Env(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the test, which stops it
	log, err := os.OpenFile(c.in(name+".out"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	d := &daemon{name, cmd, make(chan struct{})}
	go func() {
		cmd.Wait()
		close(d.gone)
	}()
	c.daemons = append(c.daemons, d)
}

// patience is longer than any machine takes that has not hung.
const patience = 5 * time.Minute

// await waits for something that daemons do, all of which must go on running.
func (c *Cluster) await(what string, done func() bool) {
	c.t.Helper()
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		for _, d := range c.daemons {
			select {
			case <-d.gone:
				c.t.Fatalf("%s ended (%v)\n%s", d.name, d.cmd.ProcessState, c.Logs())
			default:
			}
		}
		if done() {
			return
		}
		if time.Since(start) > patience {
			c.t.Fatalf("no %s after %v\n%s", what, patience, c.Logs())
		}
	}
}

// Logs are the ends of the daemons' logs.
func (c *Cluster) Logs() string {
	var b strings.Builder
	files, _ := filepath.Glob(c.in("*.log"))
	outs, _ := filepath.Glob(c.in("*.out"))
	for _, f := range append(files, outs...) {
		text, _ := os.ReadFile(f)
		fmt.Fprintf(&b, "== %s\n%s\n", filepath.Base(f), text[max(0, len(text)-3000):])
	}
	return b.String()
}
