#pragma once
// Gaussian noise that depends only on the seed. The distributions of the standard library differ
// between implementations, so they are not used.

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace lull::bench {

/// Generates standard normal numbers by the method of Box and Muller, 1958.
class Gaussian {
 public:
  explicit Gaussian(std::uint64_t seed) : bits_(seed) {}

  double operator()() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    const double angle = 2.0 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

 private:
  double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }  // 0 <= u < 1

  std::mt19937_64 bits_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace lull::bench
