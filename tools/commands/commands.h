#pragma once
// What the subcommands of lull do. Each returns the exit code of the process or throws an Error.

#include <optional>
#include <string>

#include "tools/options/denoise_options.h"

namespace lull::tools {

/// lull denoise. 0, or 128 + n if signal n stopped it.
int denoise(const DenoiseOptions& options);

/// lull plan: denoises nothing, but writes down what `lull denoise --job` is to do. As denoise().
int plan(const DenoiseOptions& options, bool json);

struct JoinOptions {
  std::string folder;
  std::string input, output;  // empty: as they were planned
  DenoiseOptions reading;     // how the input is read: its protocols
  bool overwrite = false, quiet = false;
};

/// lull join: the output of a job whose segments are done.
int join(const JoinOptions& options);

struct JobReportOptions {
  std::string folder;
  std::string output;  // empty: FOLDER.html
  bool overwrite = false, quiet = false;
};

/// lull report: a page of what is done of a job in segments.
int report(const JobReportOptions& options);

/// lull preview. `options.at_us` is the time of the frame; an empty output is chosen by the input's
/// name. 0, or 128 + n if signal n stopped it.
int preview(const DenoiseOptions& options);

/// lull devices.
int devices();

/// lull probe: what is in an input, and what `output` (empty: a Matroska file) would have of it.
int probe(const DenoiseOptions& options, bool json);

struct NoiseOptions {
  DenoiseOptions input;  // which, and how it is read; its output is the file of the estimate
  std::string plot;      // a picture; empty: none
  bool json = false;     // the estimate on standard output, in place of a line
  bool all = false;      // of a file: all frames are read, not those of some places
};

/// lull noise: what is known of the noise of an input.
int noise(const NoiseOptions& options);

struct CompareOptions {
  std::string first, second;
  std::string csv;              // empty: none
  std::string html;             // a page; empty: none
  bool overwrite = false;       // an existing page
  std::string mask;             // of volumes: what counts; empty: all
  std::optional<double> range;  // of volumes: the peak; empty: the first one's
  io::Access access;            // of what is written; no option sets it
  bool json = false;
};

/// lull compare.
int compare(const CompareOptions& options);

}  // namespace lull::tools
