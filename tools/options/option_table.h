#pragma once
// Contains the options of `lull denoise` in one table. lull derives the parser, the help texts, the
// manual, the completions, the options of other commands and the options of plans from this table.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lull::tools {

struct DenoiseOptions;  // tools/options/denoise_options.h

/// Groups of options. The help lists the groups in this order.
enum class OptionGroup { basic, video, volumes, renders, files, run, tuning };
[[nodiscard]] std::string_view heading(OptionGroup group);

/// Bits of OptionRow::uses. The bits state the commands and methods that support the option.
enum OptionUse : unsigned {
  // Commands that support the option in addition to `lull denoise`.
  in_plan = 1,
  in_preview = 2,
  in_bids = 4,
  in_noise = 8,
  in_probe = 16,
  in_join = 32,
  /// The plan of a shared job stores the option, because results may depend on the option. An
  /// option that names files, replaces files or opens connections must not have this bit, because
  /// another user may have written the plan.
  kept_by_plan = 64,
  planned = in_plan | kept_by_plan,
  // Methods that support the option. If none of these bits is set, all methods support the option.
  for_bm3d = 128,
  for_bm4d = 256,
  for_nlm = 512,
  for_groups = 1024,    // non-local means on groups (averages_groups())
  for_features = 2048,  // non-local means on renders with feature buffers
  /// Neither the environment nor a settings file may set the option (tools/settings/settings.h).
  /// Such an option names files of one run, selects a part of one input, or gives a permission.
  only_on_command_line = 4096,
  /// The option describes the machine. A process that computes a part of a shared job accepts only
  /// options of the machine from a settings file or the environment. The plan contains all other
  /// options.
  of_machine = 8192,
};
inline constexpr unsigned method_bits = for_bm3d | for_bm4d | for_nlm | for_groups | for_features;

/// A row of the option table. `apply` parses the value, which is empty for a flag, and stores the
/// value in the options. For invalid values, `apply` throws InvalidArgument.
struct OptionRow {
  std::string_view names;  // "-i,--input"; a name without dash is an operand
  std::string_view value;  // placeholder for the value in the help; empty: the option is a flag
  OptionGroup group;
  unsigned uses;  // bits of OptionUse
  std::string_view help;
  void (*apply)(DenoiseOptions& options, const std::string& value);
  // Short text for --help; empty: only --help-all shows the option.
  std::string_view brief = {};
  bool repeatable = false;  // the values of all occurrences are joined with commas
};

/// Returns all rows of the option table, ordered by group.
[[nodiscard]] std::span<const OptionRow> denoise_option_table();
/// Returns the rows whose OptionRow::uses contains the bit `use`.
[[nodiscard]] std::vector<OptionRow> options_for(OptionUse use);
/// Returns the options of `lull preview`. The list consists of options that only `lull preview`
/// has, and of rows of the table that affect a single frame.
[[nodiscard]] std::vector<OptionRow> preview_option_rows();
/// Returns the row with exactly the given names, or null.
[[nodiscard]] const OptionRow* find_option(std::string_view names);

/// Applies the option of a row and records the option in DenoiseOptions::given.
void set_option(DenoiseOptions& options, const OptionRow& row, const std::string& value);
/// Returns the first option on the command line whose row has all bits of `with` and no bit of
/// `without`. Returns an empty text if there is no such option.
[[nodiscard]] std::string first_given(const DenoiseOptions& options, unsigned with,
                                      unsigned without);

// Rows of one part of the table.
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
