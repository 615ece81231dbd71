#pragma once
// What the stages of the cpu backend hand to each other. Each stage is one source that Highway
// compiles for every instruction set, one of which is chosen at run time:
//   match.cpp   the guide in 16 bits, distances, groups
//   filter.cpp  transforms, threshold or Wiener factors, aggregation
//   finish.cpp  division by the weights
// engine.cpp keeps the slices and runs the stages in parallel.
//
// A stage sees the slices around a layer of reference cubes: element k of its arrays is slice
// z - radius + k, where the layer's cubes begin in slice z. Rows of all planes of a kind are
// `stride` apart, and can be read and written `row_padding` samples beyond their end.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bm4d/cubes.h"
#include "bm4d/params.h"
#include "core/image.h"

namespace lull::bm4d::cpu {

/// Slices that a layer's groups can reach.
inline constexpr int max_near = max_window + max_cube - 1;
inline constexpr int row_padding = 32;

// ---- matching ------------------------------------------------------------------------------

/// The guide as whole numbers, as the matrix products of 16 bits want it: with 12 bits for what
/// filters see (core/float_range.h), the sum of 64 squared differences fits 32 bits.
inline constexpr float guide_centre = 128, guide_levels = 8;  // of value 1
inline constexpr int greatest_level = 2040;

/// Rows that a stage makes of a slice: y0 .. y1 - 1.
struct Rows {
  int y0, y1;
};
/// The levels at x and x + 1 in the lower and upper half of a word.
void make_pairs(PlaneView<const float> samples, Rows rows, PlaneView<std::int32_t> pairs);
/// The sum of the squares of the face of a cube that begins there.
void make_faces(PlaneView<const std::int32_t> pairs, int cube, Rows rows,
                PlaneView<std::int32_t> faces);
/// The sum of the squares of the cubes that begin in a slice, of the faces of so many.
void add_faces(std::span<const PlaneView<const std::int32_t>> faces, Rows rows,
               PlaneView<std::int32_t> squares);

struct MatchSlices {
  /// squares: of the cubes that begin there; of the last slices, where none does, unused.
  std::array<const std::int32_t*, max_near> pairs, squares;
  std::ptrdiff_t stride;
  int width, height;  // voxels
  int first, end;     // elements of the arrays that exist
};
/// The group of the reference cube whose first voxel is (x, y) of the layer's slice.
void find_group(const MatchSlices& slices, const PhaseParams& params, int x, int y, Group& group);
/// The same among these displacements alone, which are cubes of the volume, each there once.
void rank_group(const MatchSlices& slices, const PhaseParams& params, int x, int y,
                std::span<const std::uint32_t> candidates, Group& group);

// ---- filtering -----------------------------------------------------------------------------

struct FilterTables {
  bool wiener;
  int cube;
  int radius;                        // of the search window
  float limit;                       // threshold, or mu2 sigma^2
  float limit_mean;                  // the same for the mean over a group
  std::array<float, max_cube> axis;  // the aggregation window
  alignas(64) std::array<float, max_cube * max_cube * 4> window;  // [z][y][x], 0 beyond the cube
};
FilterTables make_tables(const Params& params, Phase phase, float sigma);

struct FilterSlices {
  std::array<const float*, max_near> noisy, basic;  // basic: of the second phase
  std::array<float*, max_near> numerator;
  std::array<float*, max_near> weights;  // of groups, at the first voxels of their cubes
  std::ptrdiff_t stride;                 // of all of them
};
/// Filters a group and adds its estimates and its weight.
void filter_group(const FilterTables& tables, const FilterSlices& slices, int x, int y,
                  const Group& group);

// ---- aggregation ---------------------------------------------------------------------------

/// One slice: numerator / (weights convolved with the window), `noisy` where no cube was filtered.
struct FinishSlice {
  PlaneView<const float> numerator, noisy;
  std::array<const float*, max_cube> weights;  // of this slice and those before; null: none
  std::ptrdiff_t stride;                       // of the weights
  int cube;
  std::array<float, max_cube> axis;
};
void finish_rows(const FinishSlice& slice, Rows rows, PlaneView<float> estimate);

}  // namespace lull::bm4d::cpu
