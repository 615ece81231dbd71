#pragma once
// Data that the stages of the cpu backend exchange after matching (match/cpu/matcher.h). Highway
// compiles the source of each stage for several instruction sets, and selects an instruction set at
// run time:
//   filter.cpp      transforms, threshold or Wiener factors, aggregation into a tile
//   means.cpp       weighted means of groups, which replace the transforms
//   aggregate.cpp   sums of the tiles, division by the weights
// engine.cpp divides the picture into blocks of reference patches and runs the stages in parallel.
// The tile of a block is the part of the picture that contains all patches of the block's groups.
// The result does not depend on the number of threads, because the blocks do not depend on it, and
// the tiles are summed in a fixed order.

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

/// Constants of the coefficients (u, v) of a patch. Row u has 16 elements, one for each lane of the
/// largest vector: the constants for v = 0..7, followed by a copy of them. The constants contain
/// the scale of the basis functions, which the transforms (patch.h) omit.
struct CoefficientTable {
  alignas(64) std::array<float, 8 * 16> at;
};
/// Covariances of the coefficients of two patches for coloured noise, in units of the noise
/// variance (noise/patch_covariance.h). A displacement (dx, dy) and its opposite have equal
/// covariances, so they share the table entry with the index |index(dx, dy)|.
struct CovarianceTable {
  Transform transform;
  std::shared_ptr<const Autocorrelation> correlation;  // autocorrelation of the noise
  // The distances, in samples along x and along y, up to which patches share noise.
  int reach_x, reach_y;
  Buffer<float> values;  // [index][u][v]

  int index(int dx, int dy) const { return dy * (2 * reach_x + 1) + dx; }
  /// Returns the table entry `index`: the covariances of the coefficients [u][v].
  const float* at(int index) const { return values.data() + index * patch * patch; }
};
/// Makes the covariance table of a plane, or returns null for white noise. If `before` (which may
/// be null) has the same transform and noise, the function returns `before`.
[[nodiscard]] std::shared_ptr<const CovarianceTable> make_covariances(
    Transform transform, const PlaneNoise& noise,
    const std::shared_ptr<const CovarianceTable>& before = nullptr);

struct FilterTables {
  Transform transform;
  GroupTransform across;
  CoefficientTable restore;  // factors that the input of the inverse transform needs
  // In the first phase, `limit` contains the thresholds, or their squares if the noise is coloured
  // or the transform is the DFT. In the second phase, `limit` contains n of the Wiener factor 1 - n
  // / (c^2 + n), where c is the coefficient of the basic estimate.
  CoefficientTable limit;
  // The constants that replace `limit` in vectors of coefficients with the mean over the group
  // (group coefficient 0). In the second phase, first_limit contains n and first_denominator
  // contains d of the Wiener factor 1 - n / (c^2 + d). Element 0 is for vectors with the mean in
  // the lower half of the lanes and another group coefficient in the upper half. Element 1 is for
  // vectors that contain only the mean.
  std::array<CoefficientTable, 2> first_limit, first_denominator;
  CoefficientTable outer_window;                       // the aggregation window as a matrix
  std::array<float, patch> window;                     // the aggregation window along one axis
  std::shared_ptr<const CovarianceTable> covariances;  // null for white noise
};
/// Makes the tables of the first phase. A threshold is `lambda` times the standard deviation of the
/// noise, and for the mean of the group (group coefficient 0) also times `mean_factor`. `before`
/// contains covariances that the function may reuse (make_covariances()).
FilterTables make_hard_tables(const PhaseParams& phase, const PlaneNoise& noise, float lambda,
                              float mean_factor,
                              const std::shared_ptr<const CovarianceTable>& before = nullptr);
/// Makes the tables of the second phase, with mu2 times the noise variance in the Wiener factors.
FilterTables make_wiener_tables(const PhaseParams& phase, const PlaneNoise& noise, float mu2,
                                const std::shared_ptr<const CovarianceTable>& before = nullptr);

/// A plane of one frame of a tile. The pointers refer to sample (0, 0) of the picture, although the
/// memory of the numerator, of the weights and possibly of the noisy samples only covers the tile.
struct FrameTile {
  const float* noisy;
  const float* basic;
  float* numerator;
  float* weights;         // weights of groups, at the first samples of their patches
  std::ptrdiff_t stride;  // stride of the numerator and of the weights
  std::ptrdiff_t noisy_stride, basic_stride;
};
/// The tiles of one plane. `frame` contains one tile for each frame.
struct PlaneTile {
  bool wiener;
  ByOffset<FrameTile> frame;

  const FrameTile& of(std::uint32_t member) const { return frame[displacement_t(member)]; }
};
/// The scratch memory of filter_group() contains the noisy patches of the group, then the patches
/// of the basic estimate, and then, from index variances_in_scratch on, the variances of the
/// coefficients.
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

/// Adds the samples of the plane `from` to those of the plane `to`.
void add_rows(PlaneView<const float> from, PlaneView<float> to);

/// Lists the weights of a row that are not zero, with their positions, and returns their number.
/// `first` is the position of the first sample of the row. All arrays have memory for a multiple of
/// 16 elements, and the additional elements of the row must be zero.
std::size_t list_weights(std::span<const float> row, std::uint32_t first, std::uint32_t* positions,
                         float* values);

/// Parameters of normalise_rows(), which computes rows y0 to y1 - 1 of the estimate: the numerator
/// divided by the convolution of the weights with the window, or 0 where the divisor is 0. In
/// memory, rows_of_zeros rows of zeros must precede the rows of `weights`. `scratch` has width + 32
/// floats.
struct Normalisation {
  PlaneView<const float> numerator, weights;
  std::span<const float> window;  // the window along one axis, at most max_wide_side elements
  PlaneView<float> estimate;
};
inline constexpr int rows_of_zeros = max_wide_side;
void normalise_rows(const Normalisation& n, int y0, int y1, float* scratch);

}  // namespace lull::bm3d::cpu
