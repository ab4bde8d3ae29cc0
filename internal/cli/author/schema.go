package author

import (
	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/config"
)

func NewSchema(s cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "print the JSON Schema of policy files",
		Long: `schema prints the JSON Schema of policy files (draft 2020-12). Editors that know TOML
complete keys with it and show what they mean: write it to a file and name that in
the first line of a policy,

  #:schema ./stopgate.schema.json`,
		Example: `  stopgate schema > stopgate.schema.json`,
		Args:    cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := s.Out.Write(config.PolicySchema())
			return err
		},
	}
}
