#pragma once
// Data and kernels of the stages of the cpu backend. Each stage is one source file that Highway
// compiles for every instruction set. The program selects the instruction set at run time:
//   match.cpp:  the guide in 16 bits, distances, groups;
//   filter.cpp: transforms, threshold or Wiener factors, aggregation;
//   finish.cpp: division by the weights.
// engine.cpp stores the slices and runs the stages in parallel.
//
// A stage processes the slices around a layer of reference cubes. If the cubes of the layer begin
// in slice z, element k of an array of slices is slice z - radius + k. All planes of one kind have
// the same `stride`. Stages may read and write `row_padding` samples beyond the end of a row.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bm4d/cubes.h"
#include "bm4d/params.h"
#include "core/image.h"

namespace lull::bm4d::cpu {

/// Maximum number of slices that the groups of a layer of reference cubes can reach.
inline constexpr int max_near = max_window + max_cube - 1;
inline constexpr int row_padding = 32;

// ---- matching ------------------------------------------------------------------------------

/// Conversion of the guide to 16-bit integers: (sample - guide_centre) * guide_levels. Samples in
/// the range that filters accept (core/float_range.h) become integers from -max_level to max_level,
/// so that the sum of 64 squared differences fits in 32 bits.
inline constexpr float guide_centre = 128, guide_levels = 8;  // levels of a sample difference of 1
inline constexpr int max_level = 2040;

/// The rows of a slice that one call processes: y0 to y1 - 1.
struct Rows {
  int y0, y1;
};
/// Stores the quantised samples at x and x + 1 in the lower and the upper half of a word.
void make_pairs(PlaneView<const float> samples, Rows rows, PlaneView<std::int32_t> pairs);
/// Computes, for each position, the sum of the squared samples over the face (the part in one
/// slice) of the cube that begins at the position.
void make_faces(PlaneView<const std::int32_t> pairs, int cube, Rows rows,
                PlaneView<std::int32_t> faces);
/// Computes the sum of squares over each cube that begins in a slice, as the sum over the faces of
/// the cube in consecutive slices.
void add_faces(std::span<const PlaneView<const std::int32_t>> faces, Rows rows,
               PlaneView<std::int32_t> squares);

struct MatchSlices {
  /// For each slice, `squares` contains the sums of the squared samples of the cubes that begin in
  /// this slice. No cube begins in the last `cube` - 1 slices before `end`.
  std::array<const std::int32_t*, max_near> pairs, squares;
  std::ptrdiff_t stride;
  int width, height;  // voxels
  int first, end;     // range of the elements that exist in the arrays
};
/// Finds the group of the reference cube whose first voxel is at (x, y). The cube begins in the
/// first slice of the layer.
void find_group(const MatchSlices& slices, const PhaseParams& params, int x, int y, Group& group);
/// Finds the group that consists of the best of the given candidates. All candidates must have
/// different displacements and must be inside the volume.
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
/// Filters a group, adds the weighted estimates to `numerator`, and adds the weight of the group to
/// `weights`.
void filter_group(const FilterTables& tables, const FilterSlices& slices, int x, int y,
                  const Group& group);

// ---- aggregation ---------------------------------------------------------------------------

/// The data of one slice at the end of a phase. The result is the numerator divided by the
/// convolution of the weights with the aggregation window, or `noisy` where no cube was filtered.
struct FinishSlice {
  PlaneView<const float> numerator, noisy;
  /// Weights of the groups, at the first voxels of their cubes, for this slice and the preceding
  /// slices. Null: the slice does not exist.
  std::array<const float*, max_cube> weights;
  std::ptrdiff_t stride;  // stride of the weights
  int cube;
  std::array<float, max_cube> axis;
};
void finish_rows(const FinishSlice& slice, Rows rows, PlaneView<float> estimate);

}  // namespace lull::bm4d::cpu
