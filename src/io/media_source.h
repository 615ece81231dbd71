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

/// Linear relation between the samples of frames and the values that are stored in a file.
struct ValueScale {
  double low = 0;  // value in the file that corresponds to sample 0
  // The difference between `low` and the value in the file that corresponds to 255 on the scale of
  // sigma.
  double span = 255;
  double full = 255;  // value that corresponds to 255 on the 8-bit scale, or to 1 on the unit scale
  bool native = false;  // if true, --sigma is by default in the units of the file
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
  bool stack = false;                // slices of a volume or a series, or TIFF of several pages
  std::int64_t slices = 0;           // only stacks: number of slices of one volume
  /// Only stacks: number of channels, each with its own noise. The frames of a channel follow each
  /// other.
  std::int64_t channels = 1;
  /// Only stacks: true if the slices of a volume are planes at successive times.
  bool over_time = false;
  std::string axes;  // axes that the file describes ("2 channels, 8 slices, 5 time points")
  /// Only stacks: distances between samples along a row, along a column, and between slices. The
  /// values are 1, 1, 1 if the file does not state them.
  std::array<double, 3> spacing{1, 1, 1};
  bool interlaced = false;         // according to the first frame or the container
  std::vector<std::string> notes;  // notes about the input for the user, one text each
  ValueScale values;
  /// Scale of each channel; empty: `values` for all channels.
  std::vector<ValueScale> channel_values{};
  /// Position of the first chroma sample, in chroma samples from the top left corner of the
  /// picture. 0.5 is the middle of the luma samples that the chroma sample covers. If the input
  /// does not state the position, that of MPEG-2 is assumed.
  double chroma_x = 0.5, chroma_y = 0.5;

  /// Returns the scale of the samples of a channel.
  const ValueScale& values_of(std::size_t channel) const {
    return channel < channel_values.size() ? channel_values[channel] : values;
  }
};

/// Damage that a source has tolerated so far (SourceOptions::tolerate_damage).
struct Damage {
  /// Number of frames that are damaged or missing. A premature end counts as one frame. If the end
  /// of the file is missing, the number of missing frames is computed from the number that the
  /// container announced.
  std::int64_t frames = 0;
  std::string first;  // one line about the first damage; empty: none
};

/// Format of raw frames. Raw files have no header, so only the user can know the format.
struct RawVideo {
  std::string pix_fmt;  // FFmpeg's pixel format
  int width = 0, height = 0;
};

struct FrameRange {
  std::int64_t first = 0;  // inclusive; frames are counted from 0
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
};

/// A part of the input. All times are relative to the first frame. Selected ranges are joined
/// without gaps: in the output, each range begins where the previous range ends, and the first
/// range begins where the input begins. Audio is cut at the same times as the video, in units of
/// packets: a packet is kept if it begins within a range. Subtitles that overlap a range are
/// shortened.
struct Selection {
  std::vector<FrameRange> ranges;           // ascending, without overlap; empty: all frames
  std::int64_t start_us = 0;                // only frames from this time on
  std::optional<std::int64_t> duration_us;  // only frames before start + duration
  bool all() const { return ranges.empty() && start_us == 0 && !duration_us; }
};

/// Limits for inputs. A source that exceeds a limit is rejected before memory is allocated for it.
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
  /// FFmpeg's name of the input's container; empty: the container is detected from the content.
  std::string format;
  /// Format of a raw input, which consists only of samples: frame after frame, planes in order,
  /// without padding. Empty: the input is not raw.
  std::optional<RawVideo> raw;
  /// Frames per second of inputs that contain no time stamps: raw video and picture sequences.
  Rational rate{25, 1};
  Selection selection;
  /// If true, the source also returns frames outside the selection. They are marked with
  /// Frame::context_only; filters over time use them as context. The first returned frame is then
  /// the first frame of the input. After the last selected frame, the source returns context frames
  /// until MediaSource::end_context_at() ends them.
  bool margins = false;
  Limits limits;
  /// Folder for data that do not fit in memory, such as packets of other streams that are stored
  /// far from the video's packets in the file. Empty: the system's folder for temporary files.
  std::string scratch;
  /// FFmpeg's protocols ("https") that are allowed in addition to files and pipes, for inputs and
  /// for files that inputs refer to.
  std::vector<std::string> protocols;
  int descriptor = 0;  // open file for the input `-`; 0: standard input
  /// Index (among the visible GPUs) of the GPU that decodes, if FFmpeg and the GPU support the
  /// codec; empty: the CPU decodes. If a GPU decodes, the frames remain in the memory of the GPU
  /// (Frame::on_device). The source must be opened before the process uses the GPU for other work,
  /// because FFmpeg must create the GPU's primary context.
  std::optional<int> gpu;
  /// If true, damage of a video is tolerated and counted. The decoder conceals damaged parts of
  /// frames. Frames that cannot be decoded are omitted. A truncated file ends with the last
  /// complete data. Damage outside the selection is counted, too. If this option is false, damage
  /// throws BadData. Damaged stacks and sequences always throw BadData, and so does a decoding
  /// error of a GPU after its first frame.
  bool tolerate_damage = false;
  /// The source starts at a decodable frame before this time (relative to the first frame). Time
  /// stamps do not change. This option is for callers that read only a part of the input: a missing
  /// end is not reported.
  std::int64_t skip_us = 0;
  /// If true, gaps caused by forward jumps of the time stamps are kept. If false, all
  /// discontinuities of an input's time stamps are removed (MediaSource::clock_jumps()). Backward
  /// jumps are always corrected.
  bool keep_times = false;
  /// Axis along which the slices of a volume are read; default: z. Other inputs have no axes.
  std::optional<Axis> axis;
  /// DICOM only: Series Instance UID or number of the series to read, for folders with several
  /// series. Empty: the only series. The member must be empty for other inputs.
  std::string series_uid{};
  /// For float samples, except stacks: the sample value that corresponds to 255 on the scale of
  /// sigma (FrameFormat::white). 0: the source chooses the value from its first frame. Must be 0 or
  /// 1 for other inputs.
  double white = 1;
  /// Number, in the container, of the stream that is decoded. It must be a video stream, but no
  /// cover picture. Empty: the video that FFmpeg prefers, which becomes the first stream of
  /// outputs. If a number is given, the stream keeps its position in outputs.
  std::optional<int> video{};
  /// OpenEXR only: the layer that frames show (find_layer()). Empty: the default picture. The
  /// member must be empty for other inputs.
  std::string layer{};
  /// OpenEXR only: chooses the layers that are read together with the picture, for read_layer().
  /// Empty: no other layers.
  LayerChoice layers{};
  /// If true, interlaced frames are rejected. If false, a frame contains both fields, in
  /// alternating rows.
  bool refuse_interlaced = false;
  /// If not null, the description of every decoded picture is added to this index.
  std::shared_ptr<FrameIndex> recorded_index{};
  /// Index of this input that was recorded earlier, with the same selection and margins. The source
  /// sets Frame::repeat_state as the index states.
  std::shared_ptr<const FrameIndex> index{};
  /// Only with `index`: index of the picture at which read() starts. The source seeks to this
  /// picture. The format, the info and the colour properties are still those of the first picture
  /// of the input. Every picture is compared with the index; a difference throws IndexMismatch.
  std::int64_t start_picture = 0;
};

/// The decoded main video stream of a file. The packets of all other streams wait until open_sink()
/// copies them.
class MediaSource : public FrameSource {
 public:
  virtual const VideoInfo& info() const noexcept = 0;
  /// Returns the damage that the source has tolerated so far. The caller must not call this
  /// function while another thread reads.
  virtual Damage damage() const { return {}; }
  /// Returns one line that says why the CPU decodes although SourceOptions::gpu requested a GPU.
  /// Empty if no GPU was requested, or if the GPU decodes.
  virtual const std::string& why_not_gpu() const noexcept = 0;
  /// With SourceOptions::margins: tells the source that frames outside the selection are not needed
  /// after the frame `number`, which is counted from 0 over all frames of read(). Any thread may
  /// call this function.
  virtual void end_context_at(std::int64_t number) noexcept { (void)number; }
  /// Stacks only: returns the values of a slice from read() in the file's own units, row by row.
  /// (The samples of frames do not contain values far outside the range.) Other sources leave
  /// `values` empty.
  virtual void values_of(const Frame& slice, std::vector<double>& values) const {
    (void)slice;
    values.clear();
  }
  /// Returns the discontinuities of the input's time stamps that were removed so far, one line
  /// each. Such discontinuities are caused by joined recordings, restarted encoders or overflows.
  /// The caller must not call this function while another thread reads.
  virtual std::vector<std::string> clock_jumps() const { return {}; }
  /// Returns the stream numbers of the video streams, without cover pictures; empty for pictures,
  /// sequences and stacks.
  virtual std::vector<int> videos() const { return {}; }
  /// Returns the layers of the first file of an OpenEXR input; empty for other inputs.
  virtual const std::vector<LayerInfo>& layers() const noexcept {
    static const std::vector<LayerInfo> none;
    return none;
  }
  /// Returns the number of decoded pictures, including those that read() did not return. The caller
  /// must not call this function while another thread reads.
  virtual std::int64_t decoded() const { return 0; }
};

/// Opens a video or a still picture and decodes its first frame. Frames are planar: grey, Y Cb Cr
/// or R G B, with the input's bit depth (8 to 16 bits, or floats). Palettes become RGB, and 1-bit
/// formats become 8 bits. `path` is the name of a file and may contain any characters. The name `-`
/// stands for options.descriptor (./- is a file). Pipes and FIFOs are read as data arrive;
/// interrupt() ends the waiting.
///
/// If no file has that name, `path` may be an address of one of options.protocols, or the pattern
/// of a sequence of pictures of one size and kind. The last part of a pattern contains a number
/// (`in.%04d.png`, `in.####.tif`; numbers may be missing) or wildcards (`shot_*.tif`, with * ? [
/// ]). Names with wildcards are sorted, and digits are compared as numbers.
///
/// `path` may be a folder with a DICOM series (SourceOptions::series_uid), or an OME-Zarr store.
///
/// The slices of a volume become grey frames of floats, volume after volume. The pages of a
/// TIFF file with several pages become frames of 8 bits, or of floats for other bit depths. Float
/// samples are related to the values in the file by VideoInfo::values. Values far outside the range
/// become NaN. The time stamp of a frame is its number. Stacks cannot be divided, so
/// options.selection is rejected. With options.raw or options.format, no input is a stack.
/// @throws NoInput  the file does not exist or cannot be read
/// @throws InvalidArgument  the options are invalid: an axis for an input without axes, a part of a
///     stack, or a white level for an input without a choice; or interlaced video is rejected
///     (read() may also throw this)
/// @throws BadData  the input is empty, not a media file, without video or truncated, or has an
///     unsupported pixel format
/// @throws OutOfMemory  options.limits.memory is too small for data that must be stored
/// @throws DeviceFailure  only by read(): the decoding GPU has stopped working
[[nodiscard]] std::unique_ptr<MediaSource> open_source(const std::string& path,
                                                       const SourceOptions& options = {});

}  // namespace lull::io
