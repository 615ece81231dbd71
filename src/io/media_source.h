#pragma once
// Reads video files, still pictures, and slice stacks.

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

/// Linear relation between the samples of frames and the values in a file.
struct ValueScale {
  double low = 0;  // value in the file that corresponds to sample 0
  // difference of values in the file that corresponds to 255 on the scale of noise levels (sigma)
  double span = 255;
  double full = 255;  // value that corresponds to 255 on the 8-bit scale, or to 1 on the unit scale
  bool native = false;  // if true, --sigma is by default in the units of the file
};

/// Properties of a video stream that are known before its frames are read.
struct VideoInfo {
  /// FFmpeg's short names: "h264", "yuv420p", "matroska". For stacks, the names are lull's own. The
  /// container of a volume is "nifti", "nrrd", "mgh", "pair" or "dicom".
  std::string codec, pixel_format, container;
  Rational frame_rate;               // frames per second; 0/1: unknown
  Rational time_base;                // seconds per tick of Frame::pts
  std::int64_t frames_estimate = 0;  // 0: unknown
  double duration_s = 0;             // 0: unknown
  bool still = false;                // one picture, not a video
  bool stack = false;                // slices of a volume or a series, or TIFF of several pages
  bool volume = false;               // a volume or a series, whatever its container
  std::int64_t slices = 0;           // only stacks: number of slices of one volume
  /// Number of channels, each with its own noise level. Only stacks have more than one channel. All
  /// frames of a channel come before the frames of the next channel.
  std::int64_t channels = 1;
  /// Whether the slices of a volume are planes at successive times; only for stacks.
  bool over_time = false;
  std::string axes;  // axes that the file describes ("2 channels, 8 slices, 5 time points")
  /// Distances between samples along a row, along a column, and between slices, in the unit of the
  /// file; 1, 1, 1 if the file does not state them, or if the input is not a stack.
  std::array<double, 3> spacing{1, 1, 1};
  bool interlaced = false;         // according to the first frame or the container
  std::vector<std::string> notes;  // notes about the input for the user, one text each
  ValueScale values;
  /// The relation between samples and values for each channel; empty: `values` applies to all
  /// channels.
  std::vector<ValueScale> channel_values{};
  /// Position of the first chroma sample, in distances between chroma samples from the left or top
  /// edge of the picture. At 0.5, the chroma sample lies in the middle of the luma samples that it
  /// covers. The default is the position that MPEG-2 defines.
  double chroma_x = 0.5, chroma_y = 0.5;

  /// Returns the scale of the samples in the channel `channel`.
  const ValueScale& values_of(std::size_t channel) const {
    return channel < channel_values.size() ? channel_values[channel] : values;
  }
};

/// Damage that a source has tolerated so far (SourceOptions::tolerate_damage).
struct Damage {
  /// Number of frames that are damaged or missing. If the input is cut off, at least one frame is
  /// missing, or as many as the container states in addition to the decoded frames.
  std::int64_t frames = 0;
  std::string first;  // one line about the first damage; empty: none
};

/// Format of raw frames, which have no header.
struct RawVideo {
  std::string pix_fmt;  // FFmpeg's pixel format
  int width = 0, height = 0;
};

struct FrameRange {
  std::int64_t first = 0;  // inclusive; frames are counted from 0
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
};

/// A part of the input. All times are relative to the first frame. Each selected range begins in
/// the output where the previous range ends; the first range begins where the input begins. An
/// audio packet is kept if it begins within a range. Subtitles that overlap a range are shortened
/// to it.
struct Selection {
  std::vector<FrameRange> ranges;           // ascending, without overlap; empty: all frames
  std::int64_t start_us = 0;                // only frames from this time on
  std::optional<std::int64_t> duration_us;  // only frames before start + duration
  bool all() const { return ranges.empty() && start_us == 0 && !duration_us; }
};

/// Limits for inputs. The source rejects an input that exceeds a limit before it allocates memory
/// for it.
struct Limits {
  std::int64_t pixels = std::int64_t{1} << 28;  // maximum number of pixels of a frame
  std::int64_t frames = 0;  // maximum number of frames of the input; 0: no limit
  int streams = 1000;       // maximum number of streams of a container
  std::int64_t memory = 0;  // maximum number of bytes of the input in memory at a time; 0: no limit
};

/// The axis along which the slices of a volume are read.
enum class Axis { x, y, z };

struct SourceOptions {
  /// Memory resource for the samples of frames. It must outlive the source and its frames.
  std::pmr::memory_resource* memory = std::pmr::get_default_resource();
  int threads = 0;  // decoding threads; 0: one per core
  /// FFmpeg's name of the input's container; empty: FFmpeg detects the container from the content.
  std::string format;
  /// Format of a raw input, which consists only of samples: frame after frame, planes in order,
  /// without padding. Without a value, the input is not raw.
  std::optional<RawVideo> raw;
  /// Frames per second of inputs without time stamps: raw video and picture sequences.
  Rational rate{25, 1};
  Selection selection;
  /// If true, the source also returns frames outside the selection, marked with
  /// Frame::context_only, as context for temporal filtering. They begin with the first frame of the
  /// input, and end where MediaSource::end_context_at() ends them.
  bool margins = false;
  Limits limits;
  /// Folder for data that do not fit in memory, such as packets of other streams that are far from
  /// the video packets of the same time; empty: the system's folder for temporary files.
  std::string scratch;
  /// FFmpeg's protocols, such as "https", that are allowed in addition to files and pipes, for
  /// inputs and for files to which inputs refer.
  std::vector<std::string> protocols;
  int descriptor = 0;  // open file for the input `-`; 0: standard input
  /// Index of the GPU that decodes, among the visible GPUs; nullopt: the CPU decodes. The CPU also
  /// decodes if FFmpeg or the GPU does not support the codec. Frames that a GPU decodes remain in
  /// its memory (Frame::on_device). The caller must open the source before the process uses the GPU
  /// for other work, because FFmpeg must create the GPU's primary context.
  std::optional<int> gpu;
  /// If true, the source tolerates and counts damage of a video, also outside the selection. The
  /// decoder then conceals damaged parts of frames, the source omits frames that cannot be decoded,
  /// and a truncated file ends with the last complete data. If false, damage throws BadData. Damage
  /// of stacks and sequences, and decoding errors of a GPU after its first frame, always throw
  /// BadData.
  bool tolerate_damage = false;
  /// Time in microseconds after the first frame. The source starts at a decodable frame before this
  /// time, keeps the time stamps, and does not report a missing end. For callers that read only a
  /// part of the input.
  std::int64_t skip_us = 0;
  /// If true, forward jumps of the time stamps remain as gaps. If false, the source removes all
  /// discontinuities of time stamps (MediaSource::clock_jumps()). Backward jumps are corrected in
  /// either case.
  bool keep_times = false;
  /// Axis along which the slices of a volume are read; nullopt: z. Other inputs must have no value.
  std::optional<Axis> axis;
  /// Series Instance UID or number of the series to read, for DICOM folders with several series. If
  /// the text is empty, the folder must contain exactly one series. The text must be empty for
  /// other inputs.
  std::string series_uid{};
  /// Sample value that corresponds to 255 on the scale of noise levels (FrameFormat::white), for
  /// float samples except those of stacks; 0: the source chooses it from the first frame. For other
  /// inputs, the value must be 0 or 1.
  double white = 1;
  /// Stream number of the decoded video, which must not be a cover picture. It keeps its position
  /// among the streams of the output. Without a number, lull decodes the video that FFmpeg prefers,
  /// and makes it the first stream of the output.
  std::optional<int> video{};
  /// Layer of an OpenEXR file that frames show (find_layer()); empty: the default picture. The text
  /// must be empty for other inputs.
  std::string layer{};
  /// Chooses which layers of an OpenEXR file are read together with the picture, for read_layer().
  /// Without a function, only the picture is read.
  LayerChoice layers{};
  /// If true, the source rejects interlaced video. If false, a frame of interlaced video contains
  /// both fields in alternating rows.
  bool refuse_interlaced = false;
  /// An index to which the source adds every decoded picture. May be null.
  std::shared_ptr<FrameIndex> recorded_index{};
  /// An index of this input that a source recorded earlier with the same selection and `margins`.
  /// The source copies Frame::repeat_state from the index. May be null.
  std::shared_ptr<const FrameIndex> index{};
  /// Position in `index` of the picture at which read() starts; 0 without an index. The source
  /// compares every picture with the index, and throws IndexMismatch if they differ. The format,
  /// the info and the colour properties are those of the first picture of the input.
  std::int64_t start_picture = 0;
};

/// The decoded main video stream of a file, and the packets of all other streams until the sink
/// copies them.
class MediaSource : public FrameSource {
 public:
  virtual const VideoInfo& info() const noexcept = 0;
  /// Returns the damage that the source has tolerated so far. Must not be called while another
  /// thread reads from the source.
  virtual Damage damage() const { return {}; }
  /// Returns one line that says why the CPU decodes although SourceOptions::gpu requested a GPU;
  /// empty if no GPU was requested, or if the GPU decodes.
  virtual const std::string& why_not_gpu() const noexcept = 0;
  /// Ends the context frames of a source with SourceOptions::margins: the caller needs no frames
  /// outside the selection after the frame `number`, counted from 0 over all frames that read()
  /// returns. Any thread may call this function.
  virtual void end_context_at(std::int64_t number) noexcept { (void)number; }
  /// Returns the values of a slice of a stack in the units of the file, row by row. Outliers have
  /// their values here, but are NaN in frames. read() must have returned `slice`. For inputs other
  /// than stacks, `values` becomes empty.
  virtual void values_of(const Frame& slice, std::vector<double>& values) const {
    (void)slice;
    values.clear();
  }
  /// Returns one line for each discontinuity of time stamps that the source has removed so far,
  /// from joined recordings, restarted encoders and overflows of counters. Must not be called while
  /// another thread reads from the source.
  virtual std::vector<std::string> clock_jumps() const { return {}; }
  /// Returns the stream numbers of the video streams, without cover pictures; empty for pictures,
  /// sequences and stacks.
  virtual std::vector<int> videos() const { return {}; }
  /// Returns the layers of the first file of an OpenEXR input; empty for other inputs.
  virtual const std::vector<LayerInfo>& layers() const noexcept {
    static const std::vector<LayerInfo> none;
    return none;
  }
  /// Returns the number of decoded pictures, including those that read() did not return. Must not
  /// be called while another thread reads from the source.
  virtual std::int64_t decoded() const { return 0; }
};

/// Opens an input and decodes its first frame. The input is a video, a still picture, a picture
/// sequence or a stack. Frames are planar: grey, Y Cb Cr or R G B, with the input's bit depth (8 to
/// 16 bits, or floats). Palettes become RGB, and 1-bit formats become 8 bits. `path` is the name of
/// a file and may contain any characters. The name `-` stands for options.descriptor, and `./-`
/// stands for a file. The source reads pipes and FIFOs as their data arrive. interrupt() ends a
/// read that waits for data.
///
/// If no file has the name `path`, the name may be an address of one of options.protocols, or the
/// pattern of a sequence of pictures of one size and kind. The last part of a pattern contains a
/// number (`in.%04d.png`, `in.####.tif`; numbers may be missing) or wildcards (`shot_*.tif`, with *
/// ? [ ]). The source sorts names that match wildcards, and compares runs of digits as numbers.
///
/// `path` may be a folder with a DICOM series (SourceOptions::series_uid), or an OME-Zarr store.
///
/// The slices of a volume become grey frames of floats, volume after volume. The pages of a TIFF
/// file with several pages become frames of 8 bits, or of floats for other bit depths.
/// VideoInfo::values states the relation between float samples and the values in the file. Values
/// far outside the range become NaN. The time stamp of a frame of a stack is its number.
/// options.selection is rejected for stacks, because stacks cannot be divided. With options.raw or
/// options.format, the source does not recognise stacks.
/// @throws NoInput  the file does not exist or cannot be read
/// @throws InvalidArgument  an option does not suit the input: an axis for an input without axes, a
///     part of a stack, or a white level for samples other than floats; or refuse_interlaced is
///     true and the video is interlaced (read() may also throw this error)
/// @throws BadData  the input is empty, not a media file, without video or truncated, or has an
///     unsupported pixel format
/// @throws OutOfMemory  options.limits.memory is too small for data that must be stored
/// @throws DeviceFailure  only by read(): the decoding GPU has stopped working
[[nodiscard]] std::unique_ptr<MediaSource> open_source(const std::string& path,
                                                       const SourceOptions& options = {});

}  // namespace lull::io
