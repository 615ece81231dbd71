#pragma once
// Video files and still pictures, read and written with FFmpeg's libraries; slice stacks (NIfTI
// volumes, TIFF files of several pages), read and written by lull itself.
//
//   auto source = io::open_source("in.mkv");
//   auto sink = io::open_sink("out.mkv", *source, {.overwrite = true});
//   while (auto frame = source->read()) sink->write(filter(*std::move(frame)));
//   sink->finish();

#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/stream.h"

namespace lull::io {

/// Which values of the file the samples of frames stand for.
struct ValueScale {
  double low = 0;       // a sample of 0
  double span = 255;    // from there to the sample that stands for 255 on the scale of sigma
  double full = 255;    // what a user means by 255 on the scale of 8 bits, by 1 on that of unit
  bool native = false;  // users give sigma in the file's own units, if they do not say otherwise
};

/// What is known of a video stream before its frames are read.
struct VideoInfo {
  std::string codec, pixel_format,
      container;                     // FFmpeg's short names: "h264", "yuv420p", "matroska"
  Rational frame_rate;               // frames per second; 0/1 where unknown
  Rational time_base;                // seconds per tick of Frame::pts
  std::int64_t frames_estimate = 0;  // 0: unknown
  double duration_s = 0;             // 0: unknown
  bool still = false;                // one picture, not a video
  ValueScale values;
};

/// Damage that a source has passed over so far (SourceOptions::pass_damage).
struct Damage {
  /// Frames that are damaged or have no picture. An end that comes too early counts as one; once
  /// all is read, as the frames that the container had promised.
  std::int64_t frames = 0;
  std::string first;  // what the first was, one line; empty: there is none
};

/// The axis along which the slices of a volume follow each other.
enum class Axis { x, y, z };

struct SourceOptions {
  /// Where the samples of frames live; must outlive the source and its frames.
  std::pmr::memory_resource* memory = std::pmr::get_default_resource();
  int threads = 0;  // decoding threads; 0: one for each core
  /// GPU (its index among the visible ones) to decode on, where FFmpeg and the GPU can; frames then
  /// stay in its memory (Frame::on_device). To be opened before the process uses that GPU
  /// otherwise: FFmpeg wants the GPU's primary context set up its own way.
  std::optional<int> gpu;
  /// Pass over damage of a video and count it: frames that decode come out, damaged ones as the
  /// decoder concealed them; those that do not are left out; a cut is the end. Without it, damage
  /// is BadData. Stacks are whole or refused in any case.
  bool pass_damage = false;
  /// Of a NIfTI volume; z where none is given. Other inputs have none.
  std::optional<Axis> axis;
};

/// A file's main video stream, decoded. All its other streams wait to be copied by open_sink.
class MediaSource : public FrameSource {
 public:
  virtual const VideoInfo& info() const noexcept = 0;
  /// Not while another thread reads.
  virtual Damage damage() const { return {}; }
  /// Why the CPU decodes though SourceOptions::gpu asked for a GPU, one line; empty otherwise.
  virtual const std::string& why_not_gpu() const noexcept {
    static const std::string stack = "stacks are not compressed video";
    return stack;
  }
};

/// Opens a video or a still picture and decodes its first frame. Frames come out planar: grey,
/// Y Cb Cr or R G B, with the input's depth (8 to 16 bits); palettes become RGB, 1 bit 8.
/// `path` always names a file: no protocols, no patterns.
///
/// A NIfTI file gives its slices as grey frames of float samples, volume after volume; a TIFF file
/// of several pages its pages, as they are with 8 bits, else as float samples. Values are then
/// mapped as VideoInfo::values says; the number of a frame is its time stamp.
/// @throws InvalidArgument  an axis where the input has none
/// @throws NoInput  the file does not exist or cannot be read
/// @throws BadData  empty, no medium, without video, cut short, or of a pixel format outside those
[[nodiscard]] std::unique_ptr<MediaSource> open_source(const std::string& path,
                                                       const SourceOptions& options = {});

/// How a NIfTI output holds its samples. int16: whole numbers in its range stay, all else is
/// scaled; float32: without scale.
enum class DataType { same, int16, float32 };

struct SinkOptions {
  std::string vcodec;         // FFmpeg's encoder name; empty: chosen by container and format
  std::optional<double> crf;  // constant rate factor; the encoder's own scale
  std::vector<std::pair<std::string, std::string>> vopts;  // options of encoder or muxer
  std::string pix_fmt;     // FFmpeg's pixel format; empty: the input's, or one with equal samples
  bool lossless = false;   // FFV1, or the lossless mode of `vcodec`
  bool overwrite = false;  // replace an existing file
  int threads = 0;         // encoding threads; 0: the encoder's choice
  DataType datatype = DataType::same;  // of a NIfTI output
};

/// Writes one video stream beside copies of the source's other streams.
class MediaSink : public FrameSink {
 public:
  /// FFmpeg's names of the encoder, its pixel format and the container.
  virtual const std::string& encoder() const noexcept = 0;
  virtual const std::string& pixel_format() const noexcept = 0;
  virtual const std::string& container() const noexcept = 0;
  /// What the container cannot carry and is no audio, video, subtitle or attachment (unknown data
  /// streams, chapters): one text each, for a warning.
  virtual const std::vector<std::string>& left_out() const noexcept = 0;
  /// The file that holds the output until finish(). A process that has to end without this object's
  /// destructor removes it.
  virtual const std::string& temporary() const noexcept = 0;
  /// Packets of copied streams that were too damaged to be copied, where the source passes over
  /// damage (else they are BadData).
  virtual Damage damage() const { return {}; }
  /// As finish(), but the result gets its name only if `accepts` says so once all is written. If
  /// not, it stays under its temporary name, which is returned; empty if it has its name, or if
  /// such an output keeps nothing.
  virtual std::string finish_if(const std::function<bool()>& accepts) {
    if (accepts()) finish();
    return {};
  }
};

/// Opens an encoder and a container for frames of `source`'s format. Streams that are not denoised,
/// metadata, chapters, colour tags and time stamps are taken over from `source`, which may be read
/// by another thread meanwhile and must have been read to its end before finish(). To be called
/// before the first read of `source`, once.
///
/// The output is written to a temporary file beside `path` and renamed by finish(); without it the
/// destructor removes everything. The container follows from the extension of `path`.
/// write() and finish() may throw IoError (disk full), and InvalidArgument for a second frame where
/// `path` names a still picture.
///
/// A NIfTI volume becomes a NIfTI file (.nii, .nii.gz) with the same bytes before its samples, a
/// TIFF stack a TIFF file with the same tags; nothing else becomes either.
///
/// Without `vcodec`: VP9 in webm, the obvious one in y4m and stills, FFV1 if lossless, else x264
/// for 8 bits and x265 for more where they can hold the source's samples unchanged, else FFV1. crf
/// 18 for x264 and x265.
/// @throws InvalidArgument  unknown container, encoder or option; an encoder that cannot hold the
///                          samples; a container that cannot hold a stream; output equals input
/// @throws CannotCreate     the file exists (without `overwrite`) or cannot be created
[[nodiscard]] std::unique_ptr<MediaSink> open_sink(const std::string& path, MediaSource& source,
                                                   const SinkOptions& options);

/// Whether both names lead to one existing file, through links too.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

}  // namespace lull::io
