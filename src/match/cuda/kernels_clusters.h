#pragma once
// Launches of the kernels of clustered matching (match/clusters.h) on `stream`. The functions
// neither allocate memory nor wait.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/device_planes.h"
#include "match/clusters.h"
#include "match/cuda/kernels.h"
#include "match/cuda/patch_ids.h"
#include "match/grid.h"

namespace lull {

/// The frames whose patches form the clusters. The reference frame is the first of them. All guides
/// have the same scale and offset.
struct ClusterFrames {
  int count = 0;
  const std::uint8_t* guide[max_frames] = {};
  int offset[max_frames] = {};            // offset of each frame
  const Motion* motion[max_frames] = {};  // motion vectors, as SearchView::motion
};

/// The clusters of one plane. `members` lists the patches of each tiling, cluster by cluster.
/// `begins` contains the offset in `members` of each patch's cluster. counts[i] is the size of the
/// cluster that begins at members[i].
struct ClusterMemory {
  std::uint32_t* members = nullptr;  // [tilings][members_of]
  std::uint32_t* begins = nullptr;   // [tiling][frame][position in the plane with its margins]
  std::uint8_t* counts = nullptr;    // [tilings][members_of]
  std::uint32_t* scratch = nullptr;  // [members_of]
  uint2* nodes = nullptr;            // [2][nodes_of]
};
/// Returns the number of patches in all frames.
inline std::size_t members_of(const Margins& margins, int frames) {
  return static_cast<std::size_t>(margins.width - patch + 1) * (margins.height - patch + 1) *
         frames;
}
/// Returns an upper bound for the number of clusters with more than `leaf` patches, which the
/// matcher must split. `members` is the number of patches in all clusters.
inline std::size_t nodes_of(std::size_t members, int leaf) { return members / (leaf + 1) + 1; }

/// Makes the clusters of all tilings (clusters.cu).
void make_clusters(const ClusterFrames& frames, const Margins& margins, const ClusterParams& params,
                   const ClusterMemory& memory, cudaStream_t stream);
/// Finds the groups of a batch from the clusters (cluster_query.cu).
void match_in_clusters(const ClusterFrames& frames, const Margins& margins,
                       const ReferenceGrid& grid, const MotionGrid& motion, const Batch& batch,
                       const MatchParams& params, const ClusterMemory& memory, const Groups& groups,
                       cudaStream_t stream);

}  // namespace lull
