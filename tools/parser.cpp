#include "tools/parser.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/error.h"
#include "core/version.h"
#include "tools/commands.h"

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
    "70 internal, 73 cannot create output, 74 I/O error, 128+n stopped by signal n.\n";

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

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

}  // namespace

CommandLine parse(int argc, const char* const* argv) {
  CLI::App app("Removes noise from video and pictures with BM3D, on GPUs and CPUs.", "lull");
  app.set_version_flag("--version", "lull " + std::string(version));
  app.footer(main_examples);
  app.require_subcommand(1);
  const auto denoise_options = std::make_shared<DenoiseOptions>();
  const auto compare_options = std::make_shared<CompareOptions>();
  add_denoise(app, *denoise_options);
  const auto probe_options = std::make_shared<DenoiseOptions>();
  const auto json = std::make_shared<bool>(false);
  add_compare(app, *compare_options);
  add_probe(app, *probe_options, *json);
  app.add_subcommand("devices", "List what this build can run on here");

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
      throw InvalidArgument("'" + std::string(argv[1]) +
                            "' (must be denoise, probe, compare or devices); see lull --help");
    throw InvalidArgument(one_line(e.what()) + "; see lull " +
                          (command.empty() ? "" : command + " ") + "--help");
  }
  if (selected() == "denoise") return {[=] { return denoise(*denoise_options); }, {}};
  if (selected() == "compare") return {[=] { return compare(*compare_options); }, {}};
  if (selected() == "probe") return {[=] { return probe(*probe_options, *json); }, {}};
  return {devices, {}};
}

}  // namespace lull::tools
