#pragma once
// The output options: file, encoder, pixel format and size.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/media.h"

namespace lull::tools {

struct OutputOptions {
  std::string file;
  bool overwrite = false;
  bool follow_links = true;  // io::SinkOptions::follow_links; set by no option
  io::Access access;         // io::SinkOptions::access; set by no option
  std::string format;        // container; empty: determined by the name of the output
  std::string vcodec, pix_fmt;
  int bits = 0;  // bit depth; 0: that of pix_fmt, or of the input
  Dither dither = Dither::none;
  std::optional<double> crf;
  std::vector<std::pair<std::string, std::string>> vopts;
  bool lossless = false;
  std::optional<std::int64_t> keep;  // only this frame is written, counted from 0
  double scale = 1;                  // factor for the width and the height of the result
  io::DataType datatype = io::DataType::same;
  std::string phase;      // NIfTI file of the filtered phase to write; empty: none
  std::string residuals;  // NIfTI file of input minus output to write; empty: none
  io::Drops drops;
  bool strict_metadata = false;
  /// If true, the encoder stores film grain parameters in the stream, for synthesis by the player.
  bool keep_grain = false;
  bool raw_mosaic = false;  // raw photographs: a mosaic is written instead of R, G and B
  std::string grain_table;  // file of the grain table to write; empty: none

  /// Returns whether lull describes the removed noise as film grain, in the stream or in a table.
  bool has_grain() const { return keep_grain || !grain_table.empty(); }
  /// Returns whether the result goes to standard output.
  bool is_stdout() const { return file == "-" || file == "hash"; }
};

}  // namespace lull::tools
