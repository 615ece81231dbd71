#pragma once
// Data that the stages of the cpu backend exchange after matching (match/cpu/matcher.h). Highway
// compiles the source of each stage for every instruction set, and selects one at run time:
//   filter.cpp      transforms, threshold or Wiener factors, aggregation into a tile
//   means.cpp       alternatively, the weighted mean of a group
//   aggregate.cpp   sum of the tiles, division by the weights
// engine.cpp divides the picture into blocks of reference patches and runs the stages in parallel.
// The tile of a block is the part of the picture that contains all patches of the block's groups.
// The result does not depend on the number of threads: the division into blocks depends only on the
// size of the picture and the parameters, and the tiles are summed in a fixed order.

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

/// Constants of the coefficients (u, v) of a patch. Row u has 16 elements, one for each lane of a
/// vector: the constants for all v, twice. The transforms omit the scale of their basis functions;
/// these constants contain it.
struct CoefficientTable {
  alignas(64) std::array<float, 8 * 16> at;
};
/// Covariances of the coefficients of two patches for coloured noise, in units of the noise
/// variance (noise/patch_covariance.h). A displacement and its opposite have the same index
/// |index(dx, dy)|.
struct CovarianceTable {
  Transform transform;
  std::shared_ptr<const Autocorrelation> correlation;  // autocorrelation of the noise
  // Patches share no noise if they are further apart than this, along x or along y.
  int reach_x, reach_y;
  Buffer<float> values;  // [index][u][v]

  int index(int dx, int dy) const { return dy * (2 * reach_x + 1) + dx; }
  /// Returns the covariance at the displacement (dx, dy) with `index` = |index(dx, dy)|.
  const float* at(int index) const { return values.data() + index * patch * patch; }
};
/// Makes the covariance table of a plane; null for white noise. If `before` (which may be null) has
/// the same transform and noise, the function returns `before`.
[[nodiscard]] std::shared_ptr<const CovarianceTable> make_covariances(
    Transform transform, const PlaneNoise& noise,
    const std::shared_ptr<const CovarianceTable>& before = nullptr);

struct FilterTables {
  Transform transform;
  GroupTransform across;
  CoefficientTable restore;  // factors that the input of the inverse transform needs
  // First phase: the threshold; squared if noise is not white, or for the DFT. Second phase: n and
  // d in the Wiener factor 1 - n / (c^2 + d). All values are for noise with a variance of 1.
  CoefficientTable limit;
  // The thresholds or Wiener terms for the first vector of a group, which contains the mean of the
  // group. Element [0] is used if only the lower half of the lanes contains the mean, element [1]
  // if both halves do.
  std::array<CoefficientTable, 2> first_limit, first_denominator;
  CoefficientTable outer_window;                       // the aggregation window as a matrix
  std::array<float, patch> window;                     // the aggregation window along one axis
  std::shared_ptr<const CovarianceTable> covariances;  // null for white noise
};
/// Makes the tables for thresholds of lambda times the noise deviation. The threshold of the
/// group's mean (group coefficient 0) is `mean_factor` times the threshold of the other
/// coefficients. `before`: earlier tables whose covariances may be reused (make_covariances()).
FilterTables make_hard_tables(const PhaseParams& phase, const PlaneNoise& noise, float lambda,
                              float mean_factor,
                              const std::shared_ptr<const CovarianceTable>& before = nullptr);
/// Makes the tables of the second phase. The noise variance in the Wiener factors is multiplied by
/// mu2.
FilterTables make_wiener_tables(const PhaseParams& phase, const PlaneNoise& noise, float mu2,
                                const std::shared_ptr<const CovarianceTable>& before = nullptr);

/// A plane of one frame of a tile. Pointers refer to sample (0, 0) of the picture, although the
/// memory of the numerator, of the weights, and perhaps of the noisy samples only covers the area
/// of the tile.
struct FrameTile {
  const float* noisy;
  const float* basic;
  float* numerator;
  float* weights;         // weights of groups, at the first samples of their patches
  std::ptrdiff_t stride;  // stride of the numerator and of the weights
  std::ptrdiff_t noisy_stride, basic_stride;
};
/// The tiles of one plane, with one element for each frame.
struct PlaneTile {
  bool wiener;
  ByOffset<FrameTile> frame;

  const FrameTile& of(std::uint32_t member) const { return frame[displacement_t(member)]; }
};
/// The scratch memory contains the noisy patches, followed by the patches of the basic estimate.
/// From index variances_in_scratch on, it contains the variances of the coefficients of a group.
inline constexpr std::size_t variances_in_scratch = 2 * max_group * patch * patch;
inline constexpr std::size_t filter_scratch_size = 3 * max_group * patch * patch;

/// Filters a group of one plane and adds the estimates to the tile.
void filter_group(const FilterTables& tables, const PlaneTile& tile, int x, int y,
                  const Group& group, float* scratch);

// ---- means of groups (bm3d/group_means.h) ----

struct MeansTables {
  MeansCurve curve;
  std::array<float, 3> scale{};                           // means_scale() of each plane
  alignas(64) std::array<float, patch * patch> window{};  // the aggregation window, row by row
};

/// Averages a group in all planes that are filtered together, and adds the means to the tiles of
/// these planes.
void average_group(const MeansTables& tables, std::span<const PlaneTile> planes, int x, int y,
                   const Group& group);

// ---- aggregation ---------------------------------------------------------------------------

/// Adds `from` to `to`.
void add_rows(PlaneView<const float> from, PlaneView<float> to);

/// Lists the weights of a row that are not zero, with their positions; the first sample has the
/// position `first`. The row, `positions` and `values` extend to a multiple of 16 elements, and the
/// additional elements of the row are zero. Returns the number of listed weights.
std::size_t list_weights(std::span<const float> row, std::uint32_t first, std::uint32_t* positions,
                         float* values);

/// Parameters of normalise_rows(). The function computes rows y0 to y1 - 1 of the estimate:
/// numerator / (weights convolved with the window), or 0 where the divisor is 0. In memory,
/// rows_of_zeros rows of zeros must precede the rows of `weights`. `scratch` has width + 32 floats.
struct Normalisation {
  PlaneView<const float> numerator, weights;
  std::span<const float> window;  // the window along one axis, at most max_wide_side elements
  PlaneView<float> estimate;
};
inline constexpr int rows_of_zeros = max_wide_side;
void normalise_rows(const Normalisation& n, int y0, int y1, float* scratch);

}  // namespace lull::bm3d::cpu
