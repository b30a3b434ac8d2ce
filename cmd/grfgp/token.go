package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"grfgp/internal/atomicfile"
	"grfgp/internal/cli"
	"grfgp/server/tokens"
)

// tokenFlags are the flags of all token commands.
type tokenFlags struct{ store, file string }

func tokenVerb(a *app) *cobra.Command {
	f := new(tokenFlags)
	cmd := &cobra.Command{
		Use:   "token COMMAND --store FILE",
		Short: "Give people and machines access to a server, each with a name and a role",
		Long: `A token lets its holder use a server. It has a name, under which everything that is
done with it appears in the log of a study, and a role:

  look     read everything
  measure  ask for nodes, tell and retract results
  run      create and change studies, and everything else

The tokens of the store FILE are kept in FILE.tokens, or where --tokens says, as
hashes. A server reads the file again when it changes: tokens can be added and
removed while it runs, on its machine. As soon as there is such a file, every request
needs a token.`,
		Example: `  grfgp token add anna --role measure --store team.db
  grfgp token add robot --role measure --store team.db -o robot.token
  grfgp token list --store team.db
  grfgp token remove anna --store team.db`,
		ValidArgs: []string{},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("token has no command %q; the commands are add, list and remove", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.store, "store", "", "store of the server, a `file` (default: the environment variable "+storeEnv+")")
	flags.StringVar(&f.file, "tokens", "", "`file` with the tokens (default: that of the store, with .tokens at its end)")
	cmd.AddCommand(tokenAdd(a, f), tokenList(a, f), tokenRemove(a, f))
	return cmd
}

// place is the file of the tokens.
func (f *tokenFlags) place() (string, error) {
	store := cmp.Or(f.store, os.Getenv(storeEnv))
	switch file := tokensOf(f.file, store); {
	case file != "":
		return file, nil
	case store == "":
		return "", cli.Usagef("no tokens: give --store FILE.db, the store of the server, or --tokens FILE")
	case isServer(store):
		return "", cli.Usagef("%s is a server; tokens are kept on its machine: give --store FILE.db there, or --tokens FILE",
			withoutPassword(store))
	}
	return "", cli.Usagef("a database has no file of tokens beside it; give --tokens FILE, as 'grfgp serve' has")
}

// tokensOf is the file of the tokens of a store; "": none is known.
func tokensOf(file, store string) string {
	if file != "" || store == "" || strings.Contains(store, "://") || isServer(store) {
		return file
	}
	return store + ".tokens"
}

func tokenAdd(a *app, f *tokenFlags) *cobra.Command {
	var role, out, link string
	cmd := &cobra.Command{
		Use:   "add NAME --role ROLE",
		Short: "Create a token and print it; it is shown only once",
		Args:  cli.Named(1, "NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := f.place()
			if err != nil {
				return err
			}
			if link = strings.TrimRight(link, "/"); link != "" && !strings.HasPrefix(link, "http://") && !strings.HasPrefix(link, "https://") {
				return cli.Usagef("--link %s: give the address of the server's page, as in https://lab.example.org", link)
			}
			if out != "" {
				if _, err := os.Lstat(out); err == nil {
					return cli.Usagef("-o %s: there is such a file; name a new one", out)
				}
			}
			if !slices.Contains(tokens.Roles(), tokens.Role(role)) {
				return cli.Usagef("--role %q: give look, measure or run", role)
			}
			secret, err := tokens.Add(file, args[0], tokens.Role(role), time.Now())
			if err != nil {
				return tokenError(err)
			}
			answer := struct {
				Version int         `json:"version"`
				Name    string      `json:"name"`
				Role    tokens.Role `json:"role"`
				Token   string      `json:"token,omitempty"`
				Link    string      `json:"link,omitempty"`
				File    string      `json:"file,omitempty"`
			}{Version: 1, Name: args[0], Role: tokens.Role(role), File: out}
			if out == "" {
				answer.Token = secret
			}
			if link != "" {
				answer.Link = link + "/#token=" + secret
			}
			if out != "" {
				if err := atomicfile.WritePrivate(out, func(w io.Writer) error { _, err := fmt.Fprintln(w, secret); return err }); err != nil {
					return errors.Join(err, tokens.Remove(file, args[0]))
				}
				a.Talk.Say("the token of %s is in %s; use it as --token-file %s", answer.Name, out, out)
			} else {
				a.Talk.Say("the token of %s, which is not shown again:", answer.Name)
			}
			return a.Answer(answer, func(w io.Writer) error {
				for _, line := range []string{answer.Token, answer.Link} {
					if line != "" {
						fmt.Fprintln(w, line)
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&role, "role", "", "what the token allows: `look`, measure or run")
	cli.Complete(cmd, "role", "look", "measure", "run")
	cmd.Flags().StringVarP(&out, "out", "o", "", "new `file` for the token, which only you can read (default: standard output)")
	cmd.Flags().StringVar(&link, "link", "", "`URL` of the server's page: print a link that opens it with the token")
	return cmd
}

func tokenList(a *app, f *tokenFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the tokens: names, roles and when they were created",
		Args:  cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			file, err := f.place()
			if err != nil {
				return err
			}
			all, err := tokens.Read(file)
			if errors.Is(err, fs.ErrNotExist) {
				all, err = []tokens.Token{}, nil
				a.Talk.Say("there is no file %s: nobody has a token", file)
			}
			if err != nil {
				return tokenError(err)
			}
			return a.Answer(struct {
				Version int            `json:"version"`
				Tokens  []tokens.Token `json:"tokens"`
			}{1, all}, func(w io.Writer) error {
				t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				fmt.Fprintln(t, "name\trole\tmade")
				for _, token := range all {
					fmt.Fprintf(t, "%s\t%s\t%s\n", token.Name, token.Role, token.Created.Local().Format("2006-01-02 15:04"))
				}
				return t.Flush()
			})
		},
	}
}

func tokenRemove(a *app, f *tokenFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME …",
		Short: "Remove tokens; servers then refuse them",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("give a NAME, as in '%s NAME'", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := f.place()
			if err != nil {
				return err
			}
			if err := tokens.Remove(file, args...); err != nil {
				return tokenError(err)
			}
			if left, err := tokens.Read(file); err == nil && len(left) == 0 {
				a.Talk.Say("nobody has a token now, and every request needs one; remove the file %s to go without", file)
			}
			return a.Answer(struct {
				Version int      `json:"version"`
				Removed []string `json:"removed"`
			}{1, args}, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "removed: %s\n", strings.Join(args, ", "))
				return err
			})
		},
	}
}

// tokenError gives errors of tokens their exit code.
func tokenError(err error) error {
	var file *fs.PathError
	switch {
	case errors.Is(err, tokens.ErrTaken):
		return cli.Exit(cli.ExitConflict, fmt.Errorf("%w; remove it first, or choose another name", err))
	case errors.Is(err, tokens.ErrNone):
		return cli.Usagef("%w; 'grfgp token list' lists the tokens", err)
	case errors.Is(err, tokens.ErrName):
		return cli.Exit(cli.ExitUsage, err)
	case errors.Is(err, tokens.ErrDamaged):
		return cli.Exit(cli.ExitBadData, err)
	case errors.As(err, &file):
		return cli.Usagef("%w", err)
	}
	return err
}
