// The CPU kernel for patches without a border (Params::patch_radius 0), as in the profiles for
// pictures. The kernel works row by row. Its results equal the results of tile.cpp.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nlm/cpu/blocks.cpp"
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

/// A displacement, and the weights of all patches for this displacement.
struct Displacement {
  const TileSource* source;
  int e_x, e_y;
  float* weights;
};

/// Rows of intermediate results for one displacement. The padding behind a row is readable, but
/// never influences results.
template <int side, int guides>
struct Lines {
  explicit Lines(const TilePlan& plan, float* memory) {
    const auto next = [&] { return memory += plan.stride, memory - plan.stride; };
    for (int c = 0; c <= guides; ++c) {
      for (auto& row : cells) row[c] = next();
      for (int k = 0; k < side; ++k) sums[c][k] = next();
    }
  }
  static std::size_t floats(const TilePlan& plan) {
    return static_cast<std::size_t>(plan.stride) * (guides + 1) * (side + 2);
  }
  /// Element 0 contains the sums of squared differences over each cell (a square of 1x1 or 2x2
  /// samples). Element 1 + c contains the sums of differences in guide plane c.
  float* cells[2][guides + 1];    // sums over the cells of two rows
  float* sums[guides + 1][side];  // sums over rows of patches, for the last `side` rows
};

/// Sums the differences of reference and candidate samples, and the squared differences, over each
/// cell (a square of 1x1 or 2x2 samples) of a row.
template <int cell, int guides>
HWY_INLINE void sum_cells(const TilePlan& plan, const TileSource& source, int row, int e_x, int e_y,
                          float* const* cells) {
  const int lanes = static_cast<int>(hn::Lanes(d));
  const std::span<const PhasedView> candidates = source.candidates_at(e_x, e_y);
  for (int c = 0; c < guides; ++c) {
    const float *a[cell * cell], *b[cell * cell];
    for (int k = 0; k < cell * cell; ++k) {
      const int y = (plan.first_row + row) * cell + k / cell;
      a[k] = sample_pointer<cell>(source.wanted[c], plan.first_column, y, k % cell, 0, 0);
      b[k] = sample_pointer<cell>(candidates[c], plan.first_column, y, k % cell, e_x, e_y);
    }
    float *const HWY_RESTRICT squares = cells[0], *const HWY_RESTRICT sums = cells[1 + c];
    for (int x = 0, end = plan.cell_columns; x < end; x += lanes) {
      const Vector first = hn::Sub(hn::LoadU(d, a[0] + x), hn::LoadU(d, b[0] + x));
      Vector square =
          c == 0 ? hn::Mul(first, first) : hn::MulAdd(first, first, hn::Load(d, squares + x));
      Vector sum = first;
      for (int k = 1; k < cell * cell; ++k) {
        const Vector difference = hn::Sub(hn::LoadU(d, a[k] + x), hn::LoadU(d, b[k] + x));
        square = hn::MulAdd(difference, difference, square);
        sum = hn::Add(sum, difference);
      }
      hn::Store(square, d, squares + x);
      hn::Store(sum, d, sums + x);
    }
  }
}

/// Returns, for each cell of a vector that begins at cell `from`, the sum over this cell and the
/// next side - 1 cells.
template <int side>
HWY_INLINE Vector along(const float* HWY_RESTRICT from) {
  Vector sum = hn::Add(hn::Load(d, from), hn::LoadU(d, from + 1));
  if constexpr (side == 4)
    sum = hn::Add(sum, hn::Add(hn::LoadU(d, from + 2), hn::LoadU(d, from + 3)));
  return sum;
}

/// Returns the vertical sum over `side` rows at column x. These rows are the new row `last` and the
/// previous rows, rows[1] and higher. Overwrites the oldest row, rows[0], with `last`.
template <int side>
HWY_INLINE Vector down(float* const* rows, int x, Vector last) {
  Vector sum = hn::Load(d, rows[1] + x);
  if constexpr (side == 4)
    sum = hn::Add(hn::Add(sum, hn::Load(d, rows[2] + x)), hn::Load(d, rows[3] + x));
  hn::Store(last, d, rows[0] + x);
  return hn::Add(sum, last);
}

/// Rotates the row pointers by one position: the first pointer becomes the last pointer.
template <int side>
HWY_INLINE void rotate_rows(float** rows) {
  std::rotate(rows, rows + 1, rows + side);
}

/// Converts distances to weights.
template <bool exponential>
struct Curve {
  explicit Curve(const Shape& shape) : top(hn::Set(d, exponential ? shape.zero : 1 + shape.zero)) {}
  HWY_INLINE Vector operator()(Vector distance) const {
    const Vector line = hn::Sub(top, distance);
    if constexpr (exponential) return hn::Exp(d, hn::Min(line, hn::Zero(d)));
    const Vector t1 = hn::Max(hn::Min(line, hn::Set(d, 1.0f)), hn::Zero(d));
    const Vector t2 = hn::Mul(t1, t1), t4 = hn::Mul(t2, t2);
    return hn::Mul(t4, t4);
  }
  Vector top;
};

/// Computes the weights of all patches for one displacement, and adds the weights to the sums
/// `totals`.
template <int cell, int side, int guides, bool exponential>
void compute_weights(const TilePlan& plan, const Displacement& at, Lines<side, guides> lines,
                     float* HWY_RESTRICT totals) {
  const int lanes = static_cast<int>(hn::Lanes(d));
  const Vector mean_share = hn::Set(d, plan.shape.mean_share);
  const Curve<exponential> curve(plan.shape);
  // Each iteration computes the cell sums of the next row. For the current row, it loads the cell
  // sums that the previous iteration stored, because loads of recently stored sums would stall.
  sum_cells<cell, guides>(plan, *at.source, 0, at.e_x, at.e_y, lines.cells[0]);
  for (int row = 0; row < plan.cell_rows; ++row) {
    const float* const* const cells = lines.cells[row % 2];
    if (row + 1 < plan.cell_rows)
      sum_cells<cell, guides>(plan, *at.source, row + 1, at.e_x, at.e_y,
                              lines.cells[(row + 1) % 2]);
    const int patch = row - (side - 1);
    float* const HWY_RESTRICT weights = at.weights + patch * plan.stride;
    float* const HWY_RESTRICT total = totals + patch * plan.stride;
    for (int x = 0, end = plan.patch_columns; x < end; x += lanes) {
      Vector distance = down<side>(lines.sums[0], x, along<side>(cells[0] + x));
      for (int c = 1; c <= guides; ++c) {
        const Vector sum = down<side>(lines.sums[c], x, along<side>(cells[c] + x));
        distance = hn::MulAdd(hn::Mul(mean_share, sum), sum, distance);
      }
      if (patch < 0) continue;
      const Vector w = curve(distance);
      hn::Store(w, d, weights + x);
      hn::Store(hn::Add(w, hn::Load(d, total + x)), d, total + x);
    }
    for (int c = 0; c <= guides; ++c) rotate_rows<side>(lines.sums[c]);
  }
}

/// Adds the weighted samples of `count` displacements to the sums of the tile. For each patch,
/// `shares` contains 1 / (sum of weights * number of estimates of a sample).
template <int cell, int side, int count, bool grey>
void add_samples(const TilePlan& plan, const Tile& tile, const Displacement* at,
                 const float* HWY_RESTRICT shares, float* memory, float* HWY_RESTRICT sums) {
  const int lanes = static_cast<int>(hn::Lanes(d));
  constexpr int parts = cell * cell;
  const int planes = grey ? 1 : tile.planes;
  float* rows[count][side];
  for (int s = 0; s < count; ++s)
    for (int k = 0; k < side; ++k, memory += plan.stride) rows[s][k] = memory;
  for (int row = 0; row < plan.patch_rows; ++row) {
    const float* const HWY_RESTRICT share = shares + row * plan.stride;
    const int to = row - (side - 1);
    const float* from[3][parts][count];
    for (int c = 0; c < planes; ++c)
      for (int k = 0; k < parts; ++k)
        for (int s = 0; s < count; ++s)
          from[c][k][s] =
              sample_pointer<cell>(at[s].source->samples[c], tile.x / cell,
                                   tile.y + to * cell + k / cell, k % cell, at[s].e_x, at[s].e_y);
    for (int x = 0; x < plan.columns; x += lanes) {
      Vector weight[count];
      for (int s = 0; s < count; ++s) {
        const float* const w = at[s].weights + row * plan.stride + x;
        Vector sum = hn::Mul(hn::Load(d, w), hn::Load(d, share + x));
        for (int k = 1; k < side; ++k)
          sum = hn::MulAdd(hn::LoadU(d, w + k), hn::LoadU(d, share + x + k), sum);
        weight[s] = down<side>(rows[s], x, sum);
      }
      if (to < 0) continue;
      for (int c = 0; c < planes; ++c)
        for (int k = 0; k < parts; ++k) {
          float* const HWY_RESTRICT sum =
              sums + (c * parts + k) * plan.sum_plane() + to * plan.stride + x;
          Vector all = hn::Load(d, sum);
          for (int s = 0; s < count; ++s)
            all = hn::MulAdd(weight[s], hn::LoadU(d, from[c][k][s] + x), all);
          hn::Store(all, d, sum);
        }
    }
    for (int s = 0; s < count; ++s) rotate_rows<side>(rows[s]);
  }
}

/// Number of displacements per call of add_samples(). Each call reads and writes all sums of the
/// tile.
constexpr int per_pass = 2;

template <int cell, int side, bool grey>
void add_all(const TilePlan& plan, const Tile& tile, const std::vector<Displacement>& all,
             const float* shares, float* memory, float* sums) {
  std::size_t i = 0;
  for (; i + per_pass <= all.size(); i += per_pass)
    add_samples<cell, side, per_pass, grey>(plan, tile, &all[i], shares, memory, sums);
  for (; i < all.size(); ++i)
    add_samples<cell, side, 1, grey>(plan, tile, &all[i], shares, memory, sums);
}

template <int cell>
void write_tile(const TilePlan& plan, const Tile& tile, const float* sums) {
  for (int c = 0; c < tile.planes; ++c) {
    const PlaneView<float> to = tile.results[c];
    const float factor = 1 / tile.scale[c];
    const float* const from = sums + c * cell * cell * plan.sum_plane();
    for (int y = 0; y < tile.height; ++y)
      for (int i = 0; i < cell; ++i) {
        const float* const HWY_RESTRICT line =
            from + (y % cell * cell + i) * plan.sum_plane() + y / cell * plan.stride;
        float* const HWY_RESTRICT out = to.row(tile.y + y) + tile.x + i;
        for (int x = 0; x * cell + i < tile.width; ++x) out[x * cell] = factor * line[x];
      }
  }
}

template <int cell, int side, int guides, bool exponential>
void estimate_with(const Shape& shape, const Tile& tile, TileMemory& memory) {
  const TilePlan plan(shape, tile);
  const int across = 2 * shape.search + 1;
  const std::size_t all = tile.sources.size() * across * across;
  const std::size_t sum_floats = tile.planes * cell * cell * plan.sum_plane();
  float* const sums =
      memory.allocate(sum_floats + (all + 1) * plan.patch_plane() +
                      Lines<side, guides>::floats(plan) + per_pass * side * plan.stride);
  float *const totals = sums + sum_floats, *const kept = totals + plan.patch_plane();
  float* const rest = kept + all * plan.patch_plane();
  std::fill_n(sums, sum_floats + plan.patch_plane(), 0.0f);

  std::vector<Displacement> displacements;
  for (const TileSource& source : tile.sources)
    for (int e_y = -shape.search; e_y <= shape.search; ++e_y)
      for (int e_x = -shape.search; e_x <= shape.search; ++e_x)
        displacements.push_back({&source, source.motion_x + e_x, source.motion_y + e_y,
                                 kept + displacements.size() * plan.patch_plane()});
  const Lines<side, guides> lines(plan, rest);
  for (const Displacement& at : displacements)
    compute_weights<cell, side, guides, exponential>(plan, at, lines, totals);
  for (std::size_t i = 0; i < plan.patch_plane(); ++i)
    totals[i] = 1 / (totals[i] * static_cast<float>(shape.estimates));
  if (tile.planes == 1)
    add_all<cell, side, true>(plan, tile, displacements, totals, rest, sums);
  else
    add_all<cell, side, false>(plan, tile, displacements, totals, rest, sums);
  write_tile<cell>(plan, tile, sums);
}

template <int cell, int side, int guides>
void estimate_guided(const Shape& shape, const Tile& tile, TileMemory& memory) {
  if (shape.weights == Weights::exponential)
    estimate_with<cell, side, guides, true>(shape, tile, memory);
  else
    estimate_with<cell, side, guides, false>(shape, tile, memory);
}

template <int cell, int side>
void estimate_sized(const Shape& shape, const Tile& tile, TileMemory& memory) {
  if (tile.guides == 1)
    estimate_guided<cell, side, 1>(shape, tile, memory);
  else
    estimate_guided<cell, side, 3>(shape, tile, memory);
}

void run_blocks(const Shape& shape, const Tile& tile, TileMemory& memory) {
  if (shape.cell == 1)
    estimate_sized<1, 4>(shape, tile, memory);
  else if (shape.patch == 4)
    estimate_sized<2, 4>(shape, tile, memory);
  else
    estimate_sized<2, 2>(shape, tile, memory);
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::nlm::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::nlm::cpu {

HWY_EXPORT(run_blocks);

bool fits_blocks(const Shape& shape, const Tile& tile) {
  const bool known = shape.patch == 4 || (shape.patch == 2 && shape.cell == 2);
  return known && shape.patch == shape.block && shape.every == 1 && shape.slices == 1 &&
         tile.guides != 2;
}

void estimate_blocks(const Shape& shape, const Tile& tile, TileMemory& memory) {
  HWY_DYNAMIC_DISPATCH(run_blocks)(shape, tile, memory);
}

}  // namespace lull::nlm::cpu
#endif
