#pragma once
// Opens the container of an input, finds its streams and checks the limits of picture size and
// number of streams. FFmpeg detects the format from the content.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/demux/damage.h"
#include "io/demux/input_bytes.h"
#include "io/ffmpeg/ffmpeg.h"
#include "io/ffmpeg/ffmpeg_log.h"
#include "io/media.h"

namespace lull::io {

/// The library that decodes the pictures. lull uses libtiff and OpenEXR instead of FFmpeg, because
/// FFmpeg returns black pictures for some TIFF files and does not support all OpenEXR layers.
enum class PictureReader { ffmpeg, tiff, exr };

/// Returns the indices of the video streams, excluding cover pictures and the tiles of a picture.
std::vector<int> video_streams(const AVFormatContext& context);

/// Returns whether the file is a picture of tiles (HEIF) and the stream `video` is a tile or a
/// thumbnail. FFmpeg 7 and newer versions return each tile as a stream.
bool is_part_of_tiled_picture(const AVFormatContext& context, int video);

/// Returns FFmpeg's format for a Netpbm file that begins with `head`; null for other content.
/// FFmpeg itself does not detect PAM files. It detects PBM, PGM and PPM files only if a line feed
/// follows the first two bytes.
const AVInputFormat* netpbm_format(std::span<const std::uint8_t> head);

class InputContainer {
 public:
  /// @param bytes    must outlive this object
  /// @param picture  true for a file of a picture sequence, which stores no timestamps
  /// @throws BadData  the input is not a media file, has no video, exceeds a limit, consists of
  ///     tiles of one picture, or is truncated although `options` permits no damage
  /// @throws InvalidArgument  the options are invalid
  InputContainer(InputBytes& bytes, const SourceOptions& options, bool picture, const LogTopic& log,
                 DamageCount& damage);

  AVFormatContext& context() const { return *context_; }
  AVStream& video() const { return *context_->streams[video_]; }
  /// Returns the library that decodes the pictures.
  PictureReader reader() const { return reader_; }
  /// Returns whether the file contains several pictures that are not frames of a video.
  bool is_multi_picture() const { return is_multi_picture_; }
  /// Returns FFmpeg's messages since this object opened the container.
  const LogWatch& said() const { return watch_; }

 private:
  const std::string& name() const { return bytes_.name(); }
  const AVInputFormat* find_format(const SourceOptions& options) const;
  void refuse_unsupported() const;
  void open(const AVInputFormat* format, Dictionary& options, const Limits& limits);
  [[noreturn]] void fail_opening(const Limits& limits) const;
  void find_still_stream();
  void find_streams(const Limits& limits);
  [[noreturn]] void fail_streams(const Limits& limits) const;
  void check_sizes(const Limits& limits) const;
  void find_video(const std::optional<int>& number);
  void choose_video(int number);

  InputBytes& bytes_;
  LogWatch watch_;
  std::unique_ptr<AVFormatContext, Releaser<avformat_close_input>> context_;
  PictureReader reader_ = PictureReader::ffmpeg;
  int video_ = -1;
  bool is_multi_picture_ = false;
};

}  // namespace lull::io
