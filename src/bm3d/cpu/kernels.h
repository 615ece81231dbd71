#pragma once
// Data of the stages of the `cpu` backend after matching. Highway compiles filter.cpp, means.cpp
// and aggregate.cpp for several instruction sets, and selects one at run time.

// Each task filters a block of reference patches, and sums the estimates in its own tile. The tile
// is the bounding box of all patches in the groups of the block. The engine adds the tiles to the
// picture in a fixed order, so results do not depend on the number of threads.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "bm3d/group_means.h"
#include "bm3d/params.h"
#include "core/image.h"
#include "match/cpu/kernels.h"
#include "match/group.h"
#include "noise/noise_model.h"
#include "time/frames.h"

namespace lull::bm3d::cpu {

using namespace lull::cpu;

// ---- filtering -----------------------------------------------------------------------------

/// A constant for each coefficient (u, v) of a patch. Row u has 16 elements: v = 0..7, and a copy
/// for 16-lane vectors.
struct CoefficientTable {
  alignas(64) std::array<float, 8 * 16> at;
};
/// Covariances of the coefficients of two patches for coloured noise, relative to the noise
/// variance (noise/patch_covariance.h). The displacements (dx, dy) and (-dx, -dy) share one entry,
/// the entry |index(dx, dy)|.
struct CovarianceTable {
  Transform transform;
  std::shared_ptr<const Autocorrelation> correlation;  // autocorrelation of the noise
  // Maximum displacements along x and y, in samples, between patches with correlated noise.
  int reach_x, reach_y;
  Buffer<float> values;  // [index][u][v]

  int index(int dx, int dy) const { return dy * (2 * reach_x + 1) + dx; }
  /// Returns one entry of the table: the covariances of the coefficients [u][v].
  const float* at(int index) const { return values.data() + index * patch * patch; }
};
/// Makes the covariance table of a plane, or returns null for white noise. Returns `before` if
/// `before` is the table for the same transform and the same autocorrelation of the noise. `before`
/// may be null.
[[nodiscard]] std::shared_ptr<const CovarianceTable> make_covariances(
    Transform transform, const PlaneNoise& noise,
    const std::shared_ptr<const CovarianceTable>& before = nullptr);

struct FilterTables {
  Transform transform;
  GroupTransform across;
  CoefficientTable restore;  // factors that the input of the inverse transform needs
  // First phase: the threshold of each coefficient, squared for coloured noise and for the DFT.
  // Second phase: the term n in the Wiener factor 1 - n / (c^2 + n), where c is a coefficient of
  // the basic estimate.
  CoefficientTable limit;
  // The tables that replace `limit` in vectors that contain the mean over the group. Element 0 is
  // for vectors whose upper half contains another group coefficient. Element 1 is for vectors that
  // contain only the mean. In the second phase, the Wiener factor is 1 - n / (c^2 + d), with n from
  // `first_limit` and d from `first_denominator`.
  std::array<CoefficientTable, 2> first_limit, first_denominator;
  CoefficientTable outer_window;                       // the aggregation window as a matrix
  std::array<float, patch> window;                     // the aggregation window along one axis
  std::shared_ptr<const CovarianceTable> covariances;  // null for white noise
};
/// Makes the tables of the first phase. Thresholds are `lambda` times the noise level. The
/// threshold of the group mean is also multiplied by `mean_factor`. `before` has the same meaning
/// as in make_covariances().
FilterTables make_hard_tables(const PhaseParams& phase, const PlaneNoise& noise, float lambda,
                              float mean_factor,
                              const std::shared_ptr<const CovarianceTable>& before = nullptr);
/// Makes the tables of the second phase. The function multiplies the noise variance in the Wiener
/// factors by `mu2`. `before` has the same meaning as in make_covariances().
FilterTables make_wiener_tables(const PhaseParams& phase, const PlaneNoise& noise, float mu2,
                                const std::shared_ptr<const CovarianceTable>& before = nullptr);

/// A plane of one frame of a tile. Pointers refer to sample (0, 0) of the picture, although the
/// memory may cover only the tile.
struct FrameTile {
  const float* noisy;
  const float* basic;
  float* numerator;
  float* weights;         // weights of groups, at the first samples of their patches
  std::ptrdiff_t stride;  // stride of the numerator and of the weights
  std::ptrdiff_t noisy_stride, basic_stride;
};
/// The tiles of one plane, one for each frame.
struct PlaneTile {
  bool wiener;
  ByOffset<FrameTile> frame;

  const FrameTile& of(std::uint32_t member) const { return frame[displacement_t(member)]; }
};
/// The scratch memory of filter_group() contains the noisy patches, then the patches of the basic
/// estimate, and then the variances of the coefficients. The variances begin at the index
/// variances_in_scratch.
inline constexpr std::size_t variances_in_scratch = 2 * max_group * patch * patch;
inline constexpr std::size_t filter_scratch_size = 3 * max_group * patch * patch;

/// Filters a group of one plane and adds the estimates to the tile.
void filter_group(const FilterTables& tables, const PlaneTile& tile, int x, int y,
                  const Group& group, float* scratch);

// ---- group means ----

struct MeansTables {
  MeansCurve curve;
  std::array<float, 3> scale{};                           // means_scale() of each plane
  alignas(64) std::array<float, patch * patch> window{};  // the aggregation window, row by row
};

/// Averages the patches of a group in all planes of a set (bm3d/group_means.h), and adds the means
/// to the tiles.
void average_group(const MeansTables& tables, std::span<const PlaneTile> planes, int x, int y,
                   const Group& group);

// ---- aggregation ---------------------------------------------------------------------------

/// Adds the plane `from` to the plane `to`, sample by sample.
void add_rows(PlaneView<const float> from, PlaneView<float> to);

/// Lists the nonzero weights of a row and their positions, and returns their number. `first` is the
/// position of the first element of the row. The size of each array must be a multiple of 16
/// elements, and the padding of `row` must contain zeros.
std::size_t list_weights(std::span<const float> row, std::uint32_t first, std::uint32_t* positions,
                         float* values);

/// Parameters of normalise_rows(), which computes rows y0 to y1 - 1 of `estimate`. Each sample of
/// the result is the numerator divided by the convolved weights, or 0 if the convolved weights are
/// 0. The caller stores `rows_of_zeros` rows of zeros before `weights`. `scratch` must have width +
/// 32 floats.
struct Normalisation {
  PlaneView<const float> numerator, weights;
  std::span<const float, patch> window;  // the window along one axis
  PlaneView<float> estimate;
};
inline constexpr int rows_of_zeros = patch;
void normalise_rows(const Normalisation& n, int y0, int y1, float* scratch);

}  // namespace lull::bm3d::cpu
