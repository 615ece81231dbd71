#pragma once
// Video files and still pictures, read and written with FFmpeg's libraries; slice stacks (NIfTI
// volumes, TIFF files of several pages), read and written by lull itself.
//
//   auto source = io::open_source("in.mkv");
//   auto sink = io::open_sink("out.mkv", *source, {.overwrite = true});
//   while (auto frame = source->read()) sink->write(filter(*std::move(frame)));
//   sink->finish();

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/denoiser.h"
#include "core/stream.h"
#include "io/access.h"
#include "io/frame_index.h"
#include "io/layers.h"

namespace lull::io {

/// Relation between the samples of frames and the values of a file.
struct ValueScale {
  double low = 0;  // value of sample 0
  // Value of the sample that corresponds to 255 on the scale of sigma, minus `low`.
  double span = 255;
  double full = 255;    // what users mean by 255 on the 8-bit scale, or by 1 on the unit scale
  bool native = false;  // by default, users give sigma in the file's own units
};

/// Properties of a video stream that are known before its frames are read.
struct VideoInfo {
  std::string codec, pixel_format,
      container;                     // FFmpeg's short names: "h264", "yuv420p", "matroska"
  Rational frame_rate;               // frames per second; 0/1: unknown
  Rational time_base;                // seconds per tick of Frame::pts
  std::int64_t frames_estimate = 0;  // 0: unknown
  double duration_s = 0;             // 0: unknown
  bool still = false;                // one picture, not a video
  bool stack = false;                // slices of a volume or a series: NIfTI, TIFF of several pages
  std::int64_t slices = 0;           // stacks only: slices of one volume
  /// Stacks only: distances of samples along a row, along a column, and between slices. 1, 1, 1 if
  /// the file does not state them.
  std::array<double, 3> spacing{1, 1, 1};
  bool interlaced = false;         // according to the first frame or the container
  std::vector<std::string> notes;  // notes about the input for the user, one text each
  ValueScale values;
  /// Position of the first chroma sample, in chroma samples from the corner of the picture. 0.5 is
  /// the middle of its luma samples. If the input does not state the position, that of MPEG-2 is
  /// assumed.
  double chroma_x = 0.5, chroma_y = 0.5;
};

/// Damage that a source has tolerated so far (SourceOptions::tolerate_damage).
struct Damage {
  /// Number of frames that are damaged or missing. A premature end counts as one frame; after the
  /// last frame, it counts as the frames that the container promised.
  std::int64_t frames = 0;
  std::string first;  // one line about the first damage; empty: none
};

/// Format of frames without any header, which only the user can know.
struct RawVideo {
  std::string pix_fmt;  // FFmpeg's pixel format
  int width = 0, height = 0;
};

struct FrameRange {
  std::int64_t first = 0;  // inclusive; frames are counted from 0
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
};

/// A part of the input. Times are relative to the first frame. Selected ranges are joined without
/// gaps: each range begins where the previous one ends, and the first where the input begins. Audio
/// is cut with the video, in units of packets: a packet is kept if it begins within a range.
/// Subtitles that overlap a range are shortened.
struct Selection {
  std::vector<FrameRange> ranges;           // ascending, without overlap; empty: all frames
  std::int64_t start_us = 0;                // only frames from this time on
  std::optional<std::int64_t> duration_us;  // only frames before start + duration
  bool all() const { return ranges.empty() && start_us == 0 && !duration_us; }
};

/// Limits for inputs. A source that exceeds a limit is rejected before memory is allocated for it.
struct Limits {
  std::int64_t pixels = std::int64_t{1} << 28;  // pixels of a frame
  std::int64_t frames = 0;                      // frames of the input; 0: no limit
  int streams = 1000;                           // streams of a container
  std::int64_t memory = 0;  // bytes of the input in memory at a time; 0: no limit
};

/// The axis along which the slices of a volume are read.
enum class Axis { x, y, z };

struct SourceOptions {
  /// Memory for the samples of frames. Must outlive the source and its frames.
  std::pmr::memory_resource* memory = std::pmr::get_default_resource();
  int threads = 0;  // decoding threads; 0: one per core
  /// FFmpeg's name of the input's container; empty: detected from the content.
  std::string format;
  /// The input consists only of samples: frame after frame, planes in order, no padding.
  std::optional<RawVideo> raw;
  /// Frames per second of inputs without times: raw video and picture sequences.
  Rational rate{25, 1};
  Selection selection;
  /// The source also returns the frames outside the selection, marked with Frame::context_only, for
  /// filters that use them as context. The first of these frames is the input's first frame. After
  /// the last selected frame, the source returns such frames until MediaSource::end_context_at().
  bool margins = false;
  Limits limits;
  /// Folder for data that do not fit in memory: packets of other streams that lie far from the
  /// video's packets in the file. Empty: the system's folder for temporary files.
  std::string scratch;
  /// Protocols of FFmpeg ("https") that are allowed for inputs, in addition to files and pipes, and
  /// for files that inputs refer to.
  std::vector<std::string> protocols;
  int descriptor = 0;  // open file for the input `-`; 0: standard input
  /// GPU (its index among the visible ones) that decodes, if FFmpeg and the GPU support it. The
  /// frames then stay in its memory (Frame::on_device). The source must be opened before the
  /// process uses that GPU otherwise, because FFmpeg must set up the GPU's primary context.
  std::optional<int> gpu;
  /// Tolerate damage of a video and count it. The decoder conceals damaged parts of frames. Frames
  /// that cannot be decoded are omitted. A truncated file ends where its data ends. Damage outside
  /// the selection is counted, too. If this option is false, damage throws BadData. Damaged stacks
  /// and sequences always throw it, as does a decoding error of a GPU after its first frame.
  bool tolerate_damage = false;
  /// Start at a decodable frame before this time (relative to the first frame). Times are not
  /// changed. For callers that read only a part of the input: a missing end is not reported.
  std::int64_t skip_us = 0;
  /// Times that jump forward are kept. Otherwise all discontinuities of an input's clock are
  /// bridged (MediaSource::clock_jumps()). Times that go back are always bridged.
  bool keep_times = false;
  /// Axis of a NIfTI volume; default: z. Other inputs have none.
  std::optional<Axis> axis;
  /// For float samples, except stacks: the sample value that corresponds to 255 on the scale of
  /// sigma (FrameFormat::white). 0: the source chooses it from its first frame. Must be 0 or 1 for
  /// other inputs.
  double white = 1;
  /// OpenEXR only: chooses the layers for read_layer(). Empty: none.
  LayerChoice layers{};
  /// Reject interlaced frames. Otherwise a frame contains both fields, in alternating rows.
  bool refuse_interlaced = false;
  /// Receives every decoded picture, if not null.
  std::shared_ptr<FrameIndex> recorded_index{};
  /// Index of this input, recorded with the same selection and margins. Frames get its
  /// repeat_state.
  std::shared_ptr<const FrameIndex> index{};
  /// With `index`: number of the picture at which read() starts, found by seeking. Only format,
  /// info and colour come from the input's first picture. Every picture is compared with the index;
  /// a difference is an IndexMismatch.
  std::int64_t start_picture = 0;
};

/// The decoded main video stream of a file. All other streams wait for open_sink() to copy them.
class MediaSource : public FrameSource {
 public:
  virtual const VideoInfo& info() const noexcept = 0;
  /// Must not be called while another thread reads.
  virtual Damage damage() const { return {}; }
  /// Returns, in one line, why the CPU decodes although SourceOptions::gpu requested a GPU; empty
  /// otherwise.
  virtual const std::string& why_not_gpu() const noexcept = 0;
  /// With SourceOptions::margins: frames outside the selection are not needed after frame `number`,
  /// counted from 0 over all frames of read(). Callable from any thread.
  virtual void end_context_at(std::int64_t number) noexcept { (void)number; }
  /// Stacks only: returns the values of a slice from read() in the file's own units, row by row.
  /// (Frames do not contain values far outside the range.) Other sources leave `values` empty.
  virtual void values_of(const Frame& slice, std::vector<double>& values) const {
    (void)slice;
    values.clear();
  }
  /// Discontinuities of the input's clock that were bridged so far: joined recordings, restarted
  /// encoders, overflows. One line each. Must not be called while another thread reads.
  virtual std::vector<std::string> clock_jumps() const { return {}; }
  /// Number of decoded pictures, whether or not they were returned. Must not be called while
  /// another thread reads.
  virtual std::int64_t decoded() const { return 0; }
};

/// Opens a video or a still picture and decodes its first frame. Frames are planar: grey, Y Cb Cr
/// or R G B, with the input's bit depth (8 to 16 bits, or floats). Palettes become RGB, 1-bit
/// formats 8 bits. `path` is the name of a file and may contain any characters. `-` is
/// options.descriptor (./- is a file). Pipes and FIFOs are read as data arrive; interrupt() ends
/// the waiting.
///
/// If no file has that name, `path` may be an address of one of options.protocols, or the pattern
/// of a sequence of pictures of one size and kind. The last part of a pattern is numbered
/// (`in.%04d.png`, `in.####.tif`; numbers may be missing) or has wildcards (`shot_*.tif`, with * ?
/// [ ]; sorted by name, digits compared as numbers).
///
/// The slices of a NIfTI file become grey frames of floats, volume after volume. The pages of a
/// TIFF file with several pages become frames of 8 bits, or of floats for other bit depths. Values
/// of floats are mapped by VideoInfo::values, and values far outside the range are NaN. The time
/// stamp of a frame is its number. Stacks cannot be divided: options.selection is rejected. With
/// options.raw or options.format, no input is a stack.
/// @throws NoInput  the file does not exist or cannot be read
/// @throws InvalidArgument  invalid options: an axis for an input without axes, a part of a stack,
///     or a white level for an input without a choice; or interlaced video that is rejected (read()
///     may also throw this)
/// @throws BadData  empty, no medium, without video, truncated, or an unsupported pixel format
/// @throws OutOfMemory  options.limits.memory is too small for data that must be stored
/// @throws DeviceFailure  only by read(): the decoding GPU stopped working
[[nodiscard]] std::unique_ptr<MediaSource> open_source(const std::string& path,
                                                       const SourceOptions& options = {});

/// Sample type of a NIfTI output. int16: integers that fit are stored unchanged, all other values
/// are scaled. float32: values are stored without scale.
enum class DataType { same, int16, float32 };

/// A property that a job in segments must have in common with the job that it continues.
struct JobFact {
  std::string name, value;  // "--sigma", "20"
};

struct JobPlan;  // io/jobs.h

/// Another input that is read in parallel with the source, frame by frame, and belongs to the job:
/// a video or a sequence of pictures, in files.
struct AdditionalSource {
  std::string name;   // its name in the job: "--guide"
  std::string input;  // the path with which it was opened
  const MediaSource* source = nullptr;
};

/// The part of a job in segments that a process does: the complete job, or of a shared job the
/// plan, some segments, or joining the finished segments.
enum class JobPart { all, plan, segments, join };

/// A job in segments: finished work survives the end of the process. See open_sink().
struct SegmentOptions {
  int frames = 0;       // frames of each segment but the last, at least 2
  bool resume = false;  // continue an interrupted job
  /// Everything else on which the frames depend, apart from the input and the options of source and
  /// sink.
  std::vector<JobFact> facts;
  std::vector<AdditionalSource> additional;  // not for JobPart::join

  JobPart part = JobPart::all;
  // For parts of shared jobs:
  std::string folder;              // folder of the job
  std::shared_ptr<JobPlan> plan;   // for JobPart::plan, what is known so far
  std::string input;               // for JobPart::plan, the path with which the source was opened
  FrameRange range;                // segments to make, if they are not finished
  std::int64_t start_picture = 0;  // SourceOptions::start_picture
};

/// Content of the input to drop: streams other than the denoised one, and metadata of the file.
struct Drops {
  bool audio = false, subtitles = false, data = false;
  bool attachments = false;  // also covers
  bool video = false;        // all other video streams
  bool chapters = false;
  bool tags = false;         // tags of the file; streams keep their languages and titles
  std::vector<int> streams;  // stream numbers of the input
};

struct SinkOptions {
  std::string vcodec;         // FFmpeg's encoder name; empty: chosen by container and format
  std::optional<double> crf;  // constant rate factor on the encoder's own scale
  std::vector<std::pair<std::string, std::string>> vopts;  // options of encoder or muxer
  /// FFmpeg's pixel format. Empty: the input's format, one with equal samples, or the nearest
  /// format that the encoder supports. In the last case losses() lists what is lost, or notes()
  /// states that nothing is.
  std::string pix_fmt;
  /// Bit depth of the output, 8..16: the pixel format has the layout of pix_fmt, or of the input,
  /// and this bit depth. Without pix_fmt it may have the nearest layout that the encoder supports.
  /// 0: the bit depth of pix_fmt, or of the input.
  int bits = 0;
  Dither dither = Dither::none;  // how samples are rounded to the output's bit depth
  /// The samples of the frames that write() gets, from result_samples().
  ResultSamples samples = {};
  bool lossless = false;     // FFV1, or the lossless mode of `vcodec`
  bool overwrite = false;    // replace an existing file
  bool follow_links = true;  // false: if the output is a link, the link is replaced
  bool single = false;       // only one frame will be written, whatever the source has
  /// Size of the frames that write() gets, if it is not the source's size (enlarged frames). All
  /// other properties are those of the source, also sample aspect ratios.
  int width = 0, height = 0;
  int threads = 0;                     // encoding threads; 0: the encoder's choice
  DataType datatype = DataType::same;  // for NIfTI outputs
  Access access = {};                  // permission bits; those of the source's files also apply
  bool strict_metadata = false;        // losses (MediaSink::losses()) are an error
  /// The container: y4m, raw, nut, or another extension or name that FFmpeg knows. Empty: the
  /// container of the output's extension; for `-`, NUT or raw if the input is, else y4m.
  std::string format;
  int descriptor = 1;  // open file for the outputs `-` and `hash`; 1: standard output
  Drops drops;
  /// The output keeps the times of the input. Otherwise the earliest stream begins at 0.
  bool keep_times = false;
  std::optional<SegmentOptions> segments;
  /// File with a film grain table ("filmgrn1", noise/grain/grain_table.h) that the encoder writes
  /// into the stream. Only one encoder may use the file, and it must exist until finish(). Empty:
  /// none.
  std::string grain_table;
};

/// Returns the format of the frames that a sink with these options gets.
[[nodiscard]] inline FrameFormat written_format(const MediaSource& source,
                                                const SinkOptions& options) {
  FrameFormat format = source.format();
  if (options.width > 0) format.width = options.width, format.height = options.height;
  return result_format(format, options.samples);
}

/// Returns whether an encoder (FFmpeg's name) supports film grain tables, as far as lull knows. (It
/// is only known when the encoder is opened whether its installed version supports them.)
[[nodiscard]] bool supports_grain_table(const std::string& encoder);

/// Writes one video stream and copies of the source's other streams.
class MediaSink : public FrameSink {
 public:
  /// FFmpeg's names of the encoder, its pixel format and the container.
  virtual const std::string& encoder() const noexcept = 0;
  virtual const std::string& pixel_format() const noexcept = 0;
  virtual const std::string& container() const noexcept = 0;
  /// Returns one text for each property of the input that the output loses, for a warning: bits,
  /// alpha or chroma of the samples, data streams, chapters, tags, languages, dispositions, colour,
  /// HDR10, time code, rotation. (Audio, subtitles and attachments that the container cannot hold
  /// are an error.) write() adds captions and HDR10+ of later frames.
  virtual const std::vector<std::string>& losses() const noexcept = 0;
  /// Path of the file that holds the output until finish(). A process that ends without destroying
  /// this object must remove it.
  virtual const std::string& temporary() const noexcept = 0;
  /// Ranges of the frames whose samples write() needs, ascending, counted from 0 in the order of
  /// write(). Other frames may come without samples. All frames, except for a resumed job.
  virtual std::vector<FrameRange> needed_frames() const { return {FrameRange{}}; }
  /// Returns whether no further frame is needed, even if the source has more. Callable from any
  /// thread.
  virtual bool needs_no_more() const noexcept { return false; }
  /// Returns whether the output already exists, made by an earlier run of this job
  /// (SegmentOptions::resume), so that there is nothing to do.
  virtual bool done() const noexcept { return false; }
  /// Notes for the user: state of an interrupted job, streams that are dropped or converted,
  /// samples that are converted; one text each.
  virtual const std::vector<std::string>& notes() const noexcept {
    static const std::vector<std::string> none;
    return none;
  }
  /// Number of packets of copied streams that were too damaged to be copied, if the source
  /// tolerates damage (otherwise they are BadData).
  virtual Damage damage() const { return {}; }
  /// Like finish(), but the result gets its name only if `accepts` returns true after everything
  /// was written. Otherwise it becomes "NAME.partial.EXTENSION", which is returned. Returns an
  /// empty text if the result got its name, or if such an output keeps no file.
  virtual std::string finish_if(const std::function<bool()>& accepts) {
    if (accepts()) finish();
    return {};
  }
};

/// Opens an encoder and a container for frames of `source`'s format. Streams that are not denoised,
/// metadata, chapters, colour tags and time stamps are copied from `source`. Text subtitles are
/// converted if the container has its own text format. Another thread may read `source` meanwhile,
/// and must have read it to its end before finish(). Must be called once, before the first read of
/// `source`.
///
/// The output is written to a temporary file in the folder of `path`, which finish() renames.
/// Without finish(), the destructor removes everything. The extension of `path` determines the
/// container.
///
/// Some names have a special meaning (./-, ./null and ./hash are files):
///
/// - `-` is options.descriptor, which is written immediately. Content that its container cannot
///   hold is omitted.
/// - A pattern with the extension of a still picture writes one file per frame, unless the source
///   is a single still. A numbered pattern (`out.%04d.png`) uses the numbers of a numbered input,
///   else those of the frames, from 0. In a pattern with `*`, the `*` is replaced by the text that
///   it matched in an input with one `*`. Each file is written under a temporary name and renamed.
/// - `null` discards the frames.
/// - `hash` writes lines of text to options.descriptor: comments that begin with '#' and state the
///   format; for each frame its number, its time stamp and the SHA-256 of its samples (planes in
///   order, alpha last, rows without padding, little-endian, like FFmpeg's framehash for a planar
///   format); and at the end "all", the number of frames and the SHA-256 of all lines above. Only
///   finish() writes that last line.
///
/// write() and finish() may throw IoError (disk full). write() throws InvalidArgument for a second
/// frame if `path` is a still picture.
///
/// A NIfTI volume becomes a NIfTI file (.nii, .nii.gz) with the same bytes before its samples, a
/// TIFF stack a TIFF file with the same tags. No other input can become one of these. `null` and
/// `hash` also accept stacks; digests are those of the samples after the mapping by
/// VideoInfo::values.
///
/// With options.segments the video is encoded in independent segments. Each is a file in the folder
/// "PATH.lull-job", which is on the disk before the next segment begins. finish() joins them, gives
/// the result its name and removes the folder. Without finish(), the folder stays if a segment is
/// finished. To continue the job, open source and sink again with equal options and `resume`, and
/// write the same frames: the result has the same bytes as without the interruption. Input and
/// output must be files; the output must not contain raw frames (Y4M).
///
/// A shared job has three parts (SegmentOptions::part), with the same `path`. `plan`: frames are
/// written without samples, and finish() writes the plan to the job's folder. `segments`: the
/// source starts at SegmentOptions::start_picture, and the sink writes a file for each segment.
/// `join`: no frames are written, and finish() creates the output.
///
/// Default encoders (empty `vcodec`): VP9 in webm, the encoder of the format in y4m and stills,
/// FFV1 if lossless. Otherwise x264 for 8 bits and x265 for more, if they can hold the source's
/// samples unchanged, else FFV1. The default crf of x264 and x265 is 18.
/// @throws InvalidArgument  unknown container, encoder or option; an encoder that cannot hold the
///     samples; a container that cannot hold a stream; output equals input; with strict_metadata,
///     any loss
/// @throws InvalidArgument  the job to resume had another input or other options
/// @throws CannotCreate  the file exists (without `overwrite`) or cannot be created; there is an
///     interrupted job (without `overwrite` or `resume`)
/// @throws TryAgain  another process works on the job
[[nodiscard]] std::unique_ptr<MediaSink> open_sink(const std::string& path, MediaSource& source,
                                                   const SinkOptions& options);

/// Returns the samples that sessions should deliver for an output, so that they are rounded once.
/// The sink must get them as SinkOptions::samples. Must be called before the first read of
/// `source`. If open_sink() would reject the output, the samples are those of the source.
[[nodiscard]] ResultSamples result_samples(const std::string& path, const MediaSource& source,
                                           const SinkOptions& options);

/// Returns the facts of the interrupted job for this output, with which a continued job must agree;
/// empty if there is no such job.
[[nodiscard]] std::vector<JobFact> facts_of_interrupted_job(const std::string& path);

/// Returns whether `path` names a single picture although `source` is no single still. The caller
/// must then choose one frame (SinkOptions::single); otherwise write() rejects the second one.
[[nodiscard]] bool holds_one_frame(const std::string& path, const MediaSource& source,
                                   const SinkOptions& options);

/// Returns whether both names lead to the same existing file, also through links.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

}  // namespace lull::io
