#include "tools/command_line/parser.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/version.h"
#include "tools/bids/bids.h"
#include "tools/command_line/command_texts.h"
#include "tools/command_line/completion.h"
#include "tools/command_line/help.h"
#include "tools/command_line/manual.h"
#include "tools/commands/commands.h"
#include "tools/options/suggestion.h"

namespace lull::tools {
namespace {

struct TextRequest {
  std::string topic, format = "text", shell;
};

/// The command line as CLI11 sees it, and what it finds there.
class Parser {
 public:
  Parser();
  CommandLine parse(std::vector<std::string> arguments);

 private:
  CLI::App* add_command(const std::string& name);
  void add_row(CLI::App& command, const OptionRow& row, DenoiseOptions& options);
  void add_plan();
  void add_join();
  void add_report();
  void add_bids();
  void add_compare();
  void add_probe();
  void add_noise();
  void add_texts();

  std::vector<std::string> command_names() const;
  bool is_command(const std::string& word) const;
  void refuse_stray_word(const std::string& word) const;
  [[noreturn]] void refuse_rest(const CLI::App& command) const;

  const CLI::App* selected() const;
  Manual manual() const;
  ManualCommand manual_of(const CLI::App& app) const;
  std::string help(bool whole) const;
  std::string requested_text() const;

  CLI::App app_;
  std::map<const CLI::Option*, std::string> briefs_;
  DenoiseOptions denoise_, plan_, preview_, probe_;
  JoinOptions join_;
  JobReportOptions report_;
  BidsOptions bids_;
  CompareOptions compare_;
  NoiseOptions noise_;
  bool json_ = false;
  TextRequest text_;
};

Parser::Parser() : app_(std::string(texts_of("").summary), "lull") {
  app_.set_help_flag("-h,--help", "print the options that most need, and exit");
  app_.set_help_all_flag("--help-all", "print everything, and exit");
  app_.set_version_flag("--version", "lull " + std::string(version), "print the version and exit");
  app_.footer(std::string(texts_of("").footer));
  app_.require_subcommand(1);
  CLI::App* denoise = add_command("denoise");
  for (const OptionRow& row : denoise_option_table()) add_row(*denoise, row, denoise_);
  CLI::App* preview = add_command("preview");
  for (const OptionRow& row : preview_option_rows()) add_row(*preview, row, preview_);
  preview->get_option("INPUT")->required();
  add_plan();
  add_join();
  add_report();
  add_bids();
  add_noise();
  add_compare();
  add_probe();
  add_command("devices");
  add_texts();
}

CLI::App* Parser::add_command(const std::string& name) {
  const CommandTexts& texts = texts_of(name);
  CLI::App* command = app_.add_subcommand(name, std::string(texts.summary));
  command->footer(std::string(texts.footer));
  return command;
}

void Parser::add_row(CLI::App& command, const OptionRow& row, DenoiseOptions& options) {
  const std::string names(row.names), help(row.help);
  constexpr auto take = [](DenoiseOptions& to, const OptionRow& of, const std::string& value) {
    of.apply(to, value);
    to.given.emplace_back(of.names, value);
  };
  CLI::Option* option =
      row.value.empty()
          ? command.add_flag_callback(
                names, [&options, row, take] { take(options, row, {}); }, help)
          : command.add_option_function<std::string>(
                names,
                [&options, row, take](const std::string& value) { take(options, row, value); },
                help);
  if (!row.value.empty()) option->type_name(std::string(row.value));
  if (row.repeatable) option->join(',');
  option->group(std::string(row.group));
  briefs_[option] = row.brief;
}

void Parser::add_plan() {
  CLI::App* command = add_command("plan");
  command->add_flag("--json", json_, "print what was planned, one JSON object");
  // What has no meaning where nothing is denoised.
  constexpr std::string_view others[] = {"--segment", "--resume", "--report", "--reference",
                                         "--report-frames"};
  for (OptionRow row : denoise_option_table()) {
    if (std::ranges::find(others, row.names) != std::end(others)) continue;
    if (row.names == "--job") row.help = "put the plan into this folder, which is then the job's";
    add_row(*command, row, plan_);
  }
}

void Parser::add_join() {
  CLI::App* command = add_command("join");
  command->add_option("DIR", join_.folder, "the folder of the job")->type_name("DIR")->required();
  command->add_option("-i,--input", join_.input, "where the input is (default: as planned)")
      ->type_name("FILE");
  command->add_option("-o,--output", join_.output, "the result (default: as planned)")
      ->type_name("FILE");
  command->add_flag("-y,--overwrite", join_.overwrite, "replace an existing output");
  command->add_flag("-q,--quiet", join_.quiet, "print errors only");
}

void Parser::add_report() {
  CLI::App* command = add_command("report");
  command->add_option("DIR", report_.folder, "the folder of the job")->type_name("DIR")->required();
  command->add_option("-o,--output", report_.output, "the page (default: DIR.html, replaced)")
      ->type_name("FILE");
  command->add_flag("-y,--overwrite", report_.overwrite, "replace an existing page");
  command->add_flag("-q,--quiet", report_.quiet, "print errors only");
}

void Parser::add_bids() {
  CLI::App* command = add_command("bids");
  command->add_option("BIDS_DIR", bids_.dataset, "the dataset")->type_name("DIR")->required();
  command->add_option("OUT", bids_.output, "folder of the derivative, which is made")
      ->type_name("DIR")
      ->required();
  command->add_option("LEVEL", bids_.level, "participant: images are denoised one by one")
      ->type_name("participant")
      ->required();
  command
      ->add_option("--participant-label,--participant_label", bids_.labels,
                   "these participants (default: all)")
      ->type_name("LABEL ...");
  command->add_option("--suffix", bids_.suffixes, "images of these kinds, T1w bold (default: all)")
      ->type_name("SUFFIX ...");
  for (const OptionRow& row : bids_option_rows()) add_row(*command, row, bids_.denoise);
}

void Parser::add_compare() {
  CLI::App* command = add_command("compare");
  command->add_option("A", compare_.first, "video, still picture or volume: the reference")
      ->type_name("FILE")
      ->required();
  command->add_option("B", compare_.second, "one of the same size, format and length")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--csv", compare_.csv,
                   "write frame,plane,psnr,ssim for every frame, volume,psnr,ssim of volumes")
      ->type_name("FILE");
  command
      ->add_option("--mask", compare_.mask,
                   "compare volumes only where this one of the same size is not 0")
      ->type_name("FILE");
  command
      ->add_option_function<double>(
          "--range", [this](double range) { compare_.range = range; },
          "peak of the PSNR of volumes, in their units (default: the greatest value of A, less its "
          "least one if that is negative)")
      ->type_name("X");
  command
      ->add_option("--html", compare_.html,
                   "write a page too: A and B over each other, what differs, figures by frame")
      ->type_name("FILE");
  command->add_flag("-y,--overwrite", compare_.overwrite, "replace an existing page");
  command->add_flag("--json", compare_.json, "one JSON object instead of lines");
}

void Parser::add_probe() {
  CLI::App* command = add_command("probe");
  command
      ->add_option("INPUT", probe_.input, "video, picture, sequence or -, as for lull denoise -i")
      ->type_name("FILE")
      ->required();
  command->add_flag("--json", json_, "one JSON object instead of lines");
  command
      ->add_option("-o,--output", probe_.output,
                   "say what this output would carry (default: a Matroska file)")
      ->type_name("FILE");
  for (const OptionRow& row : media_option_rows()) add_row(*command, row, probe_);
}

void Parser::add_noise() {
  CLI::App* command = add_command("noise");
  DenoiseOptions& input = noise_.input;
  command
      ->add_option("INPUT", input.input,
                   "video, picture, sequence or stack, as for lull denoise -i")
      ->type_name("FILE")
      ->required();
  command->add_flag("--all", noise_.all,
                    "decode all of a file, to tell every scene whose noise is another one; without "
                    "it, eight places are looked at (pipes are always read to their end)");
  command->add_flag("--json", noise_.json, "one JSON object instead of lines");
  command->add_option("--plot", noise_.plot, "draw its level over brightness and its spectrum: SVG")
      ->type_name("FILE");
  command->add_option("-o,--output", input.output, "write it for lull denoise --noise: JSON")
      ->type_name("FILE");
  command->add_flag("-y,--overwrite", input.overwrite, "replace files that exist");
  for (const OptionRow& row : media_option_rows()) add_row(*command, row, input);
  for (const OptionRow& row : volume_option_rows())
    if (row.names == "--stack" || row.names == "--noise-map") add_row(*command, row, input);
  for (OptionRow row : noise_option_rows()) {
    if (row.names != "--noise") continue;
    row.value = "gaussian|rician|auto";
    row.help =
        "the kind of a volume's noise: rician, that of magnitudes (MRI), gaussian, or auto, Rician "
        "where the background says so (default: auto)";
    add_row(*command, row, input);
  }
}

void Parser::add_texts() {
  std::string commands;
  for (const std::string& name : command_names()) commands += (commands.empty() ? "" : "|") + name;
  CLI::App* help = add_command("help");
  help->add_option("COMMAND", text_.topic, "what to explain; without it, the whole")
      ->type_name(commands);
  help->add_option("--format", text_.format,
                   "text: for the terminal; markdown: docs/cli.md; man: lull(1) (default: text)")
      ->type_name("text|markdown|man");
  CLI::App* completion = add_command("completion");
  completion->add_option("SHELL", text_.shell, "bash or zsh")->type_name("bash|zsh")->required();
}

std::vector<std::string> Parser::command_names() const {
  std::vector<std::string> names;
  for (const CLI::App* command : app_.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

bool Parser::is_command(const std::string& word) const {
  const std::vector<std::string> names = command_names();
  return std::ranges::find(names, word) != names.end();
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// A first word that can be nothing but a slip of the pen: neither a command nor the name of
/// anything that is there, a pattern, an address.
void Parser::refuse_stray_word(const std::string& word) const {
  std::error_code ignored;
  const bool bare = !word.empty() && word.find_first_of("-./*?[#%:") == std::string::npos;
  if (!bare || std::filesystem::exists(word, ignored)) return;
  throw InvalidArgument("'" + word + "' is neither a file nor a command (there are " +
                        joined(command_names()) + "); " +
                        did_you_mean(word, command_names(), "see lull --help"));
}

/// Of words that nothing of `command` takes.
void Parser::refuse_rest(const CLI::App& command) const {
  const std::vector<std::string> rest = command.remaining();
  const auto looks_like_option = [](const std::string& word) {
    return word.size() > 1 && word.front() == '-';
  };
  const std::string of = command.get_name() == "lull" ? "lull" : "lull " + command.get_name();
  const auto option = std::ranges::find_if(rest, looks_like_option);
  if (option == rest.end()) {
    const bool denoises = command.get_name() == "denoise";
    throw InvalidArgument(
        "'" + rest.front() + "' is one name too many (" + of +
        (denoises ? " takes one input and one output" : " takes no more operands") +
        "); quote a name that has spaces, and see " + of + " --help");
  }
  const std::string name = option->substr(0, option->find('='));
  std::vector<std::string> names;
  for (const CLI::Option* known : command.get_options())
    for (const std::string& text : known->get_lnames()) names.push_back("--" + text);
  throw InvalidArgument("no such option: " + name + " (of " + of + "); " +
                        did_you_mean(name, names, "see " + of + " --help-all"));
}

const CLI::App* Parser::selected() const {
  const auto chosen = app_.get_subcommands();
  return chosen.empty() ? nullptr : chosen.front();
}

ManualCommand Parser::manual_of(const CLI::App& app) const {
  const bool program = &app == &app_;
  const CommandTexts& texts = texts_of(program ? "" : app.get_name());
  ManualCommand command{.name = program ? "lull" : "lull " + app.get_name(),
                        .summary = std::string(texts.summary),
                        .options = {},
                        .footer = std::string(texts.footer),
                        .brief_usage = std::string(texts.brief_usage),
                        .brief_footer = std::string(texts.brief_footer)};
  for (const CLI::Option* option : app.get_options()) {
    ManualOption row;
    for (const std::string& text : option->get_snames()) row.names.push_back("-" + text);
    for (const std::string& text : option->get_lnames()) row.names.push_back("--" + text);
    if (row.names.empty()) row.names.push_back(option->get_name());
    row.required = option->get_required();
    if (option->get_items_expected_max() > 0) row.value = option->get_type_name();
    // Newer versions of CLI11 write the default group in capitals.
    row.group = option->get_group() == "OPTIONS" ? "Options" : option->get_group();
    row.help = option->get_description();
    const auto brief = briefs_.find(option);
    row.brief = brief == briefs_.end() ? row.help : brief->second;
    command.options.push_back(std::move(row));
  }
  // What every command has comes last, operands first.
  std::ranges::stable_sort(command.options, {}, [](const ManualOption& option) {
    return option.operand() ? 0 : option.names.back().starts_with("--help") ? 2 : 1;
  });
  return command;
}

Manual Parser::manual() const {
  Manual manual{.program = manual_of(app_), .commands = {}};
  for (const CLI::App* command : app_.get_subcommands({}))
    manual.commands.push_back(manual_of(*command));
  return manual;
}

/// Of what was selected.
std::string Parser::help(bool whole) const {
  const CLI::App* command = selected();
  if (!command) return whole ? whole_help(manual()) : basic_help(manual());
  return whole ? whole_help(manual_of(*command)) : basic_help(manual_of(*command));
}

[[noreturn]] void refuse_choice(const std::string& problem, const std::string& word,
                                const std::vector<std::string>& choices) {
  throw InvalidArgument(problem + " (must be one of " + joined(choices) + "); " +
                        did_you_mean(word, choices, "see lull --help"));
}

/// What `lull help` and `lull completion` print.
std::string Parser::requested_text() const {
  if (text_.shell == "bash") return bash_completion(manual());
  if (text_.shell == "zsh") return zsh_completion(manual());
  if (!text_.shell.empty())
    refuse_choice("no completion for '" + text_.shell + "'", text_.shell, {"bash", "zsh"});
  if (text_.format != "text" && !text_.topic.empty())
    throw InvalidArgument("--format " + text_.format +
                          " of one command (manuals are of all of "
                          "them); leave one out");
  if (text_.format == "markdown") return markdown(manual());
  if (text_.format == "man") return man_page(manual());
  if (text_.format != "text")
    refuse_choice("--format " + text_.format, text_.format, {"text", "markdown", "man"});
  if (text_.topic.empty()) return basic_help(manual());
  for (const CLI::App* command : app_.get_subcommands({}))
    if (command->get_name() == text_.topic) return basic_help(manual_of(*command));
  refuse_choice("no command '" + text_.topic + "'", text_.topic, command_names());
}

std::string without_full_stop(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

CommandLine Parser::parse(std::vector<std::string> arguments) {
  if (arguments.empty())
    throw InvalidArgument("nothing to do; lull INPUT OUTPUT denoises, lull --help tells more");
  constexpr std::string_view own[] = {"-h", "--help", "--help-all", "--version"};
  const std::string& first = arguments.front();
  if (!is_command(first) && std::ranges::find(own, first) == std::end(own)) {
    refuse_stray_word(first);
    arguments.insert(arguments.begin(), "denoise");
  }
  std::ranges::reverse(arguments);  // as CLI11 wants them
  try {
    app_.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return {{}, help(false)};
  } catch (const CLI::CallForAllHelp&) {
    return {{}, help(true)};
  } catch (const CLI::CallForVersion& e) {
    return {{}, std::string(e.what()) + "\n"};
  } catch (const CLI::ExtrasError&) {
    refuse_rest(selected() ? *selected() : app_);
  } catch (const CLI::ParseError& e) {
    // What is missing may be there, misspelt.
    if (selected() && !selected()->remaining().empty()) refuse_rest(*selected());
    throw InvalidArgument(without_full_stop(e.what()) + "; see lull " +
                          (selected() ? selected()->get_name() + " " : "") + "--help");
  }
  if (denoise_.job.folder.empty()) place_operands(denoise_);
  place_operands(plan_);
  const std::string command = selected()->get_name();
  if (command == "denoise") return {[o = denoise_] { return denoise(o); }, {}};
  if (command == "plan") return {[o = plan_, json = json_] { return plan(o, json); }, {}};
  if (command == "join") return {[o = join_] { return join(o); }, {}};
  if (command == "report") return {[o = report_] { return report(o); }, {}};
  if (command == "bids") return {[o = bids_] { return bids(o); }, {}};
  if (command == "preview") return {[o = preview_] { return preview(o); }, {}};
  if (command == "compare") return {[o = compare_] { return compare(o); }, {}};
  if (command == "noise") return {[o = noise_] { return noise(o); }, {}};
  if (command == "probe") return {[o = probe_, json = json_] { return probe(o, json); }, {}};
  if (command == "devices") return {devices, {}};
  return {{}, requested_text()};
}

}  // namespace

CommandLine parse(int argc, const char* const* argv) {
  return Parser().parse(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}

}  // namespace lull::tools
