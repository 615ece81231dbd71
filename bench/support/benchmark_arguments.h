#pragma once
// Command line and table format of programs that use Google Benchmark.

#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>
#include <vector>

namespace lull::bench {

/// Parses the options of `app` and leaves those that begin with --benchmark_ to Google Benchmark
/// (their values must follow after `=`). If necessary, prints help or an error and exits.
inline void parse_arguments(CLI::App& app, int argc, char** argv) {
  app.allow_extras();
  app.footer(
      "Options that begin with --benchmark_ are passed to Google Benchmark "
      "(--benchmark_filter=..).");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  std::vector<std::string> rest = app.remaining();
  std::vector<char*> words{argv[0]};
  for (std::string& word : rest) words.push_back(word.data());
  int count = static_cast<int>(words.size());
  benchmark::Initialize(&count, words.data());
  if (benchmark::ReportUnrecognizedArguments(count, words.data())) std::exit(1);
}

/// Google Benchmark's table with a column for each counter, without its lines about the CPU.
class TableReporter final : public benchmark::ConsoleReporter {
 public:
  TableReporter() : ConsoleReporter(OO_Tabular) {}
  bool ReportContext(const Context& context) override {
    name_field_width_ = context.name_field_width;
    printed_header_ = false;
    return true;
  }
};

}  // namespace lull::bench
