#pragma once
// The options of `lull denoise` in one table. The parser, the help texts, the manual, the
// completions, the options of other commands and the options of plans come from it.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lull::tools {

struct DenoiseOptions;  // tools/options/denoise_options.h

/// Headings of the help, in this order.
enum class OptionGroup { basic, video, volumes, renders, files, run, tuning };
[[nodiscard]] std::string_view heading(OptionGroup group);

/// Bits of OptionRow::uses.
enum OptionUse : unsigned {
  // Commands that have the option in addition to lull denoise.
  in_plan = 1,
  in_preview = 2,
  in_bids = 4,
  in_noise = 8,
  in_probe = 16,
  in_join = 32,
  /// The plan of a shared job keeps the option, because results may depend on it. A plan never
  /// keeps an option that names files, replaces files or opens connections: a plan from another
  /// user must not do that for the user who runs a part of the job.
  kept_by_plan = 64,
  planned = in_plan | kept_by_plan,
  // Methods that have the option. An option without these bits is one of all methods.
  for_bm3d = 128,
  for_bm4d = 256,
  for_nlm = 512,
  for_groups = 1024,    // nlm that averages groups (averages_groups())
  for_features = 2048,  // nlm of renders with features
};
inline constexpr unsigned method_bits = for_bm3d | for_bm4d | for_nlm | for_groups | for_features;

/// A row of the table. `apply` parses the value (empty for a flag), stores it in the options and
/// throws InvalidArgument if the value is invalid.
struct OptionRow {
  std::string_view names;  // "-i,--input"; a name without dash is an operand
  std::string_view value;  // placeholder of the value in the help; empty: a flag
  OptionGroup group;
  unsigned uses;  // bits of OptionUse
  std::string_view help;
  void (*apply)(DenoiseOptions& options, const std::string& value);
  std::string_view brief = {};  // short text for --help; empty: only in --help-all
  bool repeatable = false;      // the values of all occurrences are joined with commas
};

/// All rows, ordered by group.
[[nodiscard]] std::span<const OptionRow> denoise_option_table();
/// The rows that have this bit.
[[nodiscard]] std::vector<OptionRow> options_for(OptionUse use);
/// The options of `lull preview`: its own and those of the table that affect its frame.
[[nodiscard]] std::vector<OptionRow> preview_option_rows();
/// The row with exactly these names; null if there is none.
[[nodiscard]] const OptionRow* find_option(std::string_view names);

/// Applies a row and records it in DenoiseOptions::given.
void set_option(DenoiseOptions& options, const OptionRow& row, const std::string& value);
/// The first given option that has all bits of `with` and none of `without`; empty if there is
/// none.
[[nodiscard]] std::string first_given(const DenoiseOptions& options, unsigned with,
                                      unsigned without);

// The parts of the table.
[[nodiscard]] std::span<const OptionRow> input_option_rows();
[[nodiscard]] std::span<const OptionRow> output_option_rows();
[[nodiscard]] std::span<const OptionRow> noise_option_rows();
[[nodiscard]] std::span<const OptionRow> method_option_rows();
[[nodiscard]] std::span<const OptionRow> matcher_option_rows();
[[nodiscard]] std::span<const OptionRow> nlm_option_rows();
[[nodiscard]] std::span<const OptionRow> volume_option_rows();
[[nodiscard]] std::span<const OptionRow> depth_option_rows();
[[nodiscard]] std::span<const OptionRow> run_option_rows();

}  // namespace lull::tools
