#include "linear/reference/stages.h"

#include <algorithm>
#include <cmath>

namespace lull::linear::reference {
namespace {

std::uint32_t distance(PlaneView<const std::uint8_t> own, PlaneView<const std::uint8_t> other,
                       int x, int y, int u, int v, int side) {
  std::uint32_t sum = 0;
  for (int j = 0; j < side; ++j)
    for (int i = 0; i < side; ++i) {
      const int difference = own(x + i, y + j) - other(u + i, v + j);
      sum += static_cast<std::uint32_t>(difference * difference);
    }
  return sum;
}

/// Subtracts the mean patch of a group from each of its patches, and returns the differences.
Matrix centred(Matrix patches) {
  for (int s = 0; s < patches.columns; ++s) {
    double mean = 0;
    for (int i = 0; i < patches.rows; ++i) mean += patches(i, s) / patches.rows;
    for (int i = 0; i < patches.rows; ++i) patches(i, s) -= mean;
  }
  return patches;
}

}  // namespace

std::vector<std::uint16_t> find_group(std::span<const PlaneView<const std::uint8_t>> guides,
                                      const GuideRange& range, const Groups& groups, int i, int j,
                                      const Holes* holes) {
  const GroupSizes& sizes = groups.sizes();
  const int x = groups.grid().x(i), y = groups.grid().y(j);
  const int halves = groups.halves(i, j), shift = distance_shift(sizes.samples(halves));
  const auto distance_at = [&](int own, int other, const Place& place) {
    return distance(guides[own], guides[other], x, y, x + place.x, y + place.y, sizes.side);
  };
  std::vector<std::uint32_t> keys = {0};  // the reference patch
  for (int frame = 0; frame < static_cast<int>(guides.size()); ++frame) {
    if (!groups.has_candidates(frame, halves)) continue;
    const int window = groups.window(frame), first = groups.first_index(frame);
    for (int index = first; index < first + window * window; ++index) {
      const Place place = groups.place(i, j, index);
      const int u = x + place.x, v = y + place.y;
      if (u < 0 || v < 0 || u + sizes.side > guides[0].width || v + sizes.side > guides[0].height)
        continue;
      if (frame == 0 && place.x == 0 && place.y == 0) continue;
      if (holes != nullptr && holes->any_in(u, v, sizes.side)) continue;
      const bool is_predicted = index == first + window * window / 2;
      std::uint32_t d = distance_at(0, frame, place);
      if (halves == 2)
        d += distance_at(groups.frames()[0].partner, groups.frames()[frame].partner, place);
      if (is_predicted) d -= std::min(d, groups.bonus(range, sizes.samples(halves)));
      keys.push_back(std::min(d >> shift, max_distance) << index_bits |
                     static_cast<std::uint32_t>(index));
    }
  }
  std::ranges::sort(keys);
  keys.resize(std::min(keys.size(), static_cast<std::size_t>(sizes.group)));
  std::vector<std::uint16_t> members;
  for (const std::uint32_t key : keys)
    members.push_back(static_cast<std::uint16_t>(key & ((1u << index_bits) - 1)));
  return members;
}

Matrix gather(std::span<const PlaneView<const float>> pictures, int x, int y, const Group& group) {
  const int side = group.side(), area = side * side;
  Matrix patches(static_cast<int>(group.members.size()), group.halves * area);
  for (int m = 0; m < patches.rows; ++m)
    for (int s = 0; s < patches.columns; ++s) {
      const Place at = group.half(m, s / area);
      patches(m, s) = static_cast<double>(
          pictures[at.frame](x + at.x + s % area % side, y + at.y + s % area / side));
    }
  return patches;
}

Matrix shared_noise(const Group& group, const PlaneNoise& noise) {
  const int k = static_cast<int>(group.members.size()), n = group.side() * group.side();
  const double variance = static_cast<double>(noise.sigma) * static_cast<double>(noise.sigma) * n;
  Matrix shared(k, k);
  for (int half = 0; half < group.halves; ++half)
    for (int i = 0; i < k; ++i)
      for (int j = 0; j < k; ++j) {
        const Place a = group.half(i, half), b = group.half(j, half);
        if (a.frame == b.frame)
          shared(i, j) += variance * noise.correlation_at(a.x - b.x, a.y - b.y);
      }
  return shared;
}

Matrix theta_of(const Matrix& patches, const Matrix& noise, double assumed, double removed) {
  const int k = patches.rows;
  const Matrix x = centred(patches);
  Matrix q = product(x, transposed(x));
  double trace = 0;
  for (int i = 0; i < k; ++i) trace += q(i, i);
  const double lowest = static_cast<double>(floor_share) * trace / k +
                        static_cast<double>(floor_variance) * patches.columns;
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k; ++j) q(i, j) += assumed * noise(i, j) + (i == j ? lowest : 0);
  Matrix p = inverse(q);
  std::vector<double> sums(k);  // Q^-1 1
  double total = 0;
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k; ++j) sums[i] += p(i, j);
  for (const double sum : sums) total += sum;
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k; ++j) p(i, j) -= sums[i] * sums[j] / total;
  Matrix theta = product(noise, p);
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k; ++j) theta(i, j) = (i == j ? 1 : 0) - removed * theta(i, j);
  return theta;
}

std::vector<double> weights_of(const Matrix& theta) {
  std::vector<double> weights;
  for (int i = 0; i < theta.rows; ++i) {
    double squares = 0;
    for (int j = 0; j < theta.columns; ++j) squares += theta(i, j) * theta(i, j);
    weights.push_back(1 / std::sqrt(std::max(squares, 1.0 / theta.rows)));
  }
  return weights;
}

double remaining_noise(const Matrix& y, const Matrix& z, double sigma, double tau) {
  const auto n = static_cast<double>(y.values.size());
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < y.values.size(); ++i) sum += y.values[i] - z.values[i];
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    const double difference = y.values[i] - z.values[i] - sum / n;
    squares += difference * difference;
  }
  return std::max(1 - std::sqrt(squares / n) / sigma, tau);
}

Average::Average(int width, int height)
    : width_(width),
      sums_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)),
      weights_(sums_.size()) {}

void Average::add(const Matrix& estimates, int i, int half, int x, int y, int side, double weight) {
  for (int s = 0; s < side * side; ++s) {
    const std::size_t at = static_cast<std::size_t>(y + s / side) * width_ + x + s % side;
    sums_[at] += weight * estimates(i, half * side * side + s);
    weights_[at] += weight;
  }
}

void Average::divide(PlaneView<float> to) const {
  for (int y = 0; y < to.height; ++y)
    for (int x = 0; x < to.width; ++x) {
      const std::size_t at = static_cast<std::size_t>(y) * width_ + x;
      to(x, y) = static_cast<float>(sums_[at] / weights_[at]);
    }
}

}  // namespace lull::linear::reference
