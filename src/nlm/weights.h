#pragma once
// The formulas of non-local means, which all backends compute.
//
// A patch with origin r is P(r) = { r + i : -p <= i < B + p along x and y }, where B is
// Params::block and p Params::patch_radius; its block is { r + i : 0 <= i < B }. In volumes the
// patch extends over the slices z - p .. z + p, where z is the slice of its block. Reference
// patches have their origins at all multiples of Params::step along x and y (also below 0: wherever
// a block contains a sample of the plane), in every slice, so that each sample is covered by (B /
// step)^2 blocks. With B = 1 and p = W, a patch is the box that the papers use: a box of 2W + 1
// samples a side around every sample.
//
// Candidates of a reference patch r have their origins at r + e, where e = m + d:
//   d  each displacement of -S .. S along x and y, S = Params::search_radius
//   m  0 in the frame itself and in volumes. In another frame, the vector of the motion block
//      (time/motion.h) that contains the sample whose result is wanted. (A patch that lies in
//      several motion blocks uses another vector for the samples of each of them.)
// Candidates are searched in the frame itself and in the neighbouring frames that take part
// (time/timeline.h); in volumes, in the slices z - S .. z + S that exist. A patch that overlaps a
// hole (noise/holes.h) is not a candidate, except for the reference patch itself. Planes are padded
// as Params::border states, and candidates may also lie in the padding. Slices of a patch that do
// not exist are mirrored: slices -1, -2 and -3 are copies of slices 0, 1 and 2 (continued()).
// Candidates have no origin in slices that do not exist.
//
// 1. Distance, in units of the noise variance, of the guide planes G_c with the weights a_c =
//    1 / (C sigma_c^2), C their number, N the samples of a patch (Marques and Pardo, section 1:
//    ||Nx - Ny||^2 with all channels; here the mean, so that h does not depend on sizes):
//      D(r, e) = sum_c a_c ( 1/N sum_i (G_c(r + i) - G_c(r + e + i))^2
//                            + beta ( 1/N sum_i (G_c(r + i) - G_c(r + e + i)) )^2 )
//    The second sum is the difference of the patches' means, beta is Params::mean_term. The
//    correction subtracts the contribution of the noise, with Params::correction = 2:
//      x(r, e) = max(D - correction (1 + beta / N), 0)
// 2. Weight (Marques and Pardo, section 1; Cuomo, equation 8; Coupe's h^2 = 2 beta sigma^2 |B| is
//    h = sqrt 2 here):
//      exponential  w = exp(-x / h^2)
//      polynomial   w = max(0, 1 - x / (8 h^2))^8
//    The reference patch itself has the weight 1 (its distance is 0).
// 3. Estimates of a block's samples, and their mean (Coupe et al. 2008,
//    doi:10.1109/TMI.2007.906087, section II.D):
//      A(r, i) = sum_e w(r, e) I(r + e + i) / sum_e w(r, e)
//      result(x) = the mean of A(r, x - r) over the (B / step)^2 patches r whose block covers x
//    Backends compute this with the normalised weights u(r, e) = w(r, e) / sum_e w(r, e) and
//    v(x, e) = the mean of u(r, e) over these patches:
//      result(x) = I(x) + sum_e v(x, e) (I(x + e) - I(x))
//    In low precision, this form is accurate where the differences are small; sum_e v = 1.
//    All sample planes of a frame have the same v.

#include <cmath>

#include "core/float_range.h"
#include "nlm/params.h"

namespace lull::nlm {

/// Returns the position from which a sample (or slice) of the padding at position `i` is copied, on
/// an axis of `length` samples or slices. If `i` is not in the padding, the result is `i`.
constexpr int continued(int i, int length, Border border) {
  if (border == Border::replicate) return i < 0 ? 0 : i < length ? i : length - 1;
  const int period = 2 * length;
  const int j = (i % period + period) % period;
  return j < length ? j : period - 1 - j;
}

/// Converts a distance D to a weight w. With x = max(D - zero, 0), the weight is max(0, 1 - slope
/// x)^8 or exp(-slope x).
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

/// Value that marks a hole in a guide plane whose samples were multiplied by `scale`. It differs
/// from all multiplied samples by at least 16. Such a difference reduces the weight of a candidate
/// to 0.
constexpr float hole_mark(float scale) { return filter_range_max * scale + 16; }

}  // namespace lull::nlm
