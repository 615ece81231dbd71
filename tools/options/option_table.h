#pragma once
// The options of `lull denoise` in one table, from which lull derives the parser, the help texts,
// the manual, the completions, the options of other commands and the options of plans.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lull::tools {

struct DenoiseOptions;  // tools/options/denoise_options.h

/// Groups of options. The help shows their headings in this order.
enum class OptionGroup { basic, video, volumes, renders, files, run, tuning };
[[nodiscard]] std::string_view heading(OptionGroup group);

/// Bits of OptionRow::uses, which state the commands and methods that have the option.
enum OptionUse : unsigned {
  // Commands that have the option in addition to `lull denoise`.
  in_plan = 1,
  in_preview = 2,
  in_bids = 4,
  in_noise = 8,
  in_probe = 16,
  in_join = 32,
  /// The plan of a shared job stores the option, because results may depend on it. Options that
  /// name files, replace files or open connections must not have this bit, because a plan from
  /// another user could do these things with the permissions of the user who runs a part of the
  /// job.
  kept_by_plan = 64,
  planned = in_plan | kept_by_plan,
  // Methods that support the option; all methods, if none of these bits is set.
  for_bm3d = 128,
  for_bm4d = 256,
  for_nlm = 512,
  for_groups = 1024,    // non-local means on groups (averages_groups())
  for_features = 2048,  // non-local means on renders with feature buffers
  /// Neither the environment nor a settings file may set the option (tools/settings/settings.h),
  /// because it names files of one run, selects a part of one input, or gives a permission.
  only_on_command_line = 4096,
  /// The option describes the machine. A process that computes a part of a shared job takes only
  /// such options from a settings file or the environment, because the plan contains all others.
  of_machine = 8192,
};
inline constexpr unsigned method_bits = for_bm3d | for_bm4d | for_nlm | for_groups | for_features;

/// A row of the option table. `apply` parses the value (empty for a flag) and stores it in the
/// options. It throws InvalidArgument for invalid values.
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

/// Returns all rows, ordered by group.
[[nodiscard]] std::span<const OptionRow> denoise_option_table();
/// Returns the rows that have the bit `use` (OptionRow::uses).
[[nodiscard]] std::vector<OptionRow> options_for(OptionUse use);
/// Returns the options of `lull preview`: its own options, and the rows of the table that affect a
/// single frame.
[[nodiscard]] std::vector<OptionRow> preview_option_rows();
/// Returns the row with exactly these names; null if there is none.
[[nodiscard]] const OptionRow* find_option(std::string_view names);

/// Applies the option of a row and records it in DenoiseOptions::given.
void set_option(DenoiseOptions& options, const OptionRow& row, const std::string& value);
/// Returns the first option on the command line whose row has all bits of `with` and no bit of
/// `without`; empty if there is none.
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
