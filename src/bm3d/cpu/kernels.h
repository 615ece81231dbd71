#pragma once
// What the stages of the cpu backend hand to each other after matching (match/cpu/matcher.h). Each
// stage is one source, compiled for every instruction set that Highway knows and chosen at run
// time:
//   filter.cpp      transforms, threshold or Wiener factors, aggregation into a tile
//   means.cpp       or the mean of a group in their place
//   aggregate.cpp   sum of the tiles, division by the weights
// engine.cpp cuts the picture into blocks of reference patches and runs the stages in parallel. The
// tile of a block is the part of the picture that its groups can reach. Blocks depend on the
// picture's size and the parameters alone and their tiles are summed in one order, so that the
// result does not depend on the number of threads.

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

/// Constants for each coefficient (u, v), 16 lanes a row u: v twice. The transforms leave out the
/// scale of their basis functions; it is put into these.
struct CoefficientTable {
  alignas(64) std::array<float, 8 * 16> at;
};
/// What the coefficients of two patches share of noise that is not white, in units of its variance
/// (noise/patch_covariance.h). A displacement and its opposite have one place: |place(dx, dy)|.
struct CovarianceTable {
  Transform transform;
  std::shared_ptr<const Autocorrelation> correlation;  // the noise's
  int reach_x, reach_y;                                // beyond, patches share none
  Buffer<float> values;                                // [place][u][v]

  int place(int dx, int dy) const { return dy * (2 * reach_x + 1) + dx; }
  /// `place`: without its sign.
  const float* at(int place) const { return values.data() + place * patch * patch; }
};
/// Null for white noise. `before`: one that does if it is of the same noise and transform, or null.
[[nodiscard]] std::shared_ptr<const CovarianceTable> make_covariances(
    Transform transform, const PlaneNoise& noise,
    const std::shared_ptr<const CovarianceTable>& before = nullptr);

struct FilterTables {
  Transform transform;
  GroupTransform across;
  CoefficientTable restore;  // factor that the inverse transform expects
  // First phase: the threshold; its square where noise is not white, or for the DFT. Second:
  // numerator and denominator terms of 1 - n / (c^2 + d). Both for a variance of 1.
  CoefficientTable limit;
  // The same for the first vector of a group, where the mean is: [0] the mean is in the lower half
  // of the lanes, [1] it is in both.
  std::array<CoefficientTable, 2> first_limit, first_denominator;
  CoefficientTable outer_window;                       // the aggregation window, rows by columns
  std::array<float, patch> window;                     // one axis of it
  std::shared_ptr<const CovarianceTable> covariances;  // null: white noise
};
/// Thresholds of lambda times the noise's deviation. `mean_factor`: threshold of the group's mean
/// (group coefficient 0), in units of the others'. `before`: see make_covariances().
FilterTables make_hard_tables(const PhaseParams& phase, const PlaneNoise& noise, float lambda,
                              float mean_factor,
                              const std::shared_ptr<const CovarianceTable>& before = nullptr);
/// Factors with mu2 times the noise's variance.
FilterTables make_wiener_tables(const PhaseParams& phase, const PlaneNoise& noise, float mu2,
                                const std::shared_ptr<const CovarianceTable>& before = nullptr);

/// A plane of one frame of a tile. Pointers are at sample (0, 0) of the picture, though numerator
/// and weights exist for the tile alone.
struct FrameTile {
  const float* noisy;
  const float* basic;
  float* numerator;
  float* weights;         // group weights at the origins of patches
  std::ptrdiff_t stride;  // of numerator and weights
};
/// One plane of one tile.
struct PlaneTile {
  bool wiener;
  ByOffset<FrameTile> frame;
  std::ptrdiff_t noisy_stride, basic_stride;

  const FrameTile& of(std::uint32_t member) const { return frame[displacement_t(member)]; }
};
/// Noisy patches, patches of the basic estimate and, from variances_in_scratch on, the variances of
/// a group's coefficients.
inline constexpr std::size_t variances_in_scratch = 2 * max_group * patch * patch;
inline constexpr std::size_t filter_scratch_size = 3 * max_group * patch * patch;

/// Filters a group of patches of one plane and adds the estimates to the tile.
void filter_group(const FilterTables& tables, const PlaneTile& tile, int x, int y,
                  const Group& group, float* scratch);

// ---- means of groups (bm3d/group_means.h) ----

struct MeansTables {
  MeansCurve curve;
  std::array<float, 3> scale{};                           // means_scale() of each plane
  alignas(64) std::array<float, patch * patch> window{};  // of the aggregation, row by row
};

/// Adds the mean of a group in each of the planes that are filtered together to their tiles.
void average_group(const MeansTables& tables, std::span<const PlaneTile> planes, int x, int y,
                   const Group& group);

// ---- aggregation ---------------------------------------------------------------------------

/// to += from.
void add_rows(PlaneView<const float> from, PlaneView<float> to);

/// Rows y0 .. y1 - 1 of the estimate: numerator / (weights convolved with the window), 0 where that
/// is 0. The rows of weights have rows_of_zeros before them. `scratch`: a row of width + 32 floats.
struct Normalisation {
  PlaneView<const float> numerator, weights;
  std::span<const float> window;  // one axis, max_wide_side at most
  PlaneView<float> estimate;
};
inline constexpr int rows_of_zeros = max_wide_side;
void normalise_rows(const Normalisation& n, int y0, int y1, float* scratch);

}  // namespace lull::bm3d::cpu
