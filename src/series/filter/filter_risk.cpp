#include "series/filter/filter_risk.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

#include "series/components.h"

namespace lull::series {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
/// Maximum size of the examined part along x, y and z, in voxels, and maximum number of samples in
/// memory. The size along each axis is at least `min_size`, if the volume is so large.
constexpr std::array<int, 3> max_size{48, 48, 24};
constexpr std::size_t max_samples = 4'000'000;
constexpr int min_size = 12;
/// Amplitude of the probe in units of the noise level. Hard thresholds make results discontinuous,
/// so the amplitude must not be very small.
constexpr double amplitude = 0.2;
/// The standard error results from the sums over blocks with this side, because the errors of
/// neighbouring voxels depend on each other.
constexpr int block = 8;
constexpr std::size_t min_blocks = 8;

/// A part of a volume.
struct Box {
  std::array<int, 3> first{}, size{};

  std::size_t voxels() const { return static_cast<std::size_t>(size[0]) * size[1] * size[2]; }
  std::size_t voxel(const Shape& shape, int x, int y, int z) const {
    return (first[2] + z) * shape.slice_voxels() +
           static_cast<std::size_t>(first[1] + y) * shape.width + first[0] + x;
  }
};

/// Returns a box around the centre of gravity of the object.
/// @param arrays  number of arrays with one sample per voxel of the box
Box box_in(const Shape& shape, const std::vector<bool>& object, std::size_t arrays) {
  const std::array<int, 3> all{shape.width, shape.height, shape.slices};
  std::array<double, 3> sums{};
  double count = 0;
  for (std::size_t i = 0; i < object.size(); ++i) {
    if (!object[i]) continue;
    const std::size_t in_slice = i % shape.slice_voxels();
    sums[0] += static_cast<double>(in_slice % shape.width);
    sums[1] += static_cast<double>(in_slice / shape.width);
    sums[2] += static_cast<double>(i / shape.slice_voxels());
    ++count;
  }
  Box box;
  for (int a = 0; a < 3; ++a) box.size[a] = std::min(all[a], max_size[a]);
  while (box.voxels() * arrays > max_samples && std::ranges::max(box.size) > min_size)
    --*std::ranges::max_element(box.size);
  for (int a = 0; a < 3; ++a)
    box.first[a] = std::clamp(static_cast<int>(sums[a] / std::max(count, 1.0)) - box.size[a] / 2, 0,
                              all[a] - box.size[a]);
  return box;
}

class Comparison {
 public:
  Comparison(const Samples& samples, const Fit& fit, std::span<const int> volumes)
      : basis_(fit.basis),
        components_(basis_.components()),
        compared_(static_cast<int>(volumes.size())),
        box_(box_in(samples.shape, fit.object, 2 * components_ + 5 * volumes.size())) {
    for (const int volume : volumes) {
      places_.push_back(place_of(volume, basis_.volumes()));
      ratios_.push_back(static_cast<double>(fit.noise.levels[volume]) /
                        static_cast<double>(fit.separate.levels[volume]));
    }
    part_.states.assign(box_.voxels(), VoxelState::constant);
    object_.assign(box_.voxels(), false);
    for (std::vector<float>* array : {&noisy_, &probe_}) array->resize(compared_ * box_.voxels());
    data_.assign(2 * (components_ + compared_) * box_.voxels(), nan);
    fill(samples, fit);
  }

  bool is_usable() const { return blocks_with_object() >= min_blocks; }

  /// Filters all arrays. Returns false if `filter` returned false.
  bool run(const VolumeFilter& filter) {
    const Samples all = arrays();
    for (const ComponentGroup& group : group_components(all)) {
      ComponentSource source(all, part_, group);
      ComponentSink sink(all, group, nullptr);
      if (!filter(source, sink, group)) return false;
    }
    return true;
  }

  Risks risks() const {
    Risks risks;
    for (int i = 0; i < compared_; ++i) add_risks(i, risks);
    return risks;
  }

 private:
  // The order of the arrays: the components, the components with the probe, the volumes, the
  // volumes with the probe.
  int component(bool with_probe, int k) const { return with_probe ? components_ + k : k; }
  int volume(bool with_probe, int i) const {
    return 2 * components_ + (with_probe ? compared_ : 0) + i;
  }
  float& array(int number, std::size_t voxel) { return data_[number * box_.voxels() + voxel]; }
  double value(int number, std::size_t voxel) const {
    return static_cast<double>(data_[number * box_.voxels() + voxel]);
  }
  Samples arrays() {
    return {.shape = {.width = box_.size[0],
                      .height = box_.size[1],
                      .slices = box_.size[2],
                      .volumes = 2 * (components_ + compared_)},
            .data = data_.data()};
  }

  /// Computes the components and the volumes with and without the probe.
  void fill(const Samples& samples, const Fit& fit) {
    const Stabiliser stabiliser(fit.noise, samples.shape);
    std::mt19937 random;  // the sequence of this generator is the same everywhere
    std::size_t at = 0;
    for (int z = 0; z < box_.size[2]; ++z)
      for (int y = 0; y < box_.size[1]; ++y)
        for (int x = 0; x < box_.size[0]; ++x, ++at) {
          const std::size_t voxel = box_.voxel(samples.shape, x, y, z);
          if (fit.states[voxel] != VoxelState::complete) continue;
          part_.states[at] = VoxelState::complete;
          object_[at] = fit.object[voxel];
          fill_voxel(samples, stabiliser, voxel, at, random);
        }
  }

  void fill_voxel(const Samples& samples, const Stabiliser& stabiliser, std::size_t voxel,
                  std::size_t at, std::mt19937& random) {
    std::vector<double> sample(basis_.size()), moved(basis_.size()), components(components_);
    for (int i = 0; i < basis_.size(); ++i) {
      const int v = basis_.volumes()[i];
      sample[i] = static_cast<double>(stabiliser.forward(v, voxel, samples.volume(v)[voxel]));
      moved[i] = sample[i] + ((random() & 1) != 0 ? amplitude : -amplitude);
    }
    for (const bool with_probe : {false, true}) {
      const std::vector<double>& from = with_probe ? moved : sample;
      basis_.project(from.data(), components.data());
      for (int k = 0; k < components_; ++k)
        array(component(with_probe, k), at) = static_cast<float>(components[k]);
      for (int i = 0; i < compared_; ++i)
        array(volume(with_probe, i), at) = static_cast<float>(
            ratios_[i] * (from[places_[i]] - basis_.mean(static_cast<int>(places_[i]))));
    }
    for (int i = 0; i < compared_; ++i) {
      const double mean = basis_.mean(static_cast<int>(places_[i]));
      noisy_[i * box_.voxels() + at] = static_cast<float>(sample[places_[i]] - mean);
      probe_[i * box_.voxels() + at] = static_cast<float>(moved[places_[i]] - sample[places_[i]]);
    }
  }

  std::size_t block_of(std::size_t voxel) const {
    const std::size_t x = voxel % box_.size[0], y = voxel / box_.size[0] % box_.size[1],
                      z = voxel / box_.size[0] / box_.size[1];
    const std::size_t columns = box_.size[0] / block + 1, rows = box_.size[1] / block + 1;
    return (z / block * rows + y / block) * columns + x / block;
  }

  std::size_t blocks_with_object() const {
    std::vector<std::size_t> blocks;
    for (std::size_t at = 0; at < object_.size(); ++at)
      if (object_[at]) blocks.push_back(block_of(at));
    std::ranges::sort(blocks);
    return std::unique(blocks.begin(), blocks.end()) - blocks.begin();
  }

  /// Returns the risk of a result in one voxel, before the subtraction of the noise variance 1.
  /// @param moved  the result for the perturbed samples (the samples plus the probe)
  double risk(int i, std::size_t at, double result, double moved) const {
    const double residual = static_cast<double>(noisy_[i * box_.voxels() + at]) - result;
    const auto probe = static_cast<double>(probe_[i * box_.voxels() + at]);
    return residual * residual + 2 * probe * (moved - result) / (amplitude * amplitude);
  }

  double of_components(bool with_probe, int i, std::size_t at) const {
    double sum = 0;
    for (int k = 0; k < components_; ++k)
      sum += basis_.direction(k)[places_[i]] * value(component(with_probe, k), at);
    return sum;
  }

  void add_risks(int i, Risks& risks) const {
    std::vector<double> differences, counts;
    double alone = 0, together = 0, count = 0;
    for (std::size_t at = 0; at < object_.size(); ++at) {
      if (!object_[at]) continue;
      const double a = risk(i, at, value(volume(false, i), at) / ratios_[i],
                            value(volume(true, i), at) / ratios_[i]);
      const double t = risk(i, at, of_components(false, i, at), of_components(true, i, at));
      alone += a;
      together += t;
      ++count;
      const std::size_t number = block_of(at);
      if (number >= counts.size()) differences.resize(number + 1), counts.resize(number + 1);
      differences[number] += t - a;
      ++counts[number];
    }
    const double mean = (together - alone) / count;
    double squares = 0;
    for (std::size_t b = 0; b < counts.size(); ++b)
      squares += std::pow(differences[b] - mean * counts[b], 2);
    risks.alone.push_back(alone / count - 1);
    risks.together.push_back(together / count - 1);
    risks.error.push_back(std::sqrt(squares) / count);
  }

  const Basis& basis_;
  int components_, compared_;
  Box box_;
  std::vector<std::size_t> places_;  // index of each compared volume in Basis::volumes()
  std::vector<double> ratios_;       // level in the series / level of a separate filter
  Fit part_;                         // the states of the voxels of the box
  std::vector<bool> object_;
  std::vector<float> noisy_, probe_, data_;
};

}  // namespace

Risks risks_of_filters(const Samples& samples, const Fit& fit, std::span<const int> volumes,
                       const VolumeFilter& filter) {
  if (fit.object.empty()) return {};
  Comparison comparison(samples, fit, volumes);
  if (!comparison.is_usable() || !comparison.run(filter)) return {};
  return comparison.risks();
}

}  // namespace lull::series
