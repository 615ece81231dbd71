#pragma once
// The formulas of non-local means, in all backends. B is Params::block, p is Params::patch_radius,
// and S is Params::search_radius.

// A patch with origin r consists of the samples r + i with -p <= i < B + p along x and y. Its block
// consists of the samples with 0 <= i < B. In volumes, a patch also extends p slices before and
// after its block.

// Reference patches have their origins at all positive and negative multiples of Params::step along
// x and y, in every slice. The block of a patch has B x B samples, so each sample lies in the
// blocks of (B / step)^2 reference patches. With B = 1, a patch has 2 * p + 1 samples along each
// axis, as in the papers.

// The candidates of a reference patch r have their origins at r + m + d. m is the motion vector
// from the target frame to the frame of the candidate. In the target frame and in volumes, m is 0.
// The displacement d ranges from -S to S along x and y.

// The motion vector m belongs to a target sample: each sample uses the vector of its motion block
// (time/motion.h). A patch that lies in several motion blocks thus has several vectors m.

// In pictures, candidates are in the target frame and in the neighbouring frames (time/timeline.h).
// In volumes, candidates are in the existing slices z - S to z + S. A patch that overlaps a hole
// (noise/holes.h) is a candidate only for itself.

// Candidates may extend beyond the plane, where the engine replicates or mirrors samples
// (Params::border). In volumes, the origin of a candidate is always in an existing slice. If other
// slices of the patch are missing, the engine replicates or mirrors slices.

// Formula 1: the distance D of patch r and its candidate r + e, in units of the noise variance
// sigma_c^2. There are C guide planes G_c, and N samples in a patch. d_c(i) is G_c(r + i) - G_c(r +
// e + i). a_c is 1 / (C * sigma_c^2), and beta is Params::mean_term.
//   D(r, e) = sum_c( a_c * ( sum_i(d_c(i)^2) / N + beta * (sum_i(d_c(i)) / N)^2 ) )

// Marques and Pardo (section 1) use ||Nx - Ny||^2 over all channels. The mean in formula 1 makes h
// independent of the size of patches. A correction subtracts the contribution of the noise:
//   x(r, e) = max(D - correction * (1 + beta / N), 0), where correction is Params::correction.

// Formula 2: the weight w of a candidate with the corrected distance x (Marques and Pardo, section
// 1; Cuomo et al., equation 8). The reference patch has the weight 1. For beta = 1, the strength of
// Coupe et al. is h = sqrt(2), where beta is their parameter and not Params::mean_term.
//   exponential: w = exp(-x / h^2),
//   polynomial:  w = max(0, 1 - x / (8 * h^2))^8

// Formula 3: the estimates A of the samples of a block, and their mean over the (B / step)^2
// patches r whose block covers the sample x (Coupe et al. 2008, doi:10.1109/TMI.2007.906087,
// section II.D):
//   A(r, i) = sum_e(w(r, e) * I(r + e + i)) / sum_e(w(r, e)),
//   result(x) = the mean of A(r, x - r)

// Backends compute formula 3 with normalised weights u(r, e) = w(r, e) / sum_e(w(r, e)). v(x, e) is
// the mean of u(r, e) over the patches r whose block covers x, so sum_e(v) is 1. This form is
// accurate in low precision:
//   result(x) = I(x) + sum_e(v(x, e) * (I(x + e) - I(x)))

#include <cmath>

#include "core/float_range.h"
#include "nlm/params.h"

namespace lull::nlm {

/// Maps the position `i` to a position in 0..`length` - 1, by replication or mirroring.
constexpr int continued(int i, int length, Border border) {
  if (border == Border::replicate) return i < 0 ? 0 : i < length ? i : length - 1;
  const int period = 2 * length;
  const int j = (i % period + period) % period;
  return j < length ? j : period - 1 - j;
}

/// Converts a distance D to a weight w. `zero` is the correction for noise, so that x = max(D -
/// zero, 0). The weight is max(0, 1 - slope * x)^8 or exp(-slope * x).
struct WeightCurve {
  explicit WeightCurve(const Params& p)
      : kind(p.weights),
        zero(static_cast<double>(p.correction) *
             (1 + static_cast<double>(p.mean_term) / p.patch_samples())),
        slope(1 / (static_cast<double>(p.h) * static_cast<double>(p.h) *
                   (p.weights == Weights::polynomial ? 8 : 1))) {}

  double operator()(double distance) const {
    const double x = distance > zero ? slope * (distance - zero) : 0;
    if (kind == Weights::exponential) return std::exp(-x);
    if (x >= 1) return 0;
    const double t = 1 - x, t2 = t * t, t4 = t2 * t2;
    return t4 * t4;
  }

  Weights kind;
  double zero, slope;
};

/// The value that marks holes in a guide plane after a multiplication by `scale`. The value exceeds
/// all scaled samples by at least 16, so a candidate that overlaps a hole gets the weight 0.
constexpr float hole_mark(float scale) { return filter_range_max * scale + 16; }

}  // namespace lull::nlm
