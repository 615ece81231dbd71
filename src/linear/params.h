#pragma once
// The parameters and the exact definition of iterated linear combinations of patches (Herbreteau
// and Kervrann 2024, doi:10.1109/TIP.2024.3436651). All backends follow this definition.
//
// Pictures. y is the noisy picture, whose noise has the standard deviation s; x is the current
// estimate; z is a partly denoised picture, whose remaining noise is about tau s. At first, z is y.
// The pilot computes the first x from y. M iterations m = 1 .. M then compute the next x and the
// next z. The result is x of iteration M. After iteration m, the remaining noise of z is given by
// tau = tau0 (1 - m / M).
//
// Sets. Planes of a picture that share their groups form a set (match/guide.h, PlaneSet). A set has
// one guide. Each plane has its own s, Gram matrix and weights. The noise of the first plane of a
// set determines the parameters of the set. In small planes, the side of a patch is min(side,
// width, height), and the step is at most the side.
//
// Guide. The matcher finds the groups of the pilot in the guide of y, and the groups of iteration 1
// in the guide of x. For the iterations m = 1 + i rematch, i = 1 .. matchings - 1, the matcher
// finds new groups in the guide of z. All other iterations use the groups of the previous
// iteration. (Groups found in x are worse, because the errors of x are similar in all patches of a
// group from which x was made.) The matcher quantises the guide to integers, so that all backends
// compute equal distances:
//     q = floor(min(max((v - low) scale, 0), guide_levels) + 0.5)
// The quantisation uses single precision, with scale = guide_levels / (high - low). In all
// iterations, the range [low, high] is the result of guide_range(set, format, noise, 1).
//
// Groups. Reference patches are the ReferenceGrid (match/grid.h) of the step and side: every
// step-th position and the last position along each axis. Candidates are all patches inside the
// picture whose displacement from the reference patch is at most r = window / 2 samples, rounded
// down, along each axis. The distance d is the sum of the squared differences of the quantised
// samples. The keys of the candidates determine their order. If a patch has n = side^2 samples, the
// key is
//     key = min(d >> distance_shift(n), max_distance) * 2^11 + index
// The reference patch has the key 0. All other candidates have the index 1 + position, where the
// position counts all displacements of the window row by row, starting at (-r, -r) and including
// the reference patch. Therefore no two candidates have equal keys. The group consists of the
// `group` candidates with the smallest keys, or of all candidates if there are fewer. Their order
// does not matter.
//
// Pilot. The k rows of Y are the patches of a group, with n samples each. Yc is Y minus the mean of
// its rows. The subtraction reduces the condition number, and does not change the result, because
// the rows of Theta sum to 1.
//     Q = Yc Yc' + alpha^2 C + f I, Theta = I - (1 + alpha^2) C (Q^-1 - q q' / (1' q)), q = Q^-1 1
// C is the covariance of the noise of two patches, summed over their samples. For white noise, C is
// n s^2 I. For coloured noise, C_ij is n s^2 rho(p_i - p_j), where rho is the autocorrelation of
// the noise and p_i is the position of patch i. The floor f keeps Q positive definite in single
// precision:
//     f = floor_share trace(Yc Yc') / k + n floor_variance
// The new x is the weighted mean of the estimates Theta Y. The weight of row i is the inverse of
// the standard deviation of its noise, in units of s: 1 / sqrt(max(sum_j Theta_ij^2, 1/k)).
//
// Iteration m. The rows of X, Y and Z are the patches of x, y and z at the same positions.
//     t = max(1 - std(Y - Z) / s, tau)
//     Q = Xc Xc' + g C + f I, Theta = I - g C (Q^-1 - q q' / (1' q)), with g = excess t^2
//     E = Theta Z, F = (1 - r) E + r Z, with r = tau / t, or r = 0 if tau is 0
// The standard deviation std is that of all k n samples around their mean, and f contains the trace
// of Xc Xc'. The next x is the weighted mean of the estimates E, and the next z is the weighted
// mean of F. The weight of row i has the same formula as in the pilot. The last iteration has tau =
// 0, so F equals E, and one sum is enough.
//
// Temporal filtering. Groups have patches from the frames that the session lists
// (time/frame_session.h). The first of these frames contains the reference patches. A step (the
// pilot or one of iterations_over_time iterations) reads the pictures y, x and z that the previous
// step computed for the listed frames, and adds its estimates to the sums of all these frames. The
// matcher finds groups for the pilot and for iteration 1.
//
// Windows of temporal filtering. The window has the side `window` in the frame of the reference
// patches, and the side `temporal_window` in all other frames. Its centre is the position that the
// motion vector of the bundle (a block of 8x4 reference patches, match/motion_grid.h) predicts.
// Indices continue frame by frame: the first candidate of frame f has the index 1 + window^2 + (f -
// 1) temporal_window^2.
//
// Bonus of temporal filtering. The distance of the candidate in the centre of a window is reduced
// by floor(bonus_share sigma^2 scale^2 n), but not below 0. Here sigma is the standard deviation of
// the noise of the guide, and scale is the scale of its quantisation.
//
// Pairs of frames. If `pairs` is set and the motion of a bundle is uniform, the patches of the
// bundle span two frames. The second half of such a patch has the same position in the partner of
// its frame (time/frame_pairs.h). The distance and n count both halves. Frames without a partner
// have no candidates. Motion counts as uniform if the acceleration (match/second_half.h) is 0 in at
// least half of the frames with a partner. C_ij is a sum over both halves, and rho is 0 between
// frames.
//
// White noise. The vector 1 (all ones) is an eigenvector of Q. Its eigenvalue is e = alpha^2 n s^2
// + f in the pilot, and g n s^2 + f in an iteration. Therefore q q' / (1' q) is the matrix of all
// ones divided by k e, and Theta is symmetric.

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

/// Maximum of a distance in a key, after the shift by distance_shift(). A key has 32 bits: the low
/// 11 bits contain the index of a candidate, and all other bits contain the shifted distance.
inline constexpr std::uint32_t index_bits = 11, max_distance = (1u << (32 - index_bits)) - 1;
/// Number of bits by which the distances of patches with `samples` samples are shifted to the
/// right. A shifted distance reaches max_distance only if the root-mean-square difference of two
/// patches exceeds guide_levels / 2.
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
  /// The factor `excess` in the formula of g: the noise variance that an iteration assumes in Z,
  /// divided by the variance t^2 that it measures.
  float excess = 1;
};

inline constexpr float floor_share = 1.0f / 2048, floor_variance = 1e-5f;

/// Returns the parameters for noise with the standard deviation `sigma` on the 0..255 scale (chosen
/// by measurement: docs/measurements/linear-combinations.md). `coarseness` is the sum of the
/// autocorrelation of the noise: 1 for white noise, and about the number of samples over which
/// coarse noise extends.
constexpr SetParams parameters_for(float sigma, float coarseness = 1) {
  SetParams p;
  // `excess` is 1.1 up to a noise level of 20, decreases linearly, and is 1 from a noise level of
  // 35 on.
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

/// Number of iterations with temporal filtering. It does not depend on the noise, so that all
/// planes have the same number of steps.
inline constexpr int iterations_over_time = 3;
/// Share of the noise variance that the matcher subtracts from the mean squared difference of the
/// patch that motion predicts.
inline constexpr float bonus_share = 0.6f;

}  // namespace lull::linear
