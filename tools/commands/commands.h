#pragma once
// The subcommands of lull. Each function returns the exit code or throws an Error.

#include <optional>
#include <string>

#include "tools/options/denoise_options.h"

namespace lull::tools {

/// Implements `lull denoise`. Returns 0, or 128 + n if signal n stopped the run.
int denoise(const DenoiseOptions& options);

/// Implements `lull plan`: writes the plan of a job for `lull denoise --job`. The function has the
/// same return values and exceptions as denoise().
int plan(const DenoiseOptions& options, bool json);

struct JoinOptions {
  std::string folder;
  std::string input, output;  // empty: the paths in the plan
  DenoiseOptions reading;     // only the member source.protocols is used
  bool overwrite = false, quiet = false;
};

/// Implements `lull join`: combines the finished segments of a job into the output.
int join(const JoinOptions& options);

struct JobReportOptions {
  std::string folder;
  std::string output;  // HTML file to write; empty: FOLDER.html
  bool overwrite = false, quiet = false;
};

/// Implements `lull report`: writes a page about the progress of a job in segments.
int report(const JobReportOptions& options);

/// Implements `lull preview`, for the frame at the time `options.at_us` in microseconds. Without an
/// output name, lull derives a name from the input. Returns 0.
int preview(const DenoiseOptions& options);

/// Implements `lull devices`: lists the devices that can denoise.
int devices();

/// Implements `lull probe`: describes an input, and lists the streams and metadata that the output
/// (`options.output.file`, by default Matroska) can contain.
int probe(const DenoiseOptions& options, bool json);

struct CleanOptions {
  std::string folder;
  bool lists_only = false;  // only lists the files that would be removed
};

/// Implements `lull clean`: removes the temporary files of killed processes. The function searches
/// a folder and those subfolders that belong to jobs (NAME.lull-job).
int clean(const CleanOptions& options);

struct NoiseReportOptions {
  DenoiseOptions input;  // input and reader options; `input.output.file` is the noise file to write
  std::string plot;      // an SVG file; empty: none
  bool json = false;     // prints JSON instead of text
  bool all = false;      // reads all frames of a file instead of samples
};

/// Implements `lull noise`: estimates and reports the noise of an input.
int noise(const NoiseReportOptions& options);

struct CompareOptions {
  std::string first, second;
  std::string csv;              // file of a table; empty: none
  std::string html;             // file of an HTML page; empty: none
  bool overwrite = false;       // replaces existing files
  std::string mask;             // mask of volumes; empty: all voxels are compared
  std::optional<double> range;  // dynamic range of volumes; empty: the range of the first volume
  io::Access access;            // permission bits of the files to write; no option sets this member
  bool json = false;
};

/// Implements `lull compare`: compares two videos, pictures or volumes by PSNR and SSIM.
int compare(const CompareOptions& options);

}  // namespace lull::tools
