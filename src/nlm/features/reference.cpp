// The reference backend of non-local means with features: formulas.h in double precision, pixel by
// pixel.

#include <algorithm>
#include <vector>

#include "nlm/features/engine.h"

namespace lull::nlm {
namespace {

/// A plane with its mirror image on all sides.
struct MirroredPlane {
  int width = 0, height = 0;
  std::vector<float> samples;

  MirroredPlane() = default;
  explicit MirroredPlane(PlaneView<const float> from) : width(from.width), height(from.height) {
    for (int y = 0; y < height; ++y)
      samples.insert(samples.end(), from.row(y), from.row(y) + width);
  }
  double operator()(int x, int y) const {
    return static_cast<double>(
        samples[static_cast<std::size_t>(mirrored(y, height)) * width + mirrored(x, width)]);
  }
};

struct RenderSlot {
  std::array<MirroredPlane, 3> light, variance;
  int regressors = 0;
  std::array<MirroredPlane, max_regressors> regressor, noise;
};

struct LineSums {
  double weight = 0;
  std::array<double, triangle(max_coefficients)> matrix{};
  std::array<double, 3 * max_coefficients> right{};
  // Sums for the derivative dF/du_p (step 4 of formulas.h), with s(q) = w' * (u_p - u_q) / (v_p +
  // v_q). `slope_light` is the sum of s(q) * u_q, and `slope` is the sum of s(q).
  std::array<double, 3> slope_light{}, slope{};
};

class ReferenceFeatureEngine final : public FeatureEngine {
 public:
  explicit ReferenceFeatureEngine(const FeaturePlan& plan)
      : plan_(plan), slots_(plan.slots), colour_(plan), guided_(plan) {}

  void load(int at, const LightViews& views) override {
    RenderSlot& slot = slots_[at];
    for (int c = 0; c < plan_.planes; ++c) {
      slot.light[c] = MirroredPlane(views.light[c]);
      slot.variance[c] = MirroredPlane(views.variance[c]);
    }
    slot.regressors = views.regressors;
    for (int i = 0; i < views.regressors; ++i) {
      slot.regressor[i] = MirroredPlane(views.regressor[i]);
      slot.noise[i] = MirroredPlane(views.regressor_noise[i]);
    }
  }

  void estimate(std::span<const CandidateFrame> frames,
                const std::array<PlaneView<float>, 3>& results) override {
    const RenderSlot& wanted = slots_[frames[0].slot];
    for (int y = 0; y < plan_.height; ++y)
      for (int x = 0; x < plan_.width; ++x) {
        estimate_one(frames, colour_filter, 1, x, y, colour_);
        estimate_one(frames, guided_filter, 1 + position_terms + wanted.regressors, x, y, guided_);
      }
    std::array<PlaneView<const float>, 3> light, variance;
    for (int c = 0; c < plan_.planes; ++c) {
      light[c] = {wanted.light[c].samples.data(), plan_.width, plan_.height, plan_.width};
      variance[c] = {wanted.variance[c].samples.data(), plan_.width, plan_.height, plan_.width};
    }
    blend(plan_, light, variance, colour_, guided_, results);
  }

 private:
  double distance(const RenderSlot& p, const RenderSlot& q, int radius, int x, int y, int ex,
                  int ey) const {
    double sum = 0;
    for (int c = 0; c < plan_.planes; ++c)
      for (int j = -radius; j <= radius; ++j)
        for (int i = -radius; i <= radius; ++i) {
          const int a = x + i, b = y + j;
          sum += difference(p.light[c](a, b), q.light[c](a + ex, b + ey), p.variance[c](a, b),
                            q.variance[c](a + ex, b + ey));
        }
    return sum / (plan_.planes * (2 * radius + 1) * (2 * radius + 1));
  }

  void add(const RenderSlot& p, const RenderSlot& q, CandidateFilter filter, int coefficients,
           int x, int y, int dx, int dy, Motion m, LineSums& sums) const {
    const int ex = dx + m.x, ey = dy + m.y;
    const double k2 = static_cast<double>(filter.k) * static_cast<double>(filter.k);
    const auto [w, slope] = weigh(distance(p, q, filter.patch_radius, x, y, ex, ey) / k2,
                                  per_sample(filter, plan_.planes));
    if (!(w > 0)) return;
    std::array<double, max_coefficients> g{1, static_cast<double>(dx) / plan_.search_radius,
                                           static_cast<double>(dy) / plan_.search_radius};
    for (int i = 1 + position_terms; i < coefficients; ++i) {
      const int r = i - 1 - position_terms;
      g[i] = std::clamp(q.regressor[r](x + ex, y + ey) - p.regressor[r](x, y), -1.0, 1.0);
    }
    sums.weight += w;
    for (int i = 0; i < coefficients; ++i) {
      for (int j = 0; j <= i; ++j) sums.matrix[triangle(i) + j] += w * g[i] * g[j];
      for (int c = 0; c < plan_.planes; ++c)
        sums.right[i * plan_.planes + c] += w * g[i] * q.light[c](x + ex, y + ey);
    }
    for (int c = 0; c < plan_.planes; ++c) {
      const double up = p.light[c](x, y), uq = q.light[c](x + ex, y + ey);
      const double s = slope * (up - uq) / (p.variance[c](x, y) + q.variance[c](x + ex, y + ey));
      sums.slope_light[c] += s * uq;
      sums.slope[c] += s;
    }
  }

  void estimate_one(std::span<const CandidateFrame> frames, CandidateFilter filter,
                    int coefficients, int x, int y, CandidateResult& result) const {
    const RenderSlot& p = slots_[frames[0].slot];
    LineSums sums;
    for (const CandidateFrame& frame : frames) {
      const int cell = y / plan_.cell * plan_.cell_columns() + x / plan_.cell;
      const Motion m = frame.motion.empty() ? Motion{} : frame.motion[cell];
      const int s = plan_.search_radius;
      for (int dy = -s; dy <= s; ++dy)
        for (int dx = -s; dx <= s; ++dx)
          if (is_in_window(dx, dy, s))
            add(p, slots_[frame.slot], filter, coefficients, x, y, dx, dy, m, sums);
    }
    std::array<double, max_coefficients> penalty;
    for (int i = 0; i < coefficients; ++i)
      penalty[i] = static_cast<double>(ridge) +
                   (i > position_terms ? p.noise[i - 1 - position_terms](x, y) : 0);
    std::array<double, 3> value{};
    const double share = solve_line(sums.matrix.data(), sums.right.data(), coefficients,
                                    plan_.planes, penalty.data(), value.data());
    for (int c = 0; c < plan_.planes; ++c) {
      result.value[c].view()(x, y) = static_cast<float>(value[c]);
      result.derivative[c].view()(x, y) = static_cast<float>(
          share + (sums.slope_light[c] - value[c] * sums.slope[c]) / sums.weight);
    }
  }

  FeaturePlan plan_;
  std::vector<RenderSlot> slots_;
  CandidateResult colour_, guided_;
};

}  // namespace

std::unique_ptr<FeatureEngine> make_reference_feature_engine(const FeaturePlan& plan) {
  return std::make_unique<ReferenceFeatureEngine>(plan);
}

}  // namespace lull::nlm
