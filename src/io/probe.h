#pragma once
// Describes an input, and states which content of the input an output would contain.

#include <string>
#include <vector>

#include "io/media.h"

namespace lull::io {

struct StreamReport {
  int index = 0;
  std::string type, codec;      // FFmpeg's names: "audio", "aac"
  std::string language, title;  // empty: not stated
  std::string details;          // "48000 Hz, stereo", "1920x1080"; may be empty
  /// Effect of open_sink() on the stream: "denoised", "copied", "converted" (subtitles), "made
  /// anew" (the muxer writes it from metadata), "left out" (the container cannot store it),
  /// "dropped" (on request), or "refused" (open_sink() would throw an error).
  std::string fate;
};

struct InputReport {
  std::string path;
  VideoInfo video;
  FrameFormat format;
  bool alpha = false;
  std::vector<std::string> files;  // files of a sequence; empty for one file or a pipe
  // FFmpeg's names of the colour properties and of the field order. A name is "unknown" if the
  // input does not state the property.
  std::string range, primaries, transfer, matrix, chroma_location, field_order;
  Rational aspect;  // sample aspect ratio; 0/1: unknown
  double start_s = 0;
  double rotation = 0;  // rotation for display, in degrees, clockwise
  int chapters = 0;
  std::vector<StreamReport> streams;
  std::vector<int> videos;        // numbers of the video streams except cover pictures
  std::vector<LayerInfo> layers;  // of an OpenEXR input
  bool keeps_layers = false;      // whether the output is OpenEXR with all layers
  std::string output;             // name of the output for which `fate` states what happens
  std::string encoder;            // FFmpeg's name of the output's encoder; empty: none
  std::string pixel_format;       // pixel format of the output
  // One string for each kind of content that the input has and the output cannot store. Each string
  // states the reason.
  std::vector<std::string> lost;
};

/// Opens `path` like open_source(). Returns the effects that open_sink() would have for `output`,
/// but writes no output. If `output` is empty, the function assumes NIfTI for a volume, Zarr for a
/// Zarr store, TIFF for other stacks, and Matroska for other inputs.
/// @throws InvalidArgument  the output has no container
/// @throws any exception of open_source()
[[nodiscard]] InputReport probe(const std::string& path, const SourceOptions& options,
                                const std::string& output, const SinkOptions& sink);

}  // namespace lull::io
