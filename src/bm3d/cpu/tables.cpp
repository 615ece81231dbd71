// The constants of the filter for each coefficient: thresholds, Wiener terms and inverse factors.

#include <cmath>
#include <numbers>
#include <span>
#include <utility>

#include "bm3d/cpu/kernels.h"
#include "bm3d/kaiser.h"
#include "bm3d/transforms.h"
#include "noise/patch_covariance.h"

namespace lull::bm3d::cpu {
namespace {

/// Factors along one axis for a transform whose basis functions have other norms than 1. A
/// coefficient multiplied by `scale` is the orthonormal coefficient. A coefficient multiplied by
/// `restore` is the input of the inverse transform.
struct Axis {
  std::array<double, patch> scale, restore;
};

Axis axis_of(Transform transform) {
  Axis axis;
  if (transform == Transform::bior) {
    // The lifting steps of Bior1.5 (patch.h) multiply the samples by a matrix. `scale` contains the
    // reciprocals of the norms of the rows of this matrix. The nonzero elements of a row have these
    // magnitudes:
    // - level 3: 1 + 2 * k and 1 - 2 * k
    // - level 2: 1 + k, 1 - k and k
    // - level 1: 1
    constexpr double k = 22.0 / 128;
    const double detail3 = 1 / std::sqrt(8 * (1 + 4 * k * k));
    const double detail2 = 1 / std::sqrt(4 + 8 * k * k), detail1 = std::sqrt(0.5);
    axis.scale = {
        std::sqrt(1.0 / 8), detail3, detail2, detail2, detail1, detail1, detail1, detail1};
    axis.restore = {1.0 / 8, 1.0 / 8, 1.0 / 4, 1.0 / 4, 1.0 / 2, 1.0 / 2, 1.0 / 2, 1.0 / 2};
  } else if (transform == Transform::dct) {
    const double flat = std::sqrt(1.0 / 8), even = std::cos(std::numbers::pi / 8) / 2,
                 odd = std::cos(std::numbers::pi / 16) / 2;
    axis.scale = {flat, odd, even, odd, flat, odd, even, odd};
    for (int i = 0; i < patch; ++i) axis.restore[i] = axis.scale[i] * axis.scale[i];
  } else {
    axis.scale.fill(std::sqrt(1.0 / 8));
    axis.restore = {1.0 / 8, 1.0 / 8, 1.0 / 4, 1.0 / 4, 1.0 / 4, 1.0 / 4, 1.0 / 4, 1.0 / 4};
  }
  return axis;
}

template <class Value>
CoefficientTable table_of(const Value& value) {
  CoefficientTable table;
  for (int u = 0; u < patch; ++u)
    for (int lane = 0; lane < 16; ++lane)
      table.at[u * 16 + lane] = static_cast<float>(value(u, lane % patch));
  return table;
}

FilterTables common_tables(const PhaseParams& phase) {
  FilterTables tables{};
  tables.transform = phase.transform;
  tables.across = phase.group_transform;
  tables.window = kaiser_window(phase.kaiser);
  tables.outer_window =
      table_of([&](int row, int column) { return tables.window[row] * tables.window[column]; });
  const Axis axis = axis_of(phase.transform);
  tables.restore = table_of([&](int u, int v) {
    // The code in complex.h doubles coefficients that are complex along both axes. The factor 0.5
    // compensates for the doubling.
    const double half = phase.transform == Transform::dft && u > 1 && v > 1 ? 0.5 : 1.0;
    return half * axis.restore[u] * axis.restore[v];
  });
  return tables;
}

/// Sets the table elements for the mean of all samples of a group.
void set_mean(std::array<CoefficientTable, 2>& tables, float value) {
  tables[0].at[0] = value;
  tables[1].at[0] = tables[1].at[8] = value;
}

}  // namespace

std::shared_ptr<const CovarianceTable> make_covariances(
    Transform transform, const PlaneNoise& noise,
    const std::shared_ptr<const CovarianceTable>& before) {
  // validate() does not allow the Fourier transform together with coloured noise.
  if (noise.is_white() || transform == Transform::dft) return nullptr;
  if (before != nullptr && before->transform == transform &&
      before->correlation == noise.correlation)
    return before;
  const PatchCovariance covariance(noise, axis_rows(transform));
  CovarianceTable table{
      transform, noise.correlation, covariance.reach_x(), covariance.reach_y(), {}};
  const int last = table.index(table.reach_x, table.reach_y);
  float* const all = table.values.reserve(static_cast<std::size_t>(last + 1) * patch * patch);
  for (int dy = 0; dy <= table.reach_y; ++dy)
    for (int dx = dy == 0 ? 0 : -table.reach_x; dx <= table.reach_x; ++dx) {
      // The transforms of patch.h transpose the patches, so this loop also transposes the
      // covariance table.
      const std::span<const double> shared = covariance.at(dx, dy);
      float* const values = all + table.index(dx, dy) * patch * patch;
      for (int i = 0; i < patch * patch; ++i)
        values[i % patch * patch + i / patch] = static_cast<float>(shared[i]);
    }
  return std::make_shared<const CovarianceTable>(std::move(table));
}

FilterTables make_hard_tables(const PhaseParams& phase, const PlaneNoise& noise, float lambda,
                              float mean_factor,
                              const std::shared_ptr<const CovarianceTable>& before) {
  FilterTables tables = common_tables(phase);
  tables.covariances = make_covariances(phase.transform, noise, before);
  const bool squared = tables.covariances != nullptr || phase.transform == Transform::dft;
  const Axis axis = axis_of(phase.transform);
  const float threshold = lambda * noise.sigma;
  const auto limits = [&](double limit_of_all) {
    return table_of([&](int u, int v) {
      const double limit = limit_of_all / (axis.scale[u] * axis.scale[v]);
      return squared ? limit * limit : limit;
    });
  };
  tables.limit = limits(threshold);
  // first_limit[0] is for vectors of 16 lanes that contain two group coefficients. The lower 8
  // lanes contain the mean over the group, and the upper 8 lanes contain another group coefficient.
  tables.first_limit.fill(limits(static_cast<double>(threshold) * mean_factor));
  for (std::size_t i = 0; i < tables.limit.at.size(); ++i)
    if (i % 16 >= patch) tables.first_limit[0].at[i] = tables.limit.at[i];
  set_mean(tables.first_limit, -1.0f);
  return tables;
}

FilterTables make_wiener_tables(const PhaseParams& phase, const PlaneNoise& noise, float mu2,
                                const std::shared_ptr<const CovarianceTable>& before) {
  FilterTables tables = common_tables(phase);
  tables.covariances = make_covariances(phase.transform, noise, before);
  const Axis axis = axis_of(phase.transform);
  const float variance = mu2 * noise.sigma * noise.sigma;
  tables.limit = table_of([&](int u, int v) {
    const double scale = axis.scale[u] * axis.scale[v];
    return static_cast<double>(variance) / (scale * scale);
  });
  tables.first_limit.fill(tables.limit);
  tables.first_denominator.fill(tables.limit);
  set_mean(tables.first_limit, 0.0f);
  return tables;
}

}  // namespace lull::bm3d::cpu
