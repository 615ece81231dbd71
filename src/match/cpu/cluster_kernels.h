#pragma once
// CPU kernels of clustered matching, compiled for every instruction set. cluster_splits.cpp splits
// clusters. cluster_nearest.cpp selects the nearest candidates.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "match/clusters.h"
#include "match/group.h"
#include "time/frames.h"

namespace lull::cpu {

/// The samples of all frames, in strips of 4 rows. In memory, the upper 4 rows of each patch are
/// contiguous, and so are the lower 4 rows. For each patch index, `columns` contains the 4 samples
/// of the first column of the patch's upper rows.
struct PatchStrips {
  const std::uint8_t* columns = nullptr;  // [patch index][4]
  std::size_t below = 0;  // distance in memory between the upper and the lower piece of a patch
  const std::uint8_t* upper(std::uint32_t number) const {
    return columns + std::size_t{number} * (patch / 2);
  }
  const std::uint8_t* lower(std::uint32_t number) const { return upper(number) + below; }
};
/// Fills one row of strips (PatchStrips) from 4 rows of samples. `count`, the number of positions
/// in the row, is a multiple of 16.
void fill_strips(const std::uint8_t* const (&rows)[4], int count, std::uint8_t* to);

// ---- clusters ------------------------------------------------------------------------------

/// Vectorised versions of PatchSpace::split() and PatchSpace::partition(). The samples of a patch
/// are in address order.
std::optional<Split> split_patches(const PatchStrips& strips,
                                   std::span<const std::uint32_t> patches);
std::size_t partition_patches(const PatchStrips& strips, std::span<std::uint32_t> patches,
                              const Split& split, std::uint32_t* scratch);

// ---- candidates ----------------------------------------------------------------------------

/// Maximum number of candidate patches: up to `max_leaf` patches of one cluster in each of 4
/// tilings (divisions of the picture into tiles), and one patch in each neighbouring frame.
inline constexpr int max_candidates = max_tilings * max_leaf + max_frames;
/// Size of an array of candidates, with padding for vector access.
inline constexpr int candidate_places = max_candidates + 64;
/// Number of readable elements behind the last member of a cluster.
inline constexpr int member_padding = 8;

/// The cluster of a reference patch in one tiling.
struct LeafView {
  const std::uint32_t* members = nullptr;
  int count = 0;
  std::uint32_t leaf_id = 0;  // identifier of the cluster
  /// Each patch also belongs to one cluster in each preceding tiling (division of the picture into
  /// tiles). For the preceding tiling t, earlier[t][i] is the identifier of the cluster to which
  /// members[i] belongs.
  std::array<const std::uint32_t*, max_tilings - 1> earlier{};
};
/// Lists the patches of all clusters of the reference patch `own`, without duplicates and without
/// `own` itself. Returns the number of listed patches.
int list_candidates(std::span<const LeafView> leaves, std::uint32_t own, std::uint32_t* candidates);

/// Computes the sum of squared differences between the reference patch `own` and each element of
/// `patches`. For vector loads, `patches` has 8 valid elements beyond `count`.
void patch_distances(const PatchStrips& strips, std::uint32_t own, const std::uint32_t* patches,
                     int count, std::int32_t* distances);

struct Nearest {
  int wanted;          // maximum number of candidates to select, up to max_group - 1
  std::int32_t limit;  // maximum distance
  int count = 0;
  std::array<std::uint32_t, max_group> patches;
};
/// Selects the nearest of `count` patches, which must all differ. If two patches have equal
/// distances, the patch with the smaller index counts as nearer. The arrays have `candidate_places`
/// elements.
void find_nearest(const std::uint32_t* patches, std::int32_t* distances, int count,
                  Nearest& nearest);

/// Packs the displacements from patch `own` to `count` patches of the same frame. `row` is
/// PatchNumbers::row. The arrays have `count` elements, rounded up to a multiple of 8.
void pack_displacements(std::uint32_t own, int row, const std::uint32_t* patches, int count,
                        std::uint32_t* packed);

}  // namespace lull::cpu
