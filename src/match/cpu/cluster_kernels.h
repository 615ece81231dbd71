#pragma once
// What clustered matching on the CPU is made of, compiled for every instruction set;
// cluster_matcher.cpp runs it.
//   cluster_cuts.cpp      how clusters are split
//   cluster_nearest.cpp   candidates of a reference patch, and the nearest of them

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "match/clusters.h"
#include "match/group.h"
#include "time/frames.h"

namespace lull::cpu {

/// The patches of all frames, each in two pieces of memory: at a place's number (PatchNumbers)
/// stand the 4 samples from there downwards, at the next one those of the next column.
struct PatchStrips {
  const std::uint8_t* columns = nullptr;  // [number][4]
  std::size_t below = 0;                  // from a piece to the one 4 rows below
  const std::uint8_t* upper(std::uint32_t number) const {
    return columns + std::size_t{number} * (patch / 2);
  }
  const std::uint8_t* lower(std::uint32_t number) const { return upper(number) + below; }
};
/// The strips of a row out of 4 rows of samples; `count` is a multiple of 16.
void fill_strips(const std::uint8_t* const (&rows)[4], int count, std::uint8_t* to);

// ---- clusters ------------------------------------------------------------------------------

/// PatchSpace::cut() and PatchSpace::divide(); samples in the order in which they stand in memory.
std::optional<Cut> cut_patches(const PatchStrips& strips, std::span<const std::uint32_t> patches);
std::size_t divide_patches(const PatchStrips& strips, std::span<std::uint32_t> patches,
                           const Cut& cut, std::uint32_t* scratch);

// ---- candidates ----------------------------------------------------------------------------

/// Candidates of one reference patch: leaves of 4 tilings, and one of each other frame.
inline constexpr int max_candidates = max_tilings * max_leaf + max_frames;
/// Arrays of them are that long, so that whole vectors can be read and written.
inline constexpr int candidate_places = max_candidates + 64;
/// As far beyond the members of a cluster can be read.
inline constexpr int member_padding = 8;

/// A reference patch's cluster in one tiling.
struct LeafView {
  const std::uint32_t* members = nullptr;
  int count = 0;
  std::uint32_t name = 0;  // the same for all of its members
  /// What the names of the members' clusters are in the tilings before.
  std::array<const std::uint32_t*, max_tilings - 1> before{};
};
/// The patches of the clusters in all tilings but for `own`, each once. Gives how many.
int list_candidates(std::span<const LeafView> leaves, std::uint32_t own, std::uint32_t* candidates);

/// Squared differences of the patches and the one called `own`, summed. `patches` are padded with
/// any patch, to 8 more.
void patch_distances(const PatchStrips& strips, std::uint32_t own, const std::uint32_t* patches,
                     int count, std::int32_t* distances);

struct Nearest {
  int wanted;          // at most, up to max_group - 1
  std::int32_t limit;  // of distances
  int count = 0;
  std::array<std::uint32_t, max_group> patches;
};
/// The nearest of `count` different patches, by distance and number. Both arrays have
/// candidate_places.
void find_nearest(const std::uint32_t* patches, std::int32_t* distances, int count,
                  Nearest& nearest);

/// Displacements of patches of `own`'s frame, packed. `row`: PatchNumbers::row. Up to 8 more than
/// `count` are read and written.
void pack_displacements(std::uint32_t own, int row, const std::uint32_t* patches, int count,
                        std::uint32_t* packed);

}  // namespace lull::cpu
