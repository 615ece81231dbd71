#pragma once
// Clustered matching, after Tsai, Steinberger, Pajak and Pulli 2016 (Fast ANN for High-Quality
// Collaborative Filtering, section 3), with tilings that are shifted against each other:
// 1. The places of patches fall into tiles, which do not overlap; over time a tile takes the same
//    place in all frames. Every patch is a candidate.
// 2. The patches of a tile, frame by frame and row by row, are split in two until at most `leaf`
//    are left: of 8 of them, evenly spaced, the first is one centre, and the other is the first at
//    which the distances from it add up to more than half of their sum. 2-means of the 8, at most 5
//    rounds; then each patch goes to the nearer centre, to the first where both are as near. (Their
//    difference is rounded to 6 bits and a sign, so that it may be multiplied byte by byte.) The
//    order is kept. Where nothing separates them, the first half and the second are the parts.
// 3. Candidates of a reference patch are those of its clusters in all tilings, each once; over time
//    also the patch of each other frame where motion predicts it. What they are ranked by, and how
//    many count, stands in group.h: their place is that of all tiles, frame by frame, row by row.
//
// All of it is in integers: patches are those of a guide of 8 bits, centres are sums and counts.
// So every backend finds the same groups in the same guide.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.h"
#include "match/match_params.h"
#include "match/patch_shape.h"

namespace lull {

inline constexpr int cut_samples = 8;  // of a cluster, by which it is split
inline constexpr int cut_rounds = 5;   // of 2-means at most
/// Splits from a tile down; beyond, clusters are halved. Noisy pictures need 16 on average.
inline constexpr int cut_levels = 40;
inline constexpr int max_tile = 128, max_leaf = 128, max_tilings = 4;
inline constexpr int patch_samples = patch * patch;

/// TILE:LEAF:TILINGS, or "paper"; empty where it is none. Ranges are not checked.
[[nodiscard]] std::optional<ClusterParams> parse_clusters(std::string_view text);
/// TILE:LEAF:TILINGS
[[nodiscard]] std::string text_of(const ClusterParams& params);

/// One cut of the places of a picture into tiles.
struct Tiling {
  int width = 0, height = 0;  // places of patches
  int side = 1;               // of a tile
  int left = 0, top = 0;      // of the first tile: so many places lie outside

  constexpr Tiling(int picture_width, int picture_height, const ClusterParams& params, int which)
      : width(picture_width - patch + 1), height(picture_height - patch + 1), side(params.tile) {
    // By thirds along the diagonal, or by halves: the diagonal first.
    const bool thirds = params.tilings == 3;
    left = thirds ? which * side / 3 : which == 0 || which == 3 ? 0 : side / 2;
    top = thirds ? which * side / 3 : which == 0 || which == 2 ? 0 : side / 2;
  }
  constexpr int columns() const { return (width + left + side - 1) / side; }
  constexpr int rows() const { return (height + top + side - 1) / side; }

  struct Tile {
    int x = 0, y = 0, right = 0, bottom = 0;
    constexpr int places() const { return (right - x) * (bottom - y); }
  };
  constexpr Tile tile(int index) const {
    const int x = index % columns() * side - left, y = index / columns() * side - top;
    return {x > 0 ? x : 0, y > 0 ? y : 0, x + side < width ? x + side : width,
            y + side < height ? y + side : height};
  }
};

/// Which of the 8 is the second centre, by their distances (not squared, rounded down) from the
/// first; -1: all are alike.
constexpr int second_centre(const std::array<int, cut_samples>& distances) {
  int total = 0, sum = 0;
  for (const int d : distances) total += d;
  for (int i = 0; i < cut_samples; ++i)
    if (2 * (sum += distances[i]) > total) return i;
  return -1;
}

/// Of two centres, a patches with the sum s and b with the sum t, the second is nearer to p where p
/// is on its side of the plane that is halfway between them and square to their difference,
///     p.w < m.w,  w = b s - a t,  m = (b s + a t) / 2ab.
/// With w brought to 6 bits and a sign: where p.w is below a bound. a + b is 8 at most.
constexpr int cut_difference(int s, int a, int t, int b) { return b * s - a * t; }
constexpr int cut_middle(int s, int a, int t, int b) { return b * s + a * t; }  // times 2ab
/// How many bits differences up to this one have too many.
constexpr int cut_shift(int greatest) {
  int shift = 0;
  while (((greatest + (1 << shift) / 2) >> shift) > 63) ++shift;
  return shift;
}
constexpr int cut_weight(int difference, int shift) {
  const int size = ((difference < 0 ? -difference : difference) + (1 << shift) / 2) >> shift;
  return difference < 0 ? -size : size;
}
/// `middle`: 2ab m.w
constexpr std::int32_t cut_bound(int middle, int a, int b) {
  const int parts = 2 * a * b;
  return middle > 0 ? (middle + parts - 1) / parts : -(-middle / parts);
}

/// How a cluster is split.
struct Cut {
  std::array<std::int8_t, patch_samples> weight{};
  std::int32_t bound = 0;  // samples . weight below it: the second part
};

/// Places of the 8 patches in a cluster of `count`.
constexpr int cut_sample(int index, int count) { return index * count / cut_samples; }

/// The samples of the 8, one patch after the other, in any order that is the same for all. Nothing
/// where all are alike.
using CutSamples = std::array<std::uint8_t, cut_samples * patch_samples>;
[[nodiscard]] std::optional<Cut> find_cut(const CutSamples& samples);

/// The 8-bit guide.
struct GuideBytes {
  float low = 0, scale = 1;
  explicit GuideBytes(const GuideRange& range)
      : low(range.low), scale(255 / (range.high - range.low)) {}
  std::uint8_t operator()(float sample) const {
    float v = (sample - low) * scale;
    v = v > 0 ? v : 0;  // also where it is not a number
    v = v < 255 ? v : 255;
    return static_cast<std::uint8_t>((v + 8388608.0f) - 8388608.0f);  // to nearest, ties to even
  }
};

/// What is made of squared differences, summed over a patch in the guide's units.
struct ClusterRules {
  std::int32_t limit = 0;  // at most that far; 2^22 holds all
  std::int32_t bonus = 0;  // taken off where motion predicts the patch
  bool biased = false;
  std::array<std::int32_t, correlation_lags * correlation_lags> bias{};

  explicit ClusterRules(const MatchParams& params);
  /// `dx`, `dy` from the reference patch in its own frame.
  constexpr std::int32_t with_bias(std::int32_t distance, int dx, int dy) const {
    if (!biased || !within_lags(dx, dy)) return distance;
    const std::int32_t sum = distance + bias[lag_index(dx, dy)];
    return sum > 0 ? sum : 0;
  }
  constexpr std::int32_t with_bonus(std::int32_t distance) const {
    return distance > bonus ? distance - bonus : 0;
  }
};

/// Patches of several frames as numbers that rise frame by frame and row by row.
struct PatchNumbers {
  int row = 16;             // from row to row
  std::uint32_t frame = 1;  // from frame to frame
  PatchNumbers() = default;
  constexpr PatchNumbers(int width, int height)
      : row(row_of(width)),
        frame(static_cast<std::uint32_t>(row) * height),
        of_row(1.0 / row),
        of_frame(1.0 / frame) {}
  constexpr std::uint32_t of(int index, int x, int y) const {
    return index * frame + static_cast<std::uint32_t>(y * row + x);
  }
  struct Place {
    int index, x, y;
  };
  constexpr Place place(std::uint32_t number) const {
    const int index = number < frame ? 0 : quotient(number, of_frame);
    const std::uint32_t in_frame = number - static_cast<std::uint32_t>(index) * frame;
    const int y = quotient(in_frame, of_row);
    return {index, static_cast<int>(in_frame) - y * row, y};
  }

 private:
  // An odd multiple of 16, so that the rows of a tile do not fall into the same places of caches,
  // and more than two tiles.
  static constexpr int row_of(int width) {
    const int sixteens = (width + 15) / 16 | 1, least = 2 * max_tile / 16 + 1;
    return 16 * (sixteens > least ? sixteens : least);
  }
  // Half of one keeps quotients away from whole numbers by more than they are rounded.
  static constexpr int quotient(std::uint32_t number, double inverse) {
    return static_cast<int>((number + 0.5) * inverse);
  }
  double of_row = 1.0 / 16, of_frame = 1;
};

inline constexpr int scratch_padding = 8;

/// What patches are to the host's clustering.
class PatchSpace {
 public:
  virtual ~PatchSpace() = default;
  /// Its samples, in an order of its own.
  virtual void samples(std::uint32_t number, std::uint8_t* to) const = 0;
  /// How to cut a cluster of these patches: find_cut() of 8 of them.
  virtual std::optional<Cut> cut(std::span<const std::uint32_t> patches) const;
  /// Moves the patches of the second part behind the others, both in order, and gives how many
  /// those are. `scratch` has scratch_padding more places than there are patches.
  virtual std::size_t divide(std::span<std::uint32_t> patches, const Cut& cut,
                             std::uint32_t* scratch) const = 0;
};

/// The clusters of a picture on the host.
class Clusters {
 public:
  /// For `frames` frames of this size.
  void plan(int width, int height, int frames, const ClusterParams& params);
  /// Of all tilings.
  int tiles() const { return static_cast<int>(offsets_.size()); }
  /// Makes those of a tile. From several threads at once, a tile each.
  void make(int tile, const PatchSpace& space, std::vector<std::uint32_t>& scratch);

  /// The patches of the cluster that one belongs to, in order.
  std::span<const std::uint32_t> leaf(int tiling, std::uint32_t number) const {
    const std::uint32_t begin = leaf_of(tiling)[number];
    return {members_.data() + begin, counts_[begin]};
  }
  /// What patches of one cluster of a tiling have in common, by their numbers.
  const std::uint32_t* leaf_of(int tiling) const {
    return begins_.data() + static_cast<std::size_t>(tiling) * frames_ * numbers_.frame;
  }
  /// The members of all clusters of a tiling, one cluster behind the other; 8 more can be read.
  std::span<const std::uint32_t> members(int tiling) const {
    const std::size_t count = counts_.size() / params_.tilings;
    return {members_.data() + tiling * count, count};
  }
  int tilings() const { return params_.tilings; }
  const PatchNumbers& numbers() const { return numbers_; }

 private:
  std::size_t list(const Tiling::Tile& tile, std::uint32_t* to) const;
  void keep(int tiling, std::size_t begin, std::size_t count);

  ClusterParams params_;
  PatchNumbers numbers_;
  int frames_ = 1;
  std::vector<Tiling> tilings_;
  std::vector<int> first_tile_;         // of each tiling
  std::vector<std::size_t> offsets_;    // of each tile's members
  std::vector<std::uint32_t> members_;  // leaf by leaf
  std::vector<std::uint8_t> counts_;    // where a leaf begins, how many it has
  std::vector<std::uint32_t> begins_;   // [tiling][number]: where the patch's leaf begins
};

}  // namespace lull
