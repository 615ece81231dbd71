#include "tools/parser.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/version.h"
#include "tools/commands.h"
#include "tools/completion.h"
#include "tools/manual.h"

namespace lull::tools {
namespace {

constexpr const char* main_examples =
    "Examples:\n"
    "  lull denoise -i noisy.mkv -o clean.mkv --sigma 20\n"
    "  lull denoise -i scan.png -o clean.png --sigma 15 --profile high\n"
    "  ffmpeg ... -f nut - | lull denoise -i - -o - --sigma 20 | ffmpeg -i - ...\n"
    "  lull denoise -i 'in.%04d.exr' -o 'out.%04d.exr' --sigma 10 --frames 0-99\n"
    "  lull probe in.mkv\n"
    "  lull compare original.mkv clean.mkv\n"
    "  lull devices\n"
    "\n"
    "Exit codes: 0 done, 2 usage, 65 bad data, 66 no input, 69 device not available,\n"
    "70 internal, 73 cannot create output, 74 I/O error, 75 a GPU failed (try again), 128+n "
    "stopped\n"
    "by signal n.\n";

constexpr const char* denoise_examples =
    "One value A of --window, --group, --step, --tau, --transform, --group-transform and\n"
    "--kaiser applies to both phases, A:B to the first and the second. They change the\n"
    "profile's values.\n"
    "\n"
    "Examples:\n"
    "  lull denoise -i noisy.mkv -o clean.mkv --sigma 20\n"
    "  lull denoise -i noisy.mp4 -o clean.mkv --sigma 12:6:6 --profile fast --lossless\n"
    "  lull denoise -i noisy.mov -o clean.mp4 --sigma 8 --device cuda:0,1 --vcodec libx265 \\\n"
    "    --crf 16 --vopts preset=slow\n"
    "  lull denoise -i scan.tiff -o clean.tiff --sigma 25 --profile high --step 2:3 -y\n"
    "  lull denoise -i scan.nii.gz -o clean.nii.gz --sigma 12 --axis z --profile high\n";

constexpr const char* compare_examples =
    "Prints PSNR in dB and SSIM for each plane: the mean of the frames, for PSNR also that of\n"
    "the error over all frames (psnr_all), and the worst frame with its number, from 0.\n"
    "\n"
    "Examples:\n"
    "  lull compare original.png clean.png\n"
    "  lull compare original.mkv clean.mkv --csv frames.csv\n";

constexpr const char* completion_examples =
    "Examples:\n"
    "  source <(lull completion bash)\n"
    "  lull completion zsh > ~/.zfunc/_lull\n";

constexpr const char* probe_examples =
    "Examples:\n"
    "  lull probe in.mkv\n"
    "  lull probe in.mkv -o out.mp4 --json\n"
    "  lull probe 'shot.####.exr'\n";

/// Breaks lines so that they fit 100 columns behind CLI11's column of names.
std::string wrapped(std::string_view text) {
  constexpr std::size_t columns = 68;
  std::string result;
  while (text.size() > columns) {
    const std::size_t space = text.rfind(' ', columns);
    if (space == std::string_view::npos) break;
    result += std::string(text.substr(0, space)) + "\n";
    text.remove_prefix(space + 1);
  }
  return result + std::string(text);
}

void add_row(CLI::App& command, const OptionRow& row, DenoiseOptions& options) {
  const std::string names(row.names), help = wrapped(row.help);
  CLI::Option* option =
      row.value.empty()
          ? command.add_flag_callback(
                names, [&] { row.apply(options, {}); }, help)
          : command.add_option_function<std::string>(
                names, [&](const std::string& value) { row.apply(options, value); }, help);
  if (!row.value.empty()) option->type_name(std::string(row.value));
  option->group(std::string(row.group));
}

void add_denoise(CLI::App& app, DenoiseOptions& options) {
  CLI::App* command = app.add_subcommand("denoise", "Denoise a video or a still picture");
  command->footer(denoise_examples);
  for (const OptionRow& row : denoise_option_table()) add_row(*command, row, options);
}

void add_compare(CLI::App& app, CompareOptions& options) {
  CLI::App* command =
      app.add_subcommand("compare", "Measure how far two videos or pictures differ");
  command->footer(compare_examples);
  command->add_option("A", options.first, "video or still picture")->type_name("FILE")->required();
  command->add_option("B", options.second, "one of the same size, format and length")
      ->type_name("FILE")
      ->required();
  command->add_option("--csv", options.csv, "write frame,plane,psnr,ssim for every frame")
      ->type_name("FILE");
}

void add_probe(CLI::App& app, DenoiseOptions& options, bool& json) {
  CLI::App* command = app.add_subcommand("probe", "Say what is in an input");
  command->footer(probe_examples);
  command->add_option("INPUT", options.input, "video, picture, sequence or -, as for denoise -i")
      ->type_name("FILE")
      ->required();
  command->add_flag("--json", json, "one JSON object instead of lines");
  command
      ->add_option("-o,--output", options.output,
                   wrapped("say what this output would carry (default: a Matroska file)"))
      ->type_name("FILE");
  for (const OptionRow& row : media_option_rows()) add_row(*command, row, options);
}

struct TextRequest {
  std::string topic, format = "text", shell;
};

void add_texts(CLI::App& app, TextRequest& request) {
  std::string commands;
  for (const CLI::App* command : app.get_subcommands({}))
    commands += (commands.empty() ? "" : "|") + command->get_name();
  CLI::App* help = app.add_subcommand("help", "Print the help of a command, or the whole manual");
  help->footer("");
  help->add_option("COMMAND", request.topic, "what to explain; without it, the whole")
      ->type_name(commands);
  help->add_option("--format", request.format,
                   wrapped("text: for the terminal; markdown: docs/cli.md; man: lull(1) "
                           "(default: text)"))
      ->type_name("text|markdown|man");
  CLI::App* completion =
      app.add_subcommand("completion", "Print a script for a shell's completion");
  completion->footer(completion_examples);
  completion->add_option("SHELL", request.shell, "bash or zsh")->type_name("bash|zsh")->required();
}

/// Without the breaks of wrapped().
std::string unwrapped(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

ManualCommand manual_of(const CLI::App& app, const std::string& name) {
  ManualCommand command{
      .name = name, .summary = app.get_description(), .options = {}, .footer = app.get_footer()};
  for (const CLI::Option* option : app.get_options()) {
    ManualOption row;
    for (const std::string& text : option->get_snames()) row.names.push_back("-" + text);
    for (const std::string& text : option->get_lnames()) row.names.push_back("--" + text);
    if (row.names.empty()) row.names.push_back(option->get_name());
    row.required = option->get_required();
    if (option->get_items_expected_max() > 0) row.value = option->get_type_name();
    // Newer versions of CLI11 write the default group in capitals.
    row.group = option->get_group() == "OPTIONS" ? "Options" : option->get_group();
    row.help = unwrapped(option->get_description());
    command.options.push_back(std::move(row));
  }
  // What every command has comes last, operands first.
  std::ranges::stable_sort(command.options, {}, [](const ManualOption& option) {
    return option.operand() ? 0 : option.names.back() == "--help" ? 2 : 1;
  });
  return command;
}

Manual manual_of(const CLI::App& app) {
  Manual manual{.program = manual_of(app, app.get_name()), .commands = {}};
  for (const CLI::App* command : app.get_subcommands({}))
    manual.commands.push_back(manual_of(*command, app.get_name() + " " + command->get_name()));
  return manual;
}

std::string names_of_commands(const CLI::App& app) {
  std::string names;
  for (const CLI::App* command : app.get_subcommands({}))
    names += (names.empty() ? "" : ", ") + command->get_name();
  return names;
}

/// What `lull help` and `lull completion` print.
std::string text_for(CLI::App& app, const TextRequest& request) {
  app.clear();  // else help() gives that of the command that was asked for: this one

  if (request.shell == "bash") return bash_completion(manual_of(app));
  if (request.shell == "zsh") return zsh_completion(manual_of(app));
  if (!request.shell.empty())
    throw InvalidArgument("no completion for '" + request.shell + "' (must be bash or zsh)");
  if (request.format != "text" && !request.topic.empty())
    throw InvalidArgument("--format " + request.format +
                          " of one command (manuals are of all of "
                          "them); leave one out");
  if (request.format == "markdown") return markdown(manual_of(app));
  if (request.format == "man") return man_page(manual_of(app));
  if (request.format != "text")
    throw InvalidArgument("--format " + request.format + " (must be text, markdown or man)");
  if (request.topic.empty()) return app.help();
  for (const CLI::App* command : app.get_subcommands({}))
    if (command->get_name() == request.topic) return command->help(app.get_name());
  throw InvalidArgument("no command '" + request.topic + "' (there are " + names_of_commands(app) +
                        "); see lull --help");
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

}  // namespace

CommandLine parse(int argc, const char* const* argv) {
  CLI::App app("Removes noise from video and pictures with BM3D, on GPUs and CPUs.", "lull");
  app.set_help_flag("-h,--help", "print this help and exit");
  app.set_version_flag("--version", "lull " + std::string(version), "print the version and exit");
  app.footer(main_examples);
  app.require_subcommand(1);
  const auto denoise_options = std::make_shared<DenoiseOptions>();
  const auto compare_options = std::make_shared<CompareOptions>();
  add_denoise(app, *denoise_options);
  const auto probe_options = std::make_shared<DenoiseOptions>();
  const auto json = std::make_shared<bool>(false);
  add_compare(app, *compare_options);
  add_probe(app, *probe_options, *json);
  app.add_subcommand("devices", "List what this build can run on here")->footer("");
  TextRequest text;
  add_texts(app, text);

  const auto selected = [&] {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? std::string() : chosen.front()->get_name();
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return {{}, app.help()};
  } catch (const CLI::CallForVersion& e) {
    return {{}, std::string(e.what()) + "\n"};
  } catch (const CLI::ParseError& e) {
    const std::string command = selected();
    // CLI11 only says that there is no subcommand.
    if (command.empty() && argc > 1)
      throw InvalidArgument("'" + std::string(argv[1]) + "' (must be one of " +
                            names_of_commands(app) + "); see lull --help");
    throw InvalidArgument(one_line(e.what()) + "; see lull " +
                          (command.empty() ? "" : command + " ") + "--help");
  }
  if (selected() == "denoise") return {[=] { return denoise(*denoise_options); }, {}};
  if (selected() == "compare") return {[=] { return compare(*compare_options); }, {}};
  if (selected() == "probe") return {[=] { return probe(*probe_options, *json); }, {}};
  if (selected() == "devices") return {devices, {}};
  return {{}, text_for(app, text)};
}

}  // namespace lull::tools
