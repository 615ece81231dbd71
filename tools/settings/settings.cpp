#include "tools/settings/settings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "tools/options/denoise_options.h"
#include "tools/options/suggestion.h"
#include "tools/settings/settings_file.h"

namespace lull::tools {
namespace {

constexpr std::string_view config_row = "--config", prefix = "LULL_";

/// A pair of options for the same property. The value of `by` replaces the value of `option` if the
/// value of `by` has the higher precedence.
struct Replaced {
  std::string_view by, option;
};
constexpr Replaced replaced_options[] = {{"--preset", "-p,--profile"},  {"--preset", "--temporal"},
                                         {"-s,--sigma", "--noise"},     {"--noise", "-s,--sigma"},
                                         {"--noise-map", "-s,--sigma"}, {"--lossless", "--crf"},
                                         {"--crf", "--lossless"}};

/// Returns whether the value `higher` replaces the value `lower`, because their options are
/// identical or listed as a pair in `replaced_options`.
bool replaces(const OptionValue& higher, const OptionValue& lower) {
  if (higher.row.names == lower.row.names) return true;
  // The values "gaussian", "rician" and "auto" of --noise do not replace --sigma, because they
  // state only the kind of noise.
  const auto is_kind = [](const OptionValue& value) {
    return value.row.names == "--noise" &&
           (value.value == "gaussian" || value.value == "rician" || value.value == "auto");
  };
  if (higher.off || is_kind(higher) || is_kind(lower)) return false;
  return std::ranges::any_of(replaced_options, [&](const Replaced& pair) {
    return pair.by == higher.row.names && pair.option == lower.row.names;
  });
}

/// Returns the long name without dashes: "profile" for "-p,--profile".
std::string key_of(const OptionRow& row) {
  const std::size_t dashes = row.names.rfind("--");
  return dashes == row.names.npos ? std::string() : std::string(row.names.substr(dashes + 2));
}

bool is_settable(const OptionRow& row) {
  return (row.uses & only_on_command_line) == 0 && !key_of(row).empty();
}

const OptionRow* row_with_key(const std::vector<OptionRow>& rows, const std::string& key) {
  const auto row = std::ranges::find(rows, key, key_of);
  return row == rows.end() ? nullptr : &*row;
}

/// Returns all options of all commands.
std::vector<OptionRow> all_rows() {
  const auto table = denoise_option_table();
  std::vector<OptionRow> rows(table.begin(), table.end());
  for (const OptionRow& row : preview_option_rows())
    if (!find_option(row.names)) rows.push_back(row);
  return rows;
}

std::vector<std::string> settable_keys(const std::vector<OptionRow>& rows) {
  std::vector<std::string> keys;
  for (const OptionRow& row : rows)
    if (is_settable(row)) keys.push_back(key_of(row));
  return keys;
}

/// Returns whether a word turns a flag on (true) or off (false), or no value for another word.
std::optional<bool> switched(std::string word) {
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* on : {"1", "true", "yes", "on"})
    if (word == on) return true;
  for (const char* off : {"0", "false", "no", "off"})
    if (word == off) return false;
  return std::nullopt;
}

OptionValue flag_value(const OptionRow& row, const std::string& place, bool on) {
  return {.row = row, .value = {}, .place = place, .off = !on};
}

OptionValue value_of(const Setting& setting, const OptionRow& row, const std::string& place) {
  const bool is_boolean = setting.kind == Setting::Kind::boolean;
  if (row.value.empty()) {
    if (!is_boolean)
      throw InvalidArgument(place + ": " + setting.key + " must be true or false (it is a switch)");
    return flag_value(row, place, setting.values.front() == "true");
  }
  if (is_boolean)
    throw InvalidArgument(place + ": " + setting.key + " must be a string or a number (" +
                          std::string(row.value) + ")");
  if (setting.kind == Setting::Kind::array && (!row.repeatable || setting.values.empty()))
    throw InvalidArgument(place + ": " + setting.key + " must be a single value (" +
                          std::string(row.value) + ")");
  return {.row = row, .value = joined(setting.values, ","), .place = place};
}

/// Checks a setting of the settings file. Returns whether the setting applies to the command of
/// this process.
bool concerns(const Setting& setting, const CommandSettings& command, const std::string& place) {
  if (!setting.section.empty() &&
      std::ranges::find(command.names, setting.section) == command.names.end())
    throw InvalidArgument(
        place + ": [" + setting.section + "] (there is no such command); " +
        did_you_mean(setting.section, command.names, "use the name of a command of lull"));
  const std::vector<OptionRow> rows = all_rows();
  const OptionRow* known = row_with_key(rows, setting.key);
  if (!known)
    throw InvalidArgument(place + ": " + setting.key + " (there is no such option); " +
                          did_you_mean(setting.key, settable_keys(rows), "see lull --help-all"));
  if (!is_settable(*known))
    throw InvalidArgument(place + ": " + setting.key +
                          " (this option can only be given on the command line); leave it out");
  return (setting.section.empty() || setting.section == command.command) &&
         row_with_key(command.rows, setting.key);
}

/// Reads the values of a settings file. `general` receives the values before the first table, and
/// `special` receives the values in the table of the command, which take precedence.
void read_file_layers(const CommandSettings& command, const std::string& file,
                      std::vector<OptionValue>& general, std::vector<OptionValue>& special) {
  for (const Setting& setting : read_settings(file)) {
    const std::string place = file + ":" + std::to_string(setting.line);
    if (!concerns(setting, command, place)) continue;
    (setting.section.empty() ? general : special)
        .push_back(value_of(setting, *row_with_key(command.rows, setting.key), place));
  }
}

std::vector<OptionValue> values_of_environment(const CommandSettings& command,
                                               const Environment& environment) {
  std::vector<OptionValue> values;
  for (const OptionRow& row : command.rows) {
    if (!is_settable(row)) continue;
    const std::string name = variable_of(row);
    const char* text = environment(name);
    if (!text || !*text) continue;
    if (!row.value.empty()) {
      values.push_back({.row = row, .value = text, .place = name});
      continue;
    }
    const auto on = switched(text);
    if (!on) throw InvalidArgument(name + "=" + text + " (must be 1 or 0, because it is a switch)");
    values.push_back(flag_value(row, name, *on));
  }
  return values;
}

std::string settings_file_of(const CommandSettings& command, const std::vector<OptionValue>& given,
                             const Environment& environment) {
  for (const OptionValue& value : given)
    if (value.row.names == config_row) return value.value;
  const OptionRow* row = find_option(config_row);
  const char* name = row ? environment(variable_of(*row)) : nullptr;
  return name && row_with_key(command.rows, "config") ? name : "";
}

}  // namespace

std::string variable_of(const OptionRow& row) {
  std::string name = std::string(prefix) + key_of(row);
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return c == '-' ? '_' : static_cast<char>(std::toupper(c));
  });
  return name;
}

std::vector<OptionValue> with_settings(const CommandSettings& command,
                                       std::vector<OptionValue> given,
                                       const Environment& environment) {
  std::array<std::vector<OptionValue>, 4> layers;  // by rising precedence
  if (const std::string file = settings_file_of(command, given, environment); !file.empty())
    read_file_layers(command, file, layers[0], layers[1]);
  layers[2] = values_of_environment(command, environment);
  layers[3] = std::move(given);
  std::vector<OptionValue> values;
  for (std::size_t layer = 0; layer < layers.size(); ++layer)
    for (const OptionValue& value : layers[layer]) {
      if (layer < 3 && command.is_part && (value.row.uses & of_machine) == 0) continue;
      const auto is_replaced = [&](const std::vector<OptionValue>& higher) {
        return std::ranges::any_of(
            higher, [&](const OptionValue& other) { return replaces(other, value); });
      };
      const bool stays = std::none_of(layers.begin() + static_cast<std::ptrdiff_t>(layer) + 1,
                                      layers.end(), is_replaced);
      if (stays && !value.off) values.push_back(value);
    }
  return values;
}

void apply_values(const std::vector<OptionValue>& values, DenoiseOptions& options) {
  for (const OptionValue& value : values) {
    try {
      set_option(options, value.row, value.value);
    } catch (const InvalidArgument& error) {
      if (value.place.empty()) throw;
      throw InvalidArgument(value.place + ": " + error.what());
    }
  }
}

std::string misspelt_variables(const std::vector<std::string>& variables) {
  std::vector<std::string> known{"CONFIG"};  // without LULL_
  for (const OptionRow& row : all_rows())
    if (is_settable(row)) known.push_back(variable_of(row).substr(prefix.size()));
  std::string text;
  for (const std::string& name : variables) {
    if (!name.starts_with(prefix)) continue;
    const std::string rest = name.substr(prefix.size());
    if (std::ranges::find(known, rest) != known.end()) continue;
    const std::string nearest = nearest_word(rest, known);
    if (!nearest.empty())
      text += (text.empty() ? "" : ", ") + name + " is ignored (did you mean " +
              std::string(prefix) + nearest + "?)";
  }
  return text;
}

}  // namespace lull::tools
