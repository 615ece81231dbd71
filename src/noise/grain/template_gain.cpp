#include "noise/grain/template_gain.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lull {
namespace {

using Taps = std::array<double, grain_taps>;

/// Impulse response of the filter of a grain template. The response covers `rows` rows from the
/// impulse on, and `reach` columns on each side of the impulse.
class Response {
 public:
  Response(int rows, int reach)
      : rows_(rows), columns_(2 * reach + 1), reach_(reach), values_(rows_ * columns_) {}

  double& at(int dx, int dy) { return values_[dy * columns_ + dx + reach_]; }
  double get(int dx, int dy) const {
    return dy < 0 || dy >= rows_ || std::abs(dx) > reach_ ? 0
                                                          : values_[dy * columns_ + dx + reach_];
  }
  int rows() const { return rows_; }
  int reach() const { return reach_; }

  void filter(const Taps& taps) {
    for (int dy = 0; dy < rows_; ++dy)
      for (int dx = -reach_; dx <= reach_; ++dx) {
        double sum = at(dx, dy);
        for (int tap = 0; tap < grain_taps; ++tap)
          if (taps[tap] != 0) sum += taps[tap] * get(dx + tap_dx(tap), dy + tap_dy(tap));
        at(dx, dy) = sum;
      }
  }

  /// Adds the autocorrelation of the impulse response to `pairs`.
  void add_pairs(std::array<double, pair_lags>& pairs) const {
    for (int dy = 0; dy <= grain_lag; ++dy)
      for (int dx = dy == 0 ? 0 : -grain_lag; dx <= grain_lag; ++dx) {
        double sum = 0;
        for (int y = 0; y + dy < rows_; ++y)
          for (int x = std::max(0, -dx); x < columns_ - std::max(0, dx); ++x)
            sum += values_[y * columns_ + x] * values_[(y + dy) * columns_ + x + dx];
        pairs[pair_index(dx, dy)] += sum;
      }
  }

  /// Adds the energy of each row of the impulse response to `rows`.
  void add_energy(std::vector<double>& rows) const {
    for (int dy = 0; dy < rows_; ++dy)
      for (int i = 0; i < columns_; ++i)
        rows[dy] += values_[dy * columns_ + i] * values_[dy * columns_ + i];
  }

 private:
  int rows_, columns_, reach_;
  std::vector<double> values_;
};

Taps taps_of(const GrainParams& grain, int plane) {
  Taps taps;
  for (int tap = 0; tap < grain_taps; ++tap)
    taps[tap] = std::ldexp(grain.ar_coeffs[plane][tap], -grain.ar_coeff_shift);
  return taps;
}

/// Returns the mean variance of the template rows from row `first` on. Decoders skip the rows
/// above, whose grain is weaker.
double mean_variance(const std::vector<double>& energy, int first) {
  double sum = 0, variance = 0;
  for (std::size_t row = 0; row < energy.size(); ++row) {
    variance += energy[row];
    if (static_cast<int>(row) >= first) sum += variance;
  }
  return sum / static_cast<double>(energy.size() - first);
}

bool decays(const std::vector<double>& energy) {
  double sum = 0, late = 0;
  for (std::size_t row = 0; row < energy.size(); ++row) {
    sum += energy[row];
    if (row >= energy.size() / 2) late += energy[row];
  }
  return std::isfinite(sum) && late < 0.02 * sum;
}

/// Returns the chroma response to a unit impulse of luma noise. (from_x, from_y) is the position of
/// the impulse among the luma samples that one chroma sample covers.
Response chroma_response(const Response& luma, int rows, int shift_x, int shift_y, int from_x,
                         int from_y, double coefficient) {
  Response response(rows, luma.reach() >> shift_x);
  const double factor = std::ldexp(coefficient, -(shift_x + shift_y));
  for (int dy = 0; dy < rows; ++dy)
    for (int dx = -response.reach(); dx <= response.reach(); ++dx) {
      double sum = 0;
      for (int j = 0; j < 1 << shift_y; ++j)
        for (int i = 0; i < 1 << shift_x; ++i)
          sum += luma.get(dx * (1 << shift_x) + i - from_x, dy * (1 << shift_y) + j - from_y);
      response.at(dx, dy) = factor * sum;
    }
  return response;
}

}  // namespace

TemplateGain template_gain(const GrainParams& grain, int planes, int shift_x, int shift_y) {
  constexpr int luma_rows = 73, reach = 40, first_of_luma = 9;
  TemplateGain found;
  Response luma(luma_rows, reach);
  luma.at(0, 0) = 1;
  luma.filter(taps_of(grain, 0));
  std::vector<double> energy(luma_rows);
  luma.add_energy(energy);
  luma.add_pairs(found.correlation[0]);
  found.gain[0] = std::sqrt(mean_variance(energy, first_of_luma));
  found.stable = decays(energy);
  const int rows = shift_y ? 38 : luma_rows, first = shift_y ? 6 : first_of_luma;
  for (int plane = 1; plane < planes; ++plane) {
    const Taps taps = taps_of(grain, plane);
    energy.assign(rows, 0);
    Response own(rows, reach >> shift_x);
    own.at(0, 0) = 1;
    own.filter(taps);
    own.add_energy(energy);
    own.add_pairs(found.correlation[plane]);
    if (grain.luma_coeff[plane] != 0)
      for (int y = 0; y < 1 << shift_y; ++y)
        for (int x = 0; x < 1 << shift_x; ++x) {
          Response response =
              chroma_response(luma, rows, shift_x, shift_y, x, y,
                              std::ldexp(grain.luma_coeff[plane], -grain.ar_coeff_shift));
          response.filter(taps);
          response.add_energy(energy);
          response.add_pairs(found.correlation[plane]);
        }
    found.gain[plane] = std::sqrt(mean_variance(energy, first));
    found.stable &= decays(energy);
  }
  for (auto& pairs : found.correlation) {
    const double square = pairs[pair_index(0, 0)];
    for (double& pair : pairs) pair = square > 0 ? pair / square : 0;
  }
  return found;
}

}  // namespace lull
