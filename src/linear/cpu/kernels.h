#pragma once
// Data and kernels of the `cpu` backend of linear combinations. Highway compiles match.cpp and
// combine.cpp for several instruction sets, and selects one at run time.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/round_up.h"
#include "linear/engine.h"
#include "linear/groups.h"
#include "match/cpu/kernels.h"

namespace lull::linear::cpu {

using lull::cpu::Buffer;

// ---- matching ------------------------------------------------------------------------------

/// The quantised guide in pairs of rows. The element at (x, y) contains sample (x, y) in the low 16
/// bits, and sample (x, y + 1) in the high 16 bits. Samples outside the picture, and samples in
/// marked holes, have the value `outside`, so that distances exceed max_inside_distance.
struct PairedGuide {
  const std::int32_t* origin = nullptr;  // element (0, 0)
  std::ptrdiff_t stride = 0;

  const std::int32_t* at(int x, int y) const { return origin + y * stride + x; }
};
inline constexpr int outside = 4000;
inline constexpr std::uint32_t max_inside_distance =
    max_patch_samples * guide_levels * guide_levels;
static_assert((outside - guide_levels) * (outside - guide_levels) > max_inside_distance);
static_assert(0xffffffffu / max_patch_samples > outside * outside);
/// Width, in samples, of the margin around the guide. All candidates outside the picture are in
/// this margin, because motion vectors never move the centre of a bundle (8x4 reference patches)
/// out of the picture.
inline constexpr int guide_border = 64;
static_assert(guide_border > (motion_columns * 6 + max_side) / 2 + 21);

/// Maximum width, in samples, of the area of the reference patches in one call of the matcher.
inline constexpr int row_width = 96;
/// Number of elements that the matcher may read beyond the end of a row.
inline constexpr int guide_padding = row_width + 64 + guide_border;

/// Key of a candidate that cannot become a member of the group.
inline constexpr std::uint32_t no_key = 0xffffffffu;

/// A frame in which the matcher searches for patches that are similar to the reference patches of a
/// row.
struct SearchedGuide {
  PairedGuide guide, partner;  // partner: for the second frame of two-frame patches
  Motion centre;               // displacement of the window's centre
  int window = 0;
  int first_index = 1;  // index of the first candidate
};

/// A row of `count` reference patches with the step `step`, from (x, y) on. The row covers at most
/// row_width samples.
struct ReferenceRow {
  int x = 0, y = 0, count = 0;
  GroupSizes sizes;
  int halves = 1;
  std::uint32_t bonus = 0;                // subtracted from distances in the windows' centres
  PairedGuide own, own_partner;           // the guides of the reference patches, without marks
  std::span<const SearchedGuide> guides;  // the guides of the candidates
  int candidates = 0;                     // number of candidates in all frames

  /// Returns the stride of the keys of successive reference patches, a multiple of the number of
  /// lanes.
  std::size_t key_stride() const { return round_up(candidates, 16); }
};

/// Computes the keys of all candidates: keys[r * key_stride() + i] is the key of candidate i + 1 of
/// reference patch r. The key is no_key for the reference patch itself, for candidates outside the
/// picture, and for frames that are not in row.guides.
void candidate_keys(const ReferenceRow& row, std::uint32_t* keys);

/// Makes the group of a reference patch. Writes the reference patch and the candidates with the
/// smallest keys to `members`, and returns the number of members.
/// @param count  number of candidates, a multiple of 16
/// @param limit  a guess of the largest key in the group; on return, the guess for the next group
/// @param scratch  memory for count + 16 elements
int select_members(const std::uint32_t* keys, std::size_t count, std::span<std::uint16_t> members,
                   std::uint32_t& limit, std::uint32_t* scratch);

// ---- combination ---------------------------------------------------------------------------

/// The kernels pad the members of a group, and the samples of a patch, to a multiple of this
/// number.
inline constexpr int padding = 16;
inline constexpr int max_samples = (max_patch_samples + padding - 1) / padding * padding;

/// Scratch memory of a thread.
struct Workspace {
  Buffer<float> rows;       // [member][sample]: patches that determine Theta
  Buffer<float> columns;    // [sample][member]: `rows` minus the mean patch
  Buffer<float> matrix;     // [member][member]
  Buffer<float> product;    // [member][member]: covariance of the noise, only if it is coloured
  Buffer<float> combined;   // [member][sample]: the patches that are combined
  Buffer<float> estimates;  // [member][sample]
};

/// A picture in memory. `origin` points to sample (0, 0).
struct Picture {
  const float* origin = nullptr;
  std::ptrdiff_t stride = 0;
};

/// The sums of a tile. Pointers refer to sample (0, 0) of the picture. The kernel may write up to
/// 16 elements beyond the end of each row of x and z.
struct TileSums {
  float *x = nullptr, *z = nullptr;  // sums of weighted estimates; z is null if there is no next z
  float* weights = nullptr;          // weights of estimates, at the origins of their patches
  std::ptrdiff_t stride = 0;
};

/// The pictures of a frame (linear/params.h), and its aggregation sums. x is the estimate, y the
/// noisy picture, and z a partly denoised picture.
struct FrameStep {
  Picture x, y, z;
  TileSums tile;
};

/// The plane that a step processes, and the parameters of the step.
struct PlaneStep {
  Step step;
  const PlaneNoise* noise = nullptr;
  int side = 0;
};

/// The members of a group, as offsets from the reference patch at (left, top): in the first frame
/// (`first`) and in the second frame (`second`) of two-frame patches.
struct GroupPlaces {
  int left = 0, top = 0;
  std::span<const Place> first, second;  // second: empty if patches lie in one frame
};

/// Combines the patches of a group and adds the estimates to the tiles of their frames.
void combine_group(const PlaneStep& plane, const GroupPlaces& group,
                   std::span<const FrameStep> frames, Workspace& workspace);

}  // namespace lull::linear::cpu
