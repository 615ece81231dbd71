#pragma once
// Clusters of patches on a GPU (match/clusters.h), as functions that launch kernels. Everything is
// asynchronous on `stream`; nothing here allocates or waits. How they work stands at the head of
// each .cu file.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/device_planes.h"
#include "match/clusters.h"
#include "match/cuda/kernels.h"
#include "match/grid.h"

namespace lull {

/// A patch of one of several frames: the frame's place in their list, from this bit on, above its
/// place in the plane (Margins::at). They rise frame by frame and row by row.
inline constexpr int patch_frame_bit = 27;
static_assert(max_frames <= 1 << (32 - patch_frame_bit));
inline constexpr std::size_t most_patch_places = std::size_t{1} << patch_frame_bit;

/// The frames whose patches are clustered, the reference patches' own first. All guides have one
/// scale and offset.
struct ClusterFrames {
  int count = 0;
  const std::uint8_t* guide[max_frames] = {};
  int offset[max_frames] = {};            // of the frame
  const Motion* motion[max_frames] = {};  // as of SearchView
};

/// Memory for the clusters of one plane. For each tiling `members`, leaf by leaf, and for each
/// place where its leaf begins among them; how many a leaf has stands there too.
struct ClusterMemory {
  std::uint32_t* members = nullptr;  // [tilings][members_of]
  std::uint32_t* begins = nullptr;   // [tilings][frames][places of the plane with its margins]
  std::uint8_t* counts = nullptr;    // [tilings][members_of]
  std::uint32_t* scratch = nullptr;  // [members_of]
  uint2* nodes = nullptr;            // [2][nodes_of]
};
/// Patches of all frames.
inline std::size_t members_of(const Margins& margins, int frames) {
  return static_cast<std::size_t>(margins.width - patch + 1) * (margins.height - patch + 1) *
         frames;
}
/// Clusters that are split at a time, at most.
inline std::size_t nodes_of(std::size_t members, int leaf) { return members / (leaf + 1) + 1; }

/// The clusters of all tilings (clusters.cu).
void make_clusters(const ClusterFrames& frames, const Margins& margins, const ClusterParams& params,
                   const ClusterMemory& memory, cudaStream_t stream);
/// The groups of a batch, from its clusters (cluster_query.cu).
void match_in_clusters(const ClusterFrames& frames, const Margins& margins,
                       const ReferenceGrid& grid, const MotionGrid& motion, const Batch& batch,
                       const MatchParams& params, const ClusterMemory& memory, const Groups& groups,
                       cudaStream_t stream);

}  // namespace lull
