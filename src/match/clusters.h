#pragma once
// Clustered matching, after Tsai, Steinberger, Pajak and Pulli 2016 (Fast ANN for High-Quality
// Collaborative Filtering, section 3), but with one or several shifted tilings.

// Step 1: each tiling divides the positions of all patches, not only of reference patches, into
// disjoint tiles. All frames have the same tiles.

// Step 2: the matcher splits the patches of each tile into two parts, and splits each part again,
// until a part has at most `leaf` patches. The parts that the matcher does not split again are the
// clusters. Splitting preserves the order of the patches.

// A split begins with 8 evenly spaced seed patches, and with two of these seeds as centres. The
// first seed is the first centre. For the second centre, the matcher adds up the distances of the
// seeds from the first seed, in the order of the seeds. The second centre is the seed at which the
// sum first exceeds half of the total.

// The matcher then improves the two centres with k-means on the 8 seed patches, in at most 5
// rounds.

// The matcher assigns each patch to the nearer centre, or to the first centre if both distances are
// equal. For this comparison, the matcher quantises the difference of the centres to 6 bits and a
// sign.

// If the matcher has assigned all patches of a cluster to one centre, it halves the cluster in the
// order of the patches.

// Step 3: a reference patch belongs to one cluster in each tiling (division into tiles). All
// patches of these clusters are its candidates. In each neighbouring frame, the patch to which the
// motion vector points is also a candidate.

// The matcher orders candidates at equal distance frame by frame, and within a frame row by row.
// For everything else, the matcher follows the rules of group.h.

// Clustered matching uses only integers. For identical 8-bit guides, all backends therefore find
// the same groups.

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

inline constexpr int split_seeds = 8;       // seed patches of a cluster
inline constexpr int max_split_rounds = 5;  // maximum number of rounds of 2-means
/// Maximum depth of splits. In noisy pictures, the average depth is 16. At the maximum depth, the
/// matcher halves a cluster without a search for centres.
inline constexpr int max_split_levels = 40;
inline constexpr int max_tile = 128, max_leaf = 128, max_tilings = 4;
inline constexpr int patch_samples = patch * patch;

/// Parses "TILE:LEAF:TILINGS" or "paper", without range checks. Returns std::nullopt on a syntax
/// error.
[[nodiscard]] std::optional<ClusterParams> parse_clusters(std::string_view text);
/// Formats the parameters as "TILE:LEAF:TILINGS".
[[nodiscard]] std::string text_of(const ClusterParams& params);

/// A division of the patch positions of a picture into square tiles.
struct Tiling {
  int width = 0, height = 0;  // number of patch positions along x and y
  int side = 1;               // side of a tile in patches
  /// Numbers of columns and rows of the first tile that are outside the picture.
  int left = 0, top = 0;

  constexpr Tiling(int picture_width, int picture_height, const ClusterParams& params, int which)
      : width(picture_width - patch + 1), height(picture_height - patch + 1), side(params.tile) {
    // Each tiling (division into tiles) has its own shift along x and y, in units of the side of a
    // tile:
    // - two tilings: (0, 0) and (1/2, 1/2)
    // - three tilings: (0, 0), (1/3, 1/3) and (2/3, 2/3)
    // - four tilings: (0, 0), (1/2, 1/2), (1/2, 0) and (0, 1/2)
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

/// Returns the index of the seed patch that becomes the second centre, or -1 if all `distances`
/// from the first seed are 0.
constexpr int second_centre(const std::array<int, split_seeds>& distances) {
  int total = 0, sum = 0;
  for (const int d : distances) total += d;
  for (int i = 0; i < split_seeds; ++i)
    if (2 * (sum += distances[i]) > total) return i;
  return -1;
}

/// The rule that assigns a patch p to the nearer of two centres:
/// - The first centre is the mean of `a` patches whose sum is s.
/// - The second centre is the mean of `b` patches whose sum is t; a + b is at most 8.
/// - w is b * s - a * t, and m is the midpoint of the centres.
/// - The second centre is nearer if the dot product p.w is less than m.w.
constexpr int split_difference(int s, int a, int t, int b) { return b * s - a * t; }
constexpr int split_midpoint(int s, int a, int t, int b) { return b * s + a * t; }  // 2 * a * b * m
/// Returns the right shift that makes the differences of two centres fit into 6 bits and a sign.
/// `greatest` is the largest magnitude of a difference before the shift.
constexpr int split_shift(int greatest) {
  int shift = 0;
  while (((greatest + (1 << shift) / 2) >> shift) > 63) ++shift;
  return shift;
}
constexpr int split_weight(int difference, int shift) {
  const int size = ((difference < 0 ? -difference : difference) + (1 << shift) / 2) >> shift;
  return difference < 0 ? -size : size;
}
/// Returns the bound m.w, rounded up, where m is the midpoint of two centres and w the weights
/// (split_weight()). A patch p belongs to the second centre if the dot product p.w is below this
/// bound.
/// @param middle  the product 2 * a * b * (m.w)
/// @param a, b  numbers of patches whose means are the first and the second centre
constexpr std::int32_t split_bound(int middle, int a, int b) {
  const int parts = 2 * a * b;
  return middle > 0 ? (middle + parts - 1) / parts : -(-middle / parts);
}

/// The hyperplane that divides a cluster into two parts.
struct Split {
  std::array<std::int8_t, patch_samples> weight{};
  /// The second part of a split contains the patches whose dot product with `weight` is below
  /// `bound`.
  std::int32_t bound = 0;
};

/// Returns the position of seed patch `index` in a cluster of `count` patches.
constexpr int seed_index(int index, int count) { return index * count / split_seeds; }

/// The samples of the 8 seed patches, one patch after the other. The order of the samples within a
/// patch is arbitrary, but is the same in all patches.
using SeedSamples = std::array<std::uint8_t, split_seeds * patch_samples>;
/// Finds the split of a cluster from its seed patches. Returns std::nullopt if all seed patches are
/// equal.
[[nodiscard]] std::optional<Split> find_split(const SeedSamples& samples);

/// Converts samples of the guide to 8 bits.
struct GuideBytes {
  float low = 0, scale = 1;
  explicit GuideBytes(const GuideRange& range)
      : low(range.low), scale(255 / (range.high - range.low)) {}
  std::uint8_t operator()(float sample) const {
    float v = (sample - low) * scale;
    v = v > 0 ? v : 0;  // also maps NaN to 0
    v = v < 255 ? v : 255;
    // Adding and subtracting 2^23 rounds a float to the nearest integer, ties to even.
    return static_cast<std::uint8_t>((v + 8388608.0f) - 8388608.0f);
  }
};

/// The match threshold and the distance biases. Their unit is the sum of squared differences of two
/// patches in the 8-bit guide.
struct ClusterRules {
  std::int32_t limit = 0;        // maximum distance; 2^22 accepts every patch
  std::int32_t motion_bias = 0;  // subtracted from the distance of the predicted patch
  bool biased = false;
  std::array<std::int32_t, correlation_lags * correlation_lags> bias{};

  explicit ClusterRules(const MatchParams& params);
  /// Adds the bias for coloured noise to `distance`, the distance of a patch in the reference
  /// frame. (`dx`, `dy`) is the displacement of this patch from the reference patch.
  constexpr std::int32_t with_bias(std::int32_t distance, int dx, int dy) const {
    if (!biased || !within_lags(dx, dy)) return distance;
    const std::int32_t sum = distance + bias[lag_index(dx, dy)];
    return sum > 0 ? sum : 0;
  }
  constexpr std::int32_t with_motion_bias(std::int32_t distance) const {
    return distance > motion_bias ? distance - motion_bias : 0;
  }
};

/// The indices of the patches of several frames. The patch index increases from frame to frame,
/// within a frame from row to row, and within a row from left to right.
struct PatchNumbers {
  int row = 16;  // difference of the indices of a patch and the patch one row below
  // Difference of the indices of two patches at the same position in consecutive frames.
  std::uint32_t frame = 1;
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
  // Returns the difference of the indices of a patch and the patch one row below. The difference is
  // an odd multiple of 16, so that the rows of a tile map to different cache sets.
  static constexpr int row_of(int width) {
    const int sixteens = (width + 15) / 16 | 1, least = 2 * max_tile / 16 + 1;
    return 16 * (sixteens > least ? sixteens : least);
  }
  // The addition of 0.5 to the dividend ensures that a rounding error never changes the integer
  // part of the quotient.
  static constexpr int quotient(std::uint32_t number, double inverse) {
    return static_cast<int>((number + 0.5) * inverse);
  }
  double of_row = 1.0 / 16, of_frame = 1;
};

/// Checks that 32-bit integers can number all patches of `frames` frames of width x height samples,
/// and all members of their clusters in all tilings. Clustering on the host calls this function.
/// @throws InvalidArgument  there are too many patches
void require_numbered(int width, int height, int frames, const ClusterParams& params);

inline constexpr int scratch_padding = 8;

/// Interface through which the clustering code on the host reads patches.
class PatchSpace {
 public:
  virtual ~PatchSpace() = default;
  /// Copies the samples of a patch, in an order that the implementation chooses.
  virtual void samples(std::uint32_t number, std::uint8_t* to) const = 0;
  /// Returns the split of the cluster with the members `patches`. The default implementation calls
  /// find_split().
  virtual std::optional<Split> split(std::span<const std::uint32_t> patches) const;
  /// Moves the patches of the second part behind the patches of the first part, in stable order.
  /// Returns the size of the first part. `scratch` has `scratch_padding` more elements than
  /// `patches`.
  virtual std::size_t partition(std::span<std::uint32_t> patches, const Split& split,
                                std::uint32_t* scratch) const = 0;
};

/// The clusters of a picture on the host.
class Clusters {
 public:
  /// Prepares the tilings. `frames` is the number of frames, and `width` x `height` is the size of
  /// each frame in samples.
  void plan(int width, int height, int frames, const ClusterParams& params);
  /// Returns the total number of tiles of all tilings.
  int tiles() const { return static_cast<int>(offsets_.size()); }
  /// Makes the clusters of one tile. Threads may process different tiles at the same time.
  void make(int tile, const PatchSpace& space, std::vector<std::uint32_t>& scratch);

  /// Returns the members of the cluster that contains the patch with the index `number`, in
  /// ascending order.
  std::span<const std::uint32_t> leaf(int tiling, std::uint32_t number) const {
    const std::uint32_t begin = leaf_of(tiling)[number];
    return {members_.data() + begin, counts_[begin]};
  }
  /// Returns the cluster identifiers of all patches of a tiling, in the order of the patch indices.
  const std::uint32_t* leaf_of(int tiling) const {
    return begins_.data() + static_cast<std::size_t>(tiling) * frames_ * numbers_.frame;
  }
  /// Returns the members of all clusters of a tiling, cluster by cluster. 8 elements beyond the end
  /// are readable.
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
  std::vector<int> first_tile_;         // index of the first tile of each tiling
  std::vector<std::size_t> offsets_;    // index of the first member of each tile
  std::vector<std::uint32_t> members_;  // patch indices, cluster by cluster
  std::vector<std::uint8_t> counts_;    // cluster sizes, stored at the index of the first member
  /// In each tiling (division into tiles), a patch belongs to one cluster. For each tiling and each
  /// patch, this array contains the index in `members_` of the first member of this cluster.
  std::vector<std::uint32_t> begins_;
};

}  // namespace lull
