package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// thrice calls a tool in each of three turns of a person.
const thrice = `model stopgate-test
turn
call fs_create_file
  path string a.txt
  content string x
turn
say First.
turn
call fs_create_file
  path string a.txt
  content string x
turn
say Second.
turn
call fs_create_file
  path string a.txt
  content string x
turn
say Third.
`

// Proves S70, S71: the terminal agent follows its channel while it runs: a new bundle is in force for the next call, and
// the person sees it; where old bundles are not accepted, every call is denied after max_age without the channel.
func TestAgentFollowsTheBundle(t *testing.T) {
	channel := filepath.Join(t.TempDir(), "channel")
	if err := os.Mkdir(channel, 0o700); err != nil {
		t.Fatal(err)
	}
	op := newFleetOperator(t, "file:"+filepath.Join(channel, "prod"))
	op.release("generation one")
	dir, env := agentHome(t, map[string]string{"script": thrice})
	gateFile(t, dir, op.url, "max_age = \"4s\"\n")
	s := sitDown(t, dir, env, nil, "--script", "script", "--pace", "0", "--policy", "gate.toml")
	s.sees("(?m)^>$")
	s.types("write\r")
	s.sees("generation one", "First.")
	op.release("generation two")
	s.sees("the policy bundle of generation 2 is in force", "(?m)^>$")
	s.types("again\r")
	s.sees("generation two", "Second.")
	if err := os.Rename(channel, channel+".gone"); err != nil {
		t.Fatal(err)
	}
	s.sees("the policy bundle is too old", "(?m)^>$")
	s.types("again\r")
	s.sees("the policy bundle of this gate is too old", "Third.")
	if err := os.Rename(channel+".gone", channel); err != nil {
		t.Fatal(err)
	}
	s.sees("its rules are in force")
	s.leaves()
}

// Proves S52: a rule that is written while the agent runs leaves the bundle in force, and records go on to name it.
func TestAgentWritesARuleBesideABundle(t *testing.T) {
	op := newFleetOperator(t, "file:"+filepath.Join(t.TempDir(), "prod"))
	writeIn(t, op.dir, "p.toml", "version = 1\n[tools.deploy.policy]\nrun = [{ mode = \"deny\" }]\n")
	op.run("build", "p.toml", "-o", "p.bundle")
	op.run("sign", "p.bundle", "--key", "fleet.key", "--against", "none")
	op.run("push", "p.bundle", op.url, "--public-key", fleetPublic)
	dir, env := agentHome(t, map[string]string{"script": twice})
	gateFile(t, dir, op.url, "[tools.fs_create_file.policy]\nrun = [\n  { mode = \"ask\" },\n]\n")
	ownPolicy(t, env, read(t, dir, "gate.toml"))
	s := sitDown(t, dir, env, nil, "--script", "script", "--pace", "0")
	s.sees("(?m)^>$")
	s.types("write\r")
	s.sees("y once")
	s.types("a")
	s.sees("f write the rule")
	s.types("f")
	s.sees("y write it")
	s.types("y")
	s.sees("written", "2 calls: 2 ran, 0 refused; 1 prompt")
	s.leaves()
	cmd := exec.Command("stopgate", "log", "--decisions", "--format", "json")
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.Output()
	if n := strings.Count(string(out), `"bundle":{"generation":1,`); err != nil || n != 2 {
		t.Errorf("%d of 2 decisions name the bundle: %v\n%s", n, err, out)
	}
}
