package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// plain is a value that needs no escapes between quotes in a shell script.
var plain = regexp.MustCompile(`^[0-9A-Za-z.+/=:_-]*$`)

// installer writes the install script of the release, which knows its version, the key of its
// signature and where it is published. Of a release without a signature it installs nothing without
// --no-verify-signature.
func installer(r *release) error {
	text, err := os.ReadFile(filepath.Join(r.root, "deploy", "install.sh"))
	if err != nil {
		return err
	}
	values := map[string]string{"VERSION": r.version.described, "BASE": r.base, "KEY": ""}
	if r.key != nil {
		values["KEY"] = r.key.public()
		if err := r.write("stopgate.pub", []byte("untrusted comment: public key of stopgate's releases\n"+values["KEY"]+"\n")); err != nil {
			return err
		}
	}
	out := string(text)
	for name, value := range values {
		quoted := "'@" + name + "@'"
		if strings.Count(out, quoted) != 1 || !plain.MatchString(value) {
			return fmt.Errorf("install.sh: cannot set %s to %q", name, value)
		}
		out = strings.Replace(out, quoted, "'"+value+"'", 1)
	}
	return os.WriteFile(filepath.Join(r.out, "install.sh"), []byte(out), 0o755)
}
