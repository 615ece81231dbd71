#include "tools/command_line/command_table.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "tools/command_line/command_texts.h"
#include "tools/doctor/build_facts.h"

namespace lull::tools {

CommandTable::CommandTable() : app(std::string(texts_of("").summary), "lull") {
  app.set_help_flag("-h,--help", "print the most common options and exit");
  app.set_help_all_flag("--help-all", "print all options and exit");
  app.set_version_flag("--version", version_text(), "print the version and its parts, and exit");
  app.footer(std::string(texts_of("").footer));
  app.require_subcommand(1);
  CLI::App* denoise = add_command("denoise");
  for (const OptionRow& row : denoise_option_table()) add_row(*denoise, row, given.denoise);
  CLI::App* preview = add_command("preview");
  for (const OptionRow& row : preview_option_rows()) add_row(*preview, row, given.preview);
  preview->get_option("INPUT")->required();
  add_plan();
  add_join();
  add_report();
  add_bids();
  add_noise();
  add_compare();
  add_probe();
  add_clean();
  add_command("devices");
  add_command("doctor");
  add_texts();
}

CLI::App* CommandTable::add_command(const std::string& name) {
  const CommandTexts& texts = texts_of(name);
  CLI::App* command = app.add_subcommand(name, std::string(texts.summary));
  command->footer(std::string(texts.footer));
  return command;
}

void CommandTable::add_row(CLI::App& command, const OptionRow& row, DenoiseOptions& options) {
  const std::string names(row.names), help(row.help);
  TableOptions& own = table_options[&command];
  own.target = &options;
  own.rows.push_back(row);
  const auto give = [&own, row](const std::string& value) {
    own.given.push_back({.row = row, .value = value, .place = {}});
  };
  CLI::Option* option = row.value.empty()
                            ? command.add_flag_callback(
                                  names, [give] { give({}); }, help)
                            : command.add_option_function<std::string>(names, give, help);
  if (!row.value.empty()) option->type_name(std::string(row.value));
  if (row.repeatable) option->join(',');
  option->group(std::string(heading(row.group)));
  briefs[option] = row.brief;
}

void CommandTable::add_plan() {
  CLI::App* command = add_command("plan");
  for (OptionRow row : options_for(in_plan)) {
    if (row.names == "--job") row.help = "folder of the job; lull writes the plan into it";
    add_row(*command, row, given.plan);
  }
  command->add_flag("--json", given.json, "print the plan as one JSON object")
      ->group(std::string(heading(OptionGroup::basic)));
}

void CommandTable::add_join() {
  CLI::App* command = add_command("join");
  command->add_option("DIR", given.join.folder, "the folder of the job")
      ->type_name("DIR")
      ->required();
  command
      ->add_option("-i,--input", given.join.input,
                   "path of the input (default: the path in the plan)")
      ->type_name("FILE");
  command
      ->add_option("-o,--output", given.join.output, "output file (default: the path in the plan)")
      ->type_name("FILE");
  command->add_flag("-y,--overwrite", given.join.overwrite, "replace an existing output");
  for (const OptionRow& row : options_for(in_join)) add_row(*command, row, given.join.reading);
  command->add_flag("-q,--quiet", given.join.quiet, "print errors only");
}

void CommandTable::add_report() {
  CLI::App* command = add_command("report");
  command->add_option("DIR", given.report.folder, "the folder of the job")
      ->type_name("DIR")
      ->required();
  command
      ->add_option("-o,--output", given.report.output,
                   "page to write (default: DIR.html, which is replaced)")
      ->type_name("FILE");
  command->add_flag("-y,--overwrite", given.report.overwrite, "replace an existing page");
  command->add_flag("-q,--quiet", given.report.quiet, "print errors only");
}

void CommandTable::add_bids() {
  CLI::App* command = add_command("bids");
  command->add_option("BIDS_DIR", given.bids.dataset, "the dataset")->type_name("DIR")->required();
  command
      ->add_option("OUT", given.bids.output, "folder of the derivative dataset; created if missing")
      ->type_name("DIR")
      ->required();
  command
      ->add_option("LEVEL", given.bids.level,
                   "must be participant: lull denoises images one by one")
      ->type_name("participant")
      ->required();
  command
      ->add_option("--participant-label,--participant_label", given.bids.labels,
                   "participants to denoise (default: all)")
      ->type_name("LABEL ...");
  command
      ->add_option("--suffix", given.bids.suffixes,
                   "kinds of images to denoise, for example T1w bold (default: all)")
      ->type_name("SUFFIX ...");
  for (const OptionRow& row : bids_option_rows()) add_row(*command, row, given.bids.denoise);
}

void CommandTable::add_clean() {
  CLI::App* command = add_command("clean");
  command->add_option("DIR", given.clean.folder, "folder with outputs of lull")
      ->type_name("DIR")
      ->required();
  command->add_flag("-n,--dry-run", given.clean.lists_only, "only list the files");
}

void CommandTable::add_compare() {
  CLI::App* command = add_command("compare");
  command->add_option("A", given.compare.first, "reference: a video, a still picture or a volume")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("B", given.compare.second,
                   "file to compare; of the same size, format and length")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--csv", given.compare.csv,
                   "write frame,plane,psnr,ssim for each frame, volume,psnr,ssim for volumes")
      ->type_name("FILE");
  command
      ->add_option("--mask", given.compare.mask,
                   "compare volumes only where this volume of the same size is not 0")
      ->type_name("FILE");
  command
      ->add_option_function<double>(
          "--range", [this](double range) { given.compare.range = range; },
          "peak value for the PSNR of volumes, in their units (default: the maximum of A, minus "
          "the minimum of A if that is negative)")
      ->type_name("X");
  command
      ->add_option("--html", given.compare.html,
                   "also write a page: A and B overlaid, the difference, figures by frame")
      ->type_name("FILE");
  command->add_flag("-y,--overwrite", given.compare.overwrite, "replace existing files");
  command->add_flag("--json", given.compare.json, "print one JSON object instead of text");
}

void CommandTable::add_probe() {
  CLI::App* command = add_command("probe");
  command
      ->add_option("INPUT", given.probe.input.file,
                   "video, picture, image sequence or -, as for lull denoise -i")
      ->type_name("FILE")
      ->required();
  command->add_flag("--json", given.json, "print one JSON object instead of text");
  command
      ->add_option("-o,--output", given.probe.output,
                   "also print what lull can store in this output (default: a Matroska file)")
      ->type_name("FILE");
  for (const OptionRow& row : options_for(in_probe)) add_row(*command, row, given.probe);
}

void CommandTable::add_noise() {
  CLI::App* command = add_command("noise");
  DenoiseOptions& input = given.noise.input;
  command
      ->add_option("INPUT", input.input.file,
                   "video, picture, image sequence or stack, as for lull denoise -i")
      ->type_name("FILE")
      ->required();
  command->add_flag("--all", given.noise.all,
                    "decode the complete file and report all scenes with different noise; without "
                    "--all, lull samples eight positions (pipes are always read to the end)");
  command->add_flag("--json", given.noise.json, "print one JSON object instead of text");
  command
      ->add_option("--plot", given.noise.plot,
                   "write a plot of the noise level by brightness and of the spectrum (SVG)")
      ->type_name("FILE");
  command
      ->add_option("-o,--output", input.output.file,
                   "write the estimate as JSON for lull denoise --noise")
      ->type_name("FILE");
  command->add_flag("-y,--overwrite", input.output.overwrite, "replace existing files");
  command->add_flag("-q,--quiet", input.run.quiet, "print only errors and the output of --json");
  for (OptionRow row : options_for(in_noise)) {
    if (row.names == "--noise") {
      row.value = "gaussian|rician|auto";
      row.help =
          "kind of the noise of volumes: gaussian, rician (magnitude images of MRI) or auto, which "
          "selects rician if the background has Rician noise (default: auto)";
    }
    add_row(*command, row, input);
  }
}

void CommandTable::add_texts() {
  std::string commands;
  for (const CLI::App* command : app.get_subcommands({}))
    commands += (commands.empty() ? "" : "|") + command->get_name();
  CLI::App* help = add_command("help");
  help->add_option("NAME", given.text.topic, "command to explain (default: all commands)")
      ->type_name(commands);
  help->add_option("--format", given.text.format,
                   "text: for the terminal; markdown: for docs/reference/cli.md; man: for lull(1) "
                   "(default: text)")
      ->type_name("text|markdown|man");
  CLI::App* completion = add_command("completion");
  completion->add_option("SHELL", given.text.shell, "bash or zsh")
      ->type_name("bash|zsh")
      ->required();
}

}  // namespace lull::tools
