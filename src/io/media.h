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

#include "core/stream.h"
#include "io/access.h"
#include "io/frame_index.h"
#include "io/layers.h"

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
  bool stack = false;                // slices of a volume or a series: NIfTI, TIFF of many pages
  std::int64_t slices = 0;           // of a stack: those of one volume
  /// Of a stack: from sample to sample along a row, a column, and from slice to slice. 1, 1, 1
  /// where nobody says.
  std::array<double, 3> spacing{1, 1, 1};
  bool interlaced = false;         // by what the first frame or the container says
  std::vector<std::string> notes;  // what a user should know of the input, one text each
  ValueScale values;
  /// Where the first sample of chroma lies, in samples of chroma from the corner of the picture:
  /// 0.5 in the middle of the luma that it stands for. Where nobody says, as MPEG-2 has it.
  double chroma_x = 0.5, chroma_y = 0.5;
};

/// Damage that a source has passed over so far (SourceOptions::tolerate_damage).
struct Damage {
  /// Frames that are damaged or have no picture. An end that comes too early counts as one; once
  /// all is read, as the frames that the container had promised.
  std::int64_t frames = 0;
  std::string first;  // what the first was, one line; empty: there is none
};

/// Frames without any head: what nothing but the user knows of them.
struct RawVideo {
  std::string pix_fmt;  // FFmpeg's pixel format
  int width = 0, height = 0;
};

struct FrameRange {
  std::int64_t first = 0;  // both are in it; frames are counted from 0
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
};

/// A part of the input. Times count from the first frame. Kept frames are joined without gaps: each
/// range begins where the one before ends, the first where the input began. Sound is cut with the
/// video, by whole packets: one stays if it begins within a range. Subtitles that reach into a
/// range are shortened.
struct Selection {
  std::vector<FrameRange> ranges;           // rising, without overlap; empty: all frames
  std::int64_t start_us = 0;                // frames from this time on
  std::optional<std::int64_t> duration_us;  // frames before start + duration
  bool all() const { return ranges.empty() && start_us == 0 && !duration_us; }
};

/// What an input may ask for; more is an error, before memory is taken for it.
struct Limits {
  std::int64_t pixels = std::int64_t{1} << 28;  // of a frame
  std::int64_t frames = 0;                      // of the input; 0: any number
  int streams = 1000;                           // of a container
  std::int64_t memory = 0;  // bytes for what is kept of it at a time; 0: any number
};

/// The axis along which the slices of a volume follow each other.
enum class Axis { x, y, z };

struct SourceOptions {
  /// Where the samples of frames live; must outlive the source and its frames.
  std::pmr::memory_resource* memory = std::pmr::get_default_resource();
  int threads = 0;  // decoding threads; 0: one for each core
  /// FFmpeg's name of the input's container; empty: its content tells.
  std::string format;
  /// The input is nothing but samples: one frame after the other, planes in order, no padding.
  std::optional<RawVideo> raw;
  /// Frames per second of what has no times: raw video and sequences of pictures.
  Rational rate{25, 1};
  Selection selection;
  /// The frames outside of the selection come, too, marked as such (Frame::context_only), from the
  /// input's first one on: for filters that look at them. Behind the last that is selected they
  /// come until MediaSource::end_context_at().
  bool margins = false;
  Limits limits;
  /// Folder for what does not fit in memory: packets of other streams that lie far from the video's
  /// in the file. Empty: the system's for temporary files.
  std::string scratch;
  /// Besides files and pipes, inputs may be addresses of these protocols of FFmpeg ("https"), and
  /// what inputs refer to, too.
  std::vector<std::string> protocols;
  int descriptor = 0;  // the open file that the input `-` is read from: standard input
  /// GPU (its index among the visible ones) to decode on, where FFmpeg and the GPU can; frames then
  /// stay in its memory (Frame::on_device). To be opened before the process uses that GPU
  /// otherwise: FFmpeg wants the GPU's primary context set up its own way.
  std::optional<int> gpu;
  /// Pass over damage of a video and count it: frames that decode come out, damaged ones as the
  /// decoder concealed them; those that do not are left out; a cut is the end. What is
  /// read but not selected counts, too. Without it, damage is BadData. Stacks and sequences are
  /// whole or refused in any case, and so is what a GPU fails to decode after its first frame.
  bool tolerate_damage = false;
  /// Begin at some frame before this time after the first, one from which frames decode; times stay
  /// what they are. For those who look at a part: what the container promises does not count.
  std::int64_t skip_us = 0;
  /// Of a NIfTI volume; z where none is given. Other inputs have none.
  std::optional<Axis> axis;
  /// Of samples that are floats, but not a stack's, what stands for 255 on the scale of sigma
  /// (FrameFormat::white); 0: the source chooses, by its first frame. Others have no choice.
  double white = 1;
  /// Of OpenEXR files: what read_layer() will be asked for. Empty: nothing.
  LayerChoice layers{};
  /// Interlaced frames are an error. They come whole otherwise, both fields in turn row by row.
  bool refuse_interlaced = false;
  /// Gets every picture that is decoded, as it comes.
  std::shared_ptr<FrameIndex> recorded_index{};
  /// Of this very input, read with an equal selection and equal margins: frames get the
  /// repeat_state that it says.
  std::shared_ptr<const FrameIndex> index{};
  /// With `index`, the picture of it that read() begins with, found by seeking; nothing but
  /// format, info and colour is of the input's first one. Every picture is compared with the index,
  /// and a difference is an IndexMismatch.
  std::int64_t start_picture = 0;
};

/// A file's main video stream, decoded. All its other streams wait to be copied by open_sink.
class MediaSource : public FrameSource {
 public:
  virtual const VideoInfo& info() const noexcept = 0;
  /// Not while another thread reads.
  virtual Damage damage() const { return {}; }
  /// Why the CPU decodes though SourceOptions::gpu asked for a GPU, one line; empty otherwise.
  virtual const std::string& why_not_gpu() const noexcept = 0;
  /// With SourceOptions::margins: behind frame `number`, counted from 0 as read() gives them,
  /// nothing is needed that is outside of the selection. From any thread.
  virtual void end_context_at(std::int64_t number) noexcept { (void)number; }
  /// Of a stack: what a slice that read() gave holds in the file, row by row, in the file's own
  /// units. (Samples of frames say nothing of values far outside of the range.) Others leave it
  /// empty.
  virtual void values_of(const Frame& slice, std::vector<double>& values) const {
    (void)slice;
    values.clear();
  }
  /// How many pictures were decoded, whatever became of them. Not while another thread reads.
  virtual std::int64_t decoded() const { return 0; }
};

/// Opens a video or a still picture and decodes its first frame. Frames come out planar: grey,
/// Y Cb Cr or R G B, with the input's depth (8 to 16 bits, or floats); palettes become RGB, 1
/// bit 8. `path` names a file, whatever characters it has. `-` is options.descriptor (./- is a
/// file). Pipes, FIFOs too, are read as they come; interrupt() ends waiting.
///
/// If no file has that very name, it may be an address of one of options.protocols; or its last
/// part may be the pattern of a sequence of pictures of one size and kind: numbered (`in.%04d.png`,
/// `in.####.tif`; numbers may be missing) or matched
/// (`shot_*.tif`, with * ? [ ], in order of the names, digits counting as numbers).
///
/// A NIfTI file gives its slices as grey frames of float samples, volume after volume; a TIFF file
/// of several pages its pages, as they are with 8 bits, else as float samples. Values are then
/// mapped as VideoInfo::values says, NaN if far outside; a frame's number is its time stamp. Stacks
/// are whole: options.selection is refused. With options.raw or options.format nothing is a stack.
/// @throws NoInput  the file does not exist or cannot be read
/// @throws InvalidArgument  options that make no sense: an axis where the input has none, a part of
///                          a stack, a white where there is no choice; interlaced video that is
///                          refused, which read() may throw, too
/// @throws BadData  empty, no medium, without video, cut short, or of a pixel format outside those
/// @throws OutOfMemory  options.limits.memory is less than what has to be kept
/// @throws DeviceFailure  read() alone: the GPU that decodes stopped working
[[nodiscard]] std::unique_ptr<MediaSource> open_source(const std::string& path,
                                                       const SourceOptions& options = {});

/// How a NIfTI output holds its samples. int16: whole numbers in its range stay, all else is
/// scaled; float32: without scale.
enum class DataType { same, int16, float32 };

/// Something that a job in segments must have in common with the one that it continues.
struct JobFact {
  std::string name, value;  // "--sigma", "20"
};

struct JobPlan;  // io/jobs.h

/// Another input that is read beside the source, frame by frame: what it holds is a part of the
/// job. A video or a sequence of pictures, in files.
struct AdditionalSource {
  std::string name;   // as a job names it: "--guide"
  std::string input;  // the name that it was opened with
  const MediaSource* source = nullptr;
};

/// What one process does of a job in segments that others work on, too: nothing but it, from the
/// first frame to the output; the plan; some segments; the output of those that are done.
enum class JobPart { all, plan, segments, join };

/// A job in segments: work that is done survives whatever ends the process. See open_sink.
struct SegmentOptions {
  int frames = 0;       // of each but the last, from 2
  bool resume = false;  // go on with what an interrupted job left
  /// What the frames depend on beside the input and the options of source and sink.
  std::vector<JobFact> facts;
  std::vector<AdditionalSource> additional;  // but for the part `join`

  JobPart part = JobPart::all;
  // Of parts:
  std::string folder;              // of the job
  std::shared_ptr<JobPlan> plan;   // of the part `plan`: what is known so far
  std::string input;               // of the part `plan`: the name that the source was opened with
  FrameRange range;                // segments to make, of those that are not done
  std::int64_t start_picture = 0;  // SourceOptions::start_picture
};

/// What stays out of the output, asked for: streams beside the one that is denoised, and what
/// belongs to the file.
struct Drops {
  bool audio = false, subtitles = false, data = false;
  bool attachments = false;  // covers, too
  bool video = false;        // all others
  bool chapters = false;
  bool tags = false;         // of the file; streams keep their languages and titles
  std::vector<int> streams;  // by their numbers in the input
};

struct SinkOptions {
  std::string vcodec;         // FFmpeg's encoder name; empty: chosen by container and format
  std::optional<double> crf;  // constant rate factor; the encoder's own scale
  std::vector<std::pair<std::string, std::string>> vopts;  // options of encoder or muxer
  /// FFmpeg's pixel format; empty: the input's, one with equal samples, or the nearest that the
  /// encoder holds: then losses() says what is lost, or notes() that nothing is.
  std::string pix_fmt;
  bool lossless = false;     // FFV1, or the lossless mode of `vcodec`
  bool overwrite = false;    // replace an existing file
  bool follow_links = true;  // false: a link of the output's name is replaced
  bool single = false;       // one frame is all that will be written, whatever the source has
  /// Of the frames that write() gets, if they are not of the source's: enlarged ones. In all else
  /// they have the source's format; aspect ratios of samples stay.
  int width = 0, height = 0;
  int threads = 0;                     // encoding threads; 0: the encoder's choice
  DataType datatype = DataType::same;  // of a NIfTI output
  Access access = {};                  // permission bits; the source's files limit them, too
  bool strict_metadata = false;        // what MediaSink::losses() would name is an error
  /// The container: y4m, raw, nut or another extension or name that FFmpeg knows; empty: what the
  /// extension of the output says, for `-` NUT or raw if the input is, else y4m.
  std::string format;
  int descriptor = 1;  // the open file that `-` and `hash` write to: standard output
  Drops drops;
  std::optional<SegmentOptions> segments;
  /// A film grain table ("filmgrn1", noise/grain/grain_table.h) that the encoder puts into the
  /// stream: it is a file, of one encoder, and must stay until finish(). Empty: none.
  std::string grain_table;
};

/// Of the frames that a sink gets which is opened with these.
[[nodiscard]] inline FrameFormat written_format(const MediaSource& source,
                                                const SinkOptions& options) {
  FrameFormat format = source.format();
  if (options.width > 0) format.width = options.width, format.height = options.height;
  return format;
}

/// Whether an encoder, by FFmpeg's name, takes a film grain table, as far as lull knows. (Whether
/// the one that is installed does shows when it opens.)
[[nodiscard]] bool supports_grain_table(const std::string& encoder);

/// Writes one video stream beside copies of the source's other streams.
class MediaSink : public FrameSink {
 public:
  /// FFmpeg's names of the encoder, its pixel format and the container.
  virtual const std::string& encoder() const noexcept = 0;
  virtual const std::string& pixel_format() const noexcept = 0;
  virtual const std::string& container() const noexcept = 0;
  /// What the output cannot carry of the input, one text each, for a warning: bits, alpha or chroma
  /// of the samples, data streams, chapters, tags, languages, dispositions, colour, HDR10, time
  /// code, rotation. (What audio, subtitles and attachments the container cannot hold is an error.)
  /// Captions and HDR10+ that come with later frames than the first are added as they come, by
  /// write().
  virtual const std::vector<std::string>& losses() const noexcept = 0;
  /// The file that holds the output until finish(). A process that has to end without this object's
  /// destructor removes it.
  virtual const std::string& temporary() const noexcept = 0;
  /// The frames whose samples write() needs, counted from 0 as it gets them; the others may come
  /// without. All, but for a job that is resumed. Rising.
  virtual std::vector<FrameRange> needed_frames() const { return {FrameRange{}}; }
  /// Whether no frame is needed any more, though the source may have some. From any thread.
  virtual bool needs_no_more() const noexcept { return false; }
  /// The output is there already, made by this very job when it ran before
  /// (SegmentOptions::resume): there is nothing to do.
  virtual bool done() const noexcept { return false; }
  /// What a user should know: what became of an interrupted job, of streams that are dropped or
  /// converted, samples that are converted; one text each.
  virtual const std::vector<std::string>& notes() const noexcept {
    static const std::vector<std::string> none;
    return none;
  }
  /// Packets of copied streams that were too damaged to be copied, where the source passes over
  /// damage (else they are BadData).
  virtual Damage damage() const { return {}; }
  /// As finish(), but the result gets its name only if `accepts` says so once all is written. If
  /// not, it becomes "NAME.partial.EXTENSION", which is returned; empty if it has its name, or if
  /// such an output keeps nothing.
  virtual std::string finish_if(const std::function<bool()>& accepts) {
    if (accepts()) finish();
    return {};
  }
};

/// Opens an encoder and a container for frames of `source`'s format. Streams that are not denoised,
/// metadata, chapters, colour tags and time stamps are taken over from `source`; text subtitles are
/// converted where the container has a text of its own. `source` may be read
/// by another thread meanwhile and must have been read to its end before finish(). To be called
/// before the first read of `source`, once.
///
/// The output is written to a temporary file beside `path` and renamed by finish(); without it the
/// destructor removes everything. The container follows from the extension of `path`.
///
/// Three names are no files (./-, ./null and ./hash are): `-` is options.descriptor, written as it
/// comes; what its container cannot carry is left out. A pattern with the extension of a still
/// picture makes a file of each frame, unless the source is a single still: numbered
/// (`out.%04d.png`) with the numbers of a numbered input, else those of the frames from 0; or with
/// a `*`, for which stands what it stood for in an input with one `*`. Each file is made beside and
/// renamed by itself. With `null`, frames are dropped; with
/// `hash`, lines of text go to options.descriptor: comments that begin with '#' and name the
/// format, for each frame its number, time stamp and the SHA-256 of its samples (planes in order,
/// alpha last, rows without padding, little-endian, as FFmpeg's framehash has them for a planar
/// format), and in the end "all", the number of frames and the SHA-256 of all lines above. Only
/// finish() writes that last line.
///
/// write() and finish() may throw IoError (disk full), and InvalidArgument for a second frame where
/// `path` names a still picture.
///
/// A NIfTI volume becomes a NIfTI file (.nii, .nii.gz) with the same bytes before its samples, a
/// TIFF stack a TIFF file with the same tags; nothing else becomes either. `null` and `hash` take
/// stacks, too; digests are of the samples as VideoInfo::values maps them.
///
/// With `segments` the video is encoded in parts that stand alone, each of them a file in the
/// folder "PATH.lull-job" that is on the disk before the next begins. finish() puts them together,
/// gives the result its name and removes the folder; without it the folder stays if a segment is
/// done. To go on, open source and sink again with equal options and `resume` and give the sink the
/// same frames: the result has the bytes that it would have had. Input and output must be files,
/// the output a container for video that is not raw frames (Y4M).
///
/// With the part `plan`, the frames go by without their samples, and finish() writes the plan into
/// the job's folder; with `segments`, the source begins where SegmentOptions::start_picture says,
/// and a file for each segment is made there; with `join`, no frame is written at all. `path` is
/// the output in all of them, and only the last one makes it.
///
/// Without `vcodec`: VP9 in webm, the obvious one in y4m and stills, FFV1 if lossless, else x264
/// for 8 bits and x265 for more where they can hold the source's samples unchanged, else FFV1. crf
/// 18 for x264 and x265.
/// @throws InvalidArgument  unknown container, encoder or option; an encoder that cannot hold the
///                          samples; a container that cannot hold a stream; output equals input;
///                          with strict_metadata, whatever would be left out
/// @throws InvalidArgument  the job that `segments` shall resume had another input or options
/// @throws CannotCreate     the file exists (without `overwrite`) or cannot be created; an
///                          interrupted job is there (without `overwrite` or `resume`)
/// @throws TryAgain         another process is at the job that `segments` names
[[nodiscard]] std::unique_ptr<MediaSink> open_sink(const std::string& path, MediaSource& source,
                                                   const SinkOptions& options);

/// What the job in segments has in common with the one that would go on with it: the facts of the
/// interrupted one for this output. None where there is no such job.
[[nodiscard]] std::vector<JobFact> facts_of_interrupted_job(const std::string& path);

/// Whether `path` names a single picture though `source` is no single still: one frame has to be
/// chosen (SinkOptions::single), or open_sink refuses a second one.
[[nodiscard]] bool holds_one_frame(const std::string& path, const MediaSource& source,
                                   const SinkOptions& options);

/// Whether both names lead to one existing file, through links too.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

}  // namespace lull::io
