#pragma once
// Reads video files, still pictures and stacks of slices.

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
  // The difference between two values in the file that corresponds to a difference of 255 on the
  // scale of noise levels (sigma).
  double span = 255;
  double full = 255;  // value that corresponds to 255 on the 8-bit scale, or to 1 on the unit scale
  bool native = false;  // if true, --sigma is by default in the units of the file
};

/// Properties of a video stream that the source knows before it reads the first frame.
struct VideoInfo {
  /// FFmpeg's short names: "h264", "yuv420p", "matroska". Stacks have names from lull. The
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
  /// Number of channels, each with its own noise level. Only stacks have several channels. All
  /// frames of a channel precede the frames of the next channel.
  std::int64_t channels = 1;
  /// Only for stacks: whether the slices show one plane at successive times, instead of adjacent
  /// planes of a volume.
  bool over_time = false;
  std::string axes;  // axes that the file describes ("2 channels, 8 slices, 5 time points")
  /// Sample spacing along a row, along a column, and between slices, in the unit of the file; 1 if
  /// unknown, or if the input is not a stack.
  std::array<double, 3> spacing{1, 1, 1};
  bool interlaced = false;         // according to the first frame or the container
  std::vector<std::string> notes;  // notes about the input for the user, one string for each note
  ValueScale values;
  /// The relation between samples and values for each channel. If empty, `values` applies to all
  /// channels.
  std::vector<ValueScale> channel_values{};
  /// Chroma sample location: the offset of the first chroma sample from the left or top edge of the
  /// picture, in chroma samples. An input without a stated location has the location of MPEG-2. A
  /// chroma sample covers several luma samples. With an offset of 0.5, the chroma sample is in the
  /// middle of these luma samples.
  double chroma_x = 0.5, chroma_y = 0.5;

  /// Returns the scale of the samples in the channel `channel`.
  const ValueScale& values_of(std::size_t channel) const {
    return channel < channel_values.size() ? channel_values[channel] : values;
  }
};

/// Damage that a source has tolerated so far (SourceOptions::tolerate_damage).
struct Damage {
  /// Number of damaged or missing frames. A truncated input has at least one missing frame, or more
  /// if the container states the number of frames.
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

/// A part of the input. All times are relative to the first frame. In the output, the selected
/// ranges follow each other without gaps, from the start time of the input. The output contains the
/// audio packets that begin within a range. The output shows a subtitle only while the time of the
/// subtitle is within a range.
struct Selection {
  std::vector<FrameRange> ranges;           // ascending, without overlap; empty: all frames
  std::int64_t start_us = 0;                // only frames from this time on
  std::optional<std::int64_t> duration_us;  // only frames before start + duration
  bool all() const { return ranges.empty() && start_us == 0 && !duration_us; }
};

/// Limits for inputs. If an input exceeds a limit, the source throws before it allocates memory for
/// the input.
struct Limits {
  std::int64_t pixels = std::int64_t{1} << 28;  // maximum number of pixels of a frame
  std::int64_t frames = 0;  // maximum number of frames of the input; 0: no limit
  int streams = 1000;       // maximum number of streams of a container
  std::int64_t memory = 0;  // maximum number of bytes of the input in memory at a time; 0: no limit
};

/// The axis along which a source reads the slices of a volume.
enum class Axis { x, y, z };

struct SourceOptions {
  /// Memory resource for the samples of frames. The resource must outlive the source and its
  /// frames.
  std::pmr::memory_resource* memory = std::pmr::get_default_resource();
  int threads = 0;  // decoding threads; 0: one per core
  /// FFmpeg's name of the input's container. If empty, FFmpeg detects the container from the
  /// content.
  std::string format;
  /// Format of a raw input: frame after frame, planes in order, without header and padding. If
  /// nullopt, the input is not raw.
  std::optional<RawVideo> raw;
  /// Frames per second of inputs without timestamps: raw video and picture sequences.
  Rational rate{25, 1};
  Selection selection;
  /// If true, the source also returns frames outside the selection, because temporal filters need
  /// them as context (Frame::context_only). The context begins with the first frame of the input,
  /// and ends at MediaSource::end_context_at().
  bool margins = false;
  Limits limits;
  /// Folder for data that do not fit in memory, for example packets of badly interleaved streams.
  /// If empty, the source uses the system's folder for temporary files.
  std::string scratch;
  /// FFmpeg's protocols, such as "https", that inputs may use in addition to files and pipes. Files
  /// to which inputs refer may use the same protocols.
  std::vector<std::string> protocols;
  int descriptor = 0;  // open file for the input `-`; 0: standard input
  /// Index of the decoding GPU among the visible GPUs; nullopt: the CPU decodes. The CPU also
  /// decodes if FFmpeg or the GPU does not support the codec. Frames from the GPU remain in GPU
  /// memory (Frame::on_device). The caller must open the source before other work on the GPU,
  /// because FFmpeg must create the GPU's primary context.
  std::optional<int> gpu;
  /// If true, a single TIFF page of grey 16-bit samples that use at most 14 bits is a stack of one
  /// slice, and its range of values determines the scale of noise levels. If false, it is a
  /// picture.
  bool narrow_page_is_slice = false;
  /// If true, the source tolerates and counts damage of a video, inside and outside the selection.
  /// The source then conceals damaged parts, omits frames that it cannot decode, and ends a
  /// truncated file with the last complete data. If false, damage throws BadData. Damage of stacks
  /// and sequences, and GPU errors after the first frame, always throw BadData.
  bool tolerate_damage = false;
  /// Seek position in microseconds after the first frame. The source starts at a decodable frame
  /// before this time, with unchanged timestamps. The source then does not report missing frames
  /// at the end of the input.
  std::int64_t skip_us = 0;
  /// If true, forward jumps of the timestamps remain as gaps. If false, the source removes forward
  /// jumps (MediaSource::clock_jumps()). The source always removes backward jumps.
  bool keep_times = false;
  /// Axis along which the source reads the slices of a volume; nullopt means z. The caller must not
  /// set an axis for other inputs.
  std::optional<Axis> axis;
  /// For DICOM folders with several series: Series Instance UID or number of the series. If empty,
  /// the folder must contain exactly one series. The caller must not set a series for other inputs.
  std::string series_uid{};
  /// White level of float pictures and videos: the sample value that corresponds to 255 on the
  /// scale of noise levels (FrameFormat::white). If 0, the source chooses the value from the first
  /// frame. For integer samples and stacks, the value must be 0 or 1.
  double white = 1;
  /// Stream number of the decoded video, which must not be a cover picture. This stream keeps its
  /// position in the output. If nullopt, the source decodes the video that FFmpeg prefers, and this
  /// video becomes the first stream of the output.
  std::optional<int> video{};
  /// Name of a layer in an OpenEXR file (find_layer()). The source reads this layer as frames. If
  /// empty, the source reads the default picture. For other inputs, the name must be empty.
  std::string layer{};
  /// A function that chooses additional layers of an OpenEXR file. The source reads these layers
  /// with each frame, and read_layer() returns them. If the function is empty, the source reads no
  /// additional layers.
  LayerChoice layers{};
  /// If true, the source throws an error for interlaced video. If false, a frame of interlaced
  /// video contains both fields in alternating rows.
  bool refuse_interlaced = false;
  /// A list to which the source adds an entry for every decoded picture; may be null.
  std::shared_ptr<FrameIndex> recorded_index{};
  /// A list of pictures that an earlier source recorded from this input, with the same `selection`
  /// and `margins`; may be null. The source copies Frame::repeat_state from this list.
  std::shared_ptr<const FrameIndex> index{};
  /// The picture at which read() starts, as a position in the list `index`; 0 without `index`. The
  /// format, info and colour properties still come from the first picture of the input. If a
  /// decoded picture differs from its entry in `index`, the source throws IndexMismatch.
  std::int64_t start_picture = 0;
};

/// The decoded main video stream of a file. The source also stores the packets of all other streams
/// until the sink copies them.
class MediaSource : public FrameSource {
 public:
  virtual const VideoInfo& info() const noexcept = 0;
  /// Returns the damage tolerated so far. No other thread may read from the source at the same
  /// time.
  virtual Damage damage() const { return {}; }
  /// Returns the reason, as one line, why the CPU decodes although SourceOptions::gpu requests a
  /// GPU; empty otherwise.
  virtual const std::string& why_not_gpu() const noexcept = 0;
  /// Tells the source that the caller needs no frame after frame `number`, counted from 0 over all
  /// frames that read() returns. read() then returns no context frames (SourceOptions::margins)
  /// after this frame. Any thread may call this function.
  virtual void end_context_at(std::int64_t number) noexcept { (void)number; }
  /// Returns the values of a slice of a stack in the units of the file, row by row. For outliers,
  /// which are NaN in frames, the function returns the original values. The caller must have read
  /// `slice` before. For other inputs, `values` becomes empty.
  virtual void values_of(const Frame& slice, std::vector<double>& values) const {
    (void)slice;
    values.clear();
  }
  /// Returns one line for each timestamp jump that the source has removed so far. Joined
  /// recordings, restarted encoders and counter overflows cause such jumps. No other thread may
  /// read from the source at the same time.
  virtual std::vector<std::string> clock_jumps() const { return {}; }
  /// Returns the stream numbers of the video streams, without cover pictures; empty for pictures,
  /// sequences and stacks.
  virtual std::vector<int> videos() const { return {}; }
  /// Returns the layers of the first file of an OpenEXR input; empty for other inputs.
  virtual const std::vector<LayerInfo>& layers() const noexcept {
    static const std::vector<LayerInfo> none;
    return none;
  }
  /// Returns the number of decoded pictures, including those that read() did not return. No other
  /// thread may read from the source at the same time.
  virtual std::int64_t decoded() const { return 0; }
};

/// Opens a video, a still picture, a picture sequence or a stack, and decodes the first frame.
/// Frames are planar: grey, Y Cb Cr or R G B. They have the bit depth of the input: 8 to 16 bits,
/// or floats. Palettes become RGB, and 1-bit formats become 8 bits.

/// Names of inputs: `path` is the name of a file and may contain any characters. `-` stands for
/// SourceOptions::descriptor, and `./-` stands for a file. `path` may also be a folder with a DICOM
/// series (SourceOptions::series_uid), or an OME-Zarr store.

/// Pipes: the source reads pipes and FIFOs as their data arrive. interrupt() ends a read that waits
/// for data.

/// Addresses and patterns: if no file has the name `path`, the name may be an address of one of
/// SourceOptions::protocols. The name may also be the pattern of a sequence of pictures of one size
/// and kind.

/// The last part of a pattern contains a number (`in.%04d.png`, `in.####.tif`) or wildcards
/// (`shot_*.tif`, with * ? [ ]). Numbers of a sequence may be missing. The source sorts names that
/// match wildcards, and compares runs of digits as numbers.

/// Stacks: the slices of a volume become grey frames of floats, volume after volume. The pages of a
/// TIFF file become frames of 8 bits, or of floats for other bit depths. VideoInfo::values states
/// the relation between float samples and the values in the file. Values far outside the range
/// become NaN.

/// Options for stacks: SourceOptions::selection must select the whole stack. If SourceOptions::raw
/// or SourceOptions::format has a value, the source does not recognise stacks. The timestamp of a
/// frame of a stack is its number.

/// Errors of open_source():
/// - NoInput: there is no readable file.
/// - InvalidArgument: an option does not suit the input, for example a part of a stack.
/// - InvalidArgument: the video is interlaced (with refuse_interlaced).
/// - BadData: the input is empty, truncated or not a media file, or has no video, or has an
///   unsupported pixel format.
/// - OutOfMemory: Limits::memory is too small.

/// Errors of read(): InvalidArgument for interlaced video (SourceOptions::refuse_interlaced), and
/// DeviceFailure if the decoding GPU has stopped working.
/// @throws NoInput, InvalidArgument, BadData, OutOfMemory
[[nodiscard]] std::unique_ptr<MediaSource> open_source(const std::string& path,
                                                       const SourceOptions& options = {});

}  // namespace lull::io
