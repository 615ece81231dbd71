#pragma once
// What clustered matching on the CPU is made of (cluster_kernels.cpp, compiled for every
// instruction set; cluster_matcher.cpp runs it).

#include <cstddef>
#include <cstdint>
#include <span>

#include "match/clusters.h"
#include "match/group.h"
#include "time/frames.h"

namespace lull::cpu {

/// The patches of all frames, each in one piece: at a patch's number (PatchNumbers) stand the 8
/// samples of its first column, at the next one those of the second, and so on.
struct PatchStrips {
  const std::uint8_t* columns = nullptr;  // [number][8]
  const std::uint8_t* patch_at(std::uint32_t number) const {
    return columns + std::size_t{number} * patch;
  }
};

/// PatchSpace::divide(); weights in the order in which samples stand in memory.
std::size_t divide_patches(const PatchStrips& strips, std::span<std::uint32_t> patches,
                           const Cut& cut, std::uint32_t* scratch);

/// Candidates of one reference patch: leaves of 4 tilings, and one of each other frame.
inline constexpr int max_candidates = max_tilings * max_leaf + max_frames;
/// Arrays of them are that long, so that whole vectors can be read and written.
inline constexpr int candidate_places = max_candidates + 64;

/// Squared differences of the patches and the one called `own`, summed.
void patch_distances(const PatchStrips& strips, std::uint32_t own, const std::uint32_t* patches,
                     int count, std::int32_t* distances);

struct Nearest {
  std::uint32_t own;    // not among them
  int wanted;           // at most, up to max_group - 1
  std::int32_t limit;   // of distances
  std::int32_t likely;  // up to where the wanted ones were last time; is set
  int count = 0;
  std::uint32_t patches[max_group];
};
/// The nearest of `count` different patches, by distance and number. Both arrays have
/// candidate_places.
void find_nearest(const std::uint32_t* patches, std::int32_t* distances, int count,
                  Nearest& nearest);

}  // namespace lull::cpu
