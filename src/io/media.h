#pragma once
// Reads and writes video files and still pictures with FFmpeg's libraries, and slice stacks
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

/// Sample type of a volume's output: `same` keeps the input's type and scale. `int16` keeps the
/// samples unchanged if all are integers that fit in 16 bits, and otherwise scales all values.
/// `float32` stores values without a scale.
enum class DataType { same, int16, float32 };

/// The name and the value of a setting on which the output of a job in segments depends. All runs
/// of a job must have the same facts.
struct JobFact {
  std::string name, value;  // "--sigma", "20"
};

struct JobPlan;  // io/jobs.h

/// An additional input of a job, a video file or a picture sequence, that is read in parallel with
/// the source, frame by frame.
struct AdditionalSource {
  std::string name;   // its name in the job: "--guide"
  std::string input;  // the path with which it was opened
  const MediaSource* source = nullptr;
};

/// The part of a job in segments that a process performs: the complete job (`all`), or, if several
/// processes share the job, writing the plan (`plan`), encoding segments (`segments`), or joining
/// the segments (`join`).
enum class JobPart { all, plan, segments, join };

/// Options of a job that encodes the output in segments (see open_sink()). If the process ends
/// early, the finished segments remain for the next run.
struct SegmentOptions {
  int frames = 0;       // frames of each segment except the last one; at least 2
  bool resume = false;  // whether to continue an interrupted job
  /// The settings on which the frames depend, except the input and the options of the source and of
  /// the sink.
  std::vector<JobFact> facts;
  std::vector<AdditionalSource> additional;  // unused for JobPart::join

  JobPart part = JobPart::all;
  // The next members are for jobs that several processes share.
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
  std::string vcodec;         // FFmpeg's encoder name; empty: chosen by container and format
  std::optional<double> crf;  // constant rate factor on the encoder's own scale
  std::vector<std::pair<std::string, std::string>> vopts;  // options of encoder or muxer
  /// FFmpeg's name of the output's pixel format. If it is empty, the output has the input's format,
  /// a format with equal samples, or the nearest format that the encoder supports; losses() or
  /// notes() reports the change to the nearest format.
  std::string pix_fmt;
  /// Bit depth of the output, 8..16; 0: the bit depth of `pix_fmt`, or of the input if `pix_fmt` is
  /// empty.
  int bits = 0;
  Dither dither = Dither::none;  // how samples are rounded to the output's bit depth
  /// Sample format of the frames for write(), as result_samples() returns it.
  ResultSamples samples = {};
  bool lossless = false;     // FFV1, or the lossless mode of `vcodec`
  bool overwrite = false;    // replace an existing file
  bool follow_links = true;  // false: if the output is a link, the link is replaced
  bool single = false;       // only one frame will be written, even if the source has more
  /// Size of the frames for write(), if they are enlarged; 0: the size of the source's frames. The
  /// sample aspect ratio is always that of the source.
  int width = 0, height = 0;
  int threads = 0;                     // encoding threads; 0: the encoder's choice
  DataType datatype = DataType::same;  // for volumes
  Access access = {};  // additional permission bits; those of the source's files also apply
  bool strict_metadata = false;  // losses (MediaSink::losses()) are an error
  /// The container: `y4m`, `raw`, `nut`, or another extension or name that FFmpeg knows. If the
  /// text is empty, the extension of the output's name determines the container. The output `-`
  /// then has the container of a NUT or raw input, and otherwise Y4M.
  std::string format;
  int descriptor = 1;  // open file for the outputs `-` and `hash`; 1: standard output
  Drops drops;
  /// If true, the output has the time stamps of the input. If false, they are shifted so that the
  /// earliest stream begins at 0.
  bool keep_times = false;
  std::optional<SegmentOptions> segments;
  /// Name of a file with a film grain table ("filmgrn1", noise/grain/grain_table.h) that the
  /// encoder writes into the stream; empty: none. The file must exist until finish(), and only one
  /// encoder may use it.
  std::string grain_table;
};

/// Returns the format of the frames that a sink with these options receives.
[[nodiscard]] inline FrameFormat written_format(const MediaSource& source,
                                                const SinkOptions& options) {
  FrameFormat format = source.format();
  if (options.width > 0) format.width = options.width, format.height = options.height;
  return result_format(format, options.samples);
}

/// Returns whether the encoder with FFmpeg's name `encoder` normally supports film grain tables. If
/// the installed version does not, open_sink() throws an error.
[[nodiscard]] bool supports_grain_table(const std::string& encoder);

/// Writes a file with one video stream and copies of the other streams of the source.
class MediaSink : public FrameSink {
 public:
  /// encoder(), pixel_format() and container() return FFmpeg's names.
  virtual const std::string& encoder() const noexcept = 0;
  virtual const std::string& pixel_format() const noexcept = 0;
  virtual const std::string& container() const noexcept = 0;
  /// Returns one warning for each property of the input that the output loses: bits, alpha or
  /// chroma of the samples, data streams, chapters, tags, languages, dispositions, colour, HDR10,
  /// time code, rotation. write() adds warnings for captions and HDR10+ metadata of later frames.
  /// Audio, subtitles and attachments that the container cannot store cause an error, not a
  /// warning.
  virtual const std::vector<std::string>& losses() const noexcept = 0;
  /// Returns the path of the file that contains the output until finish(). A process that ends
  /// without destroying this object must remove the file.
  virtual const std::string& temporary() const noexcept = 0;
  /// Returns the ranges of the frames whose samples write() needs, in ascending order; frames are
  /// counted from 0. Only jobs in segments omit frames.
  virtual std::vector<FrameRange> needed_frames() const { return {FrameRange{}}; }
  /// Returns whether the sink needs no further frame although the source may have more frames. Any
  /// thread may call this function.
  virtual bool needs_no_more() const noexcept { return false; }
  /// Returns whether an earlier run of this job has already completed the output
  /// (SegmentOptions::resume). The caller must then write no frames.
  virtual bool done() const noexcept { return false; }
  /// Returns notes for the user, one text each: an interrupted job, dropped or converted streams,
  /// conversions of samples.
  virtual const std::vector<std::string>& notes() const noexcept {
    static const std::vector<std::string> none;
    return none;
  }
  /// Returns the number of packets that are missing in the copied streams because of damage that
  /// the source tolerates.
  virtual Damage damage() const { return {}; }
  /// Writes everything like finish(), then calls `accepts`. If it returns true, the output gets its
  /// final name, and the result is empty. If it returns false, the output gets the name
  /// "NAME.partial.EXTENSION", which is the result. The result is always empty if the output is not
  /// a file.
  virtual std::string finish_if(const std::function<bool()>& accepts) {
    if (accepts()) finish();
    return {};
  }
};

/// Opens an encoder and a container for frames of `source`'s format. The sink copies metadata,
/// chapters, colour tags, time stamps, and all streams except the denoised one from `source`. It
/// converts text subtitles if the container has its own text format. The caller must call this
/// function once, before the first read of `source`. Another thread may read `source` while the
/// sink writes, and must reach the end of `source` before finish().
///
/// The extension of `path` determines the container. The sink writes to a temporary file in the
/// folder of `path`. finish() gives this file its final name. Without finish(), the destructor
/// removes it.
///
/// Some names have a special meaning (./-, ./null and ./hash are files):
///
/// - `-` stands for options.descriptor, to which the sink writes immediately. The sink omits
///   content that the container cannot store.
/// - A pattern with the extension of a still picture writes one file per frame, except if the
///   source is a single still. A numbered pattern (`out.%04d.png`) uses the numbers of a numbered
///   input. For other inputs, the pattern uses the numbers of the frames, from 0. In a pattern with
///   `*`, the sink replaces the `*` by the text that the `*` in the pattern of the input matched.
///   The sink writes each file under a temporary name and then renames the file.
/// - `null` discards the frames.
/// - `hash` writes lines of text to options.descriptor. Comments, which begin with '#', state the
///   format. The line of a frame contains the number of the frame, the time stamp, and the SHA-256
///   of the samples (planes in order, alpha last, rows without padding, little-endian, like
///   FFmpeg's framehash for a planar format). The last line contains "all", the number of frames
///   and the SHA-256 of all lines above. Only finish() writes the last line.
///
/// write() and finish() may throw IoError, for example if the disk is full. If `path` is a still
/// picture, write() throws InvalidArgument for a second frame.
///
/// A volume can become only a volume: NIfTI (.nii, .nii.gz), NRRD (.nrrd, .nhdr), MGH (.mgh, .mgz)
/// or a pair (.hdr). A DICOM input can also become a folder of DICOM files (a name that ends in
/// `/`) or a .dcm file. If the output has the format of the input, it contains everything of the
/// input except the samples. A TIFF stack or an image of OME-Zarr can become only a TIFF file or
/// an OME-Zarr store (.zarr). No other input can become a stack. `null` and `hash` also accept
/// stacks. The digests of a stack are those of the frames' float samples (VideoInfo::values).
///
/// With options.segments, the sink encodes the video in independent segments. Each segment is a
/// file in the folder "PATH.lull-job", which is on the disk before the next segment begins.
/// finish() joins the segments, gives the output its final name and removes the folder. Without
/// finish(), the folder remains if a segment is finished. To continue the job, the caller opens
/// source and sink again with equal options and `resume`, and writes the same frames. The output
/// then has the same bytes as the output of a job without interruption. Input and output must be
/// files; the output must not contain raw frames (Y4M).
///
/// If several processes share a job, each process sets SegmentOptions::part and uses the same
/// `path`. With `plan`, write() gets frames without samples, and finish() writes the plan to the
/// job's folder. With `segments`, the source starts at SegmentOptions::start_picture, and the sink
/// writes a file for each segment. With `join`, the caller writes no frames, and finish() creates
/// the output.
///
/// If `vcodec` is empty, the default encoder is VP9 in webm, the encoder of the format in y4m and
/// stills, and FFV1 for lossless outputs. For all other outputs, the default is x264 for 8 bits and
/// x265 for more bits, if these encoders can store the source's samples unchanged, and otherwise
/// FFV1. The default crf of x264 and x265 is 18.
/// @throws InvalidArgument  unknown container, encoder or option; an encoder that cannot store the
///     samples; a container that cannot store a stream; the output equals the input; with
///     strict_metadata, any loss
/// @throws InvalidArgument  the interrupted job had another input or other options
/// @throws CannotCreate  the file exists (without `overwrite`) or cannot be created; there is an
///     interrupted job (without `overwrite` or `resume`)
/// @throws TryAgain  another process works on the job
[[nodiscard]] std::unique_ptr<MediaSink> open_sink(const std::string& path, MediaSource& source,
                                                   const SinkOptions& options);

/// Throws the error that open_sink() would throw for this output, except errors that depend on
/// SegmentOptions::facts or on the film grain table. The caller can call this function before the
/// facts and the table are known. The function leaves no file, and changes no interrupted job.
/// @throws any exception of open_sink()
void check_output(const std::string& path, MediaSource& source, const SinkOptions& options);

/// Checks the name of an output before the input is opened, because to open a volume or a stack can
/// take minutes. The function throws an error only if open_sink() would throw the same error. It
/// does nothing if the input does not exist, and for patterns, pipes and jobs in segments.
/// @param input, reading  the arguments with which the caller will call open_source()
/// @throws InvalidArgument, CannotCreate, IoError
void check_output_name(const std::string& path, const std::string& input,
                       const SourceOptions& reading, const SinkOptions& options);

/// Returns the sample format in which a denoising session should return results for the output
/// `path`, so that samples are rounded only once. The caller must call this function before the
/// first read of `source`, and pass the result to the sink as SinkOptions::samples. If open_sink()
/// would reject the output, the function returns the sample format of the source.
[[nodiscard]] ResultSamples result_samples(const std::string& path, const MediaSource& source,
                                           const SinkOptions& options);

/// Returns the facts (JobFact) of the interrupted job for this output; empty if there is none. A
/// run that continues the job must have the same facts.
[[nodiscard]] std::vector<JobFact> facts_of_interrupted_job(const std::string& path);

/// Returns whether `path` is the name of a single picture although `source` is not a single still
/// picture. The caller must then write only one frame and set SinkOptions::single.
[[nodiscard]] bool holds_one_frame(const std::string& path, const MediaSource& source,
                                   const SinkOptions& options);

/// Returns whether the output consists of OpenEXR files that contain all layers of the source's
/// files. set_layers() can then replace the samples of layers.
[[nodiscard]] bool keeps_layers(const std::string& path, const MediaSource& source,
                                const SinkOptions& options);

/// Returns whether both names refer to the same existing file, directly or through links.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

}  // namespace lull::io
