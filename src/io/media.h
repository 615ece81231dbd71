#pragma once
// Reads and writes videos and still pictures with FFmpeg's libraries, and stacks of slices
// (volumes, TIFF files of several pages) with lull's own code. Example:
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
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/denoiser.h"
#include "core/stream.h"
#include "io/media_source.h"

namespace lull::io {

/// Sample type of an output volume:
/// - `same`: the type and the scale of the input
/// - `int16`: unchanged samples if all samples are integers of 16 bits, and otherwise scaled values
/// - `float32`: values without a scale
enum class DataType { same, int16, float32 };

/// Name and value of a property on which the output of a job in segments depends, such as a
/// setting, the input or a library version. All runs of a job must have equal properties.
struct JobFact {
  std::string name, value;  // "--sigma", "20"
};

struct JobPlan;  // io/jobs.h

/// An additional input of a job: a video file or a picture sequence. The job reads this input in
/// parallel with the source, frame by frame.
struct AdditionalSource {
  std::string name;   // its name in the job: "--guide"
  std::string input;  // the path with which it was opened
  const MediaSource* source = nullptr;
};

/// The task of one process of a job in segments: the complete job (`all`), or, if several processes
/// share the job, one of its steps. A process writes the plan (`plan`), encodes segments
/// (`segments`), or joins the segments (`join`).
enum class JobPart { all, plan, segments, join };

/// Options of a job that encodes the output in independent segments. Each segment is a file in the
/// folder "PATH.lull-job". The sink writes this file to the disk before the next segment begins.
/// finish() joins the segments, renames the output and removes the folder. Input and output must be
/// files. The output must not be Y4M.
struct SegmentOptions {
  int frames = 0;  // frames of each segment except the last one; at least 2
  /// Whether to continue an interrupted job. Without finish(), the folder of the job remains if it
  /// contains a finished segment. To continue the job, the caller opens source and sink again with
  /// equal options, and writes the same frames. The output then has the same bytes as the output of
  /// an uninterrupted job.
  bool resume = false;
  /// The settings of the filter on which the frames depend. open_sink() adds further properties to
  /// the list: the input, the options of the source and the options of the sink.
  std::vector<JobFact> facts;
  std::vector<AdditionalSource> additional;  // unused for JobPart::join

  JobPart part = JobPart::all;
  // Members for jobs that several processes share.
  std::string folder;              // folder of the job
  std::shared_ptr<JobPlan> plan;   // for JobPart::plan, what is known so far
  std::string input;               // for JobPart::plan, the path with which the source was opened
  FrameRange range;                // segments to make, if they are not finished
  std::int64_t start_picture = 0;  // SourceOptions::start_picture
};

/// Content of the input that the output does not contain: streams other than the denoised stream,
/// and metadata of the file.
struct Drops {
  bool audio = false, subtitles = false, data = false;
  bool attachments = false;  // including cover pictures
  bool video = false;        // all video streams except the denoised one
  bool chapters = false;
  bool tags = false;         // tags of the file; streams keep their languages and titles
  std::vector<int> streams;  // stream numbers of the input
};

struct SinkOptions {
  /// FFmpeg's encoder name. If empty, the output determines the encoder. Still pictures and y4m
  /// have the encoder of the format, lossless outputs have FFV1, and webm has VP9. For most other
  /// outputs, the encoder is x264 for 8-bit or interlaced video, and x265 for more bits or grey
  /// video. If neither x264 nor x265 can store the samples unchanged, the encoder is VP9 or FFV1.
  /// The default crf of x264 and x265 is 18.
  std::string vcodec;
  std::optional<double> crf;  // constant rate factor on the encoder's own scale
  std::vector<std::pair<std::string, std::string>> vopts;  // options of encoder or muxer
  /// FFmpeg's name of the output pixel format. If empty, the sink chooses a format that the encoder
  /// supports: preferably the format of the input, then a format that stores the same samples, then
  /// the nearest other format. losses() or notes() reports a change of the format.
  std::string pix_fmt;
  /// Bit depth of the output, 8..16. If 0, `pix_fmt` determines the bit depth. If `pix_fmt` is also
  /// empty, the output has the bit depth of the input.
  int bits = 0;
  Dither dither = Dither::none;  // how samples are rounded to the output's bit depth
  /// Sample format of the frames that the caller passes to write(): the result of result_samples().
  ResultSamples samples = {};
  bool lossless = false;     // FFV1, or the lossless mode of `vcodec`
  bool overwrite = false;    // replace an existing file
  bool follow_links = true;  // false: if the output is a link, the sink replaces the link
  bool single = false;       // only one frame will be written, even if the source has more
  /// Size of the frames that the caller passes to write(); 0 means the size of the frames of the
  /// source. A caller that enlarges frames must set this size. The output always has the sample
  /// aspect ratio of the source.
  int width = 0, height = 0;
  int threads = 0;                     // encoding threads; 0: the encoder's choice
  DataType datatype = DataType::same;  // for volumes
  Access access = {};  // additional permission bits; those of the source's files also apply
  bool strict_metadata = false;  // losses (MediaSink::losses()) are an error
  /// The container: `y4m`, `raw`, `nut`, or another extension or name that FFmpeg supports. If
  /// empty, the extension of the output's name determines the container. The output `-` has no
  /// extension: it gets NUT for a NUT input, raw frames for a raw input, and Y4M for other inputs.
  std::string format;
  int descriptor = 1;  // open file for the outputs `-` and `hash`; 1: standard output
  Drops drops;
  /// If true, the output has the timestamps of the input. If false, the sink shifts the time
  /// stamps so that the earliest stream begins at 0.
  bool keep_times = false;
  std::optional<SegmentOptions> segments;
  /// Name of a file with a film grain table ("filmgrn1", noise/grain/grain_table.h), which the
  /// encoder writes into the stream; empty: no film grain table. The file must exist until
  /// finish(), and only one encoder may use it.
  std::string grain_table;
};

/// Returns the format of the frames for a sink with these options.
[[nodiscard]] inline FrameFormat written_format(const MediaSource& source,
                                                const SinkOptions& options) {
  FrameFormat format = source.format();
  if (options.width > 0) format.width = options.width, format.height = options.height;
  return result_format(format, options.samples);
}

/// Returns whether current versions of the encoder `encoder` (FFmpeg's name) support film grain
/// tables. If the installed version does not, open_sink() throws an error.
[[nodiscard]] bool supports_grain_table(const std::string& encoder);

/// Writes a file with one encoded video stream and copies of the other streams of the source.
/// write() and finish() may throw IoError, for example if the disk is full. If the output is a
/// still picture, write() throws InvalidArgument for a second frame.
class MediaSink : public FrameSink {
 public:
  /// encoder(), pixel_format() and container() return FFmpeg's names.
  virtual const std::string& encoder() const noexcept = 0;
  virtual const std::string& pixel_format() const noexcept = 0;
  virtual const std::string& container() const noexcept = 0;
  /// Returns one warning for each property of the input that the output does not preserve. Examples
  /// are bits, alpha, data streams, chapters, tags, colour and HDR10. write() adds warnings for
  /// captions and HDR10+ metadata of later frames. For audio, subtitles and attachments that the
  /// container cannot store, open_sink() throws an error.
  virtual const std::vector<std::string>& losses() const noexcept = 0;
  /// Returns the path of the file that contains the output until finish(). A process that ends
  /// without destroying this object must remove the file.
  virtual const std::string& temporary() const noexcept = 0;
  /// Returns the ranges of frames whose samples write() needs, in ascending order, counted from 0.
  /// Only jobs in segments need fewer than all frames.
  virtual std::vector<FrameRange> needed_frames() const { return {FrameRange{}}; }
  /// Returns whether the sink needs no further frames, even if the source has more frames. Any
  /// thread may call this function.
  virtual bool needs_no_more() const noexcept { return false; }
  /// Returns whether an earlier run of this job (SegmentOptions::resume) has already completed the
  /// output. If true, the caller must not write frames.
  virtual bool done() const noexcept { return false; }
  /// Returns the notes for the user as a list of strings. Notes describe an interrupted job,
  /// dropped or converted streams, and conversions of samples.
  virtual const std::vector<std::string>& notes() const noexcept {
    static const std::vector<std::string> none;
    return none;
  }
  /// Returns the number of packets that are missing in the copied streams because of damage that
  /// the source tolerated.
  virtual Damage damage() const { return {}; }
  /// Completes the file like finish(), and then calls `accepts`. If `accepts` returns true, the
  /// function renames the file to its final name, and returns an empty string. If false, it renames
  /// the file to "NAME.partial.EXTENSION", and returns this name. For outputs that are not files,
  /// the function returns an empty string.
  virtual std::string finish_if(const std::function<bool()>& accepts) {
    if (accepts()) finish();
    return {};
  }
};

/// Opens an encoder and a container for frames in the format of `source`. The extension of `path`
/// determines the container. The caller must call this function once, before the first read of
/// `source`. Another thread may read `source` while the sink writes. `source` must be at its end
/// before finish().

/// Output files: the sink writes to a temporary file in the folder of the output. finish() renames
/// this file to its final name. Without finish(), the destructor of the sink removes the temporary
/// file.

/// Copies: the sink copies metadata, chapters, colour tags, timestamps, and all streams except the
/// denoised stream. If the container has its own text format, the sink converts text subtitles to
/// this format.

/// Special names of outputs (the names ./-, ./null and ./hash stand for files):
/// - `-`: the sink writes the container to SinkOptions::descriptor without delay. The sink omits
///   content that the container cannot store.
/// - `null`: the sink discards the frames.
/// - `hash`: the sink writes lines of text to SinkOptions::descriptor.

/// Lines of the output `hash`: comments begin with '#' and state the format. The line of a frame
/// contains its number, its timestamp, and the SHA-256 of its samples. finish() writes the last
/// line: "all", the number of frames, and the SHA-256 of all preceding lines.

/// Order of the samples in `hash`: planes in order, alpha last, rows without padding,
/// little-endian. FFmpeg's framehash has the same order for planar formats. For stacks, the samples
/// are the float samples of frames (VideoInfo::values).

/// Patterns: an output pattern of still pictures writes one file per frame, unless the source is a
/// single still picture. If the input is numbered, the files `out.%04d.png` get the numbers of the
/// input. Otherwise, their numbers begin at 0. A `*` becomes the text that matched the `*` in the
/// input's pattern. A file has a temporary name until it is complete.

/// Outputs of volumes: a volume can become only a volume: NIfTI (.nii, .nii.gz), NRRD (.nrrd,
/// .nhdr), MGH (.mgh, .mgz) or a pair (.hdr). A DICOM input can also become a .dcm file, or a
/// folder of .dcm files (a name that ends in `/`). An output in the format of the input contains
/// everything of the input except the samples.

/// Outputs of other stacks: a TIFF stack or an image of OME-Zarr can become only a TIFF file or an
/// OME-Zarr store (.zarr). Inputs that are not stacks cannot become stacks. `null` and `hash` also
/// accept stacks.

/// Errors of open_sink():
/// - InvalidArgument: an unknown container, encoder or option; samples or a stream that the output
///   cannot store; an output that equals the input.
/// - InvalidArgument: a loss (with SinkOptions::strict_metadata).
/// - InvalidArgument: an interrupted job with another input or other options.

/// Further errors of open_sink():
/// - CannotCreate: the file exists (without `overwrite`), or lull cannot create it.
/// - CannotCreate: an interrupted job (without `overwrite` or `resume`).
/// - TryAgain: another process works on the job.
/// @throws InvalidArgument, CannotCreate, TryAgain
[[nodiscard]] std::unique_ptr<MediaSink> open_sink(const std::string& path, MediaSource& source,
                                                   const SinkOptions& options);

/// Throws the error that open_sink() would throw for this output, except errors that depend on
/// SegmentOptions::facts or on the film grain table. The function leaves no file, and changes no
/// interrupted job.
/// @throws any exception of open_sink()
void check_output(const std::string& path, MediaSource& source, const SinkOptions& options);
/// Returns whether an output of this name can be a stack of planes (TIFF, OME-Zarr), or stores no
/// samples ("null", "hash").
[[nodiscard]] bool may_hold_stack(const std::string& path);

/// Checks the name of an output before the caller opens the input, which can take minutes for a
/// stack. Throws only errors that open_sink() would throw. Does nothing if the input does not
/// exist, or if the output is a pattern, a pipe or a job in segments.
/// @param input, reading  arguments for open_source()
/// @throws InvalidArgument, CannotCreate, IoError
void check_output_name(const std::string& path, const std::string& input,
                       const SourceOptions& reading, const SinkOptions& options);

/// Returns the sample format in which a denoising session must return results for the output
/// `path`, so that lull rounds samples only once. The caller must set SinkOptions::samples to this
/// format, before the first read of `source`. If open_sink() would throw an error, the function
/// returns the sample format of the source.
[[nodiscard]] ResultSamples result_samples(const std::string& path, const MediaSource& source,
                                           const SinkOptions& options);

/// Returns the settings and other properties (JobFact) of the interrupted job for the output
/// `path`; empty if there is no such job. A run that continues the job must have equal properties.
[[nodiscard]] std::vector<JobFact> facts_of_interrupted_job(const std::string& path);

/// Returns whether the caller must write only one frame and set SinkOptions::single: `path` is the
/// name of a single picture, but `source` has several pictures or is a video.
[[nodiscard]] bool holds_one_frame(const std::string& path, const MediaSource& source,
                                   const SinkOptions& options);

/// Returns whether the output consists of OpenEXR files that contain all layers of the input files.
/// If true, set_layers() can replace the samples of layers.
[[nodiscard]] bool keeps_layers(const std::string& path, const MediaSource& source,
                                const SinkOptions& options);

/// Returns whether both names refer to the same existing file, either directly or through links.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

}  // namespace lull::io
