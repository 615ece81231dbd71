#pragma once
// The kernels of the CUDA backend, as functions that launch them. Everything is asynchronous on
// `stream`; nothing here allocates or waits. How they work stands at the head of each .cu file.

#include <cuda_runtime_api.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bm3d/frame_relation.h"
#include "bm3d/motion.h"
#include "bm3d/params.h"
#include "core/frame.h"
#include "core/image.h"

namespace lull::bm3d {

/// Layout of every plane on the device: a margin around the picture, so that no kernel has to ask
/// whether a search window leaves it. Offsets count elements, whatever their type.
struct Margins {
  int width = 0, height = 0;  // of the picture
  int left = 0, top = 0;      // multiples of 4, at least the window's radius and a patch
  int pitch = 0, rows = 0;    // of the whole, pitch a multiple of 32

  Margins() = default;
  Margins(int width, int height, int window);
  constexpr int at(int x, int y) const { return (y + top) * pitch + x + left; }
  constexpr std::size_t size() const { return static_cast<std::size_t>(pitch) * rows; }
};

/// Reference patches: every `step`-th, and the last of each row and column.
struct ReferenceGrid {
  int step = 1;
  int last_x = 0, last_y = 0;    // origin of the last reference patch
  int count_x = 0, count_y = 0;  // reference patches in a row, in a column

  ReferenceGrid() = default;
  ReferenceGrid(int width, int height, int step);
  constexpr int x(int i) const { return i * step < last_x ? i * step : last_x; }
  constexpr int y(int j) const { return j * step < last_y ? j * step : last_y; }
};

/// Reference patches are handled in blocks of 4x4, which share what they load.
inline constexpr int block_side = 4;
inline constexpr int block_references = block_side * block_side;

/// A rectangle of blocks whose groups exist at the same time.
struct Batch {
  int x0 = 0, y0 = 0;  // first block
  int blocks_x = 0, blocks_y = 0;
};

/// Groups of one batch: for each reference patch log2 of the number of patches, and up to
/// `capacity` displacements from the reference patch, packed as group.h says. The reference patch
/// comes first, then rising distances. Block b of the batch holds references 16 b .. 16 b + 15.
struct Groups {
  std::uint32_t* displacements = nullptr;  // [reference][capacity]
  std::uint8_t* log2_count = nullptr;      // [reference]
  int capacity = 16;                       // group_capacity()
};
/// Places in memory for a group's patches: the kernels work on 16 or 32.
constexpr int group_capacity(const PhaseParams& phase) { return phase.group <= 16 ? 16 : 32; }

/// The picture in which patches are matched, as 8-bit samples, and half the squared norm of the
/// patch at each place (`no_patch` where a patch would leave the picture).
struct Guide {
  const std::uint8_t* samples = nullptr;
  const std::int32_t* half_norms = nullptr;
  float scale = 1;  // guide sample = scale * (sample - offset)
  float offset = 0;
};
inline constexpr std::int32_t no_patch = 0x3fffffff;
/// Half the squared distance between patches of a guide up to which match() tells them apart: its
/// scale must be such that tau lies below.
inline constexpr int max_half_distance = 65534;
inline float greatest_scale(float tau) {
  return 0.9999f * std::sqrt(max_half_distance / (0.5f * patch * patch * tau));
}

/// Sums of all groups' estimates in fixed point: integers add up to the same result in any order.
struct Sums {
  unsigned long long* numerator = nullptr;  // signed values, two's complement
  std::uint32_t* denominator = nullptr;     // weights at patch origins; the window comes later
};

inline constexpr int max_planes = 3;
using Planes = std::array<const float*, max_planes>;

// ---- conversion (convert.cu) ----

/// A frame's planes as they came, on the device.
struct RawPlanes {
  SampleType sample = SampleType::u8;
  double full_scale = 255;
  std::array<void*, max_planes> data{};
  std::array<int, max_planes> pitch{};  // bytes
};
enum class Colour { as_is, opponent };

/// Samples of `count` planes from `first` on to floats on the 0..255 scale.
void samples_to_planes(const RawPlanes& raw, int first, int count, Colour colour,
                       const Margins& margins, const std::array<float*, max_planes>& planes,
                       cudaStream_t stream);
/// The way back, rounded to nearest and clipped.
void planes_to_samples(const Planes& planes, int first, int count, Colour colour,
                       const Margins& margins, const RawPlanes& raw, cudaStream_t stream);
/// A picture on the same device, of 8 to 16 bits, to planes of samples (device_picture.cu).
void unpack_picture(const DevicePicture& picture, const FrameFormat& format, const RawPlanes& to,
                    cudaStream_t stream);
/// A plane to match in: an estimate with a share of the noisy plane.
struct MixedPlane {
  const float* estimate = nullptr;
  const float* noisy = nullptr;  // may be null where `share` is 0
  float share = 0;
  constexpr float operator()(int at) const {
    return share == 0 ? estimate[at] : estimate[at] + share * (noisy[at] - estimate[at]);
  }
#ifdef __CUDACC__
  /// Four samples from a multiple of 4 on.
  __device__ float4 quad(int at) const {
    float4 e = *reinterpret_cast<const float4*>(estimate + at);
    if (share == 0) return e;
    const float4 n = *reinterpret_cast<const float4*>(noisy + at);
    e.x += share * (n.x - e.x), e.y += share * (n.y - e.y);
    e.z += share * (n.z - e.z), e.w += share * (n.w - e.w);
    return e;
  }
#endif
};
/// The picture in which chroma is matched (guide.h): weight[0] * first + weight[1] * second, plus,
/// if given, luma averaged over boxes of 2^shift_x by 2^shift_y samples, cut at the right and lower
/// edge.
struct ColourGuide {
  MixedPlane luma;
  Margins luma_margins;
  int shift_x = 0, shift_y = 0;
  MixedPlane chroma[2];
  float weight[2] = {};
};
void mix_guide(const ColourGuide& mix, const Margins& margins, float* plane, cudaStream_t stream);

// ---- what frames are to each other (frame_statistics.cu) ----

/// FrameDifference, as it is counted. `unequal`: blocks with samples that differ in any bit.
struct DifferenceCounts {
  std::uint32_t unequal[max_planes], different[max_planes], lively, shared;
};
/// PredictionCost, as it is counted.
struct PredictionCounts {
  unsigned long long predicted, own;
};
/// `counts`: on the device, replaced.
void count_difference(const RawPlanes& frame, const RawPlanes& before, const FrameFormat& format,
                      const std::array<float, max_planes>& sigma, DifferenceCounts* counts,
                      cudaStream_t stream);
/// The main plane in 8 bits, and in the size in which it is predicted; null: not asked for.
struct MainBytes {
  std::uint8_t *fine = nullptr, *coarse = nullptr;
};
void make_bytes(const RawPlanes& frame, const FrameFormat& format, const MainBytes& to,
                cudaStream_t stream);
/// Of two coarse planes, a block at least in size. `counts`: on the device, replaced.
void count_prediction(const std::uint8_t* plane, const std::uint8_t* earlier, int width, int height,
                      std::uint32_t noise, PredictionCounts* counts, cudaStream_t stream);

// ---- motion (motion.cu) ----

/// From a frame to each of `others`: a vector for each cell of the main plane, whose size is
/// `width` x `height` and whose coarse size is a block at least.
void find_motion(const MainBytes& frame, std::span<const MainBytes> others,
                 std::span<Motion* const> cells, int width, int height, float sigma,
                 cudaStream_t stream);

// ---- sums over patches (boxes.cu) ----

/// Sums to be cleared on the way.
struct ClearedSums {
  int planes = 0;
  std::array<Sums, max_planes> of{};
};
/// The 8-bit guide of a plane, and its norms. `samples` and `half_norms` have the planes' margins,
/// and so have the sums, which are cleared for the phase that begins.
void make_guide(const MixedPlane& plane, const Margins& margins, float scale, float offset,
                std::uint8_t* samples, std::int32_t* half_norms, const ClearedSums& sums,
                cudaStream_t stream);

/// Estimate = sums' quotient; the noisy sample where no patch lies.
void normalise(const Sums& sums, const float* noisy, const Margins& margins,
               const std::array<float, patch>& window, float* estimate, cudaStream_t stream);

// ---- grouping (match.cu) ----

/// Thread blocks of matching that a multiprocessor shall hold, to hide latencies.
inline constexpr int match_blocks = 2;

/// How a match kernel cuts its work to the shared memory of a device; fixed per session.
struct MatchPlan {
  int union_width = 0;   // of the windows of a block's references, rounded up to 8
  int union_height = 0;  // rounded up to 8
  int union_pitch = 0;   // places for a row of it
  int band_rows = 0;     // rows of candidates whose scores exist at a time, multiple of 8
  int score_row = 0;     // words of scores for one row of a window
  int score_pitch = 0;   // words between the tables of two reference patches
  int chunk = 0;         // words that a lane scans at a time
  // Factors that divide: by the number of units of 8 columns, by score_row, by the window.
  std::uint32_t columns_inverse = 0, row_inverse = 0, window_inverse = 0;
  std::size_t shared_bytes = 0;

  MatchPlan() = default;
  MatchPlan(const PhaseParams& phase, std::size_t shared_limit);
  /// `chunks`, `pitch`: what there are kernels for.
  void fit(const PhaseParams& phase, std::size_t shared_limit, std::span<const int> chunks,
           int pitch);
};

void match(const Guide& guide, const Margins& margins, const ReferenceGrid& grid,
           const Batch& batch, const PhaseParams& phase, const MatchPlan& plan,
           const Groups& groups, cudaStream_t stream);

// ---- grouping over frames (match_time.cu) ----

/// How the search of several frames cuts its work: first the reference patches' own, then the
/// others, as many at a time as there is room for their scores.
struct TimePlan {
  MatchPlan own, others;
  int at_a_time = 1;
  std::size_t shared_bytes = 0;

  TimePlan() = default;
  /// `frames`: that are searched beside the own one, at most.
  TimePlan(const PhaseParams& phase, int frames, std::size_t shared_limit);
};

/// A frame that is searched: `offset` frames after that of the reference patches.
struct SearchFrame {
  Guide guide;  // all of one scale and offset
  int offset = 0;
  const Motion* motion = nullptr;  // to this frame, for each cell (motion.h); null: none
};

/// As match(), over frames: the first holds the reference patches, the others follow in the order
/// of group.h. The guides' scale must be such that tau and place_bonus together fit.
void match_over_time(std::span<const SearchFrame> frames, const Margins& margins,
                     const ReferenceGrid& grid, const MotionGrid& motion, const Batch& batch,
                     const PhaseParams& phase, const TimePlan& plan, const Groups& groups,
                     cudaStream_t stream);

// ---- collaborative filtering and aggregation (filter_*.cu) ----

/// The frames that groups have patches of: that `t` after the reference patches' own is at
/// [t + max_temporal].
struct GroupFrames {
  static constexpr int most = 2 * max_temporal + 1;
  bool over_time = false;  // there may be others than the own one
  std::array<bool, most> present{};
  std::array<int, most> distance{};          // elements from the own planes and sums to theirs
  std::array<const Motion*, most> motion{};  // for each cell; null: none
  MotionGrid grid;
};

struct FilterArgs {
  Planes noisy{};
  Planes basic{};  // second phase only
  std::array<Sums, max_planes> sums{};
  std::array<float, max_planes> sigma{};
  int planes = 1;
  Margins margins;
  ReferenceGrid grid;
  Batch batch;
  Groups groups;
  std::array<float, patch> window{};  // aggregation window, one axis; symmetric
  GroupFrames frames;
};

/// What a phase does to coefficients.
struct Strength {
  float value = 0;  // lambda: hard threshold lambda * sigma. mu2: c^2 / (c^2 + mu2 sigma^2)
  float mean_factor =
      1;  // first phase: threshold of the mean over a group, in units of the others'
};
void filter_hard(const FilterArgs& args, const PhaseParams& phase, const Strength& lambda,
                 cudaStream_t stream);
void filter_wiener(const FilterArgs& args, const PhaseParams& phase, const Strength& mu2,
                   cudaStream_t stream);

}  // namespace lull::bm3d
