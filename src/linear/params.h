#pragma once
// The parameters and the exact definition of iterated linear combinations of patches (Herbreteau
// and Kervrann 2024, doi:10.1109/TIP.2024.3436651). All backends follow this definition.
//
// Pictures. y is the noisy picture, whose noise has the standard deviation s; x is the estimate of
// the previous iteration; z is a partly denoised picture whose remaining noise is about tau s. The
// pilot computes the first x from y; z is y at first. M iterations m = 1 .. M compute the next x
// and z. The result is x of iteration M. The remaining noise of iteration m is tau = tau0 (1 - m /
// M).
//
// Sets. Planes of a picture that share their groups form a set (match/guide.h, PlaneSet). A set has
// one guide. Each plane has its own s, Gram matrix and weights. The noise of its first plane
// determines the parameters of a set. In small planes the side of a patch is min(side, width,
// height), and the step at most the side.
//
// Guide. The matcher finds the groups of the pilot in the guide of y, and those of iteration 1 in
// the guide of x. Later it finds new groups in the guide of z, for the iterations m = 1 + i
// rematch, i = 1 .. matchings - 1. All other iterations use the groups of the iteration before.
// (Groups found in z are better than groups found in x, because the errors of x are similar in all
// patches of the groups from which x was made.) The matcher quantises the guide to integers, so
// that all backends compute equal distances:
//     q = floor(min(max((v - low) scale, 0), guide_levels) + 0.5)
// in single precision, with scale = guide_levels / (high - low). The range [low, high] is that of
// guide_range(set, format, noise, 1) in all iterations.
//
// Groups. Reference patches are the ReferenceGrid (match/grid.h) of the step and side: every
// step-th position and the last position along each axis. Candidates are all patches inside the
// picture whose displacement from the reference patch is at most r = window / 2 samples, rounded
// down, along each axis. The distance d is the sum of the squared differences of the quantised
// samples. Candidates are ordered by
//     key = min(d >> distance_shift(n), max_distance) * 2^11 + index
// for n = side^2 samples a patch. The reference patch has the key 0. Another candidate has the
// index 1 + its position among all displacements of the window, counted row by row from (-r, -r)
// and including the reference patch. So no two candidates have equal keys. The group has the
// `group` candidates with the smallest keys, or all candidates if there are fewer. The order of its
// members does not matter.
//
// Pilot. Y has the k patches of a group as rows, and n columns. Yc is Y minus the mean of its rows,
// a patch. (Rows of Theta sum to 1, so the subtraction changes nothing in exact arithmetic. It
// reduces the condition number by orders of magnitude.)
//     Q = Yc Yc' + alpha^2 C + f I, Theta = I - (1 + alpha^2) C (Q^-1 - q q' / (1' q)), q = Q^-1 1
// C is the covariance of the noise of two patches, summed over their samples: C = n s^2 I for white
// noise, else C_ij = n s^2 rho(p_i - p_j), where rho is the autocorrelation of the noise and p_i
// the position of patch i. The floor f keeps Q positive definite in single precision:
//     f = floor_share trace(Yc Yc') / k + n floor_variance
// The estimates Theta Y are averaged into x. The weight of row i is the inverse of the standard
// deviation of its noise, in units of s: 1 / sqrt(max(sum_j Theta_ij^2, 1/k)).
//
// Iteration m. X, Y and Z have the same patches of x, y and z as rows.
//     t = max(1 - std(Y - Z) / s, tau), with the standard deviation of all k n samples around their
//     mean
//     Q = Xc Xc' + g C + f I, Theta = I - g C (Q^-1 - q q' / (1' q)), with g = excess t^2 and f
//     from the trace of Xc Xc' E = Theta Z, F = (1 - r) E + r Z, r = tau / t, or 0 if tau is 0
// E is averaged into the next x and F into the next z, with the weight of row i as in the pilot.
// The last iteration has tau = 0, so F equals E and one sum is enough.
//
// Over time, groups have patches from the frames that the session lists (time/frame_session.h), the
// frame of the reference patches first. All frames pass the pilot and the iterations. A step of a
// frame reads y, x and z of its listed frames as the previous step left them, and adds its
// estimates to the sums of all these frames. There are iterations_over_time iterations. The matcher
// finds groups for the pilot and for iteration 1.
//   Windows. The window of the reference frame has the side `window`, that of another frame
// `temporal_window`, around the position that motion predicts: the vector of the bundle of
// reference patches (match/motion_grid.h, with the grid of these patches). Indices continue frame
// by frame: the first candidate of frame f has the index 1 + window^2 + (f - 1) temporal_window^2.
//   Bonus. The distance of the candidate in the centre of a window is reduced by floor(bonus_share
// sigma^2 scale^2 n), at most to 0. sigma is the noise of the guide, scale that of its
// quantisation.
//   Pairs. With `pairs`, patches of a bundle span two frames if its motion is even: a patch has a
// second half at the same position in the partner of its frame (time/frame_pairs.h). The distance
// and n count both halves; frames without a partner have no candidates. Motion is even if the
// acceleration (match/second_half.h) is 0 in at least half of the frames with a partner.
//   Noise. C_ij is a sum over both halves, and rho is 0 between frames.
//
// White noise. 1 is an eigenvector of Q with the eigenvalue e = alpha^2 n s^2 + f, or g n s^2 + f.
// So q q' / (1' q) is the matrix of all ones divided by k e, and Theta is symmetric.

#include <cstdint>

namespace lull::linear {

/// Sizes of the groups of one step (the pilot or an iteration), in samples.
struct GroupSizes {
  int side = 6;             // side of a patch, 3..max_side
  int group = 48;           // k: maximum group size, 2..max_group
  int step = 4;             // distance between reference patches, 1..side
  int window = 43;          // side of the search window, odd, 3..max_window
  int temporal_window = 9;  // side of the search window in other frames, odd, up to 9
  bool pairs = false;       // patches span two frames where motion is even

  /// Returns the number of samples of a patch that spans `halves` frames.
  constexpr int samples(int halves = 1) const { return halves * side * side; }
};

inline constexpr int max_side = 13, max_group = 64, max_window = 43;
/// Maximum side of patches that span two frames, and maximum number of samples of any patch.
inline constexpr int max_pair_side = 10, max_patch_samples = 2 * max_pair_side * max_pair_side;
static_assert(max_side * max_side <= max_patch_samples);

/// The largest value of a quantised guide.
inline constexpr int guide_levels = 255;

/// Maximum of a shifted distance. A key has 32 bits: 11 bits contain the index of a candidate, and
/// the other bits the shifted distance.
inline constexpr std::uint32_t index_bits = 11, max_distance = (1u << (32 - index_bits)) - 1;
/// Number of bits by which the distances of patches with `samples` samples are shifted to the
/// right. A shifted distance reaches max_distance only if samples differ by more than half of the
/// range.
constexpr int distance_shift(int samples) { return samples <= 64 ? 0 : samples <= 128 ? 1 : 2; }

/// Parameters of a set of planes.
struct SetParams {
  GroupSizes pilot{.side = 11, .group = 32, .step = 5};
  GroupSizes iteration;
  int iterations = 8;  // M, 1..16
  int rematch = 3;     // number of iterations between two matchings, >= 1
  int matchings = 2;   // number of matchings after that of the pilot, >= 1
  float alpha = 0.5f;  // level of the noise that the pilot assumes in its estimate, in units of s
  float tau0 = 0.95f;  // level of the noise that an iteration 0 would leave in z, in units of s
  /// Variance of the noise that an iteration assumes in Z, in units of the measured variance.
  float excess = 1;
};

inline constexpr float floor_share = 1.0f / 2048, floor_variance = 1e-5f;

/// Returns the parameters for noise with this standard deviation on the 0..255 scale, and with this
/// coarseness. The coarseness is the sum of the autocorrelation of the noise: 1 for white noise,
/// and about the number of samples over which coarse noise extends. The values were tuned by
/// measurement (docs/measurements/linear-combinations.md).
constexpr SetParams parameters_for(float sigma, float coarseness = 1) {
  SetParams p;
  // `excess` decreases from 1.1 at a noise level of 20 to 1 at a noise level of 35.
  p.excess = sigma <= 20 ? 1.1f : sigma >= 35 ? 1.0f : 1.1f - 0.1f * (sigma - 20) / 15;
  if (sigma <= 15) {
    p.pilot.side = 9;
    p.pilot.step = 4;
    p.iterations = sigma <= 6 ? 8 : 10;
    p.matchings = 3;
  } else if (sigma > 35) {
    p.pilot.side = 13;
    p.pilot.step = 4;
    p.iteration.side = 7;
    p.iterations = 11;
    p.matchings = 3;
    p.tau0 = 0.85f;
  }
  if (coarseness > 1.5f) {  // patches of coarse noise contain few independent samples
    p.pilot.side = 13;
    p.iteration.side = coarseness > 4 ? 10 : 8;
    p.iterations = 6;
    p.pilot.group = 48;
    p.alpha = 0.2f;
  }
  return p;
}

/// Number of iterations over time. It does not depend on the noise, so that all planes have the
/// same number of steps.
inline constexpr int iterations_over_time = 3;
/// Share of the variance of the noise that is subtracted from the mean squared difference of the
/// patch that motion predicts.
inline constexpr float bonus_share = 0.1f;

}  // namespace lull::linear
