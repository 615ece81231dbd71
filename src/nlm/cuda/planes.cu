// The kernel that fills the padding of a plane: it replicates or mirrors the border. Other kernels
// then need not check positions.

#include "core/round_up.h"
#include "cuda/check.h"
#include "nlm/cuda/kernels.h"
#include "nlm/weights.h"

namespace lull::nlm::cuda {
namespace {

constexpr dim3 threads{32, 8};

__global__ void continue_kernel(const float* __restrict__ samples, Space space, Border border,
                                float scale, Marks marks, float* __restrict__ to) {
  const int column = static_cast<int>(blockIdx.x * threads.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * threads.y + threadIdx.y);
  if (column >= space.pitch || row >= space.height + 2 * space.pad) return;
  const int x = continued(column - space.pad, space.width, border);
  const int y = continued(row - space.pad, space.height, border);
  const bool is_marked = marks.places != nullptr &&
                         marks.places[static_cast<std::ptrdiff_t>(y) * space.width + x] != 0;
  to[static_cast<std::ptrdiff_t>(row) * space.pitch + column] =
      scale * (is_marked ? marks.mark : samples[space.flat_at(x, y)]);
}

}  // namespace

void continue_plane(const float* samples, const Space& space, Border border, float scale, float* to,
                    cudaStream_t stream, const Marks& marks) {
  const dim3 grid(space.pitch / threads.x,
                  (space.height + 2 * space.pad + threads.y - 1) / threads.y);
  continue_kernel<<<grid, threads, 0, stream>>>(samples, space, border, scale, marks, to);
  lull::cuda::check(cudaGetLastError());
}

}  // namespace lull::nlm::cuda
