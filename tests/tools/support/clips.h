#pragma once
// Creates clips and pictures for the tests, and examines those that lull wrote.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/frame.h"
#include "io/media.h"

namespace lull::tools {

/// Returns a picture with structure in every plane.
Frame clean_picture(const FrameFormat& format, double phase = 0);
/// Returns white Gaussian noise of `sigma` on the 0..255 scale, rounded and clipped.
Frame noisy_picture(const Frame& clean, double sigma, unsigned seed = 1);

/// Writes a PGM or PPM file without a library: grey or RGB, 8 or 16 bits.
void write_pnm(const std::string& path, const Frame& picture);
/// Writes a YUV4MPEG2 file without a library: grey or YUV, 8 to 16 bits, 25 frames per second.
void write_y4m(const std::string& path, const std::vector<Frame>& frames);
/// Decodes and encodes with io, without a filter.
void convert(const std::string& from, const std::string& to, const io::SinkOptions& options);
/// Returns all frames of a file.
std::vector<Frame> frames_of(const std::string& path);

/// Writes a Matroska file with the pictures of `video`, variable timestamps, a title, a PCM stream
/// and a subtitle stream.
void add_other_streams(const std::string& video, const std::string& path);
/// Writes a file with the video streams of two files, and a PCM stream between them, except in MP4.
/// With `cover`, a picture is attached to the file, which must be Matroska.
void join_videos(const std::string& first, const std::string& second, const std::string& path,
                 bool cover = false);
/// Writes a Matroska file that contains only PCM sound.
void write_sound(const std::string& path);

struct StreamFacts {
  std::string type, codec, pixel_format, language;
  std::vector<std::int64_t> pts_ms;
  std::vector<std::string> packets;  // the bytes
  int keyframes = 0;
};

/// A file as libavformat reports it.
struct FileFacts {
  std::string container, title;
  std::vector<StreamFacts> streams;
  const StreamFacts& first(const std::string& type) const;
};

FileFacts facts_of(const std::string& path);

}  // namespace lull::tools
