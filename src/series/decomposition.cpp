#include "series/decomposition.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

namespace lull::series {
namespace {

/// Decomposes the covariance of the volumes with the indices [first, end).
Decomposition decompose_group(const Moments& moments, std::size_t first, std::size_t end,
                              std::optional<double> variance) {
  const std::size_t all = moments.means.size(), size = end - first;
  std::vector<double> matrix(size * size);
  for (std::size_t row = 0; row < size; ++row)
    std::copy_n(&moments.covariance[(first + row) * all + first], size, &matrix[row * size]);
  Decomposition result{.eigen = eigen_of_symmetric(std::move(matrix), static_cast<int>(size)),
                       .spectrum = {}};
  result.spectrum = analyse_spectrum(result.eigen.values, moments.count, variance);
  return result;
}

/// Merges the decompositions of two groups of volumes. The function pads the eigenvectors of each
/// group with zeros for the volumes of the other group.
Decomposition merge(const std::array<Decomposition, 2>& groups) {
  struct Place {
    bool is_noise;
    double value;
    std::size_t group, index;
  };
  std::vector<Place> places;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t k = 0; k < groups[g].eigen.values.size(); ++k)
      places.push_back(
          {static_cast<int>(k) >= groups[g].spectrum.components, groups[g].eigen.values[k], g, k});
  std::ranges::stable_sort(
      places, {}, [](const Place& place) { return std::tuple(place.is_noise, -place.value); });
  const Spectrum &a = groups[0].spectrum, &b = groups[1].spectrum;
  Decomposition all{.eigen = {},
                    .spectrum = {.components = a.components + b.components,
                                 .variance = (a.variance + b.variance) / 2,
                                 .edge = std::max(a.edge, b.edge)}};
  all.eigen.vectors.resize(places.size() * places.size());
  const std::size_t first_size = groups[0].eigen.values.size();
  for (std::size_t k = 0; k < places.size(); ++k) {
    const EigenSystem& eigen = groups[places[k].group].eigen;
    all.eigen.values.push_back(places[k].value);
    std::copy_n(eigen.vector(places[k].index), eigen.values.size(),
                &all.eigen.vectors[k * places.size() + (places[k].group == 0 ? 0 : first_size)]);
  }
  return all;
}

}  // namespace

Decomposition decompose(const Moments& moments, std::size_t first_group,
                        std::optional<double> variance) {
  const std::size_t all = moments.means.size();
  if (first_group == 0 || first_group >= all) return decompose_group(moments, 0, all, variance);
  return merge({decompose_group(moments, 0, first_group, variance),
                decompose_group(moments, first_group, all, variance)});
}

}  // namespace lull::series
