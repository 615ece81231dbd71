#include "burst/refinement.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

namespace lull::burst {
namespace {

using View = PlaneView<const float>;

constexpr int rounds = 24;
constexpr double enough = 3e-3;  // in samples: the iteration ends when no corner moves farther
constexpr double huber = 1.5;    // in standard deviations; larger differences get less weight

/// Normal equations of the least-squares fit for (a, b, move_x, move_y), and the sum of the
/// weighted squared residuals.
struct Normal {
  std::array<double, 10> matrix{};  // upper triangle, row by row
  std::array<double, 4> side{};
  double squares = 0;
  double count = 0;

  void add(const Normal& n) {
    for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] += n.matrix[i];
    for (std::size_t i = 0; i < side.size(); ++i) side[i] += n.side[i];
    squares += n.squares;
    count += n.count;
  }
};

double bilinear(View b, double x, double y) {
  const int i = static_cast<int>(x), j = static_cast<int>(y);
  const double fx = x - i, fy = y - j;
  const float *const p = b.row(j) + i, *const q = b.row(j + 1) + i;
  const double above = p[0] + fx * (p[1] - p[0]), below = q[0] + fx * (q[1] - q[0]);
  return above + fy * (below - above);
}

/// Returns the normal equations of one row. The function computes gradients only from the first
/// picture, because gradients of the interpolated second picture would bias the result towards
/// half-sample positions.
Normal row_of(View a, View b, const Alignment& s, int row, double limit) {
  Normal n;
  const double y = row + 0.5 - 0.5 * a.height;
  if (row == 0 || row == a.height - 1) return n;
  for (int column = 1; column < a.width - 1; ++column) {
    const double x = column + 0.5 - 0.5 * a.width;
    const double u = s.a * x - s.b * y + s.move_x + 0.5 * b.width - 0.5;
    const double v = s.b * x + s.a * y + s.move_y + 0.5 * b.height - 0.5;
    if (!(u >= 0 && v >= 0 && u < b.width - 1 && v < b.height - 1)) continue;
    const double difference = a(column, row) - bilinear(b, u, v);
    const double slope_x = 0.5 * (a(column + 1, row) - a(column - 1, row));
    const double slope_y = 0.5 * (a(column, row + 1) - a(column, row - 1));
    const double weight = std::abs(difference) <= limit ? 1 : limit / std::abs(difference);
    const std::array<double, 4> slope{slope_x * x + slope_y * y, slope_y * x - slope_x * y, slope_x,
                                      slope_y};
    for (int i = 0, k = 0; i < 4; ++i) {
      n.side[i] += weight * slope[i] * difference;
      for (int j = i; j < 4; ++j) n.matrix[k++] += weight * slope[i] * slope[j];
    }
    n.squares += weight * difference * difference;
    ++n.count;
  }
  return n;
}

/// Solves the equations by Cholesky decomposition. Returns no value if the matrix is singular.
std::optional<std::array<double, 4>> solve(const Normal& n) {
  double l[4][4] = {};
  for (int i = 0, k = 0; i < 4; ++i)
    for (int j = i; j < 4; ++j) l[j][i] = n.matrix[k++];
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = l[i][j];
      for (int k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
      if (i == j && !(sum > 1e-9 * l[i][i])) return std::nullopt;
      l[i][j] = i == j ? std::sqrt(sum) : sum / l[j][j];
    }
  }
  std::array<double, 4> x = n.side;
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < i; ++k) x[i] -= l[i][k] * x[k];
    x[i] /= l[i][i];
  }
  for (int i = 3; i >= 0; --i) {
    for (int k = i + 1; k < 4; ++k) x[i] -= l[k][i] * x[k];
    x[i] /= l[i][i];
  }
  return x;
}

/// Smooths a picture with [1 4 6 4 1] / 16 along both axes, to reduce noise and the error of
/// bilinear interpolation.
Plane<float> smoothed(View picture) {
  Plane<float> between(picture.width, picture.height), result(picture.width, picture.height);
  const auto end = [](int i, int length) { return std::clamp(i, 0, length - 1); };
  tbb::parallel_for(0, picture.height, [&](int y) {
    const float* const row = picture.row(y);
    for (int x = 0; x < picture.width; ++x) {
      const auto at = [&](int k) { return row[end(x + k, picture.width)]; };
      between.view()(x, y) = (at(-2) + at(2) + 4 * (at(-1) + at(1)) + 6 * at(0)) / 16;
    }
  });
  tbb::parallel_for(0, picture.height, [&](int y) {
    const auto row = [&](int k) { return between.view().row(end(y + k, picture.height)); };
    for (int x = 0; x < picture.width; ++x)
      result.view()(x, y) =
          (row(-2)[x] + row(2)[x] + 4 * (row(-1)[x] + row(1)[x]) + 6 * row(0)[x]) / 16;
  });
  return result;
}

}  // namespace

Alignment refined(PlaneView<const float> picture, PlaneView<const float> other, Alignment guess) {
  const Plane<float> a = smoothed(picture), b = smoothed(other);
  std::vector<Normal> rows(picture.height);
  double limit = 255;
  const double corner = 0.5 * std::hypot(picture.width, picture.height);
  for (int k = 0; k < rounds; ++k) {
    tbb::parallel_for(0, picture.height,
                      [&](int y) { rows[y] = row_of(a.view(), b.view(), guess, y, limit); });
    Normal all;  // rows are added in order: the same sum for any number of threads
    for (const Normal& row : rows) all.add(row);
    const auto change = solve(all);
    if (!change || all.count < 64) return guess;
    guess.a += (*change)[0], guess.b += (*change)[1];
    guess.move_x += (*change)[2], guess.move_y += (*change)[3];
    limit = huber * std::sqrt(all.squares / all.count);
    if (k > 0 &&
        std::hypot((*change)[0], (*change)[1]) * corner + std::hypot((*change)[2], (*change)[3]) <
            enough)
      break;
  }
  return guess;
}

}  // namespace lull::burst
