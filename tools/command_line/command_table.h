#pragma once
// The commands and their options as CLI11 objects.

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "tools/bids/bids.h"
#include "tools/commands/commands.h"
#include "tools/settings/settings.h"

namespace lull::tools {

struct TextRequest {
  std::string topic, format = "text", shell;
};

/// The values of the options on the command line, one member per command.
struct GivenCommands {
  DenoiseOptions denoise, plan, preview, probe;
  JoinOptions join;
  JobReportOptions report;
  BidsOptions bids;
  CleanOptions clean;
  CompareOptions compare;
  NoiseReportOptions noise;
  bool json = false;
  TextRequest text;
};

/// A parser and its option table. The type is neither copyable nor movable, because `app` refers to
/// `given`.
struct CommandTable {
  CommandTable();
  CommandTable(const CommandTable&) = delete;
  CommandTable& operator=(const CommandTable&) = delete;

  CLI::App app;
  GivenCommands given;
  std::map<const CLI::Option*, std::string> briefs;  // OptionRow::brief
  /// The options of a command that come from the option table of `lull denoise`.
  struct TableOptions {
    DenoiseOptions* target = nullptr;
    std::vector<OptionRow> rows;
    std::vector<OptionValue> given;  // on the command line
  };
  std::map<const CLI::App*, TableOptions> table_options;

 private:
  CLI::App* add_command(const std::string& name);
  void add_row(CLI::App& command, const OptionRow& row, DenoiseOptions& options);
  void add_plan();
  void add_join();
  void add_report();
  void add_bids();
  void add_clean();
  void add_compare();
  void add_probe();
  void add_noise();
  void add_texts();
};

}  // namespace lull::tools
