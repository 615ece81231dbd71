#pragma once
// The table of the options of `lull denoise`. The parser, the help, the manual, the completions and
// the plans use this table.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lull::tools {

struct DenoiseOptions;  // tools/options/denoise_options.h

/// Groups of options, in the order of the help.
enum class OptionGroup { basic, video, volumes, renders, files, run, tuning };
[[nodiscard]] std::string_view heading(OptionGroup group);

/// Bits of OptionRow::uses: the commands and methods that support the option.
enum OptionUse : unsigned {
  // `lull denoise` supports all options. Each of these bits states that another command also
  // supports the option.
  in_plan = 1,
  in_preview = 2,
  in_bids = 4,
  in_noise = 8,
  in_probe = 16,
  in_join = 32,
  /// The plan of a shared job stores the option, because results may depend on it. Options that
  /// name files, replace files or open connections never have this bit, because another user may
  /// have written the plan.
  kept_by_plan = 64,
  planned = in_plan | kept_by_plan,
  // One bit for each method that supports the option. If all these bits are 0, all methods support
  // the option.
  for_bm3d = 128,
  for_bm4d = 256,
  for_nlm = 512,
  for_groups = 1024,    // non-local means on groups (averages_groups())
  for_features = 2048,  // non-local means on renders with feature buffers
  /// The option is allowed only on the command line, not in the environment or a settings file.
  /// Such an option names files of one run, selects a part of one input, or grants a permission.
  only_on_command_line = 4096,
  /// The option concerns the machine that runs lull, for example its number of threads. In a
  /// process that computes a part of a shared job, options without this bit do not take effect from
  /// a settings file or the environment.
  of_machine = 8192,
};
inline constexpr unsigned method_bits = for_bm3d | for_bm4d | for_nlm | for_groups | for_features;

/// A row of the option table. `apply` parses the value (empty for a flag) and stores the value in
/// the options. Invalid values throw InvalidArgument.
struct OptionRow {
  std::string_view names;  // "-i,--input"; a name without dash is an operand
  std::string_view value;  // placeholder for the value in the help; empty: the option is a flag
  OptionGroup group;
  unsigned uses;  // bits of OptionUse
  std::string_view help;
  void (*apply)(DenoiseOptions& options, const std::string& value);
  // Short text for --help. If empty, only --help-all shows the option.
  std::string_view brief = {};
  bool repeatable = false;  // the values of all occurrences are joined with commas
};

/// Returns the option table, ordered by group.
[[nodiscard]] std::span<const OptionRow> denoise_option_table();
/// Returns the rows whose OptionRow::uses contains the bit `use`.
[[nodiscard]] std::vector<OptionRow> options_for(OptionUse use);
/// Returns the options of `lull preview`: its own options, and the rows of the option table that
/// affect a single frame.
[[nodiscard]] std::vector<OptionRow> preview_option_rows();
/// Returns the row with exactly the given names, or null.
[[nodiscard]] const OptionRow* find_option(std::string_view names);

/// Applies the option of a row, and records the option in DenoiseOptions::given.
void set_option(DenoiseOptions& options, const OptionRow& row, const std::string& value);
/// Returns the first given option whose row has all bits of `with` and no bit of `without`, or an
/// empty string.
[[nodiscard]] std::string first_given(const DenoiseOptions& options, unsigned with,
                                      unsigned without);

// Each of the following functions returns the rows of one part of the option table.
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
