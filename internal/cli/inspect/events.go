package inspect

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/record/live"
	"github.com/stopgate/stopgate/internal/record/redis"
	"github.com/stopgate/stopgate/internal/visible"
)

// eventFlags are the source of events and their filters.
type eventFlags struct {
	url, tokenEnv, channel string
	policies               []string // whose [api] has the address of the API
	types, tools, sessions []string
	rules                  []string
	all                    bool
	count                  int
	format                 *cli.Format
}

func NewEvents(s cli.Streams) *cobra.Command {
	var f eventFlags
	cmd := &cobra.Command{
		Use:   "events",
		Short: "watch what a running gate decides",
		Long: `events shows what happens in a running gate as it happens: decisions, questions and
answers, results, reloads. It watches the decision API of stopgate up on this
machine, of one elsewhere, or a Redis server that gates publish to.`,
		Example: `  stopgate events --type decision --tool 'fs_write'
  stopgate events --all --format json
  stopgate events --url https://gate.example.com:8789 --token-env OPERATOR_TOKEN
  stopgate events --url redis://127.0.0.1:6379`,
		Args: cli.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.url, "url", "", "`URL` of a decision API (unix:, http:, https:) or of Redis (redis:, rediss:, unix with --channel); default: of up on this machine")
	f.addPolicy(cmd)
	flags.StringVar(&f.tokenEnv, "token-env", "", "environment `VARIABLE` with a token of the scope operate")
	flags.StringVar(&f.channel, "channel", "", "`NAME` of the channel in Redis (default "+redis.Channel+")")
	flags.StringSliceVar(&f.types, "type", nil, "only these `TYPES`: decision, asked, answered, result, reload ...")
	flags.StringSliceVar(&f.tools, "tool", nil, "only these `TOOLS`")
	flags.StringSliceVar(&f.sessions, "session", nil, "only these `SESSIONS`")
	flags.StringSliceVar(&f.rules, "rule", nil, "only what these `RULES` decided: their ids, or FILE:LINE in the policy here")
	flags.BoolVar(&f.all, "all", false, "begin with what the gate still keeps")
	flags.IntVar(&f.count, "count", 0, "end after `N` events")
	cli.LookUpFlag(cmd, "rule", func(context.Context, *cobra.Command) []string { return inputs.CompletedRules(f.policies) })
	cli.CompleteFlag(cmd, "type", append([]string{"decision", "policy"}, cli.Words(rowEvents)...)...)
	f.format = cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, stop := cli.Interruptible(cmd.Context())
		defer stop()
		ids, err := inputs.RuleIDs(f.policies, f.rules)
		if err != nil {
			return err
		}
		f.rules = cli.Words(ids)
		out := &eventPrinter{flags: &f, out: bufio.NewWriter(s.Out), talk: s.Err}
		if strings.HasPrefix(f.url, "redis:") || strings.HasPrefix(f.url, "rediss:") || f.channel != "" {
			err := redis.Watch(ctx, f.url, f.channel, nil, out.message)
			if broken := (*net.OpError)(nil); errors.As(err, &broken) {
				err = cli.Hinted(err, "is this the server that [telemetry.redis] of the gate names?")
			}
			return out.ended(err)
		}
		from, err := f.source()
		if err != nil {
			return err
		}
		return out.ended(from.watch(ctx, out))
	}
	return cmd
}

// errEnough ends a watch that saw as many events as it should.
var errEnough = errors.New("enough")

// eventPrinter prints events.
type eventPrinter struct {
	flags *eventFlags
	out   *bufio.Writer
	talk  io.Writer
	seen  int
}

func (p *eventPrinter) ended(err error) error {
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// message prints a message of Redis.
func (p *eventPrinter) message(text []byte) error {
	var m redis.Message
	if err := json.Unmarshal(text, &m); err != nil {
		fmt.Fprintf(p.talk, "stopgate: a message that is no event: %s\n", visible.Text(firstBytes(text)))
		return nil
	}
	if m.Missed > 0 {
		p.missed(m.Missed)
		return nil
	}
	tool, session, rule := "", "", ""
	if m.Record != nil {
		tool, session = string(m.Record.Tool), string(m.Record.Session)
		if m.Record.Rule != nil {
			rule = string(m.Record.Rule.ID)
		}
	} else if m.Policy != nil {
		session = string(m.Policy.Session)
	}
	if !listed(p.flags.types, string(m.Type)) || !listed(p.flags.tools, tool) || !listed(p.flags.sessions, session) || !listed(p.flags.rules, rule) {
		return nil
	}
	return p.print(&m.Event, text)
}

func listed(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return len(list) == 0
}

func firstBytes(text []byte) string {
	return string(text[:min(len(text), 80)])
}

func (p *eventPrinter) missed(n uint64) {
	fmt.Fprintf(p.talk, "stopgate: %s came too fast and are not shown; the records have them\n", cli.Count(int(min(n, 1<<30)), "event"))
}

// print prints an event; text is its JSON form.
func (p *eventPrinter) print(e *live.Event, text []byte) error {
	if *p.flags.format == "json" {
		p.out.Write(text)
		p.out.WriteByte('\n')
	} else {
		p.out.WriteString(eventLine(e))
	}
	if err := p.out.Flush(); err != nil {
		return err
	}
	if p.seen++; p.seen == p.flags.count {
		return errEnough
	}
	return nil
}

// eventLine is an event for people.
func eventLine(e *live.Event) string {
	if e.Policy != nil {
		return fmt.Sprintf("%s  %-8s %s %s: %s\n", e.Time.Local().Format(time.DateTime), e.Policy.Severity, visible.Text(e.Policy.Name), visible.Text(e.Policy.Type), visible.Text(e.Policy.Summary))
	}
	if e.Record == nil {
		return fmt.Sprintf("%s  %s\n", e.Time.Local().Format(time.DateTime), e.Type)
	}
	return rowText(e.Record, "") + "\n"
}

// eventSource is a decision API.
type eventSource struct {
	client *http.Client
	base   string
	at     string // as the user names it
	url    string
	token  string
	all    bool
}

// source finds the API.
func (f *eventFlags) source() (*eventSource, error) {
	// The token is for the API that was named, and for no other.
	s := &eventSource{client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, all: f.all}
	if f.tokenEnv != "" {
		if s.token = os.Getenv(f.tokenEnv); s.token == "" {
			return nil, cli.Usagef("--token-env: the environment variable %s is not set", f.tokenEnv)
		}
	}
	text := f.url
	if text == "" {
		path, err := socketOfUp(f.policies)
		if err != nil {
			return nil, err
		}
		text = (&url.URL{Scheme: "unix", Path: path}).String()
	}
	s.at = text
	at, err := url.Parse(text)
	if err != nil {
		return nil, cli.Usagef("--url %s: want unix:PATH, http://HOST, https://HOST or redis://HOST", text)
	}
	switch at.Scheme {
	case "unix":
		path := at.Path + at.Opaque
		s.client.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}}
		s.base = "http://stopgate"
	case "http", "https":
		s.base = strings.TrimSuffix(text, "/")
	default:
		return nil, cli.Usagef("--url %s: want unix:PATH, http://HOST, https://HOST or redis://HOST", text)
	}
	query := url.Values{}
	for key, words := range map[string][]string{"type": f.types, "tool": f.tools, "session": f.sessions, "rule": f.rules} {
		if len(words) > 0 {
			query.Set(key, strings.Join(words, ","))
		}
	}
	s.url = s.base + "/v1/events?" + query.Encode()
	return s, nil
}

// addPolicy adds the flag that names the gate's policy file.
func (f *eventFlags) addPolicy(cmd *cobra.Command) {
	inputs.PolicyFlag(cmd, &f.policies, " whose [api] says where the gate answers (default: as up finds it)")
}

// socketOfUp is the socket that up listens on where no flag names one.
func socketOfUp(policies []string) (string, error) {
	set, found, err := inputs.OperatorTables(policies)
	if err != nil {
		return "", err
	}
	var api tables.APITable
	if mistakes := tomltree.Decode(found["api"], &api); mistakes.HasErrors() {
		return "", config.MistakesError{List: mistakes, Set: set}
	}
	switch api.Socket {
	case "":
		return tables.DefaultSocket()
	case tables.NoSocket:
		return "", cli.Hinted(errors.New("the gate has no socket: [api] socket is "+tables.NoSocket), "name its address with --url")
	}
	return api.Socket, nil
}

// unreached returns the error of an API that does not answer, in fewer words than the layers
// below.
func (s *eventSource) unreached(err error) error {
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	hint := "is stopgate up running? name its API with --url, as its first line of output says"
	if certificate := (*tls.CertificateVerificationError)(nil); errors.As(err, &certificate) {
		hint = "name the gate as its certificate does, trust its CA with SSL_CERT_FILE=FILE, or ask on its socket: --url unix:PATH"
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return cli.Hinted(fmt.Errorf("no gate answers at %s", s.at), hint)
	}
	return cli.Hinted(fmt.Errorf("ask the gate at %s: %w", s.at, err), hint)
}

// watch prints events until ctx ends. A connection that breaks is made again: no event is lost
// that the gate still keeps.
func (s *eventSource) watch(ctx context.Context, out *eventPrinter) error {
	last := ""
	if s.all {
		last = "0"
	}
	for pause, connected := time.Duration(0), false; ; pause = min(2*pause+100*time.Millisecond, 5*time.Second) {
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return nil
		}
		begun, err := s.once(ctx, &last, out)
		var refused refusedError
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errEnough), errors.As(err, &refused):
			return err
		case !begun && !connected:
			return s.unreached(err)
		case begun:
			connected, pause = true, 0
			fmt.Fprintln(out.talk, "stopgate: the connection broke; trying again")
		}
	}
}

// refusedError is an answer that a second attempt would not change.
type refusedError struct{ error }

// once reads one connection to its end; begun reports that it was made.
func (s *eventSource) once(ctx context.Context, last *string, out *eventPrinter) (begun bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return false, err
	}
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	if *last != "" {
		req.Header.Set("Last-Event-ID", *last)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		err := fmt.Errorf("watch events: %s: %s", resp.Status, visible.Text(string(text)))
		if resp.StatusCode >= 500 {
			return false, err
		}
		return false, refusedError{err}
	}
	return true, s.read(bufio.NewReaderSize(resp.Body, 64<<10), last, out)
}

// maxEventLine bounds a line that is read.
const maxEventLine = 1 << 20

// read prints the events of one connection.
func (s *eventSource) read(in *bufio.Reader, last *string, out *eventPrinter) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxEventLine)
	id, kind := "", ""
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ": ")
		switch key {
		case "id":
			id = value
		case "event":
			kind = value
		case "data":
			if err := s.event(kind, value, out); err != nil {
				return err
			}
			if id != "" {
				*last = id
			}
			id, kind = "", ""
		}
	}
	return lines.Err()
}

func (s *eventSource) event(kind, data string, out *eventPrinter) error {
	if live.Type(kind) == live.Missed {
		var m struct{ Missed uint64 }
		if json.Unmarshal([]byte(data), &m) == nil {
			out.missed(m.Missed)
		}
		return nil
	}
	var e live.Event
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return refusedError{fmt.Errorf("watch events: %w", err)}
	}
	return out.print(&e, []byte(data))
}
