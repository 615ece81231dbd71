#pragma once
// The options that select the input and control the reader.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/media.h"
#include "noise/depth/depth_scale.h"

namespace lull::tools {

/// Treatment of interlaced video:
/// - refuse: lull reports an error.
/// - fields: lull filters the even and the odd rows as separate videos.
/// - frames: lull filters complete frames, as if the video were progressive.
enum class Interlaced { refuse, fields, frames };

/// Options for depth maps: --depth and options that imply --depth.
struct DepthOptions {
  bool on = false;
  /// The sample value that marks holes, in addition to infinities and NaN, which always mark holes.
  std::optional<double> invalid;
  DepthNoise noise = DepthNoise::constant;
  /// The depth at which the noise level equals --sigma. If empty, this is the median depth.
  std::optional<double> reference;
};

struct InputOptions {
  std::string file;
  io::SourceOptions source;  // options for the source; source_options() completes them
  io::RawVideo raw;          // used if its pix_fmt is set
  bool sized = false;        // whether --size was given
  double white = 0;          // white level of float samples; 0: from the first frame
  Interlaced interlaced = Interlaced::refuse;
  bool all_videos = false;  // true: each video stream is denoised; false: only SourceOptions::video
  /// The layers of an OpenEXR input that lull denoises. The first of them is the main layer, whose
  /// samples the source returns as frames. If the list is empty, lull denoises all layers with
  /// colours.
  std::vector<std::string> layers;
  // If true, the frames are slices of a volume, even if the file does not describe a volume.
  bool stack = false;
  DepthOptions depth;
  std::string mask;  // volume that is 0 outside of the region of interest; empty: no mask
  // If true, voxels outside the mask become 0. If false, these voxels do not change.
  bool zero_outside = false;
  std::string phase;          // phases of a volume or series of magnitudes; empty: none
  double phase_turn = 0;      // value of a full turn in this file; 0: from the range of its values
  int max_decode_errors = 0;  // number of damaged or missing frames that is accepted
  std::optional<std::int64_t> at_us;  // for `lull preview`: time of the frame
  /// Position for `lull preview` of a volume: voxel indices x, y, z, and optionally the index of
  /// the volume.
  std::vector<std::int64_t> at_voxel;
};

/// @throws InvalidArgument  the options select several layers or video streams, but the command
///     processes one picture
void check_one_picture(const InputOptions& options);

/// Returns the options for opening the input.
/// @throws InvalidArgument  an option is missing, or options contradict each other
[[nodiscard]] io::SourceOptions source_options(const InputOptions& options);

}  // namespace lull::tools
