package command

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/settings"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/method"
)

// cliFlag describes a flag. krigo makes help, man pages, completions and docs/reference/settings.md
// from these descriptions.
type cliFlag struct {
	name  string
	value string // the placeholder of its value, such as COL in --target COL; empty for a switch
	def   string // the default value
	late  bool   // krigo fills in def later, so that bind doesn't set it
	rule  string // in words how krigo finds the default, if it isn't a fixed value
	help  string // a line or two
	to    any    // the variable that the flag sets

	// Completion offers these: some values, files with these endings, or columns of DATA.
	values, endings []string
	columns         bool

	group    string // heading under which help lists the flag
	everyday bool   // --help shows the flag even if the command has too many flags to show all
	of       string // the commands that have this flag; empty: all commands of the table
}

// groups are the headings of flags, in the order in which help shows them.
// Commands with few flags use the group "".
var groups = []string{"", "Data", "Kernel", "Method", "Prior", "Promise", "Run"}

// inGroup puts flags into a group.
func inGroup(group string, flags ...cliFlag) []cliFlag {
	for i := range flags {
		flags[i].group = group
	}
	return flags
}

// bound is a flag's value for pflag. From it krigo finds the cliFlag again.
type bound struct {
	pflag.Value
	cliFlag
}

// bind makes a command take flags.
func bind(flags *pflag.FlagSet, all ...cliFlag) {
	for _, f := range all {
		f.bind(flags)
	}
}

// bind makes flags take f, by the type of the variable that f sets. A default is set at once,
// unless f is late.
func (f cliFlag) bind(flags *pflag.FlagSet) {
	var list []string
	if f.def != "" {
		list = strings.Split(f.def, ",")
	}
	switch to := f.to.(type) {
	case *bool:
		flags.BoolVar(to, f.name, false, f.help)
	case *string:
		flags.StringVar(to, f.name, "", f.help)
	case *int:
		flags.IntVar(to, f.name, 0, f.help)
	case *int64:
		flags.Int64Var(to, f.name, 0, f.help)
	case *uint64:
		flags.Uint64Var(to, f.name, 0, f.help)
	case *float64:
		flags.Float64Var(to, f.name, 0, f.help)
	case *time.Duration:
		flags.DurationVar(to, f.name, 0, f.help)
	case *setting:
		flags.Var(to, f.name, f.help)
		if to.Type() == "bool" {
			flags.Lookup(f.name).NoOptDefVal = "true"
		}
	case *[]string:
		flags.StringSliceVar(to, f.name, list, f.help)
	case *[]float64:
		flags.Float64SliceVar(to, f.name, nil, f.help)
	default:
		panic(fmt.Sprintf("--%s sets a %T", f.name, f.to))
	}
	p := flags.Lookup(f.name)
	// setting a list again would append to it
	if _, isList := f.to.(*[]string); f.def != "" && !isList {
		if !f.late {
			if err := p.Value.Set(f.def); err != nil {
				panic(fmt.Sprintf("--%s: %v", f.name, err))
			}
		}
		p.DefValue = f.def
	}
	p.Value = bound{p.Value, f}
}

// setting is the flag of a method's setting that isn't simply a field of method.Choice.
type setting struct {
	settings.Setting
	of *method.Choice
}

func (s *setting) String() string        { return s.of.Text(s.Name) }
func (s *setting) Set(text string) error { return s.of.Set(s.Name, text) }

// Type returns pflag's name for the type of the values.
func (s *setting) Type() string {
	switch t := s.Base(); {
	case t.Kind() == reflect.Slice:
		return "float64Slice"
	case len(s.Values) > 0: // words, and perhaps numbers
		return "string"
	default:
		return t.Kind().String()
	}
}

// text returns the help, with the default.
func (f cliFlag) text() string {
	if def := cmp.Or(f.def, f.rule); def != "" {
		return fmt.Sprintf("%s (default %s)", f.help, def)
	}
	return f.help
}

// flagsOf returns a command's flags under a heading, without hidden flags.
func flagsOf(cmd *cobra.Command, group string) (all []cliFlag) {
	see := func(p *pflag.Flag) {
		// a flag that cobra adds, such as --help
		f := cliFlag{name: p.Name, help: p.Usage, group: "Run"}
		if b, ok := p.Value.(bound); ok {
			f = b.cliFlag
		}
		if f.group == group && !p.Hidden {
			all = append(all, f)
		}
	}
	cmd.LocalFlags().VisitAll(see)
	cmd.InheritedFlags().VisitAll(see)
	return all
}

// most is the largest number of flags that help shows unasked.
// If a command has more, help shows the everyday flags.
const most = 20

// everyday asks for the flags that are marked as everyday.
const everyday = "everyday"

// shown returns a command's flags under each of the groups.
// asked is "all", everyday or the name of a group.
func shown(cmd *cobra.Command, asked string) [][]cliFlag {
	return lists.Of(groups, func(group string) []cliFlag {
		return lists.If(flagsOf(cmd, group), func(f cliFlag) bool {
			return asked == "all" || (asked == everyday && f.everyday) ||
				strings.EqualFold(asked, group)
		})
	})
}

// help prints what a command does, how it is called, its flags, and then a longer explanation.
// The word after --help is all, for all flags, or names a group, whose flags help then prints
// alone.
func help(cmd *cobra.Command, args []string) {
	fmt.Fprint(cmd.OutOrStdout(), helpText(cmd, args, columns(cmd.OutOrStdout())))
}

// helpText returns what help prints, at most wide columns wide.
func helpText(cmd *cobra.Command, args []string, wide int) string {
	asked := ""
	if at := slices.Index(args, "--help"); at >= 0 && at+1 < len(args) {
		asked = args[at+1]
	}
	if slices.ContainsFunc(grouped(cmd), func(group string) bool {
		return strings.EqualFold(asked, group)
	}) {
		return said("flags", headedFlags(shown(cmd, asked), wide))
	}
	unknown := spelling.Either(asked == "all" || strings.HasPrefix(asked, "-"), "", asked)
	h := helpWords{usageWords: usageOf(cmd, spelling.If(asked == "all", "all"), wide),
		Does: prose(strings.TrimSuffix(cmd.Short, ".")+".", wide),
		More: reflowed(strings.TrimSpace(cmd.Long), wide)}
	if unknown != "" && len(slices.Concat(shown(cmd, "all")...)) > most {
		h.Wrong = fmt.Sprintf("There is no group %q of flags%s", unknown,
			spelling.DidYouMean(unknown, grouped(cmd)))
	}
	return said("help", h)
}

// helpWords are the help of a command. Wrong says which group it doesn't have.
type helpWords struct {
	usageWords
	Does, More, Wrong string
}

// usage prints how a command is called.
func usage(cmd *cobra.Command) error {
	return say(cmd.OutOrStderr(), "usage", usageOf(cmd, "", columns(cmd.OutOrStderr())))
}

// usageWords say how a command is called. Fewer says how to see the flags that aren't in Headed.
type usageWords struct {
	*cobra.Command
	Wide   int
	Headed []headed
	Fewer  string
}

// usageOf returns how a command is called, with the flags that are asked for.
// By default these are all flags, or the everyday flags if the command has too many.
func usageOf(cmd *cobra.Command, asked string, wide int) usageWords {
	fewer := ""
	switch all := len(slices.Concat(shown(cmd, "all")...)); {
	case asked == "" && all > most:
		asked = everyday
		fewer = prose(fmt.Sprintf("--help all shows all %d flags. --help followed by %s shows "+
			"the flags of that group.", all, spelling.Listed(grouped(cmd), "or")), wide)
	case asked == "":
		asked = "all"
	}
	return usageWords{cmd, wide, headedFlags(shown(cmd, asked), wide), fewer}
}

// grouped names the groups of flags that the command has.
func grouped(cmd *cobra.Command) (names []string) {
	for i, flags := range shown(cmd, "all") {
		if i > 0 && len(flags) > 0 {
			names = append(names, strings.ToLower(groups[i]))
		}
	}
	return names
}

// headed is flags under a heading, as help lists them.
type headed struct {
	Head  string
	Lines []string
}

// headedFlags returns flags under the headings of their groups.
func headedFlags(shown [][]cliFlag, wide int) (all []headed) {
	for i, flags := range shown {
		if len(flags) > 0 {
			lines := lists.Of(flags, func(f cliFlag) string { return f.line(wide) })
			all = append(all, headed{cmp.Or(groups[i], "Flags"), lines})
		}
	}
	return all
}

// helpFrom is the column where the help of a flag begins.
const helpFrom = 26

// line returns a flag and, beside it, what it is for.
func (f cliFlag) line(wide int) string {
	name := strings.TrimRight("  --"+f.name+" "+f.value, " ")
	above := ""
	if len([]rune(name))+2 > helpFrom {
		above = name + "\n"
		name = ""
	}
	return above + behind(fmt.Sprintf("%-*s", helpFrom, name), f.text(), wide, 0)
}

// describeOptions prepares the man pages of root and its subcommands:
// the description of each gets a chapter with its flags in groups, instead of cobra's own list.
func describeOptions(root *cobra.Command) {
	var all []*cobra.Command
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		cmd.Long = strings.TrimSuffix(cmd.Short, ".") + ".\n\n" + cmd.Long + manOptions(cmd)
		all = append(all, cmd)
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
	for _, cmd := range all { // done after all chapters are written, since commands share flags
		cmd.LocalFlags().VisitAll(func(p *pflag.Flag) { p.Hidden = true })
	}
}

// manOptions returns the chapter of a command's man page with its flags, in Markdown.
func manOptions(cmd *cobra.Command) string {
	var b strings.Builder
	b.WriteString("\n\n# OPTIONS\n")
	for _, group := range groups {
		flags := flagsOf(cmd, group)
		if len(flags) > 0 && group != "" {
			fmt.Fprintf(&b, "### %s\n\n", group)
		}
		for _, f := range flags {
			value := spelling.If(f.value != "", " *%s*", f.value)
			fmt.Fprintf(&b, "**--%s**%s\n: %s\n\n", f.name, value, f.text())
		}
	}
	return b.String()
}

// complete tells shells which values to offer for a command's flags.
func complete(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(p *pflag.Flag) {
		b, ok := p.Value.(bound)
		if !ok {
			return
		}
		list := strings.HasSuffix(b.Type(), "Slice")
		oneOf := func(names []string, typed string) ([]string, cobra.ShellCompDirective) {
			return startingWith(typed, names, list), cobra.ShellCompDirectiveNoFileComp
		}
		var offer cobra.CompletionFunc
		switch {
		case len(b.values) > 0:
			offer = func(_ *cobra.Command, _ []string, typed string) ([]string,
				cobra.ShellCompDirective) {
				return oneOf(b.values, typed)
			}
		case b.columns:
			offer = func(_ *cobra.Command, args []string, typed string) ([]string,
				cobra.ShellCompDirective) {
				for _, arg := range args { // a model may stand before the table
					if names := columnNames(arg); len(names) > 0 {
						return oneOf(names, typed)
					}
				}
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
		case len(b.endings) > 0:
			offer = cobra.FixedCompletions(b.endings, cobra.ShellCompDirectiveFilterFileExt)
		default:
			return
		}
		cmd.RegisterFlagCompletionFunc(p.Name, offer) // fails only for an unknown flag
	})
}

// startingWith returns the names that begin with what was typed.
// If list is set, it completes the last name of a list.
func startingWith(typed string, names []string, list bool) (all []string) {
	before := ""
	if list {
		before = typed[:strings.LastIndex(typed, ",")+1]
	}
	for _, name := range names {
		if strings.HasPrefix(before+name, typed) &&
			!slices.Contains(strings.Split(before, ","), name) {
			all = append(all, before+name)
		}
	}
	return all
}
