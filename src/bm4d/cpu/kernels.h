#pragma once
// Data and kernels of the cpu backend of BM4D (match.cpp, filter.cpp, finish.cpp). Highway compiles
// the kernels for several instruction sets, and selects one at run time.

// Arrays of slices contain the neighbourhood of the current slice z, in which the processed
// reference cubes begin. Element k is slice z - radius + k. In each slice, `row_padding` samples
// after the end of a row are readable.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bm4d/cubes.h"
#include "bm4d/params.h"
#include "core/image.h"

namespace lull::bm4d::cpu {

/// Maximum number of slices from which the group of a reference cube can take members.
inline constexpr int max_near = max_window + max_cube - 1;
inline constexpr int row_padding = 32;

// ---- matching ------------------------------------------------------------------------------

/// Quantisation of the guide: (sample - guide_centre) * guide_levels. With this scale, the filter
/// range (core/float_range.h) becomes -max_level to max_level, so that the sum of 64 squared
/// differences fits in 32 bits.
inline constexpr float guide_centre = 128, guide_levels = 8;  // levels of a sample difference of 1
inline constexpr int max_level = 2040;

/// Rows y0 to y1 - 1 of a slice.
struct Rows {
  int y0, y1;
};
/// Stores the quantised samples at x and x + 1 in the lower and upper half of word x of `pairs`.
void make_pairs(PlaneView<const float> samples, Rows rows, PlaneView<std::int32_t> pairs);
/// Computes the sum of the squared samples of each square of `cube` x `cube` samples. Stores the
/// sum at the top-left sample of the square.
void make_faces(PlaneView<const std::int32_t> pairs, int cube, Rows rows,
                PlaneView<std::int32_t> faces);
/// Computes the sum of the squared samples of each cube that begins in a slice. `faces` contains
/// the results of make_faces() for consecutive slices.
void add_faces(std::span<const PlaneView<const std::int32_t>> faces, Rows rows,
               PlaneView<std::int32_t> squares);

struct MatchSlices {
  /// Results for each slice: make_pairs() computes `pairs`, and add_faces() computes `squares`.
  /// `squares` may lack the slices in which no cube begins (the last slices, one fewer than the
  /// edge length of a cube).
  std::array<const std::int32_t*, max_near> pairs, squares;
  std::ptrdiff_t stride;
  int width, height;  // voxels
  int first, end;     // range of the elements that exist in the arrays
};
/// Finds the group of a reference cube. The first voxel of the reference cube is at (x, y) in the
/// current slice.
void find_group(const MatchSlices& slices, const PhaseParams& params, int x, int y, Group& group);
/// Finds the group among the candidates at the given displacements. The displacements must be
/// distinct, and the candidates must be inside the volume.
void rank_group(const MatchSlices& slices, const PhaseParams& params, int x, int y,
                std::span<const std::uint32_t> candidates, Group& group);

// ---- filtering -----------------------------------------------------------------------------

struct FilterTables {
  bool wiener;
  int cube;
  int radius;                        // radius of the search window
  float limit;                       // threshold, or mu2 sigma^2
  float limit_mean;                  // `limit` for the mean over a group
  std::array<float, max_cube> axis;  // the aggregation window along one axis
  alignas(64) std::array<float, max_cube * max_cube * 4> window;  // [z][y][x], 0 beyond the cube
};
FilterTables make_tables(const Params& params, Phase phase, float sigma);

struct FilterSlices {
  std::array<const float*, max_near> noisy, basic;  // `basic` is used only in the second phase
  std::array<float*, max_near> numerator;
  std::array<float*, max_near> weights;  // group weights at the first voxels of their cubes
  std::ptrdiff_t stride;                 // distance between rows, equal for all planes
};
/// Filters a group. Adds the weighted estimates to `numerator`, and the weight of the group to
/// `weights`.
void filter_group(const FilterTables& tables, const FilterSlices& slices, int x, int y,
                  const Group& group);

// ---- aggregation ---------------------------------------------------------------------------

/// The data that determine the estimates of one slice at the end of a phase. An estimate is the
/// numerator divided by the convolution of the weights with the aggregation window, or the sample
/// of `noisy` if the convolution is 0.
struct FinishSlice {
  PlaneView<const float> numerator, noisy;
  /// Group weights of the slices before the finished slice: element c is for the slice that is c
  /// slices before it. A group adds its weight at the first voxel of each of its cubes. If a slice
  /// does not exist, its pointer is null.
  std::array<const float*, max_cube> weights;
  std::ptrdiff_t stride;  // stride of the weights
  int cube;
  std::array<float, max_cube> axis;
};
void finish_rows(const FinishSlice& slice, Rows rows, PlaneView<float> estimate);

}  // namespace lull::bm4d::cpu
