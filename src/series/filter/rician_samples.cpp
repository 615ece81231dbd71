#include "series/filter/rician_samples.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "noise/volume/rician.h"

namespace lull::series {
namespace {

/// Minimum signal estimate inside an object, in units of sigma. Smaller estimates are uncertain,
/// and an estimate of 0 would replace the sample by 0.
constexpr double uncertain_signal = 0.45;
/// Maximum mean signal of a voxel of air (`air`), and minimum mean signal of a voxel of the object
/// (`object`), in units of sigma.
constexpr double air = 0.5, object = 1;
/// Minimum Fisher information of a sample, relative to a sample with Gaussian noise. If the signal
/// is weaker, the noise of the new sample stays below 1, so that air keeps hardly any noise.
constexpr double min_information = 0.2;

/// Returns the new sample for the Rician sample `z` and the estimate `signal` of its true value, in
/// units of sigma.
double linearised(double z, double signal) {
  const double difference = rician_expectation(z, signal) - signal;
  return signal + difference / std::sqrt(std::max(rician_information(signal), min_information));
}

class VoxelEstimate {
 public:
  VoxelEstimate(const Fit& fit, const Samples& components)
      : basis_(fit.basis),
        samples_(components),
        components_(basis_.components()),
        signal_(basis_.size()) {}

  /// Returns the signal estimate of each volume at a voxel, in units of sigma.
  const std::vector<double>& estimate(std::size_t voxel, const RicianStabiliser& stabiliser) {
    for (int k = 0; k < basis_.components(); ++k)
      components_[k] = static_cast<double>(samples_.volume(k)[voxel]);
    basis_.reconstruct(components_.data(), signal_.data());
    double mean = 0;
    for (double& signal : signal_) {
      signal = static_cast<double>(stabiliser.inverse(static_cast<float>(signal)));
      mean += signal / basis_.size();
    }
    const double inside = std::clamp((mean - air) / (object - air), 0.0, 1.0);
    for (double& signal : signal_) signal = std::max(signal, inside * uncertain_signal);
    return signal_;
  }

 private:
  const Basis& basis_;
  const Samples& samples_;
  std::vector<double> components_, signal_;
};

}  // namespace

void replace_by_expectations(const Samples& samples, const Fit& fit, const Samples& components) {
  const Stabiliser levels(fit.noise, samples.shape);
  const RicianStabiliser stabiliser;
  constexpr std::size_t grain = 1024;
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, samples.shape.voxels(), grain), [&](const auto& part) {
        VoxelEstimate estimate(fit, components);
        for (std::size_t voxel = part.begin(); voxel < part.end(); ++voxel) {
          if (fit.states[voxel] == VoxelState::constant) continue;
          const std::vector<double>& signal = estimate.estimate(voxel, stabiliser);
          for (int i = 0; i < fit.basis.size(); ++i) {
            const int v = fit.basis.volumes()[i];
            float& sample = samples.volume(v)[voxel];
            const auto level = static_cast<double>(levels.level(v, voxel));
            const double z = std::max(static_cast<double>(sample - fit.noise.zero) / level, 0.0);
            if (sample == sample)  // true unless the sample is NaN
              sample = fit.noise.zero + static_cast<float>(level * linearised(z, signal[i]));
          }
        }
      });
}

}  // namespace lull::series
