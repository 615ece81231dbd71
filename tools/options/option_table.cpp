#include "tools/options/option_table.h"

#include <algorithm>

#include "tools/options/denoise_options.h"

namespace lull::tools {
namespace {

constexpr OptionRow file_rows[] = {
    {"INPUT", "FILE", OptionGroup::basic, in_plan, "same as -i",
     [](DenoiseOptions& o, const std::string& v) { o.operands.push_back(v); }},
    {"OUTPUT", "FILE", OptionGroup::basic, in_plan, "same as -o",
     [](DenoiseOptions& o, const std::string& v) { o.operands.push_back(v); }},
    {"-i,--input", "FILE", OptionGroup::basic, in_plan | only_on_command_line,
     "input: a video, a still picture or a stack of slices; - reads standard input; in.%04d.png, "
     "in.####.tif or 'shot_*.tif' (quoted) is a sequence of pictures",
     [](DenoiseOptions& o, const std::string& v) { o.input.file = v; }},
    {"-o,--output", "FILE", OptionGroup::basic, in_plan | only_on_command_line,
     "output; its extension selects the container (a stack keeps its kind); out.%04d.png writes "
     "one file per frame; - is standard output, null discards the frames, hash prints their "
     "digests (./null is a file)",
     [](DenoiseOptions& o, const std::string& v) { o.output.file = v; }},
    {"-y,--overwrite", "", OptionGroup::basic,
     in_plan | in_preview | in_bids | only_on_command_line, "replace an existing output",
     [](DenoiseOptions& o, const std::string&) { o.output.overwrite = true; },
     "replace an existing output"},
    {"-q,--quiet", "", OptionGroup::basic, in_plan | in_preview | in_bids | of_machine,
     "print errors only, and no progress unless --progress is given",
     [](DenoiseOptions& o, const std::string&) { o.run.quiet = true; }, "print errors only"},

};

}  // namespace

std::string_view heading(OptionGroup group) {
  constexpr std::string_view headings[] = {
      "Basic", "Video", "Volumes", "Renders and depth maps", "Input and output", "Run", "Tuning"};
  return headings[static_cast<std::size_t>(group)];
}

std::span<const OptionRow> denoise_option_table() {
  static const std::vector<OptionRow> all_rows = [] {
    std::vector<OptionRow> rows;
    for (const std::span<const OptionRow> part :
         {std::span<const OptionRow>(file_rows), noise_option_rows(), method_option_rows(),
          matcher_option_rows(), nlm_option_rows(), volume_option_rows(), depth_option_rows(),
          run_option_rows(), input_option_rows(), output_option_rows()})
      rows.insert(rows.end(), part.begin(), part.end());
    std::ranges::stable_sort(rows, {}, &OptionRow::group);
    return rows;
  }();
  return all_rows;
}

std::vector<OptionRow> options_for(OptionUse use) {
  std::vector<OptionRow> rows;
  std::ranges::copy_if(denoise_option_table(), std::back_inserter(rows),
                       [use](const OptionRow& row) { return (row.uses & use) != 0; });
  return rows;
}

const OptionRow* find_option(std::string_view names) {
  const auto rows = denoise_option_table();
  const auto row = std::ranges::find(rows, names, &OptionRow::names);
  return row == rows.end() ? nullptr : &*row;
}

void set_option(DenoiseOptions& options, const OptionRow& row, const std::string& value) {
  row.apply(options, value);
  options.given.emplace_back(row.names, value);
}

std::string first_given(const DenoiseOptions& options, unsigned with, unsigned without) {
  for (const auto& [name, value] : options.given)
    if (const OptionRow* row = find_option(name);
        row && (row->uses & with) == with && (row->uses & without) == 0)
      return name;
  return {};
}

}  // namespace lull::tools
