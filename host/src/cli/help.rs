//! `nuthatch help`: help of any command, and the whole reference.

use clap::{Args, CommandFactory};

use super::{Cli, Output, Usage};

/// Show the help of a command, or the whole reference
#[derive(Debug, Args)]
pub struct HelpArgs {
    /// Command to explain, such as `bundle build`
    command: Vec<String>,
    /// Print the reference of all commands as Markdown
    #[arg(long, conflicts_with = "command")]
    markdown: bool,
}

pub(super) fn run(args: HelpArgs) -> anyhow::Result<()> {
    let mut output = Output::new();
    if args.markdown {
        output.text(&markdown())?;
    } else {
        let mut command = Cli::command();
        command.build();
        let mut found = &mut command;
        for name in &args.command {
            found = found.find_subcommand_mut(name).ok_or_else(|| {
                Usage::error(format!("there is no command '{}'; `nuthatch help` lists all", args.command.join(" ")))
            })?;
        }
        let help = found.render_long_help();
        output.text(&help.to_string())?;
    }
    output.finish()
}

/// The whole reference: what `docs/cli.md` holds.
pub(super) fn markdown() -> String {
    let options = clap_markdown::MarkdownOptions::new().title("Command-line reference".to_owned()).show_footer(false);
    let text = clap_markdown::help_markdown_command_custom(&with_fenced_examples(Cli::command()), &options);
    format!("<!-- Written by `nuthatch help --markdown`. -->\n\n{}\n", text.trim_end())
}

/// What stands after the options is laid out by hand, so Markdown must leave it as it is.
fn with_fenced_examples(mut command: clap::Command) -> clap::Command {
    if let Some(after) = command.get_after_long_help() {
        let fenced = format!("```text\n{after}\n```");
        command = command.after_long_help(fenced);
    }
    let names: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_fenced_examples))
}
