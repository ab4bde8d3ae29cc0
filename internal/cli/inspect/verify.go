package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/visible"
)

// verifyJSON is the answer of verify; it changes only by addition.
type verifyJSON struct {
	OK    bool   `json:"ok"`
	Rows  int64  `json:"rows"`
	Chain string `json:"chain"`
	Seq   int64  `json:"seq"`
	Hash  string `json:"hash"`
	Lost  int64  `json:"lost"`
	Torn  int64  `json:"torn"`
	Known int64  `json:"known,omitempty"` // number of the row that --head names
	// Changed are the hashes of arguments that were changed after they were stored.
	Changed []string `json:"changed_arguments,omitempty"`
	Spooled bool     `json:"spooled,omitempty"` // rows wait next to the store
	Reason  string   `json:"reason,omitempty"`
	// Chains has the chain of each gate, for a store of several gates. Rows, Lost and Torn are then
	// the sums, and Chain, Seq and Hash are empty.
	Chains []chainJSON `json:"chains,omitempty"`
}

// chainJSON is the result of one of several chains.
type chainJSON struct {
	OK   bool  `json:"ok"`
	Rows int64 `json:"rows"`
	headJSON
	Lost   int64  `json:"lost,omitempty"`
	Reason string `json:"reason,omitempty"`
}

func newLogVerify(s cli.Streams) *cobra.Command {
	var f inputs.Records
	var head string
	cmd := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "check that no row was changed, removed or inserted",
		Long: `verify reads the whole chain of records and compares stored arguments with the hashes
in their rows. Rows cut off at the end show because the file STORE-head, which
follows the chain, names one that is not there. What is left is a chain and a head
file written anew by whoever owns them. That shows if a head kept elsewhere
('stopgate log head') is not in the chain: name its hash with --head.

A store of several gates has a chain for each of them. verify checks all chains, and
--head takes all lines that 'stopgate log head' printed.

Exit: 0 every chain is whole, 1 one is not, or could not be read.`,
		Args: cli.AtMostOne,
	}
	f.Add(cmd)
	cmd.Flags().StringVar(&head, "head", "", "`HASH` of a row that has to be in the chain, or lines that begin with one")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		log, err := f.OpenNamed(cmd, args)
		if err != nil {
			return err
		}
		defer log.Close()
		hashes := headsIn(head)
		progress := cli.StartProgress(s, "verifying", "the chain", 0)
		check, err := log.Verify(cmd.Context(), hashes...)
		progress.End()
		if err != nil {
			return err
		}
		answer := verified(check, hashes)
		if err = format.Print(s.Out, answer, answer.text(log.Location())); err == nil && !answer.OK {
			return cli.Exit(cli.ExitTrouble)
		}
		return err
	}
	return cmd
}

// headsIn returns the first words of lines.
func headsIn(text string) (hashes []string) {
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			hashes = append(hashes, words[0])
		}
	}
	return hashes
}

// verified is the answer about a check for which hashes were asked.
func verified(check records.Check, hashes []string) verifyJSON {
	v := verifyJSON{OK: true, Changed: check.Changed, Spooled: check.Spooled}
	for _, c := range check.Chains {
		chain := chainJSON{OK: c.Err == nil, Rows: c.Rows, headJSON: headOf(records.Head{Head: c.Head, Gate: c.Gate}), Lost: c.Lost}
		if c.Err != nil {
			v.OK, chain.Reason = false, c.Err.Error()
		}
		v.Rows, v.Lost, v.Torn = v.Rows+c.Rows, v.Lost+c.Lost, v.Torn+c.Torn
		v.Chains = append(v.Chains, chain)
	}
	if len(v.Chains) == 1 && v.Chains[0].Gate == "" {
		c := v.Chains[0]
		v.Chain, v.Seq, v.Hash, v.Reason, v.Chains = c.Chain, c.Seq, c.Hash, c.Reason, nil
	}
	if i := slices.IndexFunc(v.Chains, func(c chainJSON) bool { return !c.OK }); i >= 0 {
		v.Reason = fmt.Sprintf("the chain %s of %s: %s", v.Chains[i].Chain, v.Chains[i].Gate, v.Chains[i].Reason)
	}
	if len(hashes) == 1 {
		v.Known = check.Known[hashes[0]]
	}
	missing := slices.IndexFunc(hashes, func(hash string) bool { return check.Known[hash] == 0 })
	switch {
	case !v.OK:
	case len(check.Changed) > 0:
		v.OK, v.Reason = false, fmt.Sprintf("the stored arguments of %s were changed: they have another hash than their rows name (args_hash %s)",
			cli.Count(len(check.Changed), "call"), strings.Join(check.Changed[:min(len(check.Changed), 5)], ", "))
	case missing >= 0 && len(hashes) == 1:
		v.OK, v.Reason = false, "no row has the hash of the head: rows were cut off, pruned, or the chain was written anew"
	case missing >= 0:
		v.OK, v.Reason = false, fmt.Sprintf("no row has the hash %s of a head: rows were cut off, pruned, or a chain was written anew", hashes[missing])
	}
	return v
}

func (v verifyJSON) text(location string) string {
	if !v.OK {
		out := fmt.Sprintf("NOT WHOLE: %s\n  %s\n", visible.Text(location), visible.Text(v.Reason))
		if v.Chains == nil {
			return out + fmt.Sprintf("  %d rows before it are\n", v.Rows)
		}
		return out + v.chainsText()
	}
	out := new(strings.Builder)
	fmt.Fprintf(out, "whole: %s in %s\n", cli.Count(int(v.Rows), "row"), visible.Text(location))
	if v.Chains == nil {
		fmt.Fprintf(out, "  chain %s, row %d\n  head  %s\n", visible.Text(v.Chain), v.Seq, v.Hash)
		if before := v.Seq - v.Rows; before > 0 {
			fmt.Fprintf(out, "  %d rows before the first one are not here: pruned, or kept elsewhere\n", before)
		}
	} else {
		out.WriteString(v.chainsText())
	}
	if v.Known > 0 {
		fmt.Fprintf(out, "  the head that was kept is row %d\n", v.Known)
	}
	if v.Lost > 0 {
		fmt.Fprintf(out, "  %d rows could not be written when they were due, as the gap rows say\n", v.Lost)
	}
	if v.Spooled {
		fmt.Fprintf(out, "  rows that the store did not take wait next to it, and are added by the next stopgate that can write to it\n")
	}
	if v.Torn > 0 {
		fmt.Fprintf(out, "  %d bytes of an unfinished write stand at the end; they were never acknowledged\n", v.Torn)
	}
	return out.String()
}

// chainsText has a line for every chain.
func (v verifyJSON) chainsText() string {
	out := new(strings.Builder)
	for _, c := range v.Chains {
		state := "whole"
		if !c.OK {
			state = "NOT WHOLE"
		}
		fmt.Fprintf(out, "  %-9s  chain %s of %s, %s up to row %d", state, visible.Text(c.Chain), visible.Text(c.Gate), cli.Count(int(c.Rows), "row"), c.Seq)
		if before := c.Seq - c.Rows; c.OK && before > 0 {
			fmt.Fprintf(out, ", %d pruned", before)
		}
		if c.Reason != "" {
			fmt.Fprintf(out, ": %s", visible.Text(c.Reason))
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// headJSON is the answer of head.
type headJSON struct {
	Chain string `json:"chain"`
	Seq   int64  `json:"seq"`
	Hash  string `json:"hash"`
	Gate  string `json:"gate,omitempty"`
}

func headOf(h records.Head) headJSON { return headJSON{h.Chain, h.Seq, h.Hash, h.Gate} }

// headsJSON is the answer of head for a store of several gates.
type headsJSON struct {
	Chains []headJSON `json:"chains"`
}

func newLogHead(s cli.Streams) *cobra.Command {
	var f inputs.Records
	cmd := &cobra.Command{
		Use:   "head [FILE]",
		Short: "print the hash of the newest row, to be kept elsewhere",
		Long: `head prints the hash of the newest row. Keep it elsewhere: 'stopgate log verify --head'
finds out whether that row is still there.

Of a store of several gates it prints a line for every chain: the hash, the chain, the
number of its newest row, and the gate.`,
		Args: cli.AtMostOne,
	}
	f.Add(cmd)
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		log, err := f.OpenNamed(cmd, args)
		if err != nil {
			return err
		}
		defer log.Close()
		heads, err := log.Heads(cmd.Context())
		if err != nil {
			return err
		}
		if len(heads) == 1 && heads[0].Gate == "" {
			return format.Print(s.Out, headOf(heads[0]), heads[0].Hash+"\n")
		}
		all, text := headsJSON{Chains: []headJSON{}}, ""
		for _, h := range heads {
			if h.Hash == "" { // without rows
				continue
			}
			all.Chains = append(all.Chains, headOf(h))
			text += fmt.Sprintf("%s %s %d %s\n", h.Hash, h.Chain, h.Seq, visible.Text(h.Gate))
		}
		return format.Print(s.Out, all, text)
	}
	return cmd
}
