package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// shares makes a link and opens it.
func (b *tab) shares() {
	b.fill("#args", `{"order":"Ä-17","amount":7}`)
	b.until("verdict", "of 28")
	b.Presses("#share")
	var link string
	for end := time.Now().Add(time.Minute); link == "" && time.Now().Before(end); {
		link = b.value("document.getElementById('link').value")
	}
	if !strings.HasPrefix(link, b.url+"/#1.") {
		b.t.Fatalf("the link is %q", link)
	}
	b.Opens(b.url + "/style.css") // away from the page
	b.Opens(link)
	b.until("verdict", "of 28")
	if got := b.value("document.getElementById('args').value"); got != `{"order":"Ä-17","amount":7}` {
		b.t.Errorf("the link brings %q", got)
	}
}

// refusesLinks opens hostile links.
func (b *tab) refusesLinks() {
	pack := func(json string) string { // as the page packs states
		b.value("globalThis.packed = ''; void (async () => { const s = new Blob([" + json + "]).stream().pipeThrough(new CompressionStream('deflate-raw'));" +
			"const a = new Uint8Array(await new Response(s).arrayBuffer()); let t = ''; for (const c of a) t += String.fromCharCode(c);" +
			"globalThis.packed = btoa(t).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''); })()")
		var packed string
		for packed == "" {
			packed = b.value("globalThis.packed")
		}
		return "#1." + packed
	}
	state := func(policy string) string {
		text, err := json.Marshal(map[string]any{"policy": policy, "tool": policy, "args": policy, "before": policy, "at": 1e300, "end": "yes"})
		if err != nil {
			b.t.Fatal(err)
		}
		quoted, err := json.Marshal(string(text))
		if err != nil {
			b.t.Fatal(err)
		}
		return string(quoted)
	}
	open := func(fragment string) {
		b.value("document.getElementById('alert').textContent = ''")
		b.value(fmt.Sprintf("location.hash = %q", fragment))
	}
	script := `<script>document.title="owned"</script><img src=x onerror="document.title='owned'">`
	open(pack(state(script)))
	b.until("policy-state", "mistake")
	if got := b.value("document.getElementById('policy').value"); got != script {
		b.t.Errorf("the policy of the link is %q", got)
	}
	if n := b.value("document.querySelectorAll('main script, main img').length"); n != "0" {
		b.t.Errorf("the link made %s elements", n)
	}
	for fragment, want := range map[string]string{
		"#" + script:                            "not made by the playground",
		"#1.":                                   "not made by the playground",
		"#1.%%%":                                "not made by the playground",
		"#1.AAAA":                               "cannot be read",
		"#1." + strings.Repeat("A", 300<<10):    "longer than the playground reads",
		pack(`'x'.repeat(50_000_000)`):          "cannot be read",
		pack(`'[1,2,3]'`):                       "no text",
		pack(`'{"policy":{"toString":"x"}}'`):   "no text",
		pack(`'{"__proto__":{"policy":"x"}}'`):  "no text",
		pack(state(strings.Repeat("ä", 40000))): "longer than",
	} {
		open(fragment)
		b.until("alert", want)
	}
	if title := b.value("document.title"); title != "stopgate playground" {
		b.t.Errorf("the title is %q", title)
	}
}
