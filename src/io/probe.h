#pragma once
// What is in an input, and what would come of it.

#include <string>
#include <vector>

#include "io/media.h"

namespace lull::io {

struct StreamReport {
  int index = 0;
  std::string type, codec;      // FFmpeg's words: "audio", "aac"
  std::string language, title;  // empty: not said
  std::string details;          // "48000 Hz, stereo", "1920x1080"; may be empty
  /// What becomes of it in the output: "denoised", "copied", "converted" (subtitles), "made anew",
  /// "left out", "dropped" (as was asked for), "refused" (the output would be an error).
  std::string fate;
};

struct InputReport {
  std::string path;
  VideoInfo video;
  FrameFormat format;
  bool alpha = false;
  std::vector<std::string> files;  // of a sequence; empty: one file or pipe
  // FFmpeg's names, "unknown" where the input does not say.
  std::string range, primaries, transfer, matrix, chroma_location, field_order;
  Rational aspect;  // of a sample; 0/1: unknown
  double start_s = 0;
  double rotation = 0;  // degrees, clockwise
  int chapters = 0;
  std::vector<StreamReport> streams;
  std::string output;             // the name that `fate` is about
  std::string encoder;            // FFmpeg's name of it, empty: there is none
  std::string pixel_format;       // what it would get
  std::vector<std::string> lost;  // what the output would not carry, and why; one text each
};

/// Opens `path` as open_source does and looks at what open_sink would do for `output` (empty: a
/// Matroska file, of a stack a file of its kind). Writes nothing.
/// @throws as open_source; InvalidArgument for an output without a container
[[nodiscard]] InputReport probe(const std::string& path, const SourceOptions& options,
                                const std::string& output, const SinkOptions& sink);

}  // namespace lull::io
