#pragma once
// Reads and writes video files and still pictures with FFmpeg's libraries, and slice stacks
// (volumes, TIFF files of several pages) with lull's own code.
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

/// Sample type of a volume's output. same: the type and the scale of the input. int16: integers
/// that fit in 16 bits are stored unchanged, and all other values are scaled. float32: values are
/// stored without a scale.
enum class DataType { same, int16, float32 };

/// A fact about a job in segments: the name and the value of a setting on which the output depends.
/// A run that continues an earlier run of the job must have the same facts.
struct JobFact {
  std::string name, value;  // "--sigma", "20"
};

struct JobPlan;  // io/jobs.h

/// An additional input of a job: a video or a sequence of pictures, in files. The job reads it in
/// parallel with the source, frame by frame.
struct AdditionalSource {
  std::string name;   // its name in the job: "--guide"
  std::string input;  // the path with which it was opened
  const MediaSource* source = nullptr;
};

/// The part of a job in segments that a process performs. `all` is the complete job. The other
/// values are parts of a shared job: writing the plan, encoding some segments, or joining the
/// finished segments.
enum class JobPart { all, plan, segments, join };

/// A job in segments. If the process ends, finished segments remain for the next run. See
/// open_sink().
struct SegmentOptions {
  int frames = 0;       // frames of each segment but the last, at least 2
  bool resume = false;  // continue an interrupted job
  /// The settings (facts) on which the frames depend, except the input and the options of the
  /// source and of the sink.
  std::vector<JobFact> facts;
  std::vector<AdditionalSource> additional;  // not for JobPart::join

  JobPart part = JobPart::all;
  // The following members are only used for parts of shared jobs.
  std::string folder;              // folder of the job
  std::shared_ptr<JobPlan> plan;   // for JobPart::plan, what is known so far
  std::string input;               // for JobPart::plan, the path with which the source was opened
  FrameRange range;                // segments to make, if they are not finished
  std::int64_t start_picture = 0;  // SourceOptions::start_picture
};

/// Content of the input that is not copied to the output: streams other than the denoised one, and
/// metadata of the file.
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
  /// FFmpeg's pixel format. Empty: lull uses the input's format, a format with equal samples, or
  /// the nearest format that the encoder supports. For the nearest format, losses() lists what is
  /// lost, or notes() states that nothing is lost.
  std::string pix_fmt;
  /// Bit depth of the output, 8..16. It is combined with the layout of pix_fmt. If pix_fmt is
  /// empty, it is combined with the layout of the input, or with the nearest layout that the
  /// encoder supports. 0: the bit depth of pix_fmt, or of the input.
  int bits = 0;
  Dither dither = Dither::none;  // how samples are rounded to the output's bit depth
  /// Sample format of the frames that the caller passes to write(), as result_samples() returned
  /// it.
  ResultSamples samples = {};
  bool lossless = false;     // FFV1, or the lossless mode of `vcodec`
  bool overwrite = false;    // replace an existing file
  bool follow_links = true;  // false: if the output is a link, the link is replaced
  bool single = false;       // only one frame will be written, even if the source has more
  /// Size of the frames that write() gets. 0: the source's size; other values are for enlarged
  /// frames. All other properties of the output equal the properties of the source, including the
  /// sample aspect ratio.
  int width = 0, height = 0;
  int threads = 0;                     // encoding threads; 0: the encoder's choice
  DataType datatype = DataType::same;  // for volumes
  Access access = {};  // additional permission bits; those of the source's files also apply
  bool strict_metadata = false;  // losses (MediaSink::losses()) are an error
  /// The container: y4m, raw, nut, or another extension or name that FFmpeg knows. If it is empty,
  /// the extension of the output determines the container. For the output `-`, an empty format
  /// means NUT or raw if the input is NUT or raw, and y4m otherwise.
  std::string format;
  int descriptor = 1;  // open file for the outputs `-` and `hash`; 1: standard output
  Drops drops;
  /// true: the output keeps the time stamps of the input. false: the earliest stream begins at 0.
  bool keep_times = false;
  std::optional<SegmentOptions> segments;
  /// File with a film grain table ("filmgrn1", noise/grain/grain_table.h) that the encoder writes
  /// into the stream. Only one encoder may use the file, and the file must exist until finish().
  /// Empty: no table is written.
  std::string grain_table;
};

/// Returns the format of the frames that a sink with these options receives.
[[nodiscard]] inline FrameFormat written_format(const MediaSource& source,
                                                const SinkOptions& options) {
  FrameFormat format = source.format();
  if (options.width > 0) format.width = options.width, format.height = options.height;
  return result_format(format, options.samples);
}

/// Returns whether an encoder (given by FFmpeg's name) normally supports film grain tables. Whether
/// the installed version supports them is known only when the encoder is opened.
[[nodiscard]] bool supports_grain_table(const std::string& encoder);

/// Writes one video stream and copies of the source's other streams.
class MediaSink : public FrameSink {
 public:
  /// FFmpeg's names of the encoder, its pixel format and the container.
  virtual const std::string& encoder() const noexcept = 0;
  virtual const std::string& pixel_format() const noexcept = 0;
  virtual const std::string& container() const noexcept = 0;
  /// Returns a list of warnings, one for each property of the input that the output loses: bits,
  /// alpha or chroma of the samples, data streams, chapters, tags, languages, dispositions, colour,
  /// HDR10, time code, rotation. (It is an error if the container cannot store audio, subtitles or
  /// attachments.) write() adds warnings for captions and HDR10+ of later frames.
  virtual const std::vector<std::string>& losses() const noexcept = 0;
  /// Returns the path of the file that contains the output until finish(). A process that ends
  /// without destroying this object must remove the file.
  virtual const std::string& temporary() const noexcept = 0;
  /// Ranges of the frames whose samples write() needs, in ascending order. Frames are counted from
  /// 0 in the order in which write() gets them. Frames outside these ranges need no samples. The
  /// ranges cover all frames, except for jobs in segments.
  virtual std::vector<FrameRange> needed_frames() const { return {FrameRange{}}; }
  /// Returns true if the sink needs no further frame, even if the source has more frames. Any
  /// thread may call this function.
  virtual bool needs_no_more() const noexcept { return false; }
  /// Returns whether an earlier run of this job has already made the output
  /// (SegmentOptions::resume), so that nothing remains to be done.
  virtual bool done() const noexcept { return false; }
  /// Notes for the user, one text each: the state of an interrupted job, streams that are dropped
  /// or converted, samples that are converted.
  virtual const std::vector<std::string>& notes() const noexcept {
    static const std::vector<std::string> none;
    return none;
  }
  /// Returns the number of packets that are missing in the copied streams because the packets were
  /// too damaged. Packets can be missing only if the source tolerates damage. If the source does
  /// not, a damaged packet throws BadData.
  virtual Damage damage() const { return {}; }
  /// Completes the output like finish(), but gives the output its final name only if `accepts`
  /// returns true after everything was written. Otherwise the output gets the name
  /// "NAME.partial.EXTENSION", which is returned. Returns an empty text if the output has the final
  /// name, or if the output is not a file.
  virtual std::string finish_if(const std::function<bool()>& accepts) {
    if (accepts()) finish();
    return {};
  }
};

/// Opens an encoder and a container for frames of `source`'s format. Streams that are not denoised,
/// metadata, chapters, colour tags and time stamps are copied from `source`. Text subtitles are
/// converted if the container has its own text format. Another thread may read `source` at the same
/// time, and must have read it to its end before finish(). Must be called once, before the first
/// read of `source`.
///
/// The sink writes to a temporary file in the folder of `path`. finish() gives the file its final
/// name. Without finish(), the destructor removes everything. The extension of `path` determines
/// the container.
///
/// Some names have a special meaning (./-, ./null and ./hash are files):
///
/// - `-` stands for options.descriptor, to which the sink writes immediately. Content that the
///   container cannot store is omitted.
/// - A pattern with the extension of a still picture writes one file per frame, unless the source
///   is a single still. A numbered pattern (`out.%04d.png`) uses the numbers of a numbered input.
///   For other inputs it uses the numbers of the frames, from 0. In a pattern with `*`, the `*` is
///   replaced by the text that it matched in an input with one `*`. Each file is written under a
///   temporary name and then renamed.
/// - `null` discards the frames.
/// - `hash` writes lines of text to options.descriptor. Comments, which begin with '#', state the
///   format. The line of a frame contains its number, its time stamp and the SHA-256 of its samples
///   (planes in order, alpha last, rows without padding, little-endian, like FFmpeg's framehash for
///   a planar format). The last line contains "all", the number of frames and the SHA-256 of all
///   lines above. Only finish() writes the last line.
///
/// write() and finish() may throw IoError (disk full). write() throws InvalidArgument for a second
/// frame if `path` is a still picture.
///
/// A volume can become only a volume: NIfTI (.nii, .nii.gz), NRRD (.nrrd, .nhdr), MGH (.mgh, .mgz)
/// or a pair (.hdr); a DICOM input also a folder of DICOM files (a name that ends in `/`) or a .dcm
/// file. If the format stays, the output keeps everything except the samples. A TIFF stack or
/// an image of OME-Zarr can become only a TIFF file or an OME-Zarr store (.zarr); if the format
/// stays, the output keeps everything except the samples. No other input can become a stack. `null`
/// and `hash` also accept stacks. The digests of a stack are those of the frames' float samples
/// (VideoInfo::values).
///
/// With options.segments the video is encoded in independent segments. Each segment is a file in
/// the folder "PATH.lull-job", which is on the disk before the next segment begins. finish() joins
/// the segments, gives the output its final name and removes the folder. Without finish(), the
/// folder remains if a segment is finished. To continue the job, the caller opens source and sink
/// again with equal options and `resume`, and writes the same frames. The output has the same bytes
/// as without the interruption. Input and output must be files; the output must not contain raw
/// frames (Y4M).
///
/// A shared job has three parts (SegmentOptions::part), with the same `path`. `plan`: frames are
/// written without samples, and finish() writes the plan to the job's folder. `segments`: the
/// source starts at SegmentOptions::start_picture, and the sink writes a file for each segment.
/// `join`: no frames are written, and finish() creates the output.
///
/// If `vcodec` is empty, the default encoder is VP9 in webm, the encoder of the format in y4m and
/// stills, and FFV1 for lossless outputs. For all other outputs the default is x264 for 8 bits and
/// x265 for more bits if they can store the source's samples unchanged, and otherwise FFV1. The
/// default crf of x264 and x265 is 18.
/// @throws InvalidArgument  unknown container, encoder or option; an encoder that cannot store the
///     samples; a container that cannot store a stream; the output equals the input; with
///     strict_metadata, any loss
/// @throws InvalidArgument  the job to resume had another input or other options
/// @throws CannotCreate  the file exists (without `overwrite`) or cannot be created; there is an
///     interrupted job (without `overwrite` or `resume`)
/// @throws TryAgain  another process works on the job
[[nodiscard]] std::unique_ptr<MediaSink> open_sink(const std::string& path, MediaSource& source,
                                                   const SinkOptions& options);

/// Returns the sample format in which sessions should deliver results for an output, so that the
/// results are rounded only once. The caller must pass this format to the sink as
/// SinkOptions::samples. The caller must call this function before the first read of `source`. If
/// open_sink() would reject the output, the result is the sample format of the source.
[[nodiscard]] ResultSamples result_samples(const std::string& path, const MediaSource& source,
                                           const SinkOptions& options);

/// Returns the facts (JobFact) of the interrupted job for this output; empty if there is no such
/// job. A run that continues the job must have the same facts.
[[nodiscard]] std::vector<JobFact> facts_of_interrupted_job(const std::string& path);

/// Returns whether `path` is the name of a single picture although `source` is not a single still
/// picture. In this case, the caller must write only one frame (SinkOptions::single), because
/// write() rejects a second frame.
[[nodiscard]] bool holds_one_frame(const std::string& path, const MediaSource& source,
                                   const SinkOptions& options);

/// Returns whether the output consists of OpenEXR files that contain all layers of the source files
/// (set_layers()).
[[nodiscard]] bool keeps_layers(const std::string& path, const MediaSource& source,
                                const SinkOptions& options);

/// Returns whether both names refer to the same existing file, directly or through links.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

}  // namespace lull::io
