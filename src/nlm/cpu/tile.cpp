// Computes the estimates of a tile in three steps. Step 1: for each displacement, the kernel sums
// squared differences over cells (squares of 1x1 or 2x2 samples), and then over patches.

// Step 2: the kernel computes weights. If a block has several samples, the kernel stores the
// weights until their sums over all displacements are complete.

// Step 3: the kernel adds the candidates' samples with the weights of their cells (squares of 1x1
// or 2x2 samples). The weight of a cell is the mean over all patches whose blocks cover the cell.
// For this mean, the kernel divides each stored weight by the sum of the weights of its patch.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nlm/cpu/tile.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The header math-inl.h must come after highway.h, so the headers must stay in this order.
#include <hwy/contrib/math/math-inl.h>

#include <algorithm>

#include "nlm/cpu/kernels.h"
#include "nlm/cpu/plan.h"

HWY_BEFORE_NAMESPACE();
namespace lull::nlm::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;
constexpr Floats d;

/// Adds the squared differences of a row of cells (1x1 or 2x2 samples) to `squares`. If `mean` is
/// true, the distance has a mean term. The function then also stores the sum of the differences of
/// each cell in `sums`.
template <int cell, bool mean>
HWY_INLINE void add_differences(const PhasedView& wanted, const PhasedView& candidate,
                                const TilePlan& plan, int column, int row, int e_x, int e_y,
                                bool first, float* HWY_RESTRICT squares, float* HWY_RESTRICT sums) {
  const float *a[cell * cell], *b[cell * cell];
  for (int j = 0; j < cell; ++j)
    for (int i = 0; i < cell; ++i) {
      a[j * cell + i] = sample_pointer<cell>(wanted, column, row * cell + j, i, 0, 0);
      b[j * cell + i] = sample_pointer<cell>(candidate, column, row * cell + j, i, e_x, e_y);
    }
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int x = 0; x < plan.cell_columns; x += lanes) {
    Vector square = first ? hn::Zero(d) : hn::LoadU(d, squares + x);
    Vector sum = hn::Zero(d);
    for (int k = 0; k < cell * cell; ++k) {
      const Vector difference = hn::Sub(hn::LoadU(d, a[k] + x), hn::LoadU(d, b[k] + x));
      square = hn::MulAdd(difference, difference, square);
      if constexpr (mean) sum = hn::Add(sum, difference);
    }
    hn::StoreU(square, d, squares + x);
    if constexpr (mean) hn::StoreU(sum, d, sums + x);
  }
}

/// Computes sliding sums along a row: to[x] = from[x] + from[x + 1] + .. + from[x + count - 1].
HWY_INLINE void sum_along(const float* HWY_RESTRICT from, int count, int columns,
                          float* HWY_RESTRICT to) {
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int x = 0; x < columns; x += lanes) {
    Vector sum = hn::LoadU(d, from + x);
    for (int k = 1; k < count; ++k) sum = hn::Add(sum, hn::LoadU(d, from + x + k));
    hn::StoreU(sum, d, to + x);
  }
}

/// Returns the sum of `count` rows, for one vector of columns. `from` is the address of the first
/// row. `stride` is the distance between rows, in floats.
HWY_INLINE Vector sum_down(const float* HWY_RESTRICT from, std::ptrdiff_t stride, int count) {
  Vector sum = hn::LoadU(d, from);
  for (int k = 1; k < count; ++k) sum = hn::Add(sum, hn::LoadU(d, from + k * stride));
  return sum;
}

/// Sums of squared differences (`squares`, `patch_squares`) and of plain differences (`sums`,
/// `patch_sums`) between the tile and the candidates at one displacement.
struct TileSums {
  float *squares, *sums;  // one sum for each cell of a row
  // Element x of a row is the sum over p cells of this row, from cell x on, where p is the width of
  // a patch in cells. `patch_squares` has one plane of such sums for each slice, and `patch_sums`
  // has one for each guide plane of each slice.
  float *patch_squares, *patch_sums;
};

template <int cell, bool mean>
void compute_sums(const TilePlan& plan, const Tile& tile, const TileSource& source, int e_x,
                  int e_y, const TileSums& to) {
  const Shape& shape = plan.shape;
  const int column = plan.first_column - shape.around, row = plan.first_row - shape.around;
  const std::span<const PhasedView> candidates = source.candidates_at(e_x, e_y);
  for (int k = 0; k < plan.slices; ++k) {
    if (source.candidates[k * tile.guides].data == nullptr) continue;
    for (int y = 0; y < plan.cell_rows; ++y) {
      for (int c = 0; c < tile.guides; ++c) {
        const int at = k * tile.guides + c;
        add_differences<cell, mean>(source.wanted[at], candidates[at], plan, column, row + y, e_x,
                                    e_y, c == 0, to.squares, to.sums);
        if constexpr (mean)
          sum_along(to.sums, shape.patch, plan.patch_columns,
                    to.patch_sums + at * plan.cell_plane() + y * plan.stride);
      }
      sum_along(to.squares, shape.patch, plan.patch_columns,
                to.patch_squares + k * plan.cell_plane() + y * plan.stride);
    }
  }
}

/// Returns the weights of consecutive patches of a row, in slice t.
template <bool mean, bool exponential>
HWY_INLINE Vector weights_at(const TilePlan& plan, int guides, int t, std::ptrdiff_t at,
                             const TileSums& from) {
  const Shape& shape = plan.shape;
  Vector distance = hn::Zero(d);
  for (int k = t; k < t + shape.slices; ++k)
    distance = hn::Add(distance, sum_down(from.patch_squares + k * plan.cell_plane() + at,
                                          plan.stride, shape.patch));
  if constexpr (mean)
    for (int c = 0; c < guides; ++c) {
      Vector sum = hn::Zero(d);
      for (int k = t; k < t + shape.slices; ++k)
        sum = hn::Add(sum, sum_down(from.patch_sums + (k * guides + c) * plan.cell_plane() + at,
                                    plan.stride, shape.patch));
      distance = hn::MulAdd(hn::Mul(hn::Set(d, shape.mean_share), sum), sum, distance);
    }
  if constexpr (exponential)
    return hn::Exp(d, hn::Min(hn::Sub(hn::Set(d, shape.zero), distance), hn::Zero(d)));
  const Vector one = hn::Set(d, 1.0f);
  const Vector line = hn::Sub(hn::Set(d, 1 + shape.zero), distance);
  const Vector t1 = hn::Max(hn::Min(line, one), hn::Zero(d));
  const Vector t2 = hn::Mul(t1, t1), t4 = hn::Mul(t2, t2);
  return hn::Mul(t4, t4);
}

/// Adds weighted samples to the sums of a tile. Each position in a cell (a square of 1x1 or 2x2
/// samples) has its own plane of sums, so that vectors contain consecutive cells.
template <int cell>
HWY_INLINE void add_samples(const TilePlan& plan, const Tile& tile, const PhasedView* samples,
                            int x, int row, int e_x, int e_y, Vector weight, float* sums) {
  const int column = tile.x / cell + x, y = tile.y / cell + row;
  for (int c = 0; c < tile.planes; ++c)
    for (int k = 0; k < cell * cell; ++k) {
      float* const sum = sums + (c * cell * cell + k) * plan.sum_plane() + row * plan.stride + x;
      const float* from =
          sample_pointer<cell>(samples[c], column, y * cell + k / cell, k % cell, e_x, e_y);
      hn::StoreU(hn::MulAdd(weight, hn::LoadU(d, from), hn::LoadU(d, sum)), d, sum);
    }
}

/// Computes the weights of the candidates at one displacement (step 2 of tile.cpp). Adds the
/// weights to `weights`, and the weighted samples of the candidates to `sums`. Blocks must consist
/// of one sample (Shape::is_single).
template <bool mean, bool exponential>
void add_at_once(const TilePlan& plan, const Tile& tile, const TileSource& source, int e_x, int e_y,
                 const TileSums& from, float* weights, float* sums) {
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int t = 0; t < tile.slices; ++t) {
    if (source.samples[t * tile.planes].data == nullptr) continue;
    float* const weight_sums = weights + t * plan.patch_plane();
    for (int y = 0; y < plan.rows; ++y)
      for (int x = 0; x < plan.columns; x += lanes) {
        const std::ptrdiff_t at = y * plan.stride + x;
        const Vector w = weights_at<mean, exponential>(plan, tile.guides, t, at, from);
        hn::StoreU(hn::Add(w, hn::LoadU(d, weight_sums + at)), d, weight_sums + at);
        add_samples<1>(plan, tile, &source.samples[t * tile.planes], x, y, e_x, e_y, w,
                       sums + t * tile.planes * plan.sum_plane());
      }
  }
}

/// Computes the weights of the candidates at one displacement (step 2 of tile.cpp) for blocks of
/// several samples. The function stores the weights in `kept`, and adds them to `weights`. It sets
/// the weight to 0 at positions where no patch begins.
template <bool mean, bool exponential>
void keep_weights(const TilePlan& plan, const Tile& tile, const TileSums& from, const float* grid,
                  float* kept, float* weights) {
  const int lanes = static_cast<int>(hn::Lanes(d)), every = plan.shape.every;
  for (int y = 0; y < plan.patch_rows; ++y) {
    if (((plan.first_row + y) & (every - 1)) != 0) continue;
    for (int x = 0; x < plan.patch_columns; x += lanes) {
      const std::ptrdiff_t at = y * plan.stride + x;
      Vector w = weights_at<mean, exponential>(plan, tile.guides, 0, at, from);
      if (every > 1) w = hn::Mul(w, hn::LoadU(d, grid + x));
      hn::StoreU(w, d, kept + at);
      hn::StoreU(hn::Add(w, hn::LoadU(d, weights + at)), d, weights + at);
    }
  }
}

/// Adds the weighted samples of the candidates at one displacement to `sums` (step 3 of tile.cpp).
/// The weight of a cell is the sum of `kept` times `shares` over the patches whose blocks cover the
/// cell. For each patch, `kept` contains the weight of the candidate, and `shares` contains 1 / (W
/// * n). W is the sum of the weights of all candidates of the patch, and n is the number of
/// estimates of a sample.
template <int cell>
void add_kept(const TilePlan& plan, const Tile& tile, const TileSource& source, int e_x, int e_y,
              const float* kept, const float* shares, float* lines, float* sums) {
  const int lanes = static_cast<int>(hn::Lanes(d)), block = plan.shape.block;
  for (int y = 0; y < plan.patch_rows; ++y) {
    float* const line = lines + y % block * plan.stride;
    const float *weight = kept + y * plan.stride, *share = shares + y * plan.stride;
    for (int x = 0; x < plan.columns; x += lanes) {
      Vector sum = hn::Mul(hn::LoadU(d, weight + x), hn::LoadU(d, share + x));
      for (int k = 1; k < block; ++k)
        sum = hn::MulAdd(hn::LoadU(d, weight + x + k), hn::LoadU(d, share + x + k), sum);
      hn::StoreU(sum, d, line + x);
    }
    if (y < block - 1) continue;
    for (int x = 0; x < plan.columns; x += lanes) {
      // In every tile, the kernel adds the rows of patches from top to bottom, so that rounding
      // errors do not depend on the tile.
      Vector sum = hn::LoadU(d, lines + (y + 1) % block * plan.stride + x);
      for (int k = 2; k <= block; ++k)
        sum = hn::Add(sum, hn::LoadU(d, lines + (y + k) % block * plan.stride + x));
      add_samples<cell>(plan, tile, source.samples.data(), x, y - (block - 1), e_x, e_y, sum, sums);
    }
  }
}

/// Calls visit(source, e_x, e_y) for each displacement (e_x, e_y) from a patch to its candidates in
/// each source.
template <class Visit>
void each_displacement(const Shape& shape, const Tile& tile, Visit&& visit) {
  for (const TileSource& source : tile.sources)
    for (int e_y = -shape.search; e_y <= shape.search; ++e_y)
      for (int e_x = -shape.search; e_x <= shape.search; ++e_x)
        visit(source, source.motion_x + e_x, source.motion_y + e_y);
}

template <int cell>
void write(const TilePlan& plan, const Tile& tile, int t, const float* sums) {
  for (int c = 0; c < tile.planes; ++c) {
    const PlaneView<float> to = tile.results[t * tile.planes + c];
    const float factor = 1 / tile.scale[c];
    const float* from = sums + c * cell * cell * plan.sum_plane();
    for (int y = 0; y < tile.height; ++y)
      for (int x = 0; x < tile.width; ++x) {
        const int k = y % cell * cell + x % cell;
        to(tile.x + x, tile.y + y) =
            factor * from[k * plan.sum_plane() + y / cell * plan.stride + x / cell];
      }
  }
}

TileSums assign_memory(const TilePlan& plan, int guides, float*& memory) {
  const auto next = [&](std::size_t floats) { return memory += floats, memory - floats; };
  TileSums sums;
  sums.squares = next(plan.stride);
  sums.sums = next(plan.stride);
  sums.patch_squares = next(plan.slices * plan.cell_plane());
  sums.patch_sums = next(plan.slices * guides * plan.cell_plane());
  return sums;
}
std::size_t memory_of_sums(const TilePlan& plan, int guides) {
  return 2 * plan.stride + plan.slices * (1 + guides) * plan.cell_plane();
}

/// Computes a tile for blocks of one sample.
template <bool mean, bool exponential>
void estimate_single(const TilePlan& plan, const Tile& tile, TileMemory& memory) {
  const std::size_t sum_floats = tile.slices * tile.planes * plan.sum_plane();
  const std::size_t weight_floats = tile.slices * plan.patch_plane();
  float* at = memory.allocate(memory_of_sums(plan, tile.guides) + sum_floats + weight_floats);
  const TileSums from = assign_memory(plan, tile.guides, at);
  float *const sums = at, *const weights = at + sum_floats;
  std::fill_n(sums, sum_floats + weight_floats, 0.0f);
  each_displacement(plan.shape, tile, [&](const TileSource& source, int e_x, int e_y) {
    compute_sums<1, mean>(plan, tile, source, e_x, e_y, from);
    add_at_once<mean, exponential>(plan, tile, source, e_x, e_y, from, weights, sums);
  });
  for (int t = 0; t < tile.slices; ++t) {
    float* const slice = sums + t * tile.planes * plan.sum_plane();
    for (int c = 0; c < tile.planes; ++c)
      for (std::size_t i = 0; i < plan.sum_plane(); ++i)
        slice[c * plan.sum_plane() + i] /= weights[t * plan.patch_plane() + i];
    write<1>(plan, tile, t, slice);
  }
}

/// Computes a tile for blocks of several samples.
template <int cell, bool mean, bool exponential>
void estimate_blocks(const TilePlan& plan, const Tile& tile, TileMemory& memory) {
  const Shape& shape = plan.shape;
  const int side = 2 * shape.search + 1;
  const std::size_t displacements = tile.sources.size() * side * side;
  const std::size_t sum_floats = tile.planes * cell * cell * plan.sum_plane();
  float* at = memory.allocate(memory_of_sums(plan, tile.guides) + sum_floats + plan.stride +
                              shape.block * plan.stride + (displacements + 1) * plan.patch_plane());
  const TileSums from = assign_memory(plan, tile.guides, at);
  float *const sums = at, *const grid = sums + sum_floats, *const lines = grid + plan.stride;
  float *const weights = lines + shape.block * plan.stride, *const kept =
                                                                weights + plan.patch_plane();
  std::fill_n(sums, sum_floats, 0.0f);
  std::fill_n(weights, plan.patch_plane(), 0.0f);
  if (shape.every > 1) std::fill_n(kept, displacements * plan.patch_plane(), 0.0f);
  for (int x = 0; x < plan.stride; ++x)
    grid[x] = ((plan.first_column + x) & (shape.every - 1)) == 0 ? 1.0f : 0.0f;

  float* next = kept;
  each_displacement(shape, tile, [&](const TileSource& source, int e_x, int e_y) {
    compute_sums<cell, mean>(plan, tile, source, e_x, e_y, from);
    keep_weights<mean, exponential>(plan, tile, from, grid, next, weights);
    next += plan.patch_plane();
  });
  // At positions where no patch begins, the sum of weights is 0.
  for (std::size_t i = 0; i < plan.patch_plane(); ++i)
    weights[i] = weights[i] > 0 ? 1 / (weights[i] * static_cast<float>(shape.estimates)) : 0;
  next = kept;
  each_displacement(shape, tile, [&](const TileSource& source, int e_x, int e_y) {
    add_kept<cell>(plan, tile, source, e_x, e_y, next, weights, lines, sums);
    next += plan.patch_plane();
  });
  write<cell>(plan, tile, 0, sums);
}

template <bool mean, bool exponential>
void estimate_with(const Shape& shape, const Tile& tile, TileMemory& memory) {
  const TilePlan plan(shape, tile);
  if (shape.is_single)
    estimate_single<mean, exponential>(plan, tile, memory);
  else if (shape.cell == 1)
    estimate_blocks<1, mean, exponential>(plan, tile, memory);
  else
    estimate_blocks<2, mean, exponential>(plan, tile, memory);
}

void run_tile(const Shape& shape, const Tile& tile, TileMemory& memory) {
  const bool mean = shape.mean_share > 0, exponential = shape.weights == Weights::exponential;
  if (mean && exponential)
    estimate_with<true, true>(shape, tile, memory);
  else if (mean)
    estimate_with<true, false>(shape, tile, memory);
  else if (exponential)
    estimate_with<false, true>(shape, tile, memory);
  else
    estimate_with<false, false>(shape, tile, memory);
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::nlm::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::nlm::cpu {

HWY_EXPORT(run_tile);

void estimate_tile(const Shape& shape, const Tile& tile, TileMemory& memory) {
  if (fits_blocks(shape, tile)) return estimate_blocks(shape, tile, memory);
  HWY_DYNAMIC_DISPATCH(run_tile)(shape, tile, memory);
}

}  // namespace lull::nlm::cpu
#endif
